"""`oidc-provider` on loopback, pinned by `package-lock.json`; and people who sign in there.

`python -m tests.issuer.provider` installs it, as the gate does; `python -m tests.issuer.provider lock` pins it anew.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self
from urllib.parse import urljoin

import httpx

from tests._support import npm_packages

HERE = Path(__file__).parent
HOME = Path(sys.prefix) / "issuer"
_STEPS = 5  # between the address of a device and its end


class OidcProvider:
    """A running issuer, and the accounts that it has."""

    def __init__(self, folder: Path, redirect: str) -> None:
        npm_packages.install(HERE, HOME)
        self._accounts = folder / "accounts.json"
        self._redirect = redirect
        self.put({})
        self.url = ""

    def put(self, accounts: dict[str, list[str]]) -> None:
        """The groups of each login from now on."""
        self._accounts.write_text(json.dumps(accounts))

    @property
    def settings(self) -> dict[str, str]:
        """How a server knows it."""
        return {
            "CODEXMEM_OIDC_ISSUER": self.url, "CODEXMEM_OIDC_CLIENT_ID": "codexmem",
            "CODEXMEM_OIDC_CLIENT_SECRET": "a secret of the tests", "CODEXMEM_OIDC_GROUPS": "eng=backend",
            "CODEXMEM_OIDC_JOIN": "on", "CODEXMEM_PUBLIC_URL": self._redirect.removesuffix("/sign-in/callback"),
        }  # fmt: skip

    def __enter__(self) -> Self:
        command = [npm_packages.node(), HERE / "issuer.mjs", HOME / "node_modules", self._redirect, self._accounts]
        self._process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def type_code(page: str, login: str) -> str:
    """Do what a person does with the address of a device: confirm the code, sign in, agree; what the last page says."""
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        answer = browser.get(page)
        for _ in range(_STEPS):
            if "<form" not in answer.text:
                break
            asked = 'name="login"' in answer.text
            answer = _sent(browser, answer, {"login": login, "password": "any"} if asked else {})
        return answer.text


def _sent(browser: httpx.Client, answer: httpx.Response, fields: dict[str, str]) -> httpx.Response:
    """The form of a page with its hidden fields and these."""
    (place,) = re.findall(r'<form[^>]*action="([^"]+)"', answer.text)
    inputs: Sequence[str] = re.findall(r"<input[^>]*>", answer.text)
    hidden = {
        name[1]: html.unescape(value[1]) for each in inputs
        if (name := re.search(r'name="([^"]+)"', each)) and (value := re.search(r'value="([^"]*)"', each))
    }  # fmt: skip
    return browser.post(urljoin(str(answer.url), html.unescape(place)), data=hidden | fields)


if __name__ == "__main__":
    if sys.argv[1:] == ["lock"]:
        raise SystemExit(npm_packages.write_lock(HERE))
    npm_packages.install(HERE, HOME)
