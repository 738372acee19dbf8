"""Recipe: a coding agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests._support.hook_endpoint import HookEndpoint
from tests.recipes.copied import Copy, listed

pytestmark = pytest.mark.sqlite

RECIPE = "Add a coding agent"
AGENT = '''"""Acme: one settings file, the hooks of the family of Claude Code, other names for tools."""

from __future__ import annotations

from codexmem.agents import InstallableAgent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.targets import UserHome


class Acme(InstallableAgent):
    """`acme`."""

    name = "acme"
    title = "Acme"
    programs = ("acme",)
    tools: Mapping[str, str] = {"acme_terminal": "Bash"}
    adapter = "claude-json"
    acp = "--acp"

    def folder(self, person: UserHome) -> Path:
        """Its home."""
        return person.folder("ACME_HOME", ".acme")


AGENT = Acme()
'''
READ_BY = """
from codexmem.codecli.agents.choosing import choose
from codexmem.codecli.agents.protocol import Launch
from codexmem.codecli.configuration import Config
print(choose(Config(), Launch({words!r}, {{}}, "/")).name)
"""
EVENT = {
    "session_id": "s-1", "cwd": "/r", "hook_event_name": "PostToolUse", "tool_name": "acme_terminal",
    "tool_input": {"command": "make test"}, "tool_response": "12 passed",
}  # fmt: skip


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """The package with the agent `acme`."""
    copy = Copy.below(tmp_path)
    copy.add("agents/acme.py", AGENT)
    copy.insert("agents/__init__.py", '"opencode", "cline"', ', "acme"')
    return copy


def planned(copy: Copy, *words: str) -> dict[str, Any]:
    """What `install` would do for the one agent that is meant, on a PATH without any."""
    command = ("-m", "codexmem.cli", "--json", "install", "--dry-run", *words)
    (agent,) = json.loads(copy.output(*command, env={"PATH": "/usr/bin:/bin"}))["agents"]
    found: dict[str, Any] = agent
    return found


def test_it_is_installed_heard_answered_and_started(copy: Copy) -> None:
    assert copy.changed == set(listed(RECIPE, agent="acme"))
    assert "acme" in copy.run("-m", "codexmem.cli", "install").stderr  # which agents there are
    settings = copy.home / ".acme" / "settings.json"
    plan = planned(copy, "acme")
    assert (plan["title"], plan["refused"]) == ("Acme", None)
    (file,) = plan["files"]
    assert file["path"] == str(settings)
    assert "acme observation" in file["diff"]
    settings.parent.mkdir()
    assert planned(copy, "--detect")["agent"] == "acme"

    with HookEndpoint(context="known: port 8123") as endpoint:
        env = {"CODEXMEM_URL": endpoint.url}
        copy.output("-m", "codexmem.hook", "acme", "observation", given=json.dumps(EVENT), env=env)
        (event,) = endpoint.events
        assert (event.body["platform"], event.body["tool_name"]) == ("acme", "Bash")
        start = json.dumps({"session_id": "s-1", "cwd": "/r", "hook_event_name": "SessionStart"})
        told = json.loads(copy.output("-m", "codexmem.hook", "acme", "context", given=start, env=env))
        assert told["hookSpecificOutput"]["additionalContext"] == "known: port 8123"

    program = copy.home / "bin" / "acme"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = {"PATH": str(program.parent)}
    found = f"from codexmem.codecli import programs; print(programs.command((), {path!r}))"
    assert copy.output("-c", found).strip() == "('acme',)"
    for words, adapter in ((("acme", "-p", "hi"), "claude-json"), (("acme", "--acp"), "acp")):
        assert copy.output("-c", READ_BY.format(words=words)).strip() == adapter
    for language in ("en", "zh"):
        for command in ("hook", "install"):
            assert "acme" in copy.output("-m", "codexmem.cli", command, "--help", "--lang", language)
