"""The plain page: nothing from elsewhere, a policy that names its own script, and the browser's language."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from codexmem.http.web import plain
from tests.surfaces.web.made import endpoint

SOURCE = (Path(plain.__file__).with_name("plain.html")).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """An endpoint without a built application."""
    return endpoint(tmp_path_factory.mktemp("nothing") / "dist")


class Seen(HTMLParser):
    """Every address, every handler and every inline part of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src", "action", "srcset", "data", "poster", "formaction"}:
                self.addresses.append(value or "")
            if name.startswith("on") or name == "style":
                self.inline.append(name)
            if name == "id":
                self.ids.append(value or "")


def test_it_asks_nobody_else() -> None:
    seen = Seen()
    seen.feed(SOURCE)
    assert seen.inline == []
    assert all(address == "data:," or address.startswith("/api/") for address in seen.addresses)
    assert len(seen.ids) == len(set(seen.ids))
    assert not re.search(r"https?://|//[a-z]", SOURCE.replace("</", ""))
    for risky in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert risky not in SOURCE


def test_the_policy_names_exactly_its_script_and_style(page: TestClient) -> None:
    for language in ("en", "zh"):
        reply = page.get("/viewer", headers={"Accept-Language": language})
        policy = reply.headers["content-security-policy"]
        for tag in ("script", "style"):
            (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", reply.text, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "accepted, language",
    [
        ("", "en"), ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("en-US,en;q=0.9,zh;q=0.8", "en"), ("fr, zh;q=0.5", "zh"),
        ("fr,de", "en"), ("zh;q=0", "en"), ("ZH-Hant-TW", "zh"), (";;;,q=,zh;q=x", "en"), ("en;q=0.1,zh;q=0.2", "zh"),
        ("zh" * 5000, "en"),
    ],
)  # fmt: skip
def test_it_speaks_the_browsers_language(page: TestClient, accepted: str, language: str) -> None:
    reply = page.get("/viewer", headers={"Accept-Language": accepted})
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert ("队列" in reply.text) is (language == "zh")
    assert f'<html lang="{"zh-CN" if language == "zh" else "en"}">' in reply.text
    assert "{{" not in reply.text
    assert reply.headers["vary"] == "Accept-Language"


@pytest.mark.parametrize("path", ["/viewer", "/ui", "/ui/system", "/viewer?plain=1"])
def test_without_a_build_it_says_how_to_make_one(page: TestClient, path: str) -> None:
    for language in ("en", "zh"):
        reply = page.get(path, headers={"Accept-Language": language})
        assert reply.status_code == 200
        assert "npm --prefix web ci &amp;&amp; npm --prefix web run build" in reply.text
        assert 'href="/viewer"' not in reply.text
