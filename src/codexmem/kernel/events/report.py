"""Looking back over the log: how often, how many, what last.

Every answer is bounded: a report has at most so many buckets, a list at most so many events.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.store.events import EventTable

MAX_BUCKETS = 2_000
MAX_NEWEST = 1_000


@dataclass(frozen=True, slots=True)
class EventBucket:
    """How many events fell into one stretch of time."""

    from_ms: int
    count: int


class EventReport:
    """Reads the acting tenant's log by type and time."""

    def __init__(self, events: EventTable) -> None:
        self._events = events

    def buckets(self, type: EventType, *, from_ms: int, to_ms: int, width_ms: int) -> list[EventBucket]:
        """The stretch from `from_ms` to before `to_ms`, cut into equal buckets, empty ones included."""
        if width_ms < 1 or to_ms <= from_ms:
            raise InvalidArgument("a report needs a time that has passed and buckets of at least 1 ms")
        if (to_ms - from_ms) > width_ms * MAX_BUCKETS:
            raise InvalidArgument(f"more than {MAX_BUCKETS} buckets", hint="ask for a shorter time or wider buckets")
        found = dict(self._events.buckets(type.value, from_ms=from_ms, to_ms=to_ms, width_ms=width_ms))
        return [EventBucket(start, found.get(start, 0)) for start in range(from_ms, to_ms, width_ms)]

    def counts(
        self, types: Sequence[EventType] = tuple(EventType), *, from_ms: int, to_ms: int
    ) -> dict[EventType, int]:
        """How many events of each type within a time, zero included."""
        found = self._events.counts([each.value for each in types], from_ms=from_ms, to_ms=to_ms)
        return {each: found.get(each.value, 0) for each in types}

    def newest(self, type: EventType, *, from_ms: int = 0, to_ms: int = 2**62, limit: int = 100) -> list[Event]:
        """The last events of one type, newest first."""
        return self._events.of_type(type.value, from_ms=from_ms, to_ms=to_ms, limit=min(limit, MAX_NEWEST))

    def trace(
        self, subject: str, *, after_seq: int = 0, limit: int = 256, types: Sequence[EventType] = ()
    ) -> list[Event]:
        """Everything that happened to one subject, in order, a page at a time."""
        return self._events.of_subject(
            subject, after_seq=after_seq, limit=min(limit, MAX_NEWEST), types=[each.value for each in types]
        )
