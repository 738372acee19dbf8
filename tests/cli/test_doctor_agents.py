"""What `doctor` says of agents: set up to record, or exactly why not; and how `--fix` puts entries back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codexmem.agents import installable
from codexmem.agents.install import proof
from codexmem.console.store import chosen, place_of
from codexmem.operations.cli.install.text import installer_of, person
from tests.cli.conftest import Call

pytestmark = pytest.mark.sqlite


@pytest.fixture(autouse=True)
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent on the PATH, and every agent's folder where it usually is."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "QWEN_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)


def install(name: str) -> None:
    installer_of(chosen()).install(installable()[name])


def found(call: Call, name: str, *args: str) -> list[dict[str, Any]]:
    return [each for each in call("doctor", "--json", *args).json["checks"] if each["check"] == f"agent:{name}"]


def test_nobody_and_somebody_who_is_not_connected(call: Call, home: Path) -> None:
    assert "no coding agent found" in call("doctor").out
    (home / ".qwen").mkdir()
    (new,) = found(call, "qwen-code")
    assert (new["state"], new["how"]) == ("skipped", "codexmem install qwen-code, if you want that")
    assert call("doctor", "--fix", "--json").json["fixes"] == []
    assert list((home / ".qwen").iterdir()) == []


@pytest.mark.parametrize("name", [agent.name for agent in installable().values() if agent.name != "codex"])
def test_every_agent_as_it_is_installed_is_set_up(name: str, call: Call) -> None:
    install(name)
    assert [each["state"] for each in found(call, name)] == ["ok"]


def test_codex_without_trust_does_not_record(call: Call, home: Path) -> None:
    """Without its program nothing could be trusted; with the marks that Codex itself would have given, it is."""
    install("codex")
    (untrusted,) = found(call, "codex")
    assert untrusted["what"] == "Codex does not record: it does not trust 5 of the codexmem hooks"
    config = home / ".codex" / "config.toml"
    labels = ("session_start", "user_prompt_submit", "post_tool_use", "stop", "session_end")
    marks = "".join(f'\n[hooks.state."{config}:{label}:0:0"]\ntrusted_hash = "sha256:1"\n' for label in labels)
    config.write_text(config.read_text() + marks)
    assert [each["state"] for each in found(call, "codex")] == ["ok"]


def test_lost_entries_are_told_and_put_back(call: Call, home: Path) -> None:
    file = home / ".qwen" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  // mine\n  "a": 1\n}\n')
    install("qwen-code")
    whole = file.read_text()
    # Another program rewrites the file.
    file.write_text('{"a": 1, "b": 2}')
    (lost,) = found(call, "qwen-code")
    assert (lost["state"], lost["what"]) == (
        "failure", "Qwen Code does not record: the codexmem entries are gone from its configuration"
    )  # fmt: skip
    assert call("doctor").code == 1
    assert file.read_text() == '{"a": 1, "b": 2}'
    said = call("doctor", "--fix", "--json")
    assert [each["outcome"] for each in said.json["fixes"]] == ["fixed"]
    now = json.loads(file.read_text())
    assert (now["a"], now["b"]) == (1, 2)
    assert now["hooks"] == json.loads(whole.replace("// mine", ""))["hooks"]
    assert [each["state"] for each in found(call, "qwen-code")] == ["ok"]
    # And out again, to what the other program left.
    assert call("uninstall", "qwen-code", "--yes").code == 0
    assert json.loads(file.read_text()) == {"a": 1, "b": 2}


def test_each_problem_is_named(call: Call, home: Path) -> None:
    file = home / ".qwen" / "settings.json"
    install("qwen-code")
    whole = file.read_text()
    settings = json.loads(whole)
    del settings["hooks"]["PostToolUse"], settings["mcpServers"]
    file.write_text(json.dumps(settings | {"disableAllHooks": True}))
    part, off, tools = found(call, "qwen-code")
    assert part["what"].endswith("it has no codexmem hook for observation")
    assert off["what"] == f"Qwen Code does not record: disableAllHooks = true ({file})"
    assert tools["what"] == "Qwen Code has no working codexmem tools"
    assert [each["state"] for each in (part, off, tools)] == ["failure", "warning", "warning"]
    (would,) = call("doctor", "--dry-run", "--json").json["fixes"]
    assert would["what"].startswith("restore the codexmem entries in the configuration of Qwen Code")
    hook = json.loads(whole)["hooks"]["Stop"][0]["hooks"][0]["command"]
    gone = next(word for word in hook.split() if word.endswith("codexmem-hook"))
    file.write_text(whole.replace(gone, "/nowhere/codexmem-hook"))
    (moved,) = found(call, "qwen-code")
    assert moved["what"] == "Qwen Code does not record: the program /nowhere/codexmem-hook does not exist"
    assert call("doctor", "--fix", "--json").json["fixes"][0]["outcome"] == "fixed"
    assert file.read_text() == whole


def test_a_file_that_cannot_be_read_is_left_to_the_person(call: Call, home: Path) -> None:
    install("qwen-code")
    file = home / ".qwen" / "settings.json"
    file.write_text('{"a": ')
    (fix,) = call("doctor", "--fix", "--json").json["fixes"]
    assert fix["outcome"] == "failed"
    assert fix["what"].startswith(f"{file} was not changed: line 1, column 7: it ends too early")
    assert file.read_text() == '{"a": '


def test_connected_but_nobody_starts_the_server(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    install("gemini-cli")
    monkeypatch.setenv("CODEXMEM_AUTOSTART", "0")
    (waits,) = found(call, "gemini-cli")
    assert (waits["state"], waits["how"]) == ("warning", "codexmem start")
    assert "Gemini CLI 已设置为记录，但没有服务器在运行" in call("doctor", "--lang", "zh").out


def test_a_comment_that_the_agent_does_not_take_is_no_recording(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code ignores such a file as a whole, and says so nowhere."""
    monkeypatch.setenv("CODEXMEM_AUTOSTART", "0")
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "theme": "dark"\n}\n')
    install("claude-code")
    settings.write_text(settings.read_text().replace("{", "{\n  // mine", 1))
    (finding,) = found(call, "claude-code")
    assert finding["state"] == "failure"
    assert f"its own parser refuses {settings}: line 2, column 3: a comment" in finding["what"]
    assert "注释，而该智能体的解析器不接受注释" in call("doctor", "--lang", "zh").out
    assert proof.prove(installable()["claude-code"], person(), place_of(chosen()))[0].problem == "unread"
    assert call("uninstall", "claude-code", "--yes").code == 0
    assert settings.read_text() == '{\n  // mine\n  "theme": "dark"\n}\n'
    said = call("install", "claude-code", "--yes")
    assert (said.code, "a comment, which the agent's parser does not take" in said.err + said.out) == (1, True)
