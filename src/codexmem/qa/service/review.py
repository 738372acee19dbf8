"""A person looks through items, decides about them (approve, reject, merge), corrects them, and takes that back.

A decision is evidence like a trial that succeeded or failed, and settles where the item stands at once. Each decision
and each correction is a delta of its own; the log keeps what was known before and after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codexmem.kernel.model import agreement, qa_words
from codexmem.kernel.model.agreement import Agreement
from codexmem.kernel.model.errors import Conflict, NotFound
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.history import Delta, DeltaStatus, Mode, Op, WriteContext
from codexmem.kernel.model.memory import MAX_TITLE, Memory, State, Status
from codexmem.kernel.model.qa_words import Likeness
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor, Seq
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories, changed_since
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.event_pages import EventPages, EventSpan
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.qa.model import belief
from codexmem.qa.model.belief import Belief, Signal
from codexmem.qa.model.items import (
    CONTRADICTS,
    JUDGED,
    KINDS,
    MAX_ALTERNATIVES,
    MAX_TAGS,
    MERGED_INTO,
    Correction,
    NewQa,
    attrs_of,
    cleaned,
    expires_ms,
    questions_of,
    with_phrasings,
)
from codexmem.qa.model.validation import UnprocessableReport
from codexmem.qa.service.evidence import LifecycleSignal, QaLifecycle
from codexmem.qa.service.items import Answers, QaEntry, QaViews, Searching
from codexmem.qa.store import MOST, Beliefs, Learned

if TYPE_CHECKING:
    from codexmem.qa.gatekeeper.judging import RuleVerdict

DECISIONS = frozenset({"approve", "reject", "merge", "edit"})
_LOOKED = 500  # of an item's newest signals, in which the decision is looked for
_EVER = 2**53
COUNTED = MOST  # up to which items of a status are counted
_SIMILAR = 5
_QUESTION = 2_000  # characters of a question that similar ones are looked for by


@dataclass(frozen=True, slots=True)
class Retracted:
    """The item after it; `item.delta` is what took the decision back."""

    item: QaEntry
    undone: bool  # False: it had been taken back before


def facts(cause: str, delta: str | None, before: Learned, after: Learned) -> dict[str, object]:
    """What the log keeps with a decision, so that it can be taken back."""
    return {"decided": cause, "delta": delta, "before": _figures(before), "after": _figures(after)}


class Retracting:
    """Takes back decisions about the acting tenant's items.

    The product's own undo restores states and leaves what was learned. A decision that was a slip is no evidence, so
    this removes that as well. If nothing was learned since, the former numbers return to the last bit; otherwise this
    one signal is taken out of what has come together.
    """

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History, beliefs: Beliefs,
                 lifecycle: QaLifecycle, views: QaViews) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._versions = VersionTable(db)
        self._pages = EventPages(db)
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views

    def undo(self, qa_id: str, delta_id: str, project: str | None, by: WriteContext) -> Retracted:
        """Take a decision back, by the delta it answered with; a Conflict if an item was written since."""
        item = self._views.named(qa_id, project)
        delta, seqs = self._decision(item, delta_id)
        if delta.status is DeltaStatus.REVERTED:
            return Retracted(self._views.one(item), undone=False)
        with self._db.transaction():
            # The project's turn first and beliefs in the order of numbers, as whoever decides does.
            self._table.hold(f"qa:{item.state.project}")
            there = self._memories.many(seqs, KINDS)
            held = self._beliefs.hold({seq: each.created_ms for seq, each in there.items()})
            done = self._history.rollback_delta(delta.id, Mode.SAFE, by)
            if done.left:
                raise Conflict(
                    f"{qa_id} was written since this decision",
                    hint="undo the later change first, or decide again",
                    details={"reason": "written_since"},
                )
            for seq in seqs:
                if seq in there and (event := self._told(seq, delta.id)) is not None:
                    self._unlearn(there[seq], held[seq], event, delta, by)
            after = self._views.one(self._memories.get(Seq(item.seq), KINDS))
            return Retracted(replace(after, delta=done.delta.id), undone=True)

    def _decision(self, item: Memory, delta_id: str) -> tuple[Delta, Sequence[int]]:
        """The delta, and the items that it is about."""
        missing = NotFound(
            f"{delta_id[:80]!r} is not a decision about {item.id}", hint="send the delta returned by the decision"
        )
        try:
            delta = self._history.delta(delta_id)
        except NotFound:
            raise missing from None
        seqs = sorted({item.seq, *(each.seq for each in self._versions.touched_by_delta(delta_id))})
        own = delta.subject == f"qa:{item.id}" or (delta.subject.startswith("qa:") and self._touches(delta_id, item))
        if delta.cause not in DECISIONS or not own:
            raise missing
        return delta, seqs

    def _touches(self, delta_id: str, item: Memory) -> bool:
        return any(each.seq == item.seq for each in self._versions.touched_by_delta(delta_id))

    def _told(self, seq: int, delta_id: str) -> Event | None:
        """The line of the log that tells of the decision; None once its time is over."""
        found = self._pages.of_subject(
            f"memory:{seq}", EventType.QA_SIGNAL.value, EventSpan(0, _EVER), below=None, limit=_LOOKED
        )
        return next((each for each in found if (each.payload or {}).get("delta") == delta_id), None)

    def _unlearn(self, memory: Memory, now: Learned, event: Event, delta: Delta, by: WriteContext) -> None:
        said = event.payload or {}
        before, after = _learned(said.get("before")), _learned(said.get("after"))
        signals = {str(each) for each in said.get("signals", ())}
        if before is None or after is None:
            return
        signal = next((each for each in (Signal.CONFIRMED, Signal.REFUTED) if each in signals), None)
        if now == after:
            learned = before
        else:
            left = now.belief
            if signal is not None:
                left = belief.unlearn(left, signal, strength=1.0, given_ms=delta.created_ms)
            spoken = before.spoken_ms if now.spoken_ms == after.spoken_ms else now.spoken_ms
            status = self._memories.get(Seq(memory.seq), KINDS).state.status
            learned = replace(now, belief=left, spoken_ms=spoken, due_ms=expires_ms(status, spoken))
        self._beliefs.put(memory.seq, learned)
        if signal is not None:
            confirmed = signal is Signal.CONFIRMED
            self._memories.count([memory.seq], valid=-int(confirmed), invalid=-int(not confirmed))
        self._lifecycle.tell(memory, ["retracted"], by, decided=delta.cause, retracts=delta.id)


def _figures(learned: Learned) -> list[object]:
    known = learned.belief
    return [known.good, known.bad, known.at_ms, learned.spoken_ms, learned.due_ms]


def _learned(figures: object) -> Learned | None:
    match figures:
        case [float() | int() as good, float() | int() as bad, int() as at_ms, int() as spoken_ms, due_ms] if (
            due_ms is None or isinstance(due_ms, int)
        ):
            return Learned(Belief(float(good), float(bad), at_ms), spoken_ms, due_ms)
    return None


class Editing:
    """Corrects the acting tenant's items.

    Evidence and standing stay: whoever corrects an item means the same item. Another question is not looked for, so an
    item may come to ask what another one asks; `similar` shows that, and a merge settles it.
    """

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History, beliefs: Beliefs,
                 lifecycle: QaLifecycle, views: QaViews) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views

    def edit(
        self, qa_id: str, change: Correction, project: str | None, by: WriteContext, *, seen: int | None = None
    ) -> QaEntry:
        """Correct an item; with `seen`, only if that is still its version. `delta` is None if it said so already."""
        if change == Correction():
            raise UnprocessableReport("nothing to change was given", hint="give question, answer, summary or tags")
        found = self._views.named(qa_id, project)
        with self._db.transaction():
            self._table.hold(f"qa:{found.state.project}")
            held = self._beliefs.hold({found.seq: found.created_ms})[found.seq]
            memory = self._memories.get(Seq(found.seq), KINDS)
            if seen is not None and memory.version != seen:
                raise changed_since(memory, seen)
            after = _corrected(memory, change)
            if after == memory.state:
                return self._views.one(memory)
            delta = self._history.open_delta(f"qa:{memory.id}", "edit", by).id
            memory = self._memories.write(memory, after, Op.UPDATE, replace(by, delta=delta))
            self._lifecycle.tell(memory, ["edited"], by, **facts("edit", delta, held, held))
            return replace(self._views.one(memory), delta=delta)


def _corrected(memory: Memory, change: Correction) -> State:
    state, attrs = memory.state, attrs_of(memory)
    new = cleaned(NewQa(
        state.project, attrs.question if change.question is None else change.question,
        state.content if change.answer is None else change.answer,
        attrs.summary if change.summary is None else change.summary,
        attrs.tags if change.tags is None else change.tags, attrs.metadata,
    ))  # fmt: skip
    corrected = replace(
        attrs, question=new.question, summary=new.summary, tags=new.tags,
        phrasings=tuple(each for each in attrs.phrasings if each != new.question),
    )  # fmt: skip
    title = " ".join(new.question.split())[:MAX_TITLE] if change.question is not None else state.title
    return replace(state, content=new.answer, title=title, attrs=corrected)


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """One page of items, newest first."""

    items: tuple[QaEntry, ...]
    after: RowCursor | None


@dataclass(frozen=True, slots=True)
class QaReviewPage:
    """An item with its company."""

    item: QaEntry
    similar: tuple[QaEntry, ...]
    contradictions: tuple[QaEntry, ...]
    rules: "tuple[RuleVerdict, ...]"  # what the gatekeeper's rules say of its text as it stands


@dataclass(frozen=True, slots=True)
class Beside:
    """An item beside another one that asks nearly the same."""

    item: QaEntry
    likeness: Likeness  # of the questions
    agreement: Agreement  # of the answers


class Reviewing:
    """What a person does with items of the acting tenant."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History, beliefs: Beliefs,
                 lifecycle: QaLifecycle, views: QaViews, searching: Searching) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views
        self._searching = searching

    def page(self, *, status: Status | None, project: str | None, limit: int, after: RowCursor | None) -> ReviewQueue:
        """One page, newest first."""
        statuses = frozenset({status}) if status is not None else JUDGED
        found = self._memories.page(Filter(KINDS, project=project, statuses=statuses), PageRequest(limit, after))
        return ReviewQueue(tuple(self._views.of(found.items)), found.after)

    def look(self, qa_id: str, project: str | None) -> QaReviewPage:
        """An item, those that ask nearly the same, and those that contradict it."""
        memory = self._views.named(qa_id, project)
        item = self._views.one(memory)
        question = attrs_of(memory).question[:_QUESTION] or memory.state.title
        near = self._searching.find(memory.state.project, question, limit=_SIMILAR + 1, min_score=0.0, lookup=True)
        similar = tuple(each for each in near.items if each.memory.seq != memory.seq)[:_SIMILAR]
        rules = _judged(attrs_of(memory).question, memory.state.content)
        return QaReviewPage(item, similar, tuple(self._views.of(item.contradicts)), rules)

    def similar(self, qa_id: str, project: str | None, *, limit: int) -> tuple[list[Beside], Answers]:
        """Items that ask nearly the same, the most alike first and compared with this one; and how they were found."""
        memory = self._views.named(qa_id, project)
        question = attrs_of(memory).question[:_QUESTION] or memory.state.title
        near = self._searching.find(memory.state.project, question, limit=limit + 1, min_score=0.0, lookup=True)
        others = [each for each in near.items if each.memory.seq != memory.seq]
        others.sort(key=lambda each: each.relevance or 0.0, reverse=True)
        return [_beside(memory, each) for each in others[:limit]], near

    def counts(self, project: str | None) -> dict[Status, int]:
        """How many items there are of each status, counted only so far."""
        return self._beliefs.counts(sorted(JUDGED), project)

    def approve(self, qa_id: str, project: str | None, by: WriteContext) -> QaEntry:
        """A person says that it is right: it is validated, whatever it was."""
        return self._decide(qa_id, project, by, Signal.CONFIRMED, Status.VALIDATED, "approve")

    def reject(self, qa_id: str, project: str | None, by: WriteContext) -> QaEntry:
        """A person says that it is wrong: it is no longer offered."""
        return self._decide(qa_id, project, by, Signal.REFUTED, Status.DEPRECATED, "reject")

    def merge(self, qa_id: str, into: str, project: str | None, by: WriteContext) -> QaEntry:
        """Give one item's questions to another, which keeps its answer and evidence; the first is no longer offered."""
        first, second = self._views.named(qa_id, project), self._views.named(into, project)
        if first.seq == second.seq:
            raise UnprocessableReport("an item cannot be merged into itself", hint="name another one in `into`")
        if first.state.project != second.state.project:
            raise UnprocessableReport("items of two projects cannot be merged")
        with self._db.transaction():
            self._table.hold(f"qa:{first.state.project}")
            held = self._beliefs.hold({each.seq: each.created_ms for each in (first, second)})
            first, second = (self._memories.get(Seq(each.seq), KINDS) for each in (first, second))
            own = replace(by, delta=self._history.open_delta(f"qa:{second.id}", "merge", by).id)
            taken = replace(own, note=f"took over {first.id}")
            second = self._memories.write(second, _with(second, first), Op.UPDATE, taken)
            links = (*_without(first, second.seq), (MERGED_INTO, second.seq))
            gone = replace(first.state, status=Status.DEPRECATED, links=tuple(dict.fromkeys(links)))
            self._memories.write(first, gone, Op.UPDATE, replace(own, note=f"merged into {second.id}"))
            settled = replace(held[first.seq], due_ms=None)
            self._beliefs.put(first.seq, settled)
            self._lifecycle.tell(
                first, ["merged"], by, into=second.id, **facts("merge", own.delta, held[first.seq], settled)
            )
        return replace(self._views.one(second), delta=own.delta)

    def _decide(
        self, qa_id: str, project: str | None, by: WriteContext, signal: Signal, status: Status, cause: str
    ) -> QaEntry:
        found = self._views.named(qa_id, project)
        with self._db.transaction():
            before = self._beliefs.hold({found.seq: found.created_ms})[found.seq]
            memory = self._memories.get(Seq(found.seq), KINDS)
            own = replace(by, delta=self._history.open_delta(f"qa:{memory.id}", cause, by).id)
            learned = self._lifecycle.learn(before, [LifecycleSignal(signal)])
            self._memories.count(
                [memory.seq], valid=int(signal is Signal.CONFIRMED), invalid=int(signal is Signal.REFUTED)
            )
            after = self._lifecycle.settle(memory, learned, status, own, cause=cause)
            settled = self._beliefs.of([memory.seq])[memory.seq]
            self._lifecycle.tell(memory, [signal], by, **facts(cause, own.delta, before, settled))
            return replace(self._views.one(self._memories.get(Seq(after.seq), KINDS)), delta=own.delta)


