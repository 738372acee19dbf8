"""Plugins for the agents' shops say what `codexmem install` would."""

from __future__ import annotations

import base64
import json
import re
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from codexmem.agents import NAMES, installable
from codexmem.agents.cursor import AGENT as CURSOR
from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.entries import Element, is_ours
from codexmem.agents.install.plugins import BARE, COMMANDS, REGISTRY_NAME, registry_entry, tree
from codexmem.agents.install.targets import UserHome
from codexmem.kernel.model import own_tools

ROOT = Path(__file__).parents[3]
TOLD = ProgramCommands(("/opt/it's/codexmem-hook",), ("/opt/it's/codexmem",), {"CODEXMEM_DATA_DIR": "/data"})
HOOKS = {
    "claude-code": "hooks/hooks.json",
    "codex": "hooks/hooks.json",
    "gemini-cli": "hooks/hooks.json",
    "qwen-code": "qwen-extension.json",
}


@pytest.mark.parametrize("agent", HOOKS)
@pytest.mark.parametrize("commands", [BARE, TOLD], ids=["bare", "told"])
def test_a_plugin_has_the_hooks_that_install_would_write(agent: str, commands: ProgramCommands, tmp_path: Path) -> None:
    person = UserHome(tmp_path, {})
    entries = [entry for target in installable()[agent].targets(person, commands) for entry in target.entries]
    if agent == "codex":  # writes its hooks with its own file
        entries = list(installable()["qwen-code"].targets(person, commands)[0].entries)
    wanted = {entry.path[-1] for entry in entries if isinstance(entry, Element) and entry.path[0] == "hooks"}
    hooks = json.loads(tree(commands)[f"plugins/{agent}/{HOOKS[agent]}"])["hooks"]
    assert hooks.keys() == wanted
    assert all(len(groups) == 1 and is_ours(groups[0]) for groups in hooks.values())
    if agent != "codex":
        assert [groups[0] for _, groups in sorted(hooks.items())] == [
            entry.value
            for entry in sorted(entries, key=lambda each: each.path)
            if isinstance(entry, Element) and entry.path[0] == "hooks"
        ]


def test_commands_that_must_be_told_where_the_store_is_say_it_in_every_plugin() -> None:
    made = tree(TOLD)
    for agent in HOOKS:
        texts = [text for name, text in made.items() if name.startswith(f"plugins/{agent}/")]
        assert any("env CODEXMEM_DATA_DIR=/data" in text for text in texts)
        assert any('"--data-dir",' in text for text in texts)
    assert (
        'const HOOK = ["env", "CODEXMEM_DATA_DIR=/data", "/opt/it\'s/codexmem-hook"]'
        in made["plugins/opencode/index.js"]
    )


def test_every_agent_with_a_plugin_has_every_slash_command() -> None:
    made = tree()
    for each in COMMANDS:
        assert f"plugins/claude-code/commands/{each.name}.md" in made
        assert f"plugins/qwen-code/commands/{each.name}.md" in made
        assert each.summary in made[f"plugins/codex/skills/{each.name}/SKILL.md"]
        gemini = tomllib.loads(made[f"plugins/gemini-cli/commands/{each.name}.toml"])
        assert gemini["prompt"] == each.prompt(BARE, "{{args}}")
        assert f"/{each.name}" in (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
        named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", each.task))
        assert named <= own_tools.TOOLS, "a task names a tool that we do not have"


def test_erasing_is_asked_for_before_it_is_done() -> None:
    (forget,) = [each.prompt(BARE, "") for each in COMMANDS if each.name == "forget"]
    assert forget.index("ask which of them") < forget.index("Stop there") < forget.index("--yes")


def test_the_link_for_cursor_brings_the_server_that_install_would_write(tmp_path: Path) -> None:
    link = urlsplit(CURSOR.link(BARE))
    asked = parse_qs(link.query)
    _, servers = CURSOR.targets(UserHome(tmp_path, {}), BARE)
    (entry,) = servers.entries
    assert (link.scheme, link.netloc, asked["name"]) == ("cursor", "anysphere.cursor-deeplink", ["codexmem"])
    assert json.loads(base64.b64decode(asked["config"][0])) == entry.value
    for page in ("plugins.md", "plugins.zh.md"):
        assert CURSOR.link(BARE) in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_the_registry_can_tell_that_the_package_is_ours() -> None:
    entry = json.loads(registry_entry())
    assert entry["packages"][0]["packageArguments"] == [{"type": "positional", "value": word} for word in BARE.mcp[1:]]
    # The registry reads this mark in the description of the package, which is the README.
    assert f"<!-- mcp-name: {REGISTRY_NAME} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_guide_names_every_agent() -> None:
    told = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if installable().get(name) and installable()[name].title not in told] == []
