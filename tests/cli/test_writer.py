"""Who writes the memories and where the text goes: told by every command that a person looks at, in both languages."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.kernel.model.writer import writer_of
from tests.cli.conftest import Call
from tests.cli.test_processes import environ

pytestmark = pytest.mark.sqlite
RULES = "memories are written by rules on this machine; nothing leaves it"
SENT = "what agents do here is sent to api.openai.com"


@pytest.mark.parametrize(
    "base_url, key, language, said",
    [
        ("", "", "en", f"{RULES} (no model key is set)"),
        ("", "sk-1", "en", f"memories are written by the model m: {SENT}, with secrets masked"),
        ("", "sk-1", "zh", "记忆由模型 m 写成：代理在此所做的内容会发送到 api.openai.com，其中的机密已遮盖"),
        ("http://127.0.0.1:1/v1", "", "en", "memories are written by the model m at 127.0.0.1, on this machine; "
         "nothing leaves it"),
        ("https://user:pw@llm.corp/v1?k=1", "", "zh", "记忆由模型 m 写成：代理在此所做的内容会发送到 llm.corp"
         "，其中的机密已遮盖"),
    ],
)  # fmt: skip
def test_the_line(base_url: str, key: str, language: str, said: str) -> None:
    assert writer_of("openai", model="m", base_url=base_url, api_key=key).described(language) == said


@pytest.mark.process
def test_commands_say_who_writes(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert call("config", "get", "provider").out == "rules\n"
    assert call("config", "list", "--json").json["settings"]["provider"]["value"] == "rules"
    assert RULES in call("status").out
    assert f"[ok]   {RULES}" in call("doctor").out
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert call("config", "get", "provider").out == "openai\n"
    assert SENT in call("status").out
    assert call("status", "--json").json["writer"]["leaves_machine"] is True
    assert "会发送到 api.openai.com" in call("doctor", "--lang", "zh").out
    monkeypatch.setenv("CODEXMEM_AUTOSTART", "0")
    assert SENT in call("install", "claude-code", "--yes").err


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Path]:
    """An empty home, whose server is stopped in the end."""
    home = tmp_path / "home"
    home.mkdir()
    yield home
    subprocess.run([sys.executable, "-m", "codexmem.cli", "stop"], env=_environ(home), check=False, timeout=60)


def _environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in environ().items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(home), "PATH": "/usr/bin:/bin", "CODEXMEM_EMBEDDER": "none", **more}


def test_init_asks_on_a_terminal_and_keeps_the_answer(fresh: Path) -> None:
    """The server that is started has the key in its environment and does not use it."""
    env = _environ(fresh, OPENAI_API_KEY="sk-1")
    ours, theirs = pty.openpty()
    os.write(ours, b"n\n")
    done = subprocess.run(
        [sys.executable, "-m", "codexmem.cli", "init", "--service", "none"], env=env, check=False, timeout=120,
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=fresh,
    )  # fmt: skip
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0, said
    assert SENT in said
    assert "Send what agents do here to api.openai.com?" in said
    assert said.index("Send what agents") < said.index(RULES)
    assert tomllib.loads((fresh / ".config/codexmem/config.toml").read_text())["provider"] == "rules"
    status = [sys.executable, "-m", "codexmem.cli", "status", "--json"]
    told = json.loads(subprocess.run(status, env=env, check=True, capture_output=True, timeout=60).stdout)
    assert (told["running"], told["writer"]["provider"]) == (True, "rules")
