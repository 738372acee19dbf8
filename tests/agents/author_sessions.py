"""A person's own agent writes what a session meant, from its first word to the start of the next session.

The server is a real one that was told to ask the agent; codexmem is installed into the agent; only the agent's model is
scripted. The server finds the agent's program behind a gate, so that everything can be counted before the author runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from pysqlite3 import dbapi2 as sqlite

from tests._support.model_server import memory_answer
from tests._support.scripted_model import Asked, Call, Say, Step
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.agents.anthropic_model import AnthropicModel
from tests.agents.four_agents import Place
from tests.agents.gemini_model import GeminiModel
from tests.agents.person import PROGRAMS, SERVER, Person
from tests.agents.story import get
from tests.agents.test_authors import Refusing
from tests.agents.witness import Witness

FACT = "The dev server listens on port 5179 because Grafana has 5173."
# The same in an order of words that only the author has, so that it is not mistaken for what rules wrote.
MEANING = "Grafana has 5173, so the dev server listens on port 5179."
REASON = "who starts it looks for the port"
_ITEM = re.compile(rf"\[\[agent (\d+)[^\]]*\]\](?:\\n|\n){re.escape(FACT)}")
_GATE = '#!/bin/sh\nuntil [ -e "{open}" ]; do sleep 0.05; done\necho run >> "{log}"\nexec "{program}" "$@"\n'
COLUMNS = ("agent", "captured before", "author's runs", "of ours started in it", "captured after", "rules wrote",
           "author wrote", "next start is told", "next session's model is told", "seconds",
           "offers sampling")  # fmt: skip
Value = dict[str, Any]


class Agent(Protocol):
    """An agent that is set up."""

    @property
    def name(self) -> str:
        """As codexmem calls it."""
        ...

    @property
    def program(self) -> Path:
        """What is started."""
        ...

    @property
    def ask(self) -> Callable[[str], None]:
        """A session of the person's own, which the model ends with these words."""
        ...

    @property
    def bodies(self) -> Callable[[], Any]:
        """Of the requests to its model, newest last."""
        ...

    @property
    def environ(self) -> dict[str, str]:
        """What it needs besides."""
        ...


def author_answer(request: str) -> Value | None:
    """What a model makes of the fact if this request is an author's question about it."""
    asked = _ITEM.search(request)
    if asked is None:
        return None
    return memory_answer([int(asked[1])], kind="decision", title=MEANING, text=MEANING, reason=REASON)


class AuthoredModel(Refusing):
    """OpenAI's interfaces."""

    def _step(self, asked: Asked) -> Step:
        said = author_answer(json.dumps(asked.body, ensure_ascii=False))
        if said is None:
            return super()._step(asked)
        return Call("structured_output", said) if ("", "structured_output") in asked.tools else Say(json.dumps(said))


class AuthoredGemini(GeminiModel):
    """Google's."""

    def step(self, body: Value, answered: int) -> Step:
        """The author's answer to its question, else the script."""
        said = author_answer(json.dumps(body, ensure_ascii=False))
        return super().step(body, answered) if said is None else Say(json.dumps(said))


class AuthoredAnthropic(AnthropicModel):
    """Anthropic's."""

    def answer_to(self, body: Value) -> Value | str:
        """The author's answer to its question, else what it says to everybody."""
        said = author_answer(json.dumps(body, ensure_ascii=False))
        return super().answer_to(body) if said is None else said


@dataclass(frozen=True)
class Counted:
    """What the store holds of agents' sessions."""

    sessions: int
    events: int

    def __str__(self) -> str:
        return f"{self.sessions} session, {self.events} events"


