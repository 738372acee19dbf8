"""What became of answers: they were shown, used, and tried. Each report is counted, learned from and logged, once.

A report may bring the id of the message it belongs to; the same signal of the same message about the same item is then
known for ninety days, and counts once. One call reads and writes a bounded number of rows: those of the items it names.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from codexmem.domain.history import By
from codexmem.domain.ids import Clock
from codexmem.domain.memory import Memory, Status
from codexmem.domain.qa.belief import Signal, agrees
from codexmem.domain.qa.items import KINDS, SIGNALS_KEPT_MS, demoted, promoted
from codexmem.domain.qa.validation import Trial
from codexmem.services.memories import Memories
from codexmem.services.qa.cleaning import clean_value
from codexmem.services.qa.lifecycle import Evidence, Lifecycle
from codexmem.services.qa.views import Item, Views, missing
from codexmem.store.beliefs import Beliefs, Heard, Learned, Named
from codexmem.store.database import Database

_CONTEXT = 500  # characters of what a reporter says about a report that the log keeps
_PAYLOAD = 4_000
_FORGET = 2  # notes of old signals that go for each new one


@dataclass(frozen=True, slots=True)
class Reference:
    """One item that was put before somebody."""

    qa_id: str
    shown: bool
    used: bool
    message: str | None = None
    context: object = None

    @property
    def signals(self) -> tuple[Signal, ...]:
        """What it reports."""
        given = ((Signal.SHOWN, self.shown), (Signal.USED, self.used))
        return tuple(signal for signal, reported in given if reported)


@dataclass(frozen=True, slots=True)
class Hits:
    """What became of the references."""

    accepted: int
    deduped: int  # nothing of them was new
    unknown: tuple[str, ...]  # ids that this project does not have


@dataclass(frozen=True, slots=True)
class Report:
    """An answer that was tried."""

    qa_id: str
    trial: Trial
    at_ms: int | None = None  # when, if the reporter says so
    facts: dict[str, object] = field(default_factory=dict)  # for the log


@dataclass(frozen=True, slots=True)
class Validated:
    """An item after a report, and where it stood before."""

    item: Item
    before: Status


class Signals:
    """Takes in reports about items of the acting tenant."""

    def __init__(self, db: Database, memories: Memories, beliefs: Beliefs, lifecycle: Lifecycle, views: Views,
                 clock: Clock) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views
        self._clock = clock

    def hit(self, project: str, references: Sequence[Reference], by: By) -> Hits:
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
        return Hits(len(known) - repeated, repeated, unknown)

    def validate(self, project: str, report: Report, by: By) -> Validated:
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
            learned = self._lifecycle.learn(learned, [Evidence(signal, trial.strength, report.at_ms)])
            self._memories.count([memory.seq], valid=int(trial.worked), invalid=int(not trial.worked))
            self._lifecycle.tell(memory, [signal], by, strength=trial.strength, strong=trial.strong or None, **facts)
            status = self._lifecycle.standing(memory, learned)
            if trial.strong and agrees(learned.belief, signal):
                status = promoted(before) if trial.worked else demoted(before)
            self._lifecycle.settle(memory, learned, status, by, cause="validate")
            return Validated(self._views.one(self._views.named(report.qa_id, project)), before)

    def _news(self, reference: Reference, here: dict[str, Named]) -> tuple[Signal, ...]:
        """Those of its signals that were not heard before."""
        if reference.message is None:
            return reference.signals
        seq, now, message = here[reference.qa_id].seq, self._clock.now_ms(), reference.message
        return tuple(each for each in reference.signals if self._beliefs.hear(Heard(seq, each, message), now))

    def _take(self, memory: Memory, learned: Learned, own: Iterable[tuple[Reference, tuple[Signal, ...]]],
              by: By) -> None:  # fmt: skip
        told = [(reference, new) for reference, new in own if new]
        if not told:
            return
        signals = [signal for _, new in told for signal in new]
        counts = Counter(signals)
        self._memories.count([memory.seq], shown=counts[Signal.SHOWN], used=counts[Signal.USED])
        first = told[0][0]
        context = clean_value(first.context, _CONTEXT) if first.context is not None else None
        self._lifecycle.tell(memory, signals, by, message=first.message, context=context)
        learned = self._lifecycle.learn(learned, [Evidence(signal) for signal in signals])
        self._lifecycle.settle(memory, learned, self._lifecycle.standing(memory, learned), by, cause="evidence")

    def _forget(self, heard: int) -> None:
        if heard:
            self._beliefs.forget_signals(self._clock.now_ms() - SIGNALS_KEPT_MS, _FORGET * heard)
