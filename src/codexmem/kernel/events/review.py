"""Going back through the log, newest first, for events that a filter keeps.

What a filter asks of an event's payload no index knows, so events are read in pages until enough of them were kept or
so many were looked at that it must do; the answer says which. Memory holds one page and what is kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.store.event_pages import EventPages, EventSpan, EventTimings

PAGE = 500
MOST_LOOKED_AT = 20_000  # events that one question goes through
MOST_EXPORTED_FROM = 200_000  # the same for an export, which is read as it goes
MOST_MEASURED = 500_000  # events that one sum takes in; an index holds all it needs

Keeps = Callable[[Event], bool]


@dataclass(frozen=True, slots=True)
class Sought:
    """Which events: a type, a time, and one subject if that is known."""

    type: EventType
    span: EventSpan
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """What was kept, newest first."""

    events: tuple[Event, ...]
    scanned: int  # events that were looked at
    truncated: bool  # older ones were not looked at, because it had been enough


@dataclass(frozen=True, slots=True)
class Sums:
    """Buckets that are not empty, oldest first."""

    buckets: tuple[EventTimings, ...]
    truncated: bool  # the oldest events of the time are left out


class Review:
    """Reads the acting tenant's log backwards."""

    def __init__(self, pages: EventPages) -> None:
        self._pages = pages

    def one(self, type: EventType, seq: int) -> Event | None:
        """The event of this number, if it is of this type."""
        return self._pages.one(seq, type.value)

    def pages(self, sought: Sought, *, most: int = MOST_EXPORTED_FROM) -> Iterator[list[Event]]:
        """The events in pages, newest first, until there are no more or so many were given."""
        below: Event | None = None
        while most > 0:
            size = min(PAGE, most)
            page = self._page(sought, below, size)
            if page:
                yield page
            if len(page) < size:
                return
            below, most = page[-1], most - size

    def newest(self, sought: Sought, keeps: Keeps, *, limit: int, most: int = MOST_LOOKED_AT) -> ReviewPage:
        """The newest that are kept, at most so many, having looked at no more than `most`."""
        kept: list[Event] = []
        scanned = 0
        for page in self.pages(sought, most=most):
            for event in page:
                if len(kept) == limit:
                    return ReviewPage(tuple(kept), scanned, truncated=False)
                scanned += 1
                if keeps(event):
                    kept.append(event)
        return ReviewPage(tuple(kept), scanned, truncated=scanned >= most)

    def sums(self, type: EventType, span: EventSpan, *, width_ms: int, most: int = MOST_MEASURED) -> Sums:
        """How many events and how long they took, by equal stretches of time."""
        found = self._pages.measured(type.value, span, width_ms=width_ms, most=most)
        return Sums(tuple(found), truncated=sum(bucket.count for bucket in found) >= most)

    def _page(self, sought: Sought, below: Event | None, limit: int) -> list[Event]:
        if sought.subject is not None:
            return self._pages.of_subject(sought.subject, sought.type.value, sought.span, below=below, limit=limit)
        return self._pages.of_type(sought.type.value, sought.span, below=below, limit=limit)
