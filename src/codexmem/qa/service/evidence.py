"""What evidence does to items: reports are learned from, moves are versions, and what nobody speaks for expires."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import VISIBLE, Memory, State, Status
from codexmem.kernel.model.query import Seq
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.qa.model import belief
from codexmem.qa.model.belief import Signal, agrees
from codexmem.qa.model.items import (
    BATCH,
    CANDIDATE_MS,
    KINDS,
    SIGNALS_KEPT_MS,
    clean_value,
    demoted,
    expires_ms,
    promoted,
)
from codexmem.qa.model.validation import QaReference, ValidationReport
from codexmem.qa.service.items import QaEntry, QaViews, missing
from codexmem.qa.store import Beliefs, Heard, Learned, Named

_FOR = frozenset({Signal.USED, Signal.CONFIRMED})
_CONTEXT = 500  # characters of what a reporter says about a report that the log keeps
_PAYLOAD = 4_000
_FORGET = 2  # notes of old signals that go for each new one
_BY_ITSELF = frozenset({"evidence", "validate"})  # causes of moves that nobody asked for: they spare what is pinned
_AT_ONCE = 100  # items in one transaction: other writers wait behind it


@dataclass(frozen=True, slots=True)
class LifecycleSignal:
    """One signal to learn from."""

    signal: Signal
    strength: float = 1.0
    at_ms: int | None = None  # when it was given; now, unless it is brought along


class QaLifecycle:
    """Moves items of the acting tenant.

    Whoever calls these holds the item's belief from before it was read to the end of the transaction.
    """

    def __init__(self, memories: Memories, history: History, beliefs: Beliefs, log: Log, clock: Clock) -> None:
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._log = log
        self._clock = clock

    def learn(self, learned: Learned, evidence: Iterable[LifecycleSignal]) -> Learned:
        """What is known after these signals; nothing is written."""
        now = self._clock.now_ms()
        for each in evidence:
            at_ms = now if each.at_ms is None else min(each.at_ms, now)
            known = belief.learn(learned.belief, each.signal, strength=each.strength, now_ms=at_ms)
            spoken = max(learned.spoken_ms, at_ms) if each.signal in _FOR else learned.spoken_ms
            learned = replace(learned, belief=known, spoken_ms=spoken)
        return learned

    def standing(self, memory: Memory, learned: Learned) -> Status:
        """Where evidence alone puts it."""
        return belief.standing(
            memory.state.status, learned.belief, prior=memory.state.confidence, now_ms=self._clock.now_ms()
        )

    def settle(self, memory: Memory, learned: Learned, status: Status, by: WriteContext, *, cause: str) -> Memory:
        """Keep what was learned and where the item now stands; a move is a version of its own delta."""
        stays = cause in _BY_ITSELF and status not in VISIBLE and self._memories.is_kept(memory, by)
        if status is not memory.state.status and not stays:
            memory = self.move(memory, status, by, cause=cause)
        self._beliefs.put(memory.seq, replace(learned, due_ms=expires_ms(status, learned.spoken_ms)))
        return memory

    def move(self, memory: Memory, status: Status, by: WriteContext, *, cause: str) -> Memory:
        """Give it another status."""
        delta = by.delta or self._history.open_delta(f"qa:{memory.id}", cause, by).id
        note = by.note or f"{memory.state.status} to {status}: {cause}"

        def moved(state: State) -> State:
            return replace(state, status=status)

        return self._memories.change(Seq(memory.seq), KINDS, moved, replace(by, delta=delta, note=note))

    def tell(self, memory: Memory, signals: Iterable[str], by: WriteContext, **facts: object) -> None:
        """Log what was reported about an item; facts that are empty are left out."""
        said = {name: fact for name, fact in facts.items() if fact not in (None, "")}
        payload = {"signals": list(signals), "actor": by.actor, **said}
        self._log.append(NewEvent(EventType.QA_SIGNAL, f"memory:{memory.seq}", payload, memory.state.project))


@dataclass(frozen=True, slots=True)
class HitOutcome:
    """What became of the references."""

    accepted: int
    deduped: int  # nothing of them was new
    unknown: tuple[str, ...]  # ids that this project does not have


@dataclass(frozen=True, slots=True)
class Validated:
    """An item after a report, and where it stood before."""

    item: QaEntry
    before: Status


class QaSignals:
    """Takes in reports about items of the acting tenant.

    Each report is counted, learned from and logged, once: it may bring the id of the message it belongs to, and the
    same signal of the same message about the same item is then known for ninety days. One call reads and writes the
    rows of the items it names.
    """

    def __init__(self, db: Database, memories: Memories, beliefs: Beliefs, lifecycle: QaLifecycle, views: QaViews,
                 clock: Clock) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views
        self._clock = clock

    def hit(self, project: str, references: Sequence[QaReference], by: WriteContext) -> HitOutcome:
        """Count and learn from what was shown and used."""
        with self._db.transaction():
            named = self._beliefs.named(project, [each.qa_id for each in references])
            held = self._beliefs.hold({each.seq: each.created_ms for each in named.values()})
            # Read after the rows are held: what is read now is what stands until the end.
            memories = self._memories.many(held, KINDS)
            here = {qa_id: each for qa_id, each in named.items() if each.seq in memories}
            known = [each for each in references if each.qa_id in here]
            news = [self._news(each, here) for each in known]
            for seq, memory in memories.items():
                own = [(each, new) for each, new in zip(known, news, strict=True) if here[each.qa_id].seq == seq]
                self._take(memory, held[seq], own, by)
            self._forget(sum(len(new) for new in news))
        repeated = sum(bool(each.signals) and not new for each, new in zip(known, news, strict=True))
        unknown = tuple(dict.fromkeys(each.qa_id for each in references if each.qa_id not in here))
        return HitOutcome(len(known) - repeated, repeated, unknown)

    def validate(self, project: str, report: ValidationReport, by: WriteContext) -> Validated:
        """Count and learn from a trial; a strong one moves the item a step unless all evidence says otherwise."""
        with self._db.transaction():
            named = self._beliefs.named(project, [report.qa_id]).get(report.qa_id)
            if named is None:
                raise missing(report.qa_id)
            learned = self._beliefs.hold({named.seq: named.created_ms})[named.seq]
            memory = self._views.named(report.qa_id, project)
            before, trial = memory.state.status, report.trial
            facts = {name: clean_value(fact, _PAYLOAD) for name, fact in report.facts.items() if fact is not None}
            if trial.worked is None:
                self._lifecycle.tell(memory, ["undecided"], by, **facts)
                return Validated(self._views.one(memory), before)
            signal = Signal.CONFIRMED if trial.worked else Signal.REFUTED
            learned = self._lifecycle.learn(learned, [LifecycleSignal(signal, trial.strength, report.at_ms)])
            self._memories.count([memory.seq], valid=int(trial.worked), invalid=int(not trial.worked))
            self._lifecycle.tell(memory, [signal], by, strength=trial.strength, strong=trial.strong or None, **facts)
            status = self._lifecycle.standing(memory, learned)
            if trial.strong and agrees(learned.belief, signal):
                status = promoted(before) if trial.worked else demoted(before)
            self._lifecycle.settle(memory, learned, status, by, cause="validate")
            return Validated(self._views.one(self._views.named(report.qa_id, project)), before)

    def _news(self, reference: QaReference, here: dict[str, Named]) -> tuple[Signal, ...]:
        """Those of its signals that were not heard before."""
        if reference.message is None:
            return reference.signals
        seq, now, message = here[reference.qa_id].seq, self._clock.now_ms(), reference.message
        return tuple(each for each in reference.signals if self._beliefs.hear(Heard(seq, each, message), now))

    def _take(self, memory: Memory, learned: Learned, own: Iterable[tuple[QaReference, tuple[Signal, ...]]],
              by: WriteContext) -> None:  # fmt: skip
        told = [(reference, new) for reference, new in own if new]
        if not told:
            return
        signals = [signal for _, new in told for signal in new]
        counts = Counter(signals)
        self._memories.count([memory.seq], shown=counts[Signal.SHOWN], used=counts[Signal.USED])
        first = told[0][0]
        context = clean_value(first.context, _CONTEXT) if first.context is not None else None
        self._lifecycle.tell(memory, signals, by, message=first.message, context=context)
        learned = self._lifecycle.learn(learned, [LifecycleSignal(signal) for signal in signals])
        self._lifecycle.settle(memory, learned, self._lifecycle.standing(memory, learned), by, cause="evidence")

    def _forget(self, heard: int) -> None:
        if heard:
            self._beliefs.forget_signals(self._clock.now_ms() - SIGNALS_KEPT_MS, _FORGET * heard)


@dataclass(frozen=True, slots=True)
class Expired:
    """What one call did."""

    expired: int
    remaining: bool  # whether more are due
    delta: str | None  # take it back to have them as they were; None: nothing expired


class Expiry:
    """Expires items of the acting tenant.

    Every item has a day on which to look at it, kept beside what was learned about it and indexed, so that a call reads
    what is due and nothing else, the longest due first. A call may be interrupted and repeated; all that one call
    expires is one delta.
    """

    def __init__(self, db: Database, memories: Memories, history: History, beliefs: Beliefs, lifecycle: QaLifecycle,
                 clock: Clock) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._clock = clock

    def expire(self, by: WriteContext, *, batch_size: int = BATCH) -> Expired:
        """Look at so many items that are due, and expire those whose time is over."""
        now, left, expired, delta = self._clock.now_ms(), batch_size, 0, None
        while left > 0 and (seqs := self._beliefs.due(now, min(left, _AT_ONCE))):
            with self._db.transaction():
                over = self._over(seqs, now)
                kept = self._memories.kept(over, by)  # pinned: a person decides when they are told no longer
                gone = [memory for memory in over if memory.seq not in kept]
                if gone and delta is None:
                    delta = self._history.open_delta("qa:expiry", "expire", by).id
                for memory in gone:
                    self._lifecycle.move(memory, Status.EXPIRED, replace(by, delta=delta), cause="expire")
            expired += len(gone)
            left -= len(seqs)
        return Expired(expired, bool(self._beliefs.due(now, 1)), delta)

    def _over(self, seqs: Sequence[int], now: int) -> list[Memory]:
        """Those whose time is over; every one of these has another day to be looked at, or none."""
        there = self._memories.many(seqs, KINDS)  # what was forgotten since is gone with its row
        held = self._beliefs.hold({seq: memory.created_ms for seq, memory in there.items()})
        gone: list[Memory] = []
        for seq, memory in self._memories.many(held, KINDS).items():
            learned = held[seq]
            due = expires_ms(memory.state.status, learned.spoken_ms)
            if due is not None and due <= now:
                gone.append(memory)
                # Whoever takes this back gets as much time again.
                due = now + CANDIDATE_MS
            self._put(seq, learned, due)
        return gone

    def _put(self, seq: int, learned: Learned, due: int | None) -> None:
        if learned.due_ms != due:
            self._beliefs.put(seq, replace(learned, due_ms=due))
