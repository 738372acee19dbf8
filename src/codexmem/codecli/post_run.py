"""After the agent has ended: what was shown and used, what is worth keeping, and what proved right (§4.3, §4.4).

All calls share one time-out. What cannot be sent in time is dropped with a note: a run is never held up for it, and a
signal that comes a day late from a spool would be worth less than it costs.

Which of the items that an agent was told it used (contract 001 §4.3).

An anchor that the agent repeats is proof. Without one, an item counts as used if the answer takes over what only the
item could have told: names, numbers and words of the item's answer that neither the question nor the prompt had. At
least `LEAST` points of them, and `SHARE` of all that the item has, must reappear. A name counts two points, a word or a
pair of Chinese characters one. The rule is made to miss rather than to claim: a signal that is wrong teaches the memory
the wrong thing, one that is missing teaches it nothing.

The gatekeeper at work on a run's turns: masked first, then judged, so that what is written is what was judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from codexmem.codecli import surroundings
from codexmem.codecli.configuration import Config
from codexmem.codecli.memory_client import ItemReference, MemoryClient, RecalledItem
from codexmem.codecli.observed import ObservedTurn
from codexmem.codecli.query import terms
from codexmem.codecli.redactor import Redactor
from codexmem.codecli.trace import RunTracer
from codexmem.codecli.turns import Pending, PendingCandidate
from codexmem.kernel.model import privacy
from codexmem.kernel.model.clipping import clip
from codexmem.kernel.model.errors import CodexmemError

LEAST = 4
SHARE = 0.5
_LOOKED_AT = 200_000  # characters of what was said

_ANCHOR = re.compile(r"\[\s*QA[_ ]REF[\s:]+(qa-[\w-]{1,100})\s*\]", re.IGNORECASE)


def anchors(said: str) -> set[str]:
    """The items that are named by their anchors."""
    return {match.group(1) for match in _ANCHOR.finditer(_own_words(said))}


def used_items(items: Sequence[RecalledItem], said: str, prompt: str = "") -> dict[str, str]:
    """The items that were used, by id, with what shows it: `anchor` or `overlap`."""
    text = _own_words(said)
    if not text.strip():
        return {}
    named = {match.group(1).lower() for match in _ANCHOR.finditer(text)}
    points = terms(text)
    found: dict[str, str] = {}
    for item in items:
        if item.qa_id.lower() in named or _names_id(text, item.qa_id):
            found[item.qa_id] = "anchor"
        elif overlap(item, points, prompt) >= SHARE:
            found[item.qa_id] = "overlap"
    return found


def overlap(item: RecalledItem, said: dict[str, int], prompt: str = "") -> float:
    """The share of what only this item could tell that was said; 0 if that is too little to go by."""
    known = terms(f"{item.question}\n{prompt}")
    own = {term: points for term, points in terms(item.answer).items() if term not in known}
    there = sum(points for term, points in own.items() if term in said)
    whole = sum(own.values())
    return there / whole if there >= LEAST and whole else 0.0


def _own_words(said: str) -> str:
    """Without what we told it ourselves: some agents repeat their prompt."""
    return privacy.strip(said[-_LOOKED_AT:])


def _names_id(text: str, qa_id: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(qa_id)}(?![\w-])", text, re.IGNORECASE) is not None


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
    rules: tuple[Mapping[str, object], ...] = ()  # of each: name, passed, why
    metadata: Mapping[str, object] = field(default_factory=dict)


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
            used |= used_items(turn.items, turn.said.text(), turn.asked)
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


def confirmed(memory: MemoryClient, project: str, pending: Pending, waiting: PendingCandidate) -> dict[str, object]:
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


_JUDGED_LENGTH = 64_000  # characters of an answer


def gatekeeper_of(config: Config, redactor: Redactor, language: str = "en") -> Gatekeeper | None:
    """What the configuration asks for, with reasons in a language; None if nothing is to be written."""
    if config.gatekeeper.mode == "off":
        return None

    def judged(question: str, answer: str, *, top_score: float | None, strong_signal: bool) -> Worth:
        from codexmem.qa.gatekeeper import judging as gatekeeper

        outcome = gatekeeper.judge(
            redactor.text(clip(question, _JUDGED_LENGTH)), redactor.text(clip(answer, _JUDGED_LENGTH)),
            top_score=top_score,
            min_score=config.search.min_score, mode=config.gatekeeper.mode, strong_signal=strong_signal,
        )  # fmt: skip
        rules = tuple({"name": rule.name, "passed": rule.passed, "why": rule.why} for rule in outcome.rules)
        why, draft = outcome.explained(language), outcome.draft
        waits = outcome.key == "mode.no_signal" and all(rule.passed for rule in outcome.rules if rule.counts)
        if draft is None or not (outcome.writes or waits):
            return Worth(rules=rules, why=why)
        return Worth(
            draft.question, draft.answer, draft.summary, draft.tags, writes=outcome.writes, waits=waits, why=why,
            rules=rules, metadata={"gatekeeper": config.gatekeeper.mode, "strong_signal": strong_signal},
        )  # fmt: skip

    return judged
