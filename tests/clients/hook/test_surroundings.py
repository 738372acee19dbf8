"""Where the hook looks is where the server is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import platformdirs.macos
import platformdirs.unix
import pytest

from codexmem.hook import surroundings
from codexmem.hook.surroundings import look, user_folder
from codexmem.settings import load

HOMES = [
    {"HOME": "/home/me"},
    {"HOME": "/home/me/"},
    {"HOME": "/home/me", "XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/config/"},
    {"HOME": "/home/me", "XDG_DATA_HOME": "relative", "XDG_CONFIG_HOME": ""},
    {"HOME": "/home/我"},
    {},
]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("CODEXMEM_", "XDG_"))]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("environ", HOMES)
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_folders_agree_with_the_library(environ: dict[str, str], system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    library = {"linux": platformdirs.unix.Unix, "darwin": platformdirs.macos.MacOS}[system]("codexmem", appauthor=False)
    assert os.path.normpath(user_folder("data", environ, system)) == os.path.normpath(library.user_data_dir)
    assert os.path.normpath(user_folder("config", environ, system)) == os.path.normpath(library.user_config_dir)


def test_folders_on_windows() -> None:
    environ = {"LOCALAPPDATA": r"C:\Users\me\AppData\Local"}
    for what in ("data", "config"):
        assert user_folder(what, environ, "win32").replace("/", "\\") == r"C:\Users\me\AppData\Local\codexmem"


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"CODEXMEM_DATA_DIR": "/somewhere/else"},
        {"CODEXMEM_DATA_DIR": "~/memory"},
        {"CODEXMEM_DATA_DIR": "relative"},
    ],
)
def test_the_data_directory_is_the_servers(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert look().data_dir == str(load({}).data_dir)


def test_the_users_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".config" / "codexmem" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'data_dir = "{tmp_path}/mine"\nport = 4711\nautostart = false\n', encoding="utf-8")
    around = look()
    assert around.data_dir == str(load({}).data_dir) == f"{tmp_path}/mine"
    assert (around.base, around.may_start) == ("http://127.0.0.1:4711", False)
    file.write_text('url = "https://memory.example.org/"\napi_key = "k-1"\n', encoding="utf-8")
    around = look()
    assert (around.base, around.token, around.ours) == ("https://memory.example.org", "k-1", False)
    file.write_text("not = [toml", encoding="utf-8")
    assert look().base == "http://127.0.0.1:37877"


def at(tmp_path: Path, **environ: str) -> surroundings.Surroundings:
    return look({"HOME": str(tmp_path), "CODEXMEM_DATA_DIR": str(tmp_path / "data"), **environ})


def announce(tmp_path: Path, text: str) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "server.json").write_text(text)


def test_the_server_says_where_it_is(tmp_path: Path) -> None:
    assert at(tmp_path).base == "http://127.0.0.1:37877"
    assert at(tmp_path, CODEXMEM_PORT="4711").base == "http://127.0.0.1:4711"
    announce(tmp_path, json.dumps({"url": "http://127.0.0.1:5000/", "pid": 1}))
    assert at(tmp_path).base == "http://127.0.0.1:5000"
    assert at(tmp_path, CODEXMEM_PORT="0").base == "http://127.0.0.1:5000"
    assert at(tmp_path, CODEXMEM_PORT="4711").base == "http://127.0.0.1:4711"
    announce(tmp_path, json.dumps({"url": "http://0.0.0.0:5000"}))
    assert at(tmp_path).base == "http://127.0.0.1:5000"
    assert at(tmp_path, CODEXMEM_URL="http://127.0.0.1:6000").base == "http://127.0.0.1:6000"
    for broken in ("", "{", "[]", '{"url": 5}', '{"url": "ftp://x"}'):
        announce(tmp_path, broken)
        assert at(tmp_path).base == "http://127.0.0.1:37877"


def test_whom_the_token_is_for(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "token").write_text("of-the-store\n")
    assert at(tmp_path).token == "of-the-store"
    assert at(tmp_path, CODEXMEM_TOKEN="given").token == "given"
    # The store's own token goes to no other server; one that was given goes there, but not in the clear.
    assert at(tmp_path, CODEXMEM_URL="https://memory.example.org").token == ""
    assert at(tmp_path, CODEXMEM_URL="https://memory.example.org", CODEXMEM_TOKEN="given").token == "given"
    assert at(tmp_path, CODEXMEM_URL="http://memory.example.org", CODEXMEM_TOKEN="given").token == ""
    assert at(tmp_path, CODEXMEM_URL="http://127.0.0.1.example.org", CODEXMEM_TOKEN="given").token == ""
    assert at(tmp_path, CODEXMEM_URL="http://127.0.0.1:5000", CODEXMEM_TOKEN="given").token == "given"


def test_nothing_is_started_for_a_server_elsewhere(tmp_path: Path) -> None:
    assert at(tmp_path).may_start
    assert not at(tmp_path, CODEXMEM_AUTOSTART="0").may_start
    assert not at(tmp_path, CODEXMEM_URL="http://127.0.0.1:5000").may_start


@pytest.mark.parametrize(
    "text, budget", [("", 1500), ("300", 300), ("x", 1500), ("-5", 1500), ("0", 50), ("9" * 30, 1500)]
)
def test_odd_numbers_are_no_reason_to_fail(text: str, budget: int, tmp_path: Path) -> None:
    assert at(tmp_path, CODEXMEM_HOOK_BUDGET_MS=text).budget_ms == budget


def test_values_of_key_variables(tmp_path: Path) -> None:
    around = at(tmp_path, ACME_API_KEY="a1b2c3d4e5f6g7", ACME_TOKEN="short1", MY_SECRET="/path/to/1234567",
                X="a1b2c3d4e5f6g7h8", GITHUB_TOKEN="abcdefghijklmnop")  # fmt: skip
    assert around.secrets == ["a1b2c3d4e5f6g7"]


def test_reading_files_that_are_none(tmp_path: Path) -> None:
    assert surroundings.text_of(str(tmp_path)) is None
    assert surroundings.text_of(str(tmp_path / "missing")) is None
    assert surroundings.text_of("a\0b") is None
    os.mkfifo(tmp_path / "pipe")
    assert surroundings.text_of(str(tmp_path / "pipe")) == ""
