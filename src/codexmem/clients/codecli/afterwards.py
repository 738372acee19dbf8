"""After the agent has ended: what was shown and used, what is worth keeping, and what proved right (§4.3, §4.4).

All calls share one time-out. What cannot be sent in time is dropped with a note: a run is never held up for it, and a
signal that comes a day late from a spool would be worth less than it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from codexmem.clients.codecli import references, surroundings
from codexmem.clients.codecli.memory_client import MemoryClient, Reference
from codexmem.clients.codecli.observed import Turn
from codexmem.clients.codecli.trace import Trace
from codexmem.domain.errors import CodexmemError

SOURCE = "mem-codecli"
_MOST_CANDIDATES = 3  # of one run: the last turns
_WEAK = 0.5  # a command that went well says little about one item


@dataclass(frozen=True, slots=True)
class Worth:
    """What the gatekeeper makes of a turn: a candidate, or why there is none."""

    question: str = ""
    answer: str = ""
    summary: str | None = None
    tags: tuple[str, ...] = ()
    writes: bool = False
    rules: tuple[Mapping[str, Any], ...] = ()  # of each: name, passed, why
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Gatekeeper(Protocol):
    """Decides what is worth keeping."""

    def __call__(self, question: str, answer: str, *, top_score: float | None, strong_signal: bool) -> Worth:
        """Judge one turn; never raises."""
        ...


@dataclass(slots=True)
class Sent:
    """What came of it."""

    shown: int = 0
    used: int = 0
    candidates: int = 0
    validated: int = 0
    problem: CodexmemError | None = None


@dataclass(frozen=True, slots=True)
class Afterwards:
    """Sends what a run has to tell."""

    project: str
    run_id: str
    agent: str
    inject_mode: str
    gatekeeper: Gatekeeper | None
    trace: Trace
    redact: Callable[[str], str]

    def send(self, memory: MemoryClient, turns: list[Turn]) -> Sent:
        """Tell the memory; stops at the first thing that cannot be told."""
        sent, memory = Sent(), memory.together()
        with self.trace.span("afterwards") as span:
            try:
                used = self._hits(memory, turns, sent)
                self._validations(memory, turns, used, sent)
                self._candidates(memory, turns, sent)
            except CodexmemError as error:
                sent.problem = error
            span.tell(shown=sent.shown, used=sent.used, candidates=sent.candidates, validated=sent.validated,
                      problem=sent.problem.message if sent.problem else None)  # fmt: skip
        return sent

    def _hits(self, memory: MemoryClient, turns: list[Turn], sent: Sent) -> dict[str, str]:
        """Each item once for a run, used if any turn used it."""
        shown: dict[str, None] = {}
        used: dict[str, str] = {}
        for turn in turns:
            shown.update(dict.fromkeys(item.qa_id for item in turn.items))
            used |= references.used(turn.items, turn.said.text(), turn.asked)
        if not shown:
            return used
        context = f"injected:{self.inject_mode}"
        told = [
            Reference(qa_id, True, qa_id in used, self.run_id,
                      f"{context}; used:{used[qa_id]}" if qa_id in used else context)
            for qa_id in shown
        ]  # fmt: skip
        with self.trace.span("memory.hit", shown=list(shown), used=dict(used)):
            memory.hit(self.project, told)
        sent.shown, sent.used = len(shown), len(used)
        return used

    def _validations(self, memory: MemoryClient, turns: list[Turn], used: dict[str, str], sent: Sent) -> None:
        """A check that went well after an item was used speaks for it, weakly; one that failed says nothing of it."""
        for turn in turns:
            if not turn.checked:
                continue
            for item in turn.items:
                if item.qa_id in used:
                    with self.trace.span("memory.validate", qa_id=item.qa_id):
                        memory.validate(
                            self.project, item.qa_id, success=True, signal_strength=_WEAK, strong_signal=False,
                            source=SOURCE, context=f"run {self.run_id}: a check went well after it was used",
                            client=SOURCE, ts=surroundings.now_ms(),
                        )  # fmt: skip
                    sent.validated += 1

    def _candidates(self, memory: MemoryClient, turns: list[Turn], sent: Sent) -> None:
        if self.gatekeeper is None:
            return
        for turn in turns[-_MOST_CANDIDATES:]:
            said = turn.said.text()
            # Without a search that was answered nobody knows whether the memory has this already.
            searched = turn.recalled.query and turn.recalled.problem is None
            if turn.ok is False or not turn.asked.strip() or not said.strip() or not searched:
                continue
            with self.trace.span("gatekeeper") as span:
                worth = self.gatekeeper(
                    turn.asked, said, top_score=turn.recalled.top_score, strong_signal=bool(turn.checked)
                )
                span.tell(writes=worth.writes, rules=list(worth.rules))
            if worth.writes:
                with self.trace.span("memory.candidate"):
                    told = memory.candidate(
                        self.project, worth.question, worth.answer, summary=worth.summary, tags=worth.tags,
                        metadata={"run_id": self.run_id, "agent": self.agent, **worth.metadata}, source=SOURCE,
                        author=self.agent or None,
                    )  # fmt: skip
                    self.trace.event("memory.candidate.kept", qa_id=told.get("qa_id"), created=told.get("created"))
                sent.candidates += 1
