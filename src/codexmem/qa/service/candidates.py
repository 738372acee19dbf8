"""Taking in candidates: a known question is not stored twice, and answers that clash stand side by side.

Looking for the same question goes two ways. The search looks for questions that are alike, before anything is written
and with no connection held. Then, with the project's turn held, the label of the normalised question finds the same
question at once, and the last few items are looked at, so that two who hand in the same at the same moment make one
item. Both ways are bounded: a candidate costs one search and a few dozen comparisons, however large the store is.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model import agreement, qa_words
from codexmem.kernel.model.agreement import Agreement
from codexmem.kernel.model.attrs import QaAttrs
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import MAX_TITLE, Kind, Memory, MemoryDraft, State, Status
from codexmem.kernel.model.qa_words import Likeness, Words
from codexmem.kernel.model.query import Filter, PageRequest, Seq
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.qa.model.belief import Signal
from codexmem.qa.model.items import (
    CONTRADICTS,
    JUDGED,
    KINDS,
    MAX_ALTERNATIVES,
    MAX_CONTRADICTIONS,
    MAX_TAGS,
    OFFERED,
    NewQa,
    attrs_of,
    cleaned,
    expires_ms,
    linked,
    questions_of,
    with_phrasings,
)
from codexmem.qa.service.evidence import LifecycleSignal, QaLifecycle
from codexmem.qa.service.items import QaEntry, QaViews
from codexmem.qa.store import Beliefs, Heard

_ALIKE = 12  # items that the search may propose
_SAME = 20  # items of one normalised question that are looked at
_LATEST = 20  # of the last minute, which the search may not have seen
_MINUTE_MS = 60_000
_TOLD = "told"  # the signal that somebody else came to the same answer
_TOLD_STRENGTH = 0.5  # it may be an echo
_QUESTION = 2_000  # characters of a question that are searched for
_RANK = {Status.VALIDATED: 0, Status.ACTIVE: 0, Status.CANDIDATE: 1, Status.EXPIRED: 2, Status.DEPRECATED: 3}


@dataclass(frozen=True, slots=True)
class PreparedCandidate:
    """A candidate, cleaned, and the numbers of items that may ask the same."""

    new: NewQa
    alike: tuple[int, ...]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a candidate."""

    item: QaEntry
    created: bool


@dataclass(frozen=True, slots=True)
class _Judged:
    """A known item beside the candidate."""

    memory: Memory
    likeness: Likeness
    agreement: Agreement

    @property
    def same(self) -> bool:
        """Whether the candidate is this item in other words."""
        if self.agreement is Agreement.AGREES:
            return self.likeness is not Likeness.OTHER
        # Another answer to what was refuted or has expired deserves a life of its own.
        differs = self.agreement is Agreement.DIFFERS and self.likeness is Likeness.SAME
        return differs and self.memory.state.status in OFFERED

    @property
    def clashes(self) -> bool:
        """Whether both answer one question and cannot both be right."""
        asked = self.likeness in (Likeness.SAME, Likeness.NARROWER)
        return asked and self.agreement is Agreement.CONTRADICTS and self.memory.state.status in OFFERED


