"""People look through items and decide: approve, reject, or merge one into another.

A person's decision is evidence like a trial that succeeded or failed, and settles where the item stands at once. Each
is a delta of its own and can be taken back (`retracting`): the log keeps what was known before and after it.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codexmem.domain.history import By, Op
from codexmem.domain.memory import Memory, State, Status
from codexmem.domain.qa import answers as qa_answers
from codexmem.domain.qa import words as qa_words
from codexmem.domain.qa.answers import Agreement
from codexmem.domain.qa.belief import Signal
from codexmem.domain.qa.items import (
    CONTRADICTS,
    JUDGED,
    KINDS,
    MAX_ALTERNATIVES,
    MAX_TAGS,
    MERGED_INTO,
    attrs_of,
    questions_of,
    with_phrasings,
)
from codexmem.domain.qa.validation import Unfit
from codexmem.domain.qa.words import Likeness
from codexmem.domain.query import Cursor, Filter, Page, Seq
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.qa import retracting
from codexmem.services.qa.lifecycle import Evidence, Lifecycle
from codexmem.services.qa.searching import Answers, Searching
from codexmem.services.qa.views import Item, Views
from codexmem.store.beliefs import MOST, Beliefs
from codexmem.store.database import Database
from codexmem.store.memories import Memories as Table

if TYPE_CHECKING:
    from codexmem.domain.gatekeeper.judging import RuleVerdict

COUNTED = MOST  # up to which items of a status are counted
_SIMILAR = 5
_QUESTION = 2_000  # characters of a question that similar ones are looked for by


@dataclass(frozen=True, slots=True)
class Shelf:
    """One page of items, newest first."""

    items: tuple[Item, ...]
    after: Cursor | None


@dataclass(frozen=True, slots=True)
class Looked:
    """An item with its company."""

    item: Item
    similar: tuple[Item, ...]
    contradictions: tuple[Item, ...]
    rules: "tuple[RuleVerdict, ...]"  # what the gatekeeper's rules say of its text as it stands


@dataclass(frozen=True, slots=True)
class Beside:
    """An item beside another one that asks nearly the same."""

    item: Item
    likeness: Likeness  # of the questions
    agreement: Agreement  # of the answers


class Reviewing:
    """What a person does with items of the acting tenant."""

    def __init__(self, db: Database, table: Table, memories: Memories, history: History, beliefs: Beliefs,
                 lifecycle: Lifecycle, views: Views, searching: Searching) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views
        self._searching = searching

    def page(self, *, status: Status | None, project: str | None, limit: int, after: Cursor | None) -> Shelf:
        """One page, newest first."""
        statuses = frozenset({status}) if status is not None else JUDGED
        found = self._memories.page(Filter(KINDS, project=project, statuses=statuses), Page(limit, after))
        return Shelf(tuple(self._views.of(found.items)), found.after)

    def look(self, qa_id: str, project: str | None) -> Looked:
        """An item, those that ask nearly the same, and those that contradict it."""
        memory = self._views.named(qa_id, project)
        item = self._views.one(memory)
        question = attrs_of(memory).question[:_QUESTION] or memory.state.title
        near = self._searching.find(memory.state.project, question, limit=_SIMILAR + 1, min_score=0.0)
        similar = tuple(each for each in near.items if each.memory.seq != memory.seq)[:_SIMILAR]
        rules = _judged(attrs_of(memory).question, memory.state.content)
        return Looked(item, similar, tuple(self._views.of(item.contradicts)), rules)

    def similar(self, qa_id: str, project: str | None, *, limit: int) -> tuple[list[Beside], Answers]:
        """Items that ask nearly the same, the most alike first and compared with this one; and how they were found."""
        memory = self._views.named(qa_id, project)
        question = attrs_of(memory).question[:_QUESTION] or memory.state.title
        near = self._searching.find(memory.state.project, question, limit=limit + 1, min_score=0.0)
        others = [each for each in near.items if each.memory.seq != memory.seq]
        others.sort(key=lambda each: each.relevance or 0.0, reverse=True)
        return [_beside(memory, each) for each in others[:limit]], near

    def counts(self, project: str | None) -> dict[Status, int]:
        """How many items there are of each status, counted only so far."""
        return self._beliefs.counts(sorted(JUDGED), project)

    def approve(self, qa_id: str, project: str | None, by: By) -> Item:
        """A person says that it is right: it is validated, whatever it was."""
        return self._decide(qa_id, project, by, Signal.CONFIRMED, Status.VALIDATED, "approve")

    def reject(self, qa_id: str, project: str | None, by: By) -> Item:
        """A person says that it is wrong: it is no longer offered."""
        return self._decide(qa_id, project, by, Signal.REFUTED, Status.DEPRECATED, "reject")

    def merge(self, qa_id: str, into: str, project: str | None, by: By) -> Item:
        """Give one item's questions to another, which keeps its answer and evidence; the first is no longer offered."""
        first, second = self._views.named(qa_id, project), self._views.named(into, project)
        if first.seq == second.seq:
            raise Unfit("an item cannot be merged into itself", hint="name another one in `into`")
        if first.state.project != second.state.project:
            raise Unfit("items of two projects cannot be merged")
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
                first, ["merged"], by, into=second.id, **retracting.facts("merge", own.delta, held[first.seq], settled)
            )
        return replace(self._views.one(second), delta=own.delta)

    def _decide(self, qa_id: str, project: str | None, by: By, signal: Signal, status: Status, cause: str) -> Item:
        found = self._views.named(qa_id, project)
        with self._db.transaction():
            before = self._beliefs.hold({found.seq: found.created_ms})[found.seq]
            memory = self._memories.get(Seq(found.seq), KINDS)
            own = replace(by, delta=self._history.open_delta(f"qa:{memory.id}", cause, by).id)
            learned = self._lifecycle.learn(before, [Evidence(signal)])
            self._memories.count(
                [memory.seq], valid=int(signal is Signal.CONFIRMED), invalid=int(signal is Signal.REFUTED)
            )
            after = self._lifecycle.settle(memory, learned, status, own, cause=cause)
            settled = self._beliefs.of([memory.seq])[memory.seq]
            self._lifecycle.tell(memory, [signal], by, **retracting.facts(cause, own.delta, before, settled))
            return replace(self._views.one(self._memories.get(Seq(after.seq), KINDS)), delta=own.delta)


def _judged(question: str, answer: str) -> "tuple[RuleVerdict, ...]":
    from codexmem.domain.gatekeeper import judging  # its rules take a while to load, and few ask for them

    outcome = judging.judge(question, answer, top_score=None, min_score=0.0, mode="hard")
    return tuple(rule for rule in outcome.rules if rule.name != "missing")  # that is about a search at that time


def _beside(memory: Memory, item: Item) -> Beside:
    other = item.memory
    asked = qa_words.words(attrs_of(memory).question)
    found = {qa_words.likeness(asked, qa_words.words(each)) for each in questions_of(attrs_of(other))}
    likeness = next(each for each in Likeness if each in found)
    return Beside(item, likeness, qa_answers.compare(other.state.content, memory.state.content))


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