def _judged(question: str, answer: str) -> "tuple[RuleVerdict, ...]":
    from codexmem.qa.gatekeeper import judging  # its rules take a while to load, and few ask for them

    outcome = judging.judge(question, answer, top_score=None, min_score=0.0, mode="hard")
    return tuple(rule for rule in outcome.rules if rule.name != "missing")  # that is about a search at that time


def _beside(memory: Memory, item: QaEntry) -> Beside:
    other = item.memory
    asked = qa_words.words(attrs_of(memory).question)
    found = {qa_words.likeness(asked, qa_words.words(each)) for each in questions_of(attrs_of(other))}
    likeness = next(each for each in Likeness if each in found)
    return Beside(item, likeness, agreement.compare(other.state.content, memory.state.content))


def _with(memory: Memory, other: Memory) -> State:
    """An item with another one's questions, tags and wording."""
    attrs, given = attrs_of(memory), attrs_of(other)
    told = [each for each in (other.state.content, *given.alternatives) if each != memory.state.content]
    more = replace(
        attrs, phrasings=with_phrasings(attrs, questions_of(given)),
        alternatives=tuple(dict.fromkeys((*attrs.alternatives, *told)))[-MAX_ALTERNATIVES:],
        tags=tuple(dict.fromkeys((*attrs.tags, *given.tags)))[:MAX_TAGS],
    )  # fmt: skip
    return replace(memory.state, attrs=more, links=_without(memory, other.seq))


def _without(memory: Memory, seq: int) -> tuple[tuple[str, int], ...]:
    return tuple(link for link in memory.state.links if link != (CONTRADICTS, seq))
