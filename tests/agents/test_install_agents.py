"""From nothing to a recalled memory: `init`, `install --detect`, one agent works, another remembers, `uninstall`.

The agents are real, their model is scripted. Nothing of the installation is told to the test: it looks at what the
agents do with the files that `codexmem install` has written.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from codexmem.agents import installable
from codexmem.agents.codex import Codex as CodexFiles
from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.installing import Installer
from codexmem.agents.install.targets import UserHome
from tests._support.scripted_model import Call, Say
from tests._support.waiting import eventually
from tests.agents import story
from tests.agents.codex import Codex
from tests.agents.installation import Installation
from tests.agents.person import SERVER, Person
from tests.agents.qwen import Qwen, through_bridge
from tests.agents.test_codex import items
from tests.agents.test_codex import went_well as codex_went_well
from tests.agents.test_qwen import went_well as qwen_went_well

pytestmark = pytest.mark.timeout(300)

SOURCES = Path(__file__).parents[2] / "src"
GOAL_S = 60.0
# What Codex and Qwen Code write themselves as they run.
THEIRS = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".jsonl", ".log", ".json.bak")


class Shell:
    """The person's shell: `codexmem` as they would call it, in their own home."""

    def __init__(self, person: Person, programs: Path) -> None:
        self._environment = person.environment(
            **SERVER, CODEXMEM_AUTOSTART="1", PYTHONPATH=str(SOURCES), PATH=f"{programs}:{os.environ['PATH']}"
        )
        self._person = person

    def codexmem(self, *words: str, code: int = 0) -> Any:
        """Its answer for programs."""
        done = subprocess.run(
            [sys.executable, "-m", "codexmem.cli", *words, "--json"], cwd=self._person.repository, check=False,
            env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def programs(installation: Installation, tmp_path: Path) -> Path:
    """A folder with the agents' programs, as on a person's PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").symlink_to(installation.codex)
    qwen = folder / "qwen"
    qwen.write_text(f'#!/bin/sh\nexec "{installation.node}" "{installation.qwen}" "$@"\n')
    qwen.chmod(0o755)
    return folder


@pytest.fixture
def shell(person: Person, programs: Path, alone: bool) -> Iterator[Shell]:
    """In an empty home; whatever runs in the background at the end is stopped."""
    shutil.rmtree(person.home)
    person.home.mkdir()
    shell = Shell(person, programs)
    yield shell
    shell.codexmem("stop")


def settled(home: Path) -> dict[str, bytes]:
    """Every file in a home that is not an agent's own working state."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.suffix not in THEIRS and not _passes(path.relative_to(home).parts)
    }


def _passes(parts: tuple[str, ...]) -> bool:
    """Whether it lies in a folder for data, in npm's store, or where Codex keeps a shell while a session lasts."""
    return parts[0].startswith((".local", ".npm")) or "shell_snapshots" in parts


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_from_nothing_to_a_memory_that_another_agent_recalls(
    shell: Shell, codex: Codex, qwen: Qwen, person: Person
) -> None:
    seconds_to_a_recall(shell, codex, qwen, person, clock=lambda: 0.0)


def test_the_first_memory_is_recalled_within_a_minute(shell: Shell, codex: Codex, qwen: Qwen, person: Person) -> None:
    assert seconds_to_a_recall(shell, codex, qwen, person, clock=time.monotonic) <= GOAL_S


