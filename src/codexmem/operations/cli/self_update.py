"""`codexmem self update`: how this installation is brought up to date, and whether there is something newer.

It tells and never does: who installed a program knows best what else depends on it. One question is asked of the
package index that the installing tool is set to, by its simple interface; nothing but the package's name is told it.
"""

import configparser
import json
import re
import shlex
import ssl
import sys
import sysconfig
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit, urlunsplit

import click

from codexmem import __version__
from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import EXIT_CODES
from codexmem.hook.surroundings import environment

PYPI = "https://pypi.org/simple"
_PACKAGE = "codexmem"
_WAITS_S = 5.0
_MOST = 4 << 20  # bytes of an answer
_SIMPLE = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
_RELEASE = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,5}")  # a final one; others are tried by who asks for them
_FILE = re.compile(rf"{_PACKAGE}-([^-]+?)(?:-.*\.whl|\.tar\.gz)")
_LINK = re.compile(r"<a\s([^>]*)>([^<]*)</a>", re.IGNORECASE)
_PYTHON = re.compile(r">=\s*3\.(\d{1,3})")

Way = Literal["uv_tool", "uvx", "pipx", "checkout", "system", "uv", "pip"]
_HOW: Mapping[Way, str] = {
    "uv_tool": "self.by_uv_tool",
    "uvx": "self.by_uvx",
    "pipx": "self.by_pipx",
    "checkout": "self.by_checkout",
    "system": "self.by_system",
    "uv": "self.by_uv",
    "pip": "self.by_pip",
}


