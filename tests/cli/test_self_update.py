"""`codexmem self update`: who installed this, and what a real index on this machine says; nothing is ever changed."""

from __future__ import annotations

import json
import sysconfig
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from codexmem import __version__
from codexmem.operations.cli import self_update
from codexmem.operations.cli.self_update import Installation, newest_in
from tests.cli.conftest import Call

pytestmark = pytest.mark.process  # the index listens on a port

OLDER, NEWER = "0.0.9", "99.1"


class Index:
    """A package index with the simple interface: answers what it is given, and keeps what it was asked."""

    def __init__(self) -> None:
        self.files: list[dict[str, object]] = []
        self.asked: list[tuple[str, str]] = []
        self.html = False
        self.status = 200
        self.said = ""
        index = self

        class Endpoint(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.append((self.path, self.headers.get("Authorization", "")))
                body = (index.said or index.page()).encode()
                self.send_response(index.status)
                kind = "text/html" if index.html else "application/vnd.pypi.simple.v1+json"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/simple"

    def has(self, version: str, *, yanked: bool = False, python: str = "") -> None:
        """Add the files of a release."""
        for name in (f"codexmem-{version}-py3-none-any.whl", f"codexmem-{version}.tar.gz"):
            self.files.append({"filename": name, "yanked": yanked, "requires-python": python or None})

    def page(self) -> str:
        """What it answers."""
        if not self.html:
            return json.dumps({"meta": {"api-version": "1.1"}, "name": "codexmem", "files": self.files})
        lines = []
        for file in self.files:
            python = str(file["requires-python"] or "").replace(">", "&gt;")
            about = (' data-yanked=""' if file["yanked"] else "") + (
                f' data-requires-python="{python}"' if python else ""
            )
            lines.append(f'<a href="x/{file["filename"]}#sha256=0"{about}>{file["filename"]}</a><br />')
        return "<!DOCTYPE html><html><body>" + "\n".join(lines) + "</body></html>"


@pytest.fixture
def index() -> Iterator[Index]:
    index = Index()
    threading.Thread(target=index.server.serve_forever, args=(0.01,), daemon=True).start()
    yield index
    index.server.shutdown()
    index.server.server_close()


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of its own, in which codexmem was not installed from a checkout."""
    prefix = tmp_path / "environment"
    prefix.mkdir()
    monkeypatch.setattr(self_update, "_checkout", lambda: "")
    return prefix


@pytest.mark.parametrize("html", [False, True])
def test_the_newest_release_that_fits_is_found(index: Index, html: bool) -> None:
    index.html = html
    for version in (OLDER, "1.9", "1.10.0", "2.0rc1", "2.0.dev3"):
        index.has(version)
    index.has("3.0", yanked=True)
    index.has("4.0", python=">=3.99")
    index.has("1.10.1", python=">=3.11")
    assert newest_in(index.url) == "1.10.1"
    assert index.asked == [("/simple/codexmem/", "")]


def test_a_newer_one_is_told_with_the_command_and_nothing_is_done(
    call: Call, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_update, "_checkout", lambda: "")
    index.has(OLDER)
    index.has(NEWER)
    told = call("self", "update", "--index", index.url, "--json")
    assert told.code == 0
    assert told.json == {
        "version": __version__, "installed_by": told.json["installed_by"], "command": told.json["command"],
        "index": index.url, "newest": NEWER, "newer": True, "problem": None,
    }  # fmt: skip
    said = call("self", "update", "--index", index.url)
    assert (said.code, told.json["command"] in said.out) == (0, True)
    assert f"codexmem {NEWER} is there; this is {__version__}" in said.err
    chinese = call("self", "update", "--index", index.url, "--lang", "zh")
    assert f"已有 codexmem {NEWER}" in chinese.err


def test_the_newest_one_needs_nothing(call: Call, index: Index) -> None:
    index.has(__version__)
    said = call("self", "update", "--index", index.url)
    assert (said.code, said.out) == (0, "")
    assert f"codexmem {__version__} is the newest version" in said.err
    assert call("self", "update", "--index", index.url, "--json").json["newer"] is False


def test_offline_says_so_and_still_how_to_update(call: Call, index: Index) -> None:
    index.server.shutdown()
    index.server.server_close()
    said = call("self", "update", "--index", index.url)
    assert said.code == 6
    assert said.out
    assert f"could not ask {index.url} for newer versions" in said.err
    told = call("self", "update", "--index", index.url, "--json")
    assert (told.code, told.json["newer"], told.json["newest"]) == (6, None, None)
    assert told.json["problem"]


@pytest.mark.parametrize(
    "status,said,code", [(404, "", 3), (200, "", 3), (500, "", 6), (200, "no index", 6), (200, "[]", 6)]
)
def test_an_index_that_has_nothing_or_is_none(call: Call, index: Index, status: int, said: str, code: int) -> None:
    index.status, index.said = status, said
    assert call("self", "update", "--index", index.url, "--json").code == code


def test_a_login_goes_into_the_header_and_is_not_shown(call: Call, index: Index) -> None:
    index.has(__version__)
    with_login = index.url.replace("://", "://ann:s%40cret@")
    told = call("self", "update", "--index", with_login, "--json")
    assert told.json["index"] == index.url
    assert index.asked[-1] == ("/simple/codexmem/", "Basic YW5uOnNAY3JldA==")
    index.status = 500
    refused = call("self", "update", "--index", with_login)
    assert "cret" not in refused.out + refused.err


def test_only_an_address_of_http_is_asked(call: Call, tmp_path: Path) -> None:
    assert call("self", "update", "--index", tmp_path.as_uri(), "--json").code == 6


@pytest.mark.parametrize(
    "left,way,command",
    [
        ("uv-receipt.toml", "uv_tool", "uv tool upgrade codexmem"),
        ("pipx_metadata.json", "pipx", "pipx upgrade codexmem"),
    ],
)
def test_tools_are_known_by_what_they_leave(prefix: Path, left: str, way: str, command: str) -> None:
    (prefix / left).write_text("")
    found = Installation.here(prefix, Path("/usr"), {})
    assert (found.way, found.command) == (way, command)


def test_pip_uv_and_uvx_are_told_apart(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_update, "_installer", lambda: "pip")
    assert Installation.here(prefix, Path("/usr"), {}).command.endswith(" -m pip install --upgrade codexmem")
    monkeypatch.setattr(self_update, "_installer", lambda: "uv")
    assert Installation.here(prefix, Path("/usr"), {}).command.startswith("uv pip install --python ")
    assert Installation.here(prefix, Path("/usr"), {"UV_CACHE_DIR": str(prefix.parent)}).way == "uvx"


def test_the_systems_own_python_is_left_to_the_system(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (prefix / "EXTERNALLY-MANAGED").write_text("")
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(prefix))
    assert Installation.here(prefix, prefix, {}) == Installation("system", "")
    assert Installation.here(prefix, Path("/usr"), {}).way != "system"


def test_a_checkout_is_known_by_its_own_record() -> None:
    """The environment of the tests is one."""
    found = Installation.here(Path("/nowhere"), Path("/usr"), {})
    assert (found.way, found.command) == ("checkout", f"git -C {Path(__file__).parents[2]} pull")


@pytest.mark.parametrize("way", ["pip", "pipx", "uv", "uv_tool"])
def test_the_index_of_the_tool_that_installed_it_is_asked(way: self_update.Way, tmp_path: Path, prefix: Path) -> None:
    installed, home = Installation(way, ""), tmp_path
    uv = way.startswith("uv")
    own_file = home / ".config" / ("uv/uv.toml" if uv else "pip/pip.conf")
    own_file.parent.mkdir(parents=True)
    text = (
        '[[index]]\nurl = "http://mine/simple/"\ndefault = true\n'
        if uv
        else "[global]\nindex-url = http://mine/simple/\n"
    )
    own_file.write_text(text)
    assert installed.index({}, home, prefix) == "http://mine/simple"
    name = "UV_DEFAULT_INDEX" if uv else "PIP_INDEX_URL"
    assert installed.index({name: "http://given/simple"}, home, prefix) == "http://given/simple"
