"""After the agent has ended: what was shown and used, what is worth keeping, and what proved right (§4.3, §4.4).

All calls share one time-out. What cannot be sent in time is dropped with a note: a run is never held up for it, and a
signal that comes a day late from a spool would be worth less than it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from codexmem.codecli import references, surroundings
from codexmem.codecli.memory_client import ItemReference, MemoryClient
from codexmem.codecli.observed import ObservedTurn
from codexmem.codecli.pending import Pending, PendingCandidate
from codexmem.codecli.trace import RunTracer
from codexmem.kernel.model.errors import CodexmemError

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
    waits: bool = False  # it keeps every rule and lacks only a strong signal
    why: str = ""  # it is written, or not, for a person
    rules: tuple[Mapping[str, Any], ...] = ()  # of each: name, passed, why
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Gatekeeper(Protocol):
    """Decides what is worth keeping."""

    def __call__(self, question: str, answer: str, *, top_score: float | None, strong_signal: bool) -> Worth:
        """Judge one turn; never raises."""
        ...


@dataclass(slots=True)
class PostRunReport:
    """What came of it."""

    shown: int = 0
    used: int = 0
    candidates: int = 0
    waiting: PendingCandidate | None = None  # for a person to confirm
    why: str = ""  # the last answer was not written
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
    trace: RunTracer
    redact: Callable[[str], str]

    def send(self, memory: MemoryClient, turns: list[ObservedTurn]) -> PostRunReport:
        """Tell the memory; stops at the first thing that cannot be told."""
        sent, memory = PostRunReport(), memory.together()
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

    def _hits(self, memory: MemoryClient, turns: list[ObservedTurn], sent: PostRunReport) -> dict[str, str]:
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
            ItemReference(qa_id, True, qa_id in used, self.run_id,
                      f"{context}; used:{used[qa_id]}" if qa_id in used else context)
            for qa_id in shown
        ]  # fmt: skip
        with self.trace.span("memory.hit", shown=list(shown), used=dict(used)):
            memory.hit(self.project, told)
        sent.shown, sent.used = len(shown), len(used)
        return used

    def _validations(
        self, memory: MemoryClient, turns: list[ObservedTurn], used: dict[str, str], sent: PostRunReport
    ) -> None:
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

    def _candidates(self, memory: MemoryClient, turns: list[ObservedTurn], sent: PostRunReport) -> None:
        if self.gatekeeper is None:
            return
        for turn in turns[-_MOST_CANDIDATES:]:
            said = turn.answer
            # Without a search that was answered nobody knows whether the memory has this already.
            searched = turn.recalled.query and turn.recalled.problem is None
            if not turn.asked.strip():
                continue
            unjudged = (
                "the agent gave up" if turn.ok is False else "the agent said nothing" if not said.strip()
                else "" if searched else "the memory was not searched"
            )  # fmt: skip
            if unjudged:
                self.trace.event("gatekeeper", writes=False, reason=unjudged)
                continue
            with self.trace.span("gatekeeper") as span:
                worth = self.gatekeeper(
                    turn.asked, said, top_score=turn.recalled.top_score, strong_signal=bool(turn.signal)
                )
                span.tell(writes=worth.writes, reason=worth.why, signal=turn.signal, rules=list(worth.rules))
            sent.why = worth.why
            sent.waiting = PendingCandidate(
                surroundings.now_ms(), self.run_id, self.agent, worth.question, worth.answer, worth.summary, worth.tags
            ) if worth.waits else None  # fmt: skip
            if worth.writes:
                with self.trace.span("memory.candidate"):
                    told = memory.candidate(
                        self.project, worth.question, worth.answer, summary=worth.summary, tags=worth.tags,
                        metadata={"run_id": self.run_id, "agent": self.agent, "signal": turn.signal, **worth.metadata},
                        source=SOURCE,
                        author=self.agent or None,
                    )  # fmt: skip
                    self.trace.event("memory.candidate.kept", qa_id=told.get("qa_id"), created=told.get("created"))
                sent.candidates += 1


def confirmed(memory: MemoryClient, project: str, pending: Pending, waiting: PendingCandidate) -> dict[str, Any]:
    """What waited is written, and a person's word proves it."""
    told = memory.candidate(
        project, waiting.question, waiting.answer, summary=waiting.summary, tags=waiting.tags, source=SOURCE,
        metadata={"run_id": waiting.run_id, "agent": waiting.agent, "signal": "person", "strong_signal": True},
        author=waiting.agent or None,
    )  # fmt: skip
    proof = memory.validate(
        project, str(told.get("qa_id")), success=True, signal_strength=1.0, strong_signal=True, source=SOURCE,
        context=f"run {waiting.run_id}: a person confirmed it", client=SOURCE, ts=surroundings.now_ms(),
    )  # fmt: skip
    pending.done()
    return {**told, "status": proof.get("status", told.get("status"))}
