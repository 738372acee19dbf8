"""The first minute: from `pip install` to an answer out of an old conversation, and to a memory that one agent has left
and the next one is handed.

`just first-minute` builds the wheel, makes an empty home with real Codex, Qwen Code, Gemini CLI, OpenCode and Claude
Code, each of which is told a decision that it keeps in its own transcript (Codex's is then dated back by three months),
installs the wheel into an environment of its own and runs `codexmem init`, `codexmem install --detect` and `codexmem
import transcripts`. Each agent is asked about the decision that another one was told and must have it before it. Then
each agent changes a file and saves a memory; the next agent, and in the end the first, must be told of it at its start.
`codexmem uninstall` must leave every file as it was. Downloads are made before the clock starts. Ends with an error
if anything is not so.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import httpx

from codexmem.installation import DISTRIBUTION
from tests._support.scripted_model import Say
from tests._support.waiting import eventually
from tests.agents import earlier, four_agents, story
from tests.agents.four_agents import Driven, Place
from tests.agents.installation import Installation
from tests.agents.person import SERVER, Person
from tests.agents.test_install_agents import free_port, settled

ROOT = Path(__file__).parents[2]
AGENTS = (four_agents.codex, four_agents.qwen, four_agents.gemini, four_agents.opencode)
NAMES = {"codex", "qwen-code", "gemini-cli", "opencode", "claude-code"}
CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.197"
GOAL_S = 60.0


class Environment:
    """A fresh virtual environment with nothing but what the wheel brings."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._wheels = folder / "venv", folder / "wheels"
        uv = [sys.executable, "-m", "uv", "build", "--wheel", "--quiet", "--no-build-isolation"]
        subprocess.run([*uv, "--python", sys.executable, "--out-dir", self._wheels, ROOT], check=True)
        venv.create(self._folder, with_pip=True)
        locked: list[str | Path] = [
            "--require-hashes",
            "--only-binary",
            ":all:",
            "-r",
            ROOT / "requirements" / "base.txt",
        ]
        subprocess.run([*self._pip, "download", "--quiet", *locked, "-d", self._wheels], check=True)

    @property
    def programs(self) -> Path:
        """Where the commands are."""
        return self._folder / "bin"

    def install(self) -> None:
        """As a person would, from files that are here already."""
        offline: list[str | Path] = ["--no-index", "--find-links", self._wheels]
        subprocess.run([*self._pip, "install", "--quiet", *offline, DISTRIBUTION], check=True)

    @property
    def _pip(self) -> list[str | Path]:
        return [self.programs / "python", "-m", "pip", "--disable-pip-version-check"]


class Shell:
    """`codexmem` as the person calls it."""

    def __init__(self, person: Person, programs: Path, agents: Path) -> None:
        path = f"{agents}:{programs}:{os.environ['PATH']}"
        self._program = programs / "codexmem"
        self._environment = person.environment(**SERVER, CODEXMEM_AUTOSTART="1", PATH=path)
        self._person = person

    def codexmem(self, *words: str) -> Any:
        """Its answer for programs."""
        done = subprocess.run(
            [self._program, *words, "--json"], cwd=self._person.repository, env=self._environment, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"codexmem {' '.join(words)}\n{done.stdout}{done.stderr}"
        return json.loads(done.stdout)


def main(folder: Path) -> None:
    """The whole story."""
    fresh = Environment(folder)
    person = Person(folder, "shop")
    (person.home / ".profile").unlink()
    agents = folder / "agents"
    agents.mkdir()
    place = Place(person, agents, Installation.find(), four_agents.install(CLAUDE_CODE))
    with contextlib.ExitStack() as stack:
        driven = [stack.enter_context(set_up(place)) for set_up in AGENTS]
        stack.enter_context(earlier.claude(place))
        earlier.told(driven)
        oldest = earlier.dated_back(person.home)
        before = settled(person.home)
        began = time.monotonic()
        fresh.install()
        say("pip install", began)
        shell = Shell(person, fresh.programs, agents)
        url = shell.codexmem("init", "--port", str(free_port()))["url"]
        try:
            told = shell.codexmem("install", "--detect", "--yes")["agents"]
            assert {each["agent"] for each in told if each["recording"]} == NAMES, told
            say("init and install of five agents", began)
            taken = shell.codexmem("import", "transcripts")
            assert taken["agents"] == dict.fromkeys(NAMES, 1), taken
            say(f"{sum(taken['agents'].values())} sessions imported, the oldest of {oldest:%Y-%m-%d}", began)
            remember(driven, began)
            work(driven, person, url, began)
            assert all(each["refused"] is None for each in shell.codexmem("uninstall", "--yes")["agents"])
        finally:
            shell.codexmem("stop")
        after = settled(person.home)
        changed = [name for name in before if after.get(name) != before[name]]
        assert not changed, [(name, before[name], after.get(name)) for name in changed]
        left = [name for name, text in after.items() if b"codexmem" in text and name not in before]
        assert not left, left
    say(f"uninstalled, {len(before)} files byte for byte as before", began)


def remember(driven: list[Driven], began: float) -> None:
    """Each agent is asked what another one was told before there was a memory; the first answer comes in time."""
    answered_s = 0.0
    for place, (name, (decision, question)) in enumerate(earlier.DECIDED.items(), 1):
        agent = driven[place % len(driven)]
        agent.play(Say("As we decided."))
        agent.ask(question)
        assert decision.partition(". ")[0] in agent.told(), f"{agent.name} was not told what {name} knew"
        answered_s = answered_s or time.monotonic() - began
        say(f"{agent.name} answers from what {name} was told", began)
    print(f"first answer out of an old conversation {answered_s:.1f} s after the beginning of pip install "  # noqa: T201
          f"(goal {GOAL_S:.0f} s)")  # fmt: skip
    assert answered_s <= GOAL_S


def work(driven: list[Driven], person: Person, url: str, began: float) -> None:
    """Each agent in turn; the first once more, to be told of the last."""
    for number, (agent, before) in enumerate(zip([*driven, driven[0]], [None, *driven], strict=True)):
        file = person.repository / f"orders_{number}.py"
        save = agent.tool("save_memory", {"text": _saved(agent.name)})
        agent.play(*agent.write(file, story.AFTER), *save, Say(story.ANSWER))
        agent.ask(f"{story.PROMPT} ({number})")
        if before is not None:
            assert _saved(before.name) in agent.told(), f"{agent.name} was not told what {before.name} saved"
        assert file.read_text() == story.AFTER
        eventually(lambda name=file.name: _observed(url, name))  # type: ignore[misc]
        was_told = f", was told what {before.name} saved" if before else ""
        say(f"{agent.name}: observed, called a tool{was_told}", began)


def say(what: str, began: float) -> None:
    """A line of the report."""
    print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)  # noqa: T201 - this is what the module is run for


def _saved(name: str) -> str:
    return f"{story.SAVED} Noted by {name}."


def _observed(url: str, name: str) -> bool:
    found = httpx.get(f"{url}/api/observations?limit=100").json()["items"]
    return any(name in path for each in found for path in each["files_modified"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="first-minute-") as temporary:
        main(Path(temporary))
