"""Where the server of this machine is: by the rules of the hooks and of the command line.

`CODEXMEM_URL`, else what a running server says in `server.json` of the data directory, else the usual port. Variables
beat the user's file. The key is `CODEXMEM_TOKEN` or `CODEXMEM_API_KEY`, else the token in the data directory; that
last one never leaves the machine.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.key_transport import is_loopback, may_carry_key, refusal

PORT = 37877


@dataclass(frozen=True, slots=True)
class Place:
    """An address and the key to bring there."""

    url: str
    key: str = field(default="", repr=False)

    @property
    def on_this_machine(self) -> bool:
        """Whether nothing that is sent there leaves the machine."""
        return is_loopback(self.url)


def given(url: str, key: str | None) -> Place:
    """A place that somebody named; refuses what is no address, and a key that others could read on its way."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise InvalidArgument(
            f"{url[:200]!r} is not the address of a server", hint="for example http://127.0.0.1:37877"
        )
    if parts.username or parts.password:
        raise InvalidArgument("an address holds no key", hint="give it as api_key")
    place = Place(url.rstrip("/"), (key or "").strip())
    if not (place.key.isascii() and place.key.isprintable()):
        raise InvalidArgument("this is no key of a server", hint="codexmem key create makes one")
    if place.key and not may_carry_key(place.url):
        why, hint = refusal(place.url)
        raise InvalidArgument(why, hint=hint)
    return place


def found(key: str | None = None, environ: Mapping[str, str] | None = None) -> Place:
    """Where the server should be; whether one answers there is not looked at."""
    environ = os.environ if environ is None else environ
    file = _user_file(environ)

    def told(name: str) -> str:
        return environ.get(f"CODEXMEM_{name.upper()}", "").strip() or str(file.get(name, "")).strip()

    key = key or environ.get("CODEXMEM_TOKEN", "").strip() or told("api_key")
    if url := told("url"):
        return given(url, key)
    data_dir = Path(told("data_dir")).expanduser() if told("data_dir") else _folder("data", environ)
    # A port that somebody gives for this call wins over what a server says of itself; 0 leaves it to the server.
    given_port, port = _port(environ.get("CODEXMEM_PORT", "")), _port(told("port")) or PORT
    url = (not given_port and _announced(data_dir)) or f"http://127.0.0.1:{given_port or port}"
    # Our own server's: wherever it listens, what is sent there stays on this machine.
    return Place(url.rstrip("/"), key or _text(data_dir / "token"))


def _port(text: str) -> int:
    return min(65535, int(text)) if text.strip().isdecimal() else 0


def _announced(data_dir: Path) -> str:
    try:
        url = json.loads(_text(data_dir / "server.json"))["url"]
    except (ValueError, KeyError, TypeError):
        return ""
    if not isinstance(url, str):
        return ""
    # Listening everywhere is no address to speak to.
    return url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:")


def _user_file(environ: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_text(_folder("config", environ) / "config.toml"))
    except ValueError:  # the server says so, to people
        return {}


def _folder(what: str, environ: Mapping[str, str]) -> Path:
    """Our folder for data or config; on Linux and macOS as the given environment says, not the process's own."""
    base = environ.get(f"XDG_{what.upper()}_HOME", "")
    if os.name == "posix" and base.startswith("/"):
        return Path(base) / "codexmem"
    find = platformdirs.user_data_path if what == "data" else platformdirs.user_config_path
    return find("codexmem", appauthor=False)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
