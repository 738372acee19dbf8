"""Letting the log fade: each type is kept as long as the catalogue says.

Removes a bounded number of rows per transaction, so that a log left alone for a year does not stop the writers when it
is looked after again. When to run is the caller's decision.
"""

from collections.abc import Mapping

from codexmem.kernel.model.event import RETENTION_MS, EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.events import EventTable

STEP = 500  # rows per transaction


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
