"""Who writes the memories and where the text goes: told by every command that a person looks at, in both languages."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.kernel.model.writer import writer_of
from tests._support import warm
from tests._support.git import Repository
from tests._support.kept_transcripts import kept
from tests.cli.conftest import Call
from tests.cli.test_processes import environ

pytestmark = pytest.mark.sqlite
RULES = "memories are written by rules on this machine; nothing leaves it"
SENT = "what agents do here is sent to api.openai.com"


@pytest.mark.parametrize(
    "base_url, key, language, said",
    [
        ("", "", "en", f"{RULES} (for their meaning as well: codexmem writer)"),
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
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")  # for something else: nobody said that we may use it
    assert call("config", "get", "provider").out == "rules\n"
    assert f"{RULES} (there is an OPENAI_API_KEY; to use it: codexmem writer openai)" in call("status").out
    assert call("status", "--json").json["writer"]["leaves_machine"] is False
    monkeypatch.setenv("CODEXMEM_PROVIDER", "openai")
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
    subprocess.run([warm.program("codexmem"), "stop"], env=_environ(home), check=False, timeout=60)


def _environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in environ().items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(home), "PATH": "/usr/bin:/bin", "CODEXMEM_EMBEDDER": "none", "CODEXMEM_PORT": "0",
            "COLUMNS": "1000", **more}  # fmt: skip


def test_init_asks_on_a_terminal_and_keeps_the_answers(fresh: Path) -> None:
    """The server that is started has the key in its environment and does not use it; what agents kept is imported."""
    env = _environ(fresh, OPENAI_API_KEY="sk-1")
    kept(fresh, "s1", "We decided to use valve seven.")
    shop = Repository(fresh / "shop")
    (shop.path / "AGENTS.md").write_text("# Tests\n\nRun make check before every commit.\n")
    shop.commit("feat: retry payments\n\nThe gateway drops one request in a hundred, so we retry five times.", "pay.py")
    ours, theirs = pty.openpty()
    os.write(ours, b"1\nn\ny\ny\n")  # rules, no hooks for the Claude Code that is found, and yes to both imports
    done = subprocess.run(
        [warm.program("codexmem"), "init", "--service", "none"], env=env, check=False, timeout=120,
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=shop.path,
    )  # fmt: skip
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0, said
    assert f"1  {RULES}" in said
    assert "2  memories are written by the model" in said
    assert SENT in said
    assert said.index("Who writes your memories?") < said.index("codexmem is ready")
    assert said.count("Recommended") == 4  # writer, agents, conversations, repository
    assert "claude-code: 1 session from 2026-05-04 to " in said
    assert "1 session imported" in said
    assert "1 memory imported" in said  # the commit
    assert "project shop: 1 new" in said  # the section of AGENTS.md
    assert tomllib.loads((fresh / ".config/codexmem/config.toml").read_text())["provider"] == "rules"
    status = [warm.program("codexmem"), "status", "--json"]
    told = json.loads(subprocess.run(status, env=env, check=True, capture_output=True, timeout=60).stdout)
    assert (told["running"], told["writer"]["provider"]) == (True, "rules")


def test_another_writer_is_one_command_and_the_running_server_follows(fresh: Path) -> None:
    env = _environ(fresh)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [warm.program("codexmem"), *words]
        return subprocess.run(command, env=env, check=False, capture_output=True, text=True, timeout=120, cwd=fresh)

    first = call("start", "--json")
    assert first.returncode == 0, first.stderr
    assert json.loads(call("writer", "--json").stdout)["provider"] == "rules"
    done = call("writer", "claude", "--json")
    told = json.loads(done.stdout)
    assert (told["provider"], told["leaves_machine"]) == ("claude", True)
    assert "memories are written by your Claude Code login" in told["text"]
    assert tomllib.loads((fresh / ".config/codexmem/config.toml").read_text())["provider"] == "claude"
    assert json.loads(call("status", "--json").stdout)["pid"] != json.loads(first.stdout)["pid"]
    assert "由本机上的规则写成" in call("writer", "rules", "--lang", "zh").stdout
    wrong = call("writer", "cursor")
    assert (wrong.returncode, "codex" in wrong.stderr) == (2, True)
    assert call("stop").returncode == 0
    env["CODEXMEM_PROVIDER"] = "codex"
    said = call("writer", "qwen").stderr
    assert "CODEXMEM_PROVIDER says otherwise and wins" in said
    assert "What would be sent" in said
    assert "Qwen Code was not found on this PATH" in said


def test_init_offers_the_agents_that_are_there(fresh: Path) -> None:
    programs = fresh / "bin"
    programs.mkdir()
    for name in ("codex", "qwen"):
        (programs / name).write_text("#!/bin/sh\nexit 1\n")
        (programs / name).chmod(0o755)
    env = _environ(fresh, PATH=f"{programs}:/usr/bin:/bin", CODEXMEM_LANG="zh")
    ours, theirs = pty.openpty()
    os.write(ours, b"3\nn\n")
    done = subprocess.run(
        [warm.program("codexmem"), "init", "--service", "none"], env=env, check=False, timeout=120,
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=fresh,
    )  # fmt: skip
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0, said
    assert "由谁写您的记忆？" in said
    assert "2  记忆由您的 Codex 登录写成" in said
    assert "3  记忆由您的 Qwen Code 登录写成" in said
    assert "4  " not in said
    assert "会发送的内容" in said
    assert tomllib.loads((fresh / ".config/codexmem/config.toml").read_text())["provider"] == "qwen"
