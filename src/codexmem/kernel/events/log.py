"""Writing to the log.

An event is appended in the transaction that it describes: it is there exactly if that transaction committed, and live
readers are woken afterwards. Reading is `live` (as it happens) and `report` (looking back).
"""

from collections.abc import Sequence

from codexmem.kernel.model import ids
from codexmem.kernel.model.event import NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.notify import Notifier


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
