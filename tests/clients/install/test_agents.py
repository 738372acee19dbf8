"""Each agent's files: ours go in once, everything else stays, and taking ours out leaves every byte as it was."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codexmem.agents import CONTEXT, END, PROMPT, STOP, TOOL, InstallableAgent, installable
from codexmem.agents.install.installing import Installer, InstallRefused
from codexmem.agents.install.targets import McpServerEntry, UserHome
from tests.agents import guide

Write = Callable[[str, str], Path]

PLAIN_HOOK = """\
{
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  },
  "theme": "dark"
}
"""
COMMENTED_HOOK = PLAIN_HOOK.replace("{\n", "{\n  // my own\n", 1).replace("}]}]", "}]}] // mine")
KIMI_HOOK = """\
default_model = "k" # mine

[[hooks]]
event = "Stop"
command = "say done"

[[permission.rules]]
decision = "allow"
pattern = "Read"
"""
# What people have in these files, per agent; an empty text is no file.
FILES: dict[str, list[dict[str, str]]] = {
    "codex": [
        {".codex/config.toml": '# mine\nmodel = "x" # why\n\n[features]\napps = false\n'},
        {".codex/config.toml": '[hooks]\nStop = [{ hooks = [{ type = "command", command = "say done" }] }] # mine\n'},
        {
            ".codex/config.toml": 'model = "x"\n',
            ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\n',
        },
    ],
    "claude-code": [
        {".claude/settings.json": PLAIN_HOOK, ".claude.json": '{"numStartups": 3, "projects": {"/x": {}}}'},
        {".claude/settings.json": '{\r\n\t"permissions": {"allow": ["Bash(ls)"]}\r\n}\r\n'},
    ],
    "cursor": [
        {".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}'},
        {".cursor/mcp.json": '{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}'},
    ],
    "gemini-cli": [{".gemini/settings.json": COMMENTED_HOOK}, {".gemini/settings.json": "{}"}],
    "qwen-code": [{".qwen/settings.json": COMMENTED_HOOK}, {".qwen/settings.json": ""}],
    "opencode": [
        {".config/opencode/opencode.json": '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'},
        {".config/opencode/opencode.jsonc": '{\n  // mine\n  "mcp": {}\n}\n'},
    ],
    "cline": [
        {".cline/data/settings/cline_mcp_settings.json": '{\n  "mcpServers": {}\n}\n'},
        {".cline/hooks/PreToolUse": "#!/bin/sh\necho '{}'\n"},
    ],
    "copilot-cli": [
        {".copilot/mcp-config.json": '{\n  "mcpServers": {\n    "other": {"type": "local", "command": "x"}\n  }\n}'},
        {".copilot/hooks/mine.json": '{"version": 1, "hooks": {"Stop": [{"bash": "say done"}]}}\n'},
    ],
    "kimi-code": [
        {".kimi-code/config.toml": KIMI_HOOK, ".kimi-code/mcp.json": '{"mcpServers": {}}'},
        {".kimi-code/config.toml": 'hooks = [{ event = "Stop", command = "say done" }] # mine\n'},
    ],
}
TOML = {"codex", "kimi-code"}  # whose configuration is not JSON
CASES = [(name, files) for name, each in FILES.items() for files in [{}, *each]]


def is_within(text: str, whole: str) -> bool:
    """Whether every character of the text comes in the whole, one behind the other."""
    rest = iter(whole)
    return all(each in rest for each in text)


def tree(home: Path) -> dict[str, bytes | None]:
    """Every file and folder."""
    return {str(p.relative_to(home)): p.read_bytes() if p.is_file() else None for p in sorted(home.rglob("*"))}


@pytest.mark.parametrize("name,files", CASES)
@pytest.mark.process
def test_in_and_out_again(
    name: str, files: dict[str, str], installer: Installer, person: UserHome, write: Write
) -> None:
    agent = installable()[name]
    for path, text in files.items():
        write(path, text)
    before = tree(person.home)
    installer.install(agent)
    installed = tree(person.home)
    assert installed != before
    for path, text in files.items():
        # Whatever stood there still does, in its order; only commas may have come between.
        assert is_within(text.replace(",", ""), (person.home / path).read_bytes().decode().replace(",", ""))
    assert [change.fate for change in installer.plan(agent)].count("none") == len(installer.plan(agent))
    installer.install(agent)
    assert tree(person.home) == installed
    assert agent.hook(person, PROMPT) == f"/opt/bin/codexmem-hook {name} session-init"
    assert agent.server(person) == McpServerEntry(("/opt/bin/codexmem", "mcp", "--toolset", "recall"), {})
    assert [change.since for change in installer.uninstall(agent)] == [False] * len(installer.plan(agent))
    assert tree(person.home) == before


@pytest.mark.parametrize("name", [name for name in installable() if name not in TOML])
def test_a_malformed_file_is_refused_and_untouched(
    name: str, installer: Installer, person: UserHome, write: Write
) -> None:
    agent = installable()[name]
    target = agent.targets(person, installer.commands)[0]
    write(str(target.path.relative_to(person.home)), '{\n  "hooks": \n}\n')
    before = tree(person.home)
    with pytest.raises(InstallRefused) as refused:
        installer.install(agent)
    assert (refused.value.path, refused.value.problem) == (target.path, "line 3, column 1: a value was expected")
    assert tree(person.home) == before


def test_a_malformed_configuration_of_codex_is_refused(installer: Installer, write: Write) -> None:
    path = write(".codex/config.toml", "model = \n")
    with pytest.raises(InstallRefused, match="line 1"):
        installer.install(installable()["codex"])
    assert path.read_text() == "model = \n"
    path.write_text("")
    hooks = write(".codex/hooks.json", "{")
    with pytest.raises(InstallRefused, match="ends too early"):
        installer.install(installable()["codex"])
    assert (path.read_text(), hooks.read_text()) == ("", "{")


@pytest.mark.parametrize(
    "name,moments,times",
    [
        ("codex", ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"), (10, 3)),
        ("claude-code", ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"), (10, 3)),
        ("gemini-cli", ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"), (10_000, 3_000)),
        ("qwen-code", ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"), (10_000, 3_000)),
    ],
)
def test_moments_and_units_of_time(
    name: str, moments: tuple[str, ...], times: tuple[int, int], installer: Installer, person: UserHome
) -> None:
    agent = installable()[name]
    installer.install(agent)
    settings = read(agent, person)
    for event, moment in zip((CONTEXT, PROMPT, TOOL, STOP, END), moments, strict=True):
        ((hook,),) = [group["hooks"] for group in settings["hooks"][moment]]
        wanted = {"type": "command", "command": f"/opt/bin/codexmem-hook {name} {event}"}
        assert hook == wanted | {"timeout": times[1] if event == END else times[0]}


def read(agent: InstallableAgent, person: UserHome) -> dict[str, Any]:
    """The file with the hooks."""
    if agent.name == "codex":
        return tomllib.loads((agent.folder(person) / "config.toml").read_text())
    read: dict[str, Any] = json.loads((agent.folder(person) / "settings.json").read_text())
    return read


def test_tools_need_no_asking_where_that_is_written_in_a_file(installer: Installer, person: UserHome) -> None:
    for agent in installable().values():
        installer.install(agent)
    assert read(installable()["codex"], person)["mcp_servers"]["codexmem"]["default_tools_approval_mode"] == "approve"
    assert "required" not in read(installable()["codex"], person)["mcp_servers"]["codexmem"]
    assert read(installable()["claude-code"], person)["permissions"]["allow"] == ["mcp__codexmem"]
    for name in ("gemini-cli", "qwen-code"):
        assert read(installable()[name], person)["mcpServers"]["codexmem"]["trust"] is True
    rules = tomllib.loads((person.home / ".kimi-code" / "config.toml").read_text())["permission"]["rules"]
    assert rules == [{"decision": "allow", "pattern": "mcp__codexmem__*"}]


@pytest.mark.parametrize(
    "name,path,text",
    [
        ("codex", ".codex/config.toml", "{codex-mcp}\n{codex-hooks}"),
        ("qwen-code", ".qwen/settings.json", "{qwen-settings}"),
    ],
)
def test_what_was_written_by_hand_from_the_guide_is_not_doubled(
    name: str, path: str, text: str, installer: Installer, person: UserHome, write: Write
) -> None:
    blocks = guide.blocks()
    for key, block in blocks.items():
        text = text.replace(f"{{{key}}}", block)
    file = write(path, text)
    installer.install(installable()[name])
    assert file.read_text().count("codexmem-hook") == 5
    assert installable()[name].hook(person, STOP) == f"/opt/bin/codexmem-hook {name} summarize"
    installer.uninstall(installable()[name])
    assert file.read_text() == text


def test_a_hook_of_theirs_in_one_group_with_ours_stays(installer: Installer, person: UserHome, write: Write) -> None:
    both = [{"command": "codexmem-hook qwen-code summarize"}, {"command": "say done"}]
    file = write(".qwen/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": both}]}}))
    installer.install(installable()["qwen-code"])
    groups = json.loads(file.read_text())["hooks"]["Stop"]
    assert [[hook["command"] for hook in group["hooks"]] for group in groups] == [
        ["say done"],
        ["/opt/bin/codexmem-hook qwen-code summarize"],
    ]


def test_words_that_name_our_hook_elsewhere_are_left_alone(installer: Installer, write: Write) -> None:
    text = '{"history": ["run codexmem-hook"], "projects": {"/x": ["codexmem-hook"]}}'
    file = write(".claude.json", text)
    installer.install(installable()["claude-code"])
    assert json.loads(file.read_text())["history"] == ["run codexmem-hook"]


def test_another_program_replaces_our_own_entries(installer: Installer, person: UserHome, write: Write) -> None:
    file = write(".qwen/settings.json", '{\n  "a": 1\n}\n')
    installer.install(installable()["qwen-code"])
    from codexmem.agents.install.commands import ProgramCommands

    elsewhere = Installer(
        person, ProgramCommands(("/new/codexmem-hook",), ("/new/codexmem",)), installer.receipts.folder.parent
    )
    elsewhere.install(installable()["qwen-code"])
    assert "/opt/bin" not in file.read_text()
    elsewhere.uninstall(installable()["qwen-code"])
    assert file.read_text() == '{\n  "a": 1\n}\n'


@pytest.mark.parametrize(
    "name,path,text",
    [
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}'),
        ("qwen-code", ".qwen/settings.json", '{"disableAllHooks": true}'),
        ("copilot-cli", ".copilot/settings.json", '{"disableAllHooks": true}'),
        ("gemini-cli", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
        (
            "gemini-cli",
            ".gemini/settings.json",
            '{"hooksConfig": {"disabled": ["/opt/bin/codexmem-hook gemini-cli x"]}}',
        ),
    ],
)
def test_switches_against_hooks_are_seen(name: str, path: str, text: str, person: UserHome, write: Write) -> None:
    assert installable()[name].obstacles(person) == []
    write(path, text)
    (said,) = installable()[name].obstacles(person)
    assert str(person.home / path) in said


def test_agents_are_found_by_program_or_folder(person: UserHome, tmp_path: Path) -> None:
    assert [agent.name for agent in installable().values() if agent.found(person)] == []
    (person.home / ".cursor").mkdir()
    program = tmp_path / "bin" / "qwen"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert [agent.name for agent in installable().values() if agent.found(person)] == ["cursor", "qwen-code"]
    assert installable()["qwen-code"].found(person).program == str(program)


def test_folders_that_were_moved_are_honoured(tmp_path: Path) -> None:
    moved = {"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/l", "QWEN_HOME": "/q", "GEMINI_CLI_HOME": "/g",
             "XDG_CONFIG_HOME": "/x", "COPILOT_HOME": "/p", "KIMI_CODE_HOME": "/k"}  # fmt: skip
    person = UserHome(tmp_path, moved)
    assert [str(agent.folder(person)) for agent in installable().values()] == [
        "/c", "/l", str(tmp_path / ".cursor"), "/g/.gemini", "/q", "/x/opencode", str(tmp_path / ".cline"), "/p", "/k",
    ]  # fmt: skip


def test_programs_that_cline_calls_can_be_run(installer: Installer, person: UserHome, write: Write) -> None:
    installer.install(installable()["cline"])
    for name in ("UserPromptSubmit", "PostToolUse", "TaskComplete", "SessionShutdown"):
        assert os.access(person.home / ".cline" / "hooks" / name, os.X_OK)
    installer.uninstall(installable()["cline"])
    mine = write(".cline/hooks/PostToolUse", "#!/bin/sh\necho '{}'\n")
    with pytest.raises(InstallRefused, match="not from codexmem"):
        installer.install(installable()["cline"])
    assert mine.read_text() == "#!/bin/sh\necho '{}'\n"


def test_a_plugin_of_somebody_else_is_not_overwritten(installer: Installer, write: Write) -> None:
    file = write(".config/opencode/plugins/codexmem.js", "export const Mine = 1\n")
    with pytest.raises(InstallRefused, match="not from codexmem"):
        installer.install(installable()["opencode"])
    assert file.read_text() == "export const Mine = 1\n"


# What the programs themselves said of such a file, by `mcp list` and its like. Cursor, Codex and Kimi Code could not be
# asked: what every parser takes is right for them.
READS = {
    "claude-code": (False, False), "cline": (False, False), "codex": (False, False), "cursor": (False, False),
    "copilot-cli": (True, True), "gemini-cli": (True, False), "kimi-code": (False, False), "opencode": (True, True),
    "qwen-code": (True, False),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize(
    "place,text,problem",
    [
        (0, '{\n  // mine\n  "a": 1\n}\n', "line 2, column 3: a comment"),
        (1, '{\n  "a": {"b": 1,}\n}\n', "line 2, column 15: a comma before the end"),
    ],
)
def test_a_file_that_the_agents_own_parser_refuses_is_refused(
    name: str, place: int, text: str, problem: str, person: UserHome, installer: Installer
) -> None:
    agent = installable()[name]
    assert bool(agent.refusal(text)) is not READS[name][place]
    target = next((each for each in agent.targets(person, installer.commands) if each.form == "json"), None)
    if target is None or READS[name][place]:
        return
    target.path.parent.mkdir(parents=True, exist_ok=True)
    target.path.write_text(text)
    with pytest.raises(InstallRefused, match=f"{problem}, which the agent's parser does not take"):
        installer.install(agent)
    assert target.path.read_text() == text
    assert [path for path, _ in agent.unread(person)] == [target.path]