@dataclass(frozen=True)
class Remembered:
    """What was seen of one agent."""

    before: Counted
    after: Counted
    runs: int  # of the agent's program by the author
    started: list[str]  # programs of ours, while the author ran
    by_rules: int
    memory: Value  # that the author wrote
    why: str
    told: str  # at the start of the next session
    shown: str = field(repr=False)  # to the model of the next session, first
    took_s: float  # seconds from the author's start to the memory
    sampling: bool  # whether the agent offers its model to our MCP server

    def check(self) -> None:
        """Nothing of the author's own run was captured, no program of ours was started by it, and it was of use."""
        assert (self.before, self.before.sessions, self.runs, self.started) == (self.after, 1, 1, []), self
        assert all(each in self.why for each in ("by model", "author", REASON)), self.why
        assert MEANING in self.told, self.told
        assert MEANING in self.shown

    def row(self, name: str) -> tuple[str, ...]:
        """As the table shows it."""
        return (name, str(self.before), str(self.runs), str(len(self.started)), str(self.after), str(self.by_rules),
                "1", _yes(MEANING in self.told), _yes(MEANING in self.shown), f"{self.took_s:.1f}",
                _yes(self.sampling))  # fmt: skip


def remembered(agent: Agent, place: Place, folder: Path, clock: Callable[[], float] = time.monotonic) -> Remembered:
    """One session of the person's own, what the author makes of it, and the beginning of the next session."""
    person = place.person
    witness = Witness(person, folder / "codexmem")  # its endpoint stays closed: the server is a real one
    witness.install(agent.name, place.programs)
    gate = _Gate(folder / "gate", agent.program)
    environ = person.environment(
        PATH=f"{gate.folder}:{person.environment()['PATH']}", XDG_CONFIG_HOME=str(person.home / ".config"),
        **{**SERVER, "CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_PROVIDER": agent.name.partition("-")[0]}, **agent.environ,
    )  # fmt: skip
    with Server(person.data_dir, settings=environ) as server:
        agent.ask(FACT)
        eventually(lambda: get(server, "/api/summaries?limit=9")["items"])
        before, own = counted(person), witness.started
        assert not written(server), "the author cannot have run"
        began = clock()
        gate.open()
        memory = eventually(lambda: written(server))[0]
        took_s = clock() - began
        eventually(lambda: not get(server, "/api/processing-status")["isProcessing"])
        after, runs, started = counted(person), gate.runs, witness.started[len(own) :]
        rules = [*get(server, "/api/summaries?limit=9")["items"], *_observations(server)]
        told = server.request("GET", f"/api/context?project={quote(memory['project'])}&session=next").body.decode()
        why = subprocess.run(
            [PROGRAMS / "codexmem", "why", str(memory["id"])], cwd=person.repository, env=environ, check=False,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert why.returncode == 0, why.stderr
        agent.ask("Done.")
        return Remembered(
            before, after, runs, started, len(rules) - 1, memory, why.stdout, told,
            json.dumps(list(agent.bodies()), ensure_ascii=False), took_s,
            "/api/sampling/next" in (person.data_dir / "server.log").read_text(),
        )  # fmt: skip


def counted(person: Person) -> Counted:
    """The rows themselves: no list of the server's leaves anything out of them."""
    with sqlite.connect(f"file:{person.data_dir / 'codexmem.db'}?mode=ro", uri=True) as db:
        sizes = [int(db.execute(f"SELECT count(*) FROM {name}").fetchone()[0])
                 for name in ("sessions", "captured_events")]  # fmt: skip
    return Counted(*sizes)


def written(server: Server) -> list[Value]:
    """What the author made of it."""
    return [each for each in _observations(server) if each["title"] == MEANING]


def _observations(server: Server) -> list[Value]:
    found: list[Value] = get(server, "/api/observations?project=shop&limit=100")["items"]
    return found


class _Gate:
    """The agent's program as the server finds it: it starts when it may, and each start is noted."""

    def __init__(self, folder: Path, program: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._open = folder / "open"
        self._log = folder / "runs"
        script = folder / program.name
        script.write_text(_GATE.format(open=self._open, log=self._log, program=program))
        script.chmod(0o755)

    def open(self) -> None:
        self._open.touch()

    @property
    def runs(self) -> int:
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0


def _yes(value: bool) -> str:
    return "yes" if value else "no"
