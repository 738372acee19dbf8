"""The client finds the server where the hooks and the command line find it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.client import InvalidArgument
from codexmem.client.starting import ServerAddress, found, given
from codexmem.hook import surroundings as hook

FILE = 'url = "http://localhost:5"\n'
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "nothing": ({}, {}),
    "a port": ({"CODEXMEM_PORT": "4000"}, {}),
    "no port": ({"CODEXMEM_PORT": "many"}, {}),
    "an address": ({"CODEXMEM_URL": "http://localhost:9/"}, {}),
    "an address elsewhere": ({"CODEXMEM_URL": "https://memory.example"}, {"data/token": "ours"}),
    "an address and a key": ({"CODEXMEM_URL": "https://memory.example", "CODEXMEM_API_KEY": "theirs"}, {}),
    "a token before a key": ({"CODEXMEM_TOKEN": "one", "CODEXMEM_API_KEY": "other"}, {}),
    "a running server": ({}, {"data/server.json": '{"url": "http://127.0.0.1:4001"}', "data/token": "ours\n"}),
    "a port before a running server": (
        {"CODEXMEM_PORT": "4000"},
        {"data/server.json": '{"url": "http://127.0.0.1:4001"}'},
    ),
    "port 0 leaves it to the server": (
        {"CODEXMEM_PORT": "0"},
        {"data/server.json": '{"url": "http://127.0.0.1:4001"}'},
    ),
    "one that listens everywhere": ({}, {"data/server.json": '{"url": "http://0.0.0.0:4001"}'}),
    "a broken announcement": ({}, {"data/server.json": "{"}),
    "an announcement of something": ({}, {"data/server.json": '{"url": 5}'}),
    "the user's file": ({}, {"config/codexmem/config.toml": FILE}),
    "a variable before the file": ({"CODEXMEM_URL": "http://localhost:6"}, {"config/codexmem/config.toml": FILE}),
    "a broken file": ({}, {"config/codexmem/config.toml": "url = ["}),
}


@pytest.mark.parametrize("case", CASES)
def test_as_the_hook_does(case: str, tmp_path: Path) -> None:
    variables, files = CASES[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    environ = {"CODEXMEM_DATA_DIR": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path / "config"), **variables}
    there = hook.look(environ)
    assert found(environ=environ) == ServerAddress(there.base, there.token)


def test_the_folders_are_those_of_the_hook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("CODEXMEM_DATA_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "CODEXMEM_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = Path(hook.look().data_dir)
    folder.mkdir(parents=True)
    (folder / "server.json").write_text('{"url": "http://127.0.0.1:4002"}')
    assert found().url == "http://127.0.0.1:4002"


def test_a_given_key_comes_first() -> None:
    assert found("mine", {"CODEXMEM_API_KEY": "theirs"}).key == "mine"


@pytest.mark.parametrize("url", ["", "localhost:37877", "ftp://localhost", "http://", "http://a?b=c", "http://u:p@a"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        given(url, None)
    assert error.value.hint


@pytest.mark.parametrize("key", ["钥匙", "two\nlines"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidArgument, match="not a valid server key"):
        given("http://localhost", key)


def test_a_key_does_not_travel_in_the_clear() -> None:
    with pytest.raises(InvalidArgument, match="unencrypted"):
        given("http://memory.example", "secret")
    assert given("https://memory.example", "secret").key
    assert given("http://[::1]:37877", "secret").key
    assert "secret" not in repr(given("https://memory.example", "secret"))
