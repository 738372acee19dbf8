"""What happened in a run, as far as the adapter could read it: bounded, whatever the agent does."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
)
from codexmem.codecli.evidence import confirms, passes
from codexmem.codecli.memory_client import RecalledItem
from codexmem.codecli.recall import Recalled
from codexmem.codecli.tee import BoundedText

_MOST_TURNS = 50  # the last ones
_MOST_CALLS = 1_000  # tools that are at work at once
_ASKED = 64_000

# Commands whose success says that something works, where a shell would run them: not in a message or a path.
_CHECKS = re.compile(
    r"(?:^|[;&|(]|-l?c\s{1,4}['\"])\s{0,8}"
    r"(?:(?:\w{1,40}=\S{0,80}|sudo|time|env|npx|uv\s+run|poetry\s+run|pipenv\s+run|bundle\s+exec|pnpm\s+exec)\s{1,4}){0,6}"
    r"(?:[\w.~-]{0,80}/){0,12}"
    r"(?:pytest|py\.test|tox|nox|ctest|jest|vitest|mocha|rspec|phpunit|mypy|pyright|tsc|bazel\s+test|ruff\s+check"
    r"|cargo\s+(?:test|nextest|build|check|clippy)|go\s+(?:test|build|vet)|dotnet\s+(?:test|build)|rake\s+test"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|build|lint|typecheck)|(?:mvn|gradle|gradlew)\b[^;&|]{0,80}\b(?:test"
    r"|verify|build|check)|(?:make|just)(?:\s+(?:test|check|all|build|lint))?|python[\d.]{0,5}\s+-m\s+(?:pytest|unittest"
    r"|mypy))(?=$|[\s;&|)'\"])"
)
_COMMAND = 4_000  # characters of a command that are looked at


@dataclass
class ObservedTurn:
    """One question, and what was made of it."""

    asked: str = ""
    recalled: Recalled = field(default_factory=Recalled)
    said: BoundedText = field(default_factory=BoundedText)
    ok: bool | None = None
    checked: bool | None = None  # whether the last command that checks something went well
    delivered: bool = True  # whether what was recalled reached the agent
    confirmed: bool = False  # whether the person said next that it was right

    @property
    def answer(self) -> str:
        """What was said, without the question that a terminal shows before it."""
        said, asked = self.said.text(), self.asked.strip()
        first, end, rest = said.partition("\n")
        return rest if end and asked and first.strip().endswith(asked) else said

    @property
    def signal(self) -> str:
        """What shows that the answer is right; empty if nothing does."""
        if self.confirmed:
            return "person"
        if self.checked is not None:
            return "check" if self.checked else ""
        return "output" if passes(self.said.text()) else ""

    @property
    def items(self) -> tuple[RecalledItem, ...]:
        """What the agent was told for this."""
        return self.recalled.rendered.items if self.delivered else ()


class Observed:
    """Collects; any thread may tell."""

    def __init__(self, ended: Callable[[ToolEnded], None] = lambda _: None,
                 started: Callable[[ToolStarted], None] = lambda _: None) -> None:  # fmt: skip
        self._lock = threading.Lock()
        self._ended = ended
        self._started = started
        self._commands: OrderedDict[str, str] = OrderedDict()
        self.turns: list[ObservedTurn] = []
        self.dropped_turns = 0
        self.decisions: dict[str, int] = {}
        self.tools = 0
        self.last_ok: bool | None = None

    def begin(self, asked: str, recalled: Recalled) -> ObservedTurn:
        """A question that we looked up before the agent got it."""
        with self._lock:
            turn = ObservedTurn(asked[:_ASKED], recalled)
            self._add(turn)
        return turn

    def next_line(self, line: str) -> None:
        """What the person said after a prompt: whether it was right, or something else, which another turn is for.

        The line itself is not kept: it may be anything that an agent asked for.
        """
        with self._lock:
            last = self.turns[-1] if self.turns else None
            if last is not None and last.asked and last.said.text().strip():
                last.confirmed = confirms(line)
                self._add(ObservedTurn())

    def tell(self, happening: Happening) -> None:
        """This happened."""
        match happening:
            case UserPrompt(text):
                self._asked(text)
            case AgentMessage(text):
                self._turn().said.add(text)
            case ToolStarted(request):
                self.tools += 1
                self._keep(request.call_id, request.command)
                self._started(happening)
            case ToolDecided(request, decision):
                with self._lock:
                    verdict = str(decision.verdict)
                    self.decisions[verdict] = self.decisions.get(verdict, 0) + 1
                self._keep(request.call_id, request.command)
            case ToolEnded(call_id, ok):
                command = self._commands.pop(call_id, "")
                if command and _CHECKS.search(command[:_COMMAND]):
                    self._turn().checked = ok
                self._ended(happening)
            case TurnEnded(ok, message):
                turn = self._turn()
                turn.ok = self.last_ok = ok
                if message and not turn.said.text().strip():
                    turn.said.add(message)

    def _asked(self, text: str) -> None:
        """A question; the one that was looked up already is not another."""
        with self._lock:
            last = self.turns[-1] if self.turns else None
            fresh = last is None or last.ok is not None or bool(last.said.text().strip())
            if fresh and not (last is not None and last.ok is None and last.asked.strip() == text.strip()):
                if last is not None and confirms(text):
                    last.confirmed = True
                self._add(ObservedTurn(text[:_ASKED]))
            elif last is not None and not last.asked:
                last.asked = text[:_ASKED]

    def _turn(self) -> ObservedTurn:
        with self._lock:
            if not self.turns:
                self._add(ObservedTurn())
            return self.turns[-1]

    def _add(self, turn: ObservedTurn) -> None:
        self.turns.append(turn)
        if len(self.turns) > _MOST_TURNS:
            del self.turns[0]
            self.dropped_turns += 1

    def _keep(self, call_id: str, command: str) -> None:
        if not call_id or not command:
            return
        with self._lock:
            self._commands[call_id] = command
            if len(self._commands) > _MOST_CALLS:
                self._commands.popitem(last=False)