@dataclass(frozen=True, slots=True)
class Installation:
    """What installed this program, and what a person types to bring it up to date; empty if others see to it."""

    way: Way
    command: str

    @classmethod
    def here(cls, prefix: Path, base: Path, environ: Mapping[str, str]) -> "Installation":
        """The one that runs, told by what each tool leaves behind."""
        python = shlex.quote(sys.executable)
        if checkout := _checkout():
            return cls("checkout", f"git -C {shlex.quote(checkout)} pull")
        if (prefix / "uv-receipt.toml").is_file():
            return cls("uv_tool", f"uv tool upgrade {_PACKAGE}")
        if (prefix / "pipx_metadata.json").is_file():
            return cls("pipx", f"pipx upgrade {_PACKAGE}")
        if _is_cached(prefix, environ):
            return cls("uvx", f"uvx {_PACKAGE}@latest")
        if prefix == base and (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").is_file():
            return cls("system", "")
        if _installer() == "uv":
            return cls("uv", f"uv pip install --python {python} --upgrade {_PACKAGE}")
        return cls("pip", f"{python} -m pip install --upgrade {_PACKAGE}")

    def index(self, environ: Mapping[str, str], home: Path, prefix: Path) -> str:
        """The package index that the tool asks."""
        files = _uv_index if self.way in {"uv_tool", "uvx", "uv"} else _pip_index
        return (files(environ, home, prefix) or PYPI).rstrip("/")


class IndexAway(Exception):
    """The index does not answer, or not as an index does."""


@click.group("self", cls=Group, key="self", no_args_is_help=True)
def own() -> None:
    """About this installation."""


@own.command("update", cls=Command, key="self.update")
@option("--index", metavar="URL", key="self.index")
@click.pass_context
def update(context: click.Context, index: str | None) -> None:
    """Tell."""
    environ, prefix = environment(), Path(sys.prefix)
    here = Installation.here(prefix, Path(sys.base_prefix), environ)
    asked = (index or here.index(environ, Path.home(), prefix)).rstrip("/")
    document: dict[str, object] = {
        "version": __version__, "installed_by": here.way, "command": here.command or None, "index": _shown(asked),
    }  # fmt: skip
    output = current()
    how = say(_HOW[here.way]) + (f"\n  {here.command}" if here.command else "")
    try:
        newest = newest_in(asked)
    except IndexAway as problem:
        output.result(document | {"newest": None, "newer": None, "problem": str(problem)}, how)
        output.note(say("self.away", index=_shown(asked), problem=problem), good=False)
        context.exit(EXIT_CODES["dependency_unavailable"])
    newer = newest is not None and _number(newest) > _number(__version__)
    output.result(document | {"newest": newest, "newer": newer, "problem": None}, how if newer else "")
    if newest is None:
        output.note(say("self.unknown", index=_shown(asked), version=__version__), good=False)
        context.exit(EXIT_CODES["not_found"])
    output.note(say("self.newer" if newer else "self.newest", version=__version__, newest=newest), good=not newer)


def newest_in(index: str) -> str | None:
    """The highest final release that this Python takes and that was not withdrawn; None if there is none."""
    if urlsplit(index).scheme not in {"http", "https"}:
        raise IndexAway(say("self.no_address"))
    request = urllib.request.Request(f"{index}/{_PACKAGE}/", headers={"Accept": _SIMPLE})  # noqa: S310 (http)
    try:
        with urllib.request.urlopen(_without_login(request), timeout=_WAITS_S) as answer:  # noqa: S310 (http)
            text, kind = answer.read(_MOST).decode("utf-8", "replace"), answer.headers.get_content_type()
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise IndexAway(f"HTTP {error.code}") from None
    except (OSError, ValueError, ssl.SSLError) as error:
        raise IndexAway(str(getattr(error, "reason", error))) from None
    try:
        files = [*(_listed(text) if kind.endswith("json") else _linked(text))]
    except (ValueError, TypeError, AttributeError, KeyError):
        raise IndexAway(say("self.no_index")) from None
    found = {version for name, needs in files if _fits(needs) and (version := _version(name))}
    return max(found, key=_number, default=None)


def _listed(text: str) -> Iterator[tuple[str, str]]:
    """Files of an answer in JSON that were not withdrawn, and the Pythons that they take."""
    for file in json.loads(text)["files"]:
        if not file.get("yanked"):
            yield str(file["filename"]), str(file.get("requires-python") or "")


def _linked(text: str) -> Iterator[tuple[str, str]]:
    """The same of a page of links."""
    for about, name in _LINK.findall(text):
        if "data-yanked" not in about:
            yield name.strip(), about.replace("&gt;", ">") if "requires-python" in about else ""


def _version(file: str) -> str:
    found = _FILE.fullmatch(file)
    return found[1] if found and _RELEASE.fullmatch(found[1]) else ""


def _number(version: str) -> tuple[int, ...]:
    """A release as numbers; trailing zeros mean nothing."""
    found = _RELEASE.match(version)
    parts = [int(part) for part in found[0].split(".")] if found else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _fits(needs: str) -> bool:
    found = _PYTHON.search(needs)
    return found is None or sys.version_info.minor >= int(found[1])


def _checkout() -> str:
    """The folder of a checkout that is installed as it stands; empty if it is not one."""
    try:
        about = json.loads(metadata.distribution(_PACKAGE).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    address = urlsplit(about.get("url", ""))
    return unquote(address.path) if about.get("dir_info", {}).get("editable") and address.scheme == "file" else ""


def _installer() -> str:
    with suppress(metadata.PackageNotFoundError):
        return (metadata.distribution(_PACKAGE).read_text("INSTALLER") or "").strip()
    return ""


def _is_cached(prefix: Path, environ: Mapping[str, str]) -> bool:
    """Whether this is an environment that `uvx` made for one call."""
    usual = Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "uv"
    return any(cache and prefix.is_relative_to(cache) for cache in (environ.get("UV_CACHE_DIR"), usual))


def _uv_index(environ: Mapping[str, str], home: Path, _: Path) -> str:
    """As uv takes it: from the environment, then the person's file, then the machine's."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if given := environ.get(name, "").strip():
            return given
    own_files = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    places: list[str | Path] = [environ.get("UV_CONFIG_FILE", ""), own_files / "uv" / "uv.toml", "/etc/uv/uv.toml"]
    for path in places:
        with suppress(OSError, ValueError):
            said = tomllib.loads(Path(path).read_text(encoding="utf-8")) if path else {}
            named = [each.get("url", "") for each in said.get("index", []) if each.get("default")]
            if given := next(iter(named), "") or str(said.get("index-url", "")):
                return given
    return ""


def _pip_index(environ: Mapping[str, str], home: Path, prefix: Path) -> str:
    """As pip takes it: from the environment, then the environment's own file, the person's and the machine's."""
    if given := environ.get("PIP_INDEX_URL", "").strip():
        return given
    own_files = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    places: list[str | Path] = [
        environ.get("PIP_CONFIG_FILE", ""),
        prefix / "pip.conf",
        own_files / "pip" / "pip.conf",
        home / ".pip" / "pip.conf",
        "/etc/pip.conf",
    ]
    for path in (Path(place) for place in places if place):
        read = configparser.RawConfigParser(strict=False)
        with suppress(OSError, configparser.Error, UnicodeDecodeError):
            read.read_string(path.read_text(encoding="utf-8"))
            if given := read.get("global", "index-url", fallback="").strip():
                return given
    return ""


def _without_login(request: urllib.request.Request) -> urllib.request.Request:
    """A name and a password in the address belong into a header."""
    import base64

    address = urlsplit(request.full_url)
    if address.username:
        login = f"{unquote(address.username)}:{unquote(address.password or '')}"
        request.add_header("Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")
        request.full_url = urlunsplit(address._replace(netloc=address.netloc.rpartition("@")[2]))
    return request


def _shown(index: str) -> str:
    """The address without a login."""
    address = urlsplit(index)
    return urlunsplit(address._replace(netloc=address.netloc.rpartition("@")[2]))