def seconds_to_a_recall(shell: Shell, codex: Codex, qwen: Qwen, person: Person, clock: Callable[[], float]) -> float:
    """From the installation until an agent is told what another one learned; then all of it is removed."""
    # Both agents add to their files at their first start in a project; these are the files of somebody who had one.
    codex.configure(f'[projects."{person.repository}"]\ntrust_level = "trusted"\n')
    qwen.configure('{"$version": 4}')
    settings = person.home / ".qwen" / "settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()), indent=2))
    before = settled(person.home)

    began = clock()
    ready = shell.codexmem("init", "--port", str(free_port()))
    assert ready["agents"] == ["codex", "qwen-code"]
    told = shell.codexmem("install", "--detect", "--yes")
    assert [(each["agent"], each["recording"]) for each in told["agents"]] == [("codex", True), ("qwen-code", True)]
    checked = [[check["check"] for check in each["checks"] if check["ok"]] for each in told["agents"]]
    assert checked == [
        ["entries", "switches", "trust", "server", "hook", "tools"],
        ["entries", "switches", "server", "hook", "tools"],
    ]
    # The proof has left nothing behind.
    assert httpx.get(f"{ready['url']}/api/prompts").json()["items"] == []

    person.write(story.FILE, story.BEFORE)
    codex.model.play(
        # Codex asks its model before the tools of servers are known; a moment later they are.
        Call("exec_command", {"cmd": f"sleep 2; cat {story.FILE}"}),
        Call("apply_patch", source=story.PATCH),
        Call("mcp__codexmem__search", {"query": story.SEARCHED}),
        Call("mcp__codexmem__save_memory", {"text": story.SAVED}),
        Say(story.ANSWER),
    )
    run = codex.exec(story.PROMPT)
    codex_went_well(run)
    calls = items(run, "mcp_tool_call")
    assert [(call["tool"], call["status"]) for call in calls] == [("search", "completed"), ("save_memory", "completed")]

    def observed() -> list[str]:
        found = httpx.get(f"{ready['url']}/api/observations?limit=100").json()["items"]
        return [each["title"] for each in found if any(story.FILE in name for name in each["files_modified"])]

    (edited,) = eventually(observed)

    look = {"query": "timeout"}
    qwen.model.play(*through_bridge("mcp__codexmem__search", look), Say(story.NEXT_ANSWER))
    run = qwen.ask(story.NEXT_PROMPT)
    recalled_s = clock() - began
    qwen_went_well(run)
    (system,) = [html.unescape(text) for text in qwen.model.asked[0].texts("system")]
    assert story.SAVED in system
    assert edited in system
    prompts = httpx.get(f"{ready['url']}/api/prompts?limit=100").json()["items"]
    assert {each["prompt_text"] for each in prompts} == {story.PROMPT, story.NEXT_PROMPT}

    removed = shell.codexmem("uninstall", "--yes")
    assert [(each["agent"], each["refused"]) for each in removed["agents"]] == [("codex", None), ("qwen-code", None)]
    after = settled(person.home)
    assert {name: after.get(name) for name in before} == before
    assert [name for name in after if b"codexmem-hook" in after[name]] == []
    return recalled_s


def test_a_hook_that_codex_no_longer_trusts_is_seen_and_fixed(
    codex: Codex, person: Person, programs: Path, tmp_path: Path
) -> None:
    environ = person.environment(PATH=f"{programs}:{os.environ['PATH']}")
    owner = UserHome(person.home, environ)
    agent = installable()["codex"]
    assert isinstance(agent, CodexFiles)
    installer = Installer(
        owner, ProgramCommands(("/opt/bin/codexmem-hook",), ("/opt/bin/codexmem",)), tmp_path / "data"
    )
    before = sorted(person.home.rglob("*"))
    (planned,) = installer.plan(agent)
    # Codex has told the hashes, in a home that is gone; it has left nothing in the person's.
    assert planned.diff().count("+trusted_hash") == 5
    assert sorted(person.home.rglob("*")) == before
    codex.configure()
    installer.install(agent)
    assert agent.untrusted(owner) == []
    # Somebody changes a hook by hand: Codex goes on without it and says nothing.
    config = person.home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace('summarize"\ntimeout = 10', 'summarize"\ntimeout = 11'))
    assert agent.untrusted(owner) == ["/opt/bin/codexmem-hook codex summarize"]
    installer.install(agent)
    assert agent.untrusted(owner) == []
