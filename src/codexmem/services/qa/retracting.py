"""Taking back a person's decision about an item: what it wrote, and what was learned from it.

The product's own undo restores states and leaves what was learned. A decision that was a slip is no evidence, so this
removes that as well: the log keeps, with the decision, what was known before and after it. If nothing was learned
since, the former numbers return to the last bit; otherwise this one signal is taken out of what has come together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from codexmem.domain.errors import Conflict, NotFound
from codexmem.domain.event import Event, EventType
from codexmem.domain.history import By, Delta, DeltaStatus, Mode
from codexmem.domain.memory import Memory
from codexmem.domain.qa import belief
from codexmem.domain.qa.belief import Belief, Signal
from codexmem.domain.qa.items import KINDS, expires_ms
from codexmem.domain.query import Seq
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.qa.lifecycle import Lifecycle
from codexmem.services.qa.views import Item, Views
from codexmem.store.beliefs import Beliefs, Learned
from codexmem.store.database import Database
from codexmem.store.event_pages import EventPages, Span
from codexmem.store.history import Versions
from codexmem.store.memories import Memories as Table

DECISIONS = frozenset({"approve", "reject", "merge", "edit"})
_LOOKED = 500  # of an item's newest signals, in which the decision is looked for
_EVER = 2**53


@dataclass(frozen=True, slots=True)
class Retracted:
    """The item after it; `item.delta` is what took the decision back."""

    item: Item
    undone: bool  # False: it had been taken back before


def facts(cause: str, delta: str | None, before: Learned, after: Learned) -> dict[str, object]:
    """What the log keeps with a decision, so that it can be taken back."""
    return {"decided": cause, "delta": delta, "before": _figures(before), "after": _figures(after)}


class Retracting:
    """Takes back decisions about the acting tenant's items."""

    def __init__(self, db: Database, table: Table, memories: Memories, history: History, beliefs: Beliefs,
                 lifecycle: Lifecycle, views: Views) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._versions = Versions(db)
        self._pages = EventPages(db)
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views

    def undo(self, qa_id: str, delta_id: str, project: str | None, by: By) -> Retracted:
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
                    hint="take the later change back first, or decide again",
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
            f"{delta_id[:80]!r} is no decision about {item.id}", hint="send the delta that the decision answered with"
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
            f"memory:{seq}", EventType.QA_SIGNAL.value, Span(0, _EVER), below=None, limit=_LOOKED
        )
        return next((each for each in found if (each.payload or {}).get("delta") == delta_id), None)

    def _unlearn(self, memory: Memory, now: Learned, event: Event, delta: Delta, by: By) -> None:
        said: Mapping[str, Any] = event.payload or {}
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
