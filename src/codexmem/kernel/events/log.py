"""Writing to the log, and letting it fade.

An event is appended in the transaction that it describes: it is there exactly if that transaction committed, and live
readers are woken afterwards. Reading is `live` (as it happens) and `report` (looking back). Each type is kept as long
as the catalogue says; removing takes a bounded number of rows per transaction, so that a log left alone for a year does
not stop the writers when it is looked after again. When to run that is the caller's decision.
"""

from collections.abc import Mapping, Sequence

from codexmem.kernel.model import ids
from codexmem.kernel.model.event import RETENTION_MS, EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.notify import Notifier

STEP = 500  # rows per transaction


def bell_name(tenant: str) -> str:
    """What rings when a tenant's log has grown."""
    return f"events:{tenant}"


class Log:
    """Appends events for the acting tenant."""

    def __init__(self, db: Database, events: EventTable, notifier: Notifier, clock: Clock) -> None:
        self._db = db
        self._events = events
        self._bell = notifier
        self._clock = clock

    def append(self, event: NewEvent) -> str:
        """Log it with the caller's transaction, or in one of its own; returns the event's id."""
        with self._db.transaction() as tx:
            event_id = ids.prefixed("evt")
            self._events.append(event, id=event_id, at_ms=self._clock.now_ms())
            name = bell_name(tx.tenant)
            tx.after_commit(lambda: self._bell.notify(name))
            return event_id

    def extend(self, events: Sequence[NewEvent], *, at_ms: int) -> list[str]:
        """Log several as of one time, with one wake-up for all of them; returns their ids."""
        with self._db.transaction() as tx:
            made = [ids.prefixed("evt") for _ in events]
            for event_id, event in zip(made, events, strict=True):
                self._events.append(event, id=event_id, at_ms=at_ms)
            name = bell_name(tx.tenant)
            tx.after_commit(lambda: self._bell.notify(name))
            return made

    def scrub(self, subjects: Sequence[str]) -> None:
        """Blank the payloads of events about things that are being forgotten; that they happened stays."""
        self._events.scrub(subjects)


class Retention:
    """Prunes the acting tenant's log."""

    def __init__(
        self, events: EventTable, clock: Clock, kept_ms: Mapping[EventType, int | None] = RETENTION_MS
    ) -> None:
        self._events = events
        self._clock = clock
        self._kept_ms = kept_ms

    def prune(self, *, steps: int = 100) -> int:
        """Remove what is too old, in at most so many transactions; returns how many events went."""
        removed = 0
        for event_type, kept_ms in self._kept_ms.items():
            while kept_ms is not None and steps > 0:
                steps -= 1
                gone = self._events.prune(event_type.value, before_ms=self._clock.now_ms() - kept_ms, limit=STEP)
                removed += gone
                if gone < STEP:
                    break
        return removed
