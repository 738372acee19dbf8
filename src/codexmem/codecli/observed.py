"""What happened in a run, as far as the adapter could read it: bounded, whatever the agent does.

What shows that an answer is right, where nothing but text is known: a test or build that passes, a person's word.

A bounded copy of what passed: how it began and how it ended. Whatever an agent prints, it does not grow.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict, deque
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
from codexmem.codecli.memory_client import RecalledItem
from codexmem.codecli.recall import Recalled
from codexmem.kernel.model import testruns

MOST = 1 << 20
_SMALL = 1 << 12  # pieces up to this size are joined, so that single bytes do not cost a hundred each
GAP = b"\n[... %d bytes left out ...]\n"


class Ring:
    """Keeps the first half of its size and the last; what is between is counted. Any thread may add.

    Adding costs the same whatever has passed: pieces are kept as they are and old ones let go whole.
    """

    def __init__(self, most: int = MOST) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._head_left = most // 2
        self._tail: deque[bytes] = deque()
        self._tail_most = most - most // 2
        self._tail_held = 0
        self.passed = 0

    def add(self, piece: bytes) -> None:
        """These bytes passed."""
        with self._lock:
            self.passed += len(piece)
            if self._head_left:
                part = piece[: self._head_left]
                self._head += part
                self._head_left -= len(part)
                piece = piece[len(part) :]
            if piece:
                piece = piece[-self._tail_most :]
                if self._tail and len(self._tail[-1]) + len(piece) <= _SMALL:
                    self._tail[-1] += piece
                else:
                    self._tail.append(piece)
                self._tail_held += len(piece)
                while self._tail_held - len(self._tail[0]) >= self._tail_most:
                    self._tail_held -= len(self._tail.popleft())

    def content(self) -> bytes:
        """What is kept, with a line that says how much is not."""
        with self._lock:
            head, tail = bytes(self._head), b"".join(self._tail)[-self._tail_most :]
            left_out = self.passed - len(head) - len(tail)
        return head + (GAP % left_out if left_out else b"") + tail

    def text(self) -> str:
        """As text; what is none becomes a mark."""
        return self.content().decode("utf-8", "replace")


class BoundedText:
    """A bounded text that comes in deltas: how it began and how it ended."""

    def __init__(self, most: int = 256 << 10) -> None:
        self._ring = Ring(most)

    def add(self, delta: str) -> None:
        """This was said."""
        self._ring.add(delta.encode("utf-8", "replace"))

    def text(self) -> str:
        """All that is kept of it."""
        return self._ring.text()


# ruff: noqa: RUF001  (Chinese has punctuation of its own)


_BUILT = re.compile(
    r"^(?:\[INFO\] )?BUILD SUCCESS(?:FUL)?\b|^\s{0,8}Finished .{1,80} target\(s\) in |^Build succeeded\."
    r"|^ok[ \t]+\S+[ \t]+[\d.]+s$"
    r"|^webpack .{0,80}compiled successfully|^\u2713 built in [\d.]+m?s$",
    re.MULTILINE,
)
_BROKEN = re.compile(
    r"^(?:\[ERROR\] |\[INFO\] )?BUILD FAIL|^error(?:\[E\d+\])?: |^npm (?:ERR!|error)|^make(?:\[\d+\])?: \*\*\*"
    r"|^Build FAILED|^FAIL[ \t:]|^--- FAIL|^Traceback \(most recent call last\)",
    re.MULTILINE,
)
_POLITE = r"(?:(?:thanks|thank you|great|perfect|nice|ok|okay|yes|yep|cool|awesome|good|wow|super)\b[\s,.!]*){0,4}"
_YES = re.compile(
    rf"\s*{_POLITE}(?:(?:that|this|it)(?:'s|\s+(?:is|was|has|really|all|now))?\s+(?:works?|worked|working|fixed|solved|did\s+it"
    r"|did\s+the\s+trick|helped|correct|right)|works(?:\s+(?:now|well|fine|great|perfectly))?|worked|confirmed|solved|fixed)\b",
    re.IGNORECASE,
)
_YES_ZH = re.compile(
    r"\s*(?:(?:谢谢|多谢|好的?|很好|太好了|嗯|对|是的|完美)[\s，,。！!]*){0,4}(?:这样|现在|问题|已经?)?"
    r"(?:可以了|成功了|解决了|管用了?|有效|没问题了|好了|搞定了?|确认|正确|能用了|通过了)"
)
_NO = re.compile(r"\bnot\b|n't\b|\bnever\b|\bbut\b|\bexcept\b|\bstill\b|\?|\uff1f|不|没(?!问题)|吗|但", re.IGNORECASE)
_END = re.compile(r"[.!;。！；\n]")


def passes(output: str) -> bool:
    """Whether the last test or build in an output went well, by the lines that their programs print."""
    run = testruns.read("", output)
    if run.failed or run.failing:
        return False
    built = [match.end() for match in _BUILT.finditer(output)]
    if not run.passed and not built:
        return False
    return not _BROKEN.search(output, built[-1] if built and not run.passed else 0)


def confirms(said: str) -> bool:
    """Whether a person begins by saying that the last answer was right."""
    yes = _YES.match(said) or _YES_ZH.match(said)
    if yes is None:
        return False
    end = _END.search(said, yes.end())
    return not _NO.search(said[: end.start() if end is not None else len(said)])


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