class QaCandidates:
    """Takes in candidates of the acting tenant."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History, beliefs: Beliefs,
                 lifecycle: QaLifecycle, views: QaViews, clock: Clock,
                 search: Callable[[SearchQuery], SearchAnswer]) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views
        self._clock = clock
        self._search = search

    def prepare(self, new: NewQa) -> PreparedCandidate:
        """Clean the candidate and look for questions like it; slow enough to be done before a transaction begins."""
        new = cleaned(new)
        asked = qa_words.words(new.question)
        wanted = Filter(KINDS, project=new.project, statuses=JUDGED)
        answer = self._search(SearchQuery(new.question[:_QUESTION], wanted, limit=_ALIKE, lookup=True))
        found = [each.memory for each in answer.results]
        alike = tuple(each.seq for each in found if _likeness(asked, each) is not Likeness.OTHER)
        return PreparedCandidate(new, alike, self._clock.now_ms())

    def store(self, prepared: PreparedCandidate, by: WriteContext) -> Stored:
        """Store the candidate, or add it to the item that it repeats."""
        new = prepared.new
        with self._db.transaction():
            # One at a time in a project, or two who say the same would each see nothing.
            self._table.hold(f"qa:{new.project}")
            judged = list(self._judged(prepared))
            same = [each for each in judged if each.same]
            if same:
                return Stored(self._merge(min(same, key=_preference), new, by), created=False)
            clashing = [each.memory for each in judged if each.clashes][:MAX_CONTRADICTIONS]
            return Stored(self._create(new, clashing, by), created=True)

    def _judged(self, prepared: PreparedCandidate) -> Iterable[_Judged]:
        new, asked = prepared.new, qa_words.words(prepared.new.question)
        wanted = Filter(KINDS, project=new.project, statuses=JUDGED)
        exact = replace(wanted, facets=(("question", frozenset({qa_words.key(new.question)})),))
        lately = replace(wanted, created_from_ms=prepared.at_ms - _MINUTE_MS)
        known = {each.seq: each for each in self._memories.page(exact, PageRequest(_SAME)).items}
        same = frozenset(known)
        known |= {each.seq: each for each in self._memories.page(lately, PageRequest(_LATEST)).items}
        known |= self._memories.many(prepared.alike, KINDS)
        for memory in known.values():
            if memory.state.project != new.project or memory.state.status not in JUDGED:
                continue  # moved since the search saw it
            likeness = Likeness.SAME if memory.seq in same else _likeness(asked, memory)
            if likeness is not Likeness.OTHER:
                yield _Judged(memory, likeness, _agreement(memory, new.answer))

    def _create(self, new: NewQa, clashing: Sequence[Memory], by: WriteContext) -> QaEntry:
        attrs = QaAttrs(
            question=new.question, summary=new.summary, tags=new.tags, author=new.author, source=new.source,
            metadata=new.metadata,
        )  # fmt: skip
        state = State(
            new.answer, attrs, project=new.project, status=Status.CANDIDATE, confidence=new.confidence,
            title=" ".join(new.question.split())[:MAX_TITLE], links=tuple((CONTRADICTS, each.seq) for each in clashing),
        )  # fmt: skip
        if clashing:
            by = replace(by, delta=self._history.open_delta(f"qa:{new.project}", "contradiction", by).id)
        memory = self._memories.remember(MemoryDraft(Kind.QA, state, by.origin), by)
        for other in clashing:
            self._flag(other, memory.seq, by)
        now = self._clock.now_ms()
        held = self._beliefs.hold({memory.seq: now})[memory.seq]
        self._beliefs.put(memory.seq, replace(held, due_ms=expires_ms(Status.CANDIDATE, now)))
        self._beliefs.hear(Heard(memory.seq, _TOLD, _digest(new)), now)
        return self._views.one(memory)

    def _flag(self, memory: Memory, against: int, by: WriteContext) -> None:
        if len(linked(memory, CONTRADICTS)) >= MAX_CONTRADICTIONS:
            return

        def flagged(state: State) -> State:
            return replace(state, links=tuple(dict.fromkeys((*state.links, (CONTRADICTS, against)))))

        self._memories.change(Seq(memory.seq), KINDS, flagged, by)

    def _merge(self, known: _Judged, new: NewQa, by: WriteContext) -> QaEntry:
        learned = self._beliefs.hold({known.memory.seq: known.memory.created_ms})[known.memory.seq]
        memory = self._memories.get(Seq(known.memory.seq), KINDS)
        more = _with(memory.state, new, other_words=known.agreement is Agreement.DIFFERS)
        if more != memory.state:
            delta = self._history.open_delta(f"qa:{memory.id}", "merge", by).id
            change = replace(by, delta=delta, note="the same question again")
            memory = self._memories.write(memory, more, Op.UPDATE, change)
        if not self._beliefs.hear(Heard(memory.seq, _TOLD, _digest(new)), self._clock.now_ms()):
            return self._views.one(memory)
        learned = self._lifecycle.learn(learned, [LifecycleSignal(Signal.USED, _TOLD_STRENGTH)])
        self._lifecycle.tell(memory, [_TOLD], by)
        status = self._lifecycle.standing(memory, learned)
        return self._views.one(self._lifecycle.settle(memory, learned, status, by, cause="evidence"))


def _with(state: State, new: NewQa, *, other_words: bool) -> State:
    """An item with what a repetition adds to it; one that had expired is a candidate again."""
    attrs = state.attrs
    assert isinstance(attrs, QaAttrs)
    alternatives = attrs.alternatives
    if other_words and new.answer not in (state.content, *alternatives):
        alternatives = (*alternatives, new.answer)[-MAX_ALTERNATIVES:]
    status = Status.CANDIDATE if state.status is Status.EXPIRED else state.status
    return replace(state, status=status, attrs=replace(
        attrs, phrasings=with_phrasings(attrs, [new.question]), alternatives=alternatives,
        summary=attrs.summary or new.summary, tags=tuple(dict.fromkeys((*attrs.tags, *new.tags)))[:MAX_TAGS],
    ))  # fmt: skip


def _likeness(asked: Words, memory: Memory) -> Likeness:
    """How like the most like of an item's phrasings is."""
    found = {qa_words.likeness(asked, qa_words.words(each)) for each in questions_of(attrs_of(memory))}
    return next(each for each in Likeness if each in found)


def _agreement(memory: Memory, answer: str) -> Agreement:
    """What an answer says of an item's; to agree with any of its wordings is to agree."""
    found = {agreement.compare(each, answer) for each in (memory.state.content, *attrs_of(memory).alternatives)}
    if Agreement.AGREES in found:
        return Agreement.AGREES
    return Agreement.CONTRADICTS if Agreement.CONTRADICTS in found else Agreement.DIFFERS


def _preference(judged: _Judged) -> tuple[bool, int, int, int]:
    agreed = judged.agreement is Agreement.AGREES
    likeness = list(Likeness).index(judged.likeness)
    return not agreed, likeness, _RANK[judged.memory.state.status], judged.memory.seq


def _digest(new: NewQa) -> str:
    text = f"{len(new.question)}:{new.question}{new.answer}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
