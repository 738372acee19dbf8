"""Looking back at searches, timings and failures: filtered lists with a summary, and the same rows for an export.

A list looks at a bounded number of events and says whether that cut it short. An export is read page by page as it is
taken, so that it costs no more memory than a page.

How busy it was lately: searches, extractions and failures by equal stretches of time.

Summed up by the store from one index, over a bounded number of events of each type; where there were more, the oldest
of the window are left out and the answer says so.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Generic, TypeVar

from codexmem.kernel.events.review import MOST_EXPORTED_FROM, MOST_LOOKED_AT, MOST_MEASURED, Review, Sought
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.search import SearchMode
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.event_pages import EventSpan, EventTimings
from codexmem.operations.service.entries import (
    Explained,
    FailureEntry,
    SearchTrace,
    SessionTiming,
    explained,
    failure,
    search_trace,
    session_timing,
)

FAILURES = (EventType.QUEUE_FAILED, EventType.MODEL_FAILED)
_SEARCHES = (EventType.SEARCH_ANSWERED, EventType.SEARCH_LOOKED_UP)
MAX_LISTED = 1_000
MAX_EXPORTED = 10_000
_NAMED = frozenset(Kind) - {Kind.CHUNK}
_END_MS = 2**53  # the last whole millisecond that every reader of JSON can hold

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Within:
    """A stretch of time, both ends included; open where nothing is given."""

    from_ms: int = 0
    to_ms: int = _END_MS

    def __post_init__(self) -> None:
        """A time that ends before it begins is a mistake, not an empty answer."""
        if self.from_ms > self.to_ms:
            raise InvalidArgument("from is later than to", hint="swap them")

    def span(self) -> EventSpan:
        """As the log is asked."""
        return EventSpan(self.from_ms, self.to_ms + 1)


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Which searches; every given field must hold."""

    within: Within = field(default_factory=Within)
    query: str = ""  # part of what was asked, in any case
    project: str | None = None
    mode: SearchMode | None = None
    lookups: bool = False  # also what codexmem looked up by itself

    def keeps(self, trace: SearchTrace) -> bool:
        """Whether the search is one of them."""
        return (
            (self.project is None or trace.project == self.project)
            and (self.mode is None or trace.mode == self.mode.value)
            and self.query.casefold() in trace.query.casefold()
        )


@dataclass(frozen=True, slots=True)
class TimingFilter:
    """Which extractions."""

    within: Within = field(default_factory=Within)
    session: int | None = None
    message_type: str | None = None
    success: bool | None = None

    def keeps(self, timing: SessionTiming) -> bool:
        """Whether the extraction is one of them; which session it was is asked of the log itself."""
        return (self.message_type is None or timing.message_type == self.message_type) and (
            self.success is None or timing.success is self.success
        )


@dataclass(frozen=True, slots=True)
class FailureFilter:
    """Which failures."""

    within: Within = field(default_factory=Within)
    session: int | None = None
    error_class: str | None = None
    message_type: str | None = None

    def keeps(self, failed: FailureEntry) -> bool:
        """Whether the failure is one of them."""
        return (
            (self.session is None or failed.session == self.session)
            and (self.error_class is None or failed.error_class == self.error_class)
            and (self.message_type is None or failed.message_type == self.message_type)
        )


@dataclass(frozen=True, slots=True)
class ReportPage(Generic[T]):
    """Rows that were kept, newest first."""

    rows: tuple[T, ...]
    scanned: int  # events that were looked at
    truncated: bool  # older events were not looked at, because it had been enough


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """Failures by class, over all that were looked at, and the newest of them."""

    recent: ReportPage[FailureEntry]
    classes: dict[str, int]  # the most frequent first

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.classes.values())


@dataclass(frozen=True, slots=True)
class _Kind(Generic[T]):
    """What one report reads: where, as what, and which of it."""

    sought: tuple[Sought, ...]
    read: Callable[[Event], T]
    keeps: Callable[[T], bool]

    def kept(self, event: Event) -> T | None:
        """The row, unless it is filtered out or what it described has been forgotten."""
        if event.payload is None:
            return None
        row = self.read(event)
        return row if self.keeps(row) else None


class Reports:
    """Reads the acting tenant's log."""

    def __init__(self, review: Review, message_types: Mapping[str, str], memories: Memories | None = None) -> None:
        self._review = review
        self._memories = memories  # to tell what results are called now
        self._message_types = message_types  # kind of job → what its work is called outside

    def search_traces(self, wanted: TraceFilter, *, limit: int = 100) -> ReportPage[SearchTrace]:
        """The newest searches."""
        return self._listed(self._traces(wanted), limit)

    def explained_search(self, seq: int) -> Explained:
        """One search, with why its first results stand where they do."""
        found_as = (self._review.one(each, seq) for each in _SEARCHES)
        event = next((each for each in found_as if each is not None), None)
        if event is None or event.payload is None:
            raise NotFound(f"there is no trace {seq}", hint="traces are kept for seven days")
        found = explained(event)
        if self._memories is None:
            return found
        # Pieces of documents are shown by the lab alone.
        named = self._memories.many([each.seq for each in found.results], _NAMED)
        return replace(found, results=tuple(replace(each, memory=named.get(each.seq)) for each in found.results))

    def session_timings(self, wanted: TimingFilter, *, limit: int = 100) -> ReportPage[SessionTiming]:
        """The newest extractions."""
        return self._listed(self._timings(wanted), limit)

    def failures(self, wanted: FailureFilter, *, limit: int = 100) -> FailureSummary:
        """Failures by class and the newest of them; the classes are counted beyond the limit."""
        kind, most = self._failed(wanted), _at_most(limit, MAX_LISTED)
        kept: list[FailureEntry] = []
        classes: Counter[str] = Counter()
        scanned = 0
        for event in islice(self._events(kind, most=MOST_LOOKED_AT), MOST_LOOKED_AT):
            scanned += 1
            row = kind.kept(event)
            if row is not None:
                classes[row.error_class] += 1
                if len(kept) < most:
                    kept.append(row)
        listed = ReportPage(tuple(kept), scanned, truncated=scanned >= MOST_LOOKED_AT)
        return FailureSummary(listed, dict(classes.most_common()))

    def export_search_traces(self, wanted: TraceFilter, *, limit: int = MAX_EXPORTED) -> Iterator[SearchTrace]:
        """The same searches, read as they are taken."""
        return self._exported(self._traces(wanted), limit)

    def export_session_timings(self, wanted: TimingFilter, *, limit: int = MAX_EXPORTED) -> Iterator[SessionTiming]:
        """The same extractions, read as they are taken."""
        return self._exported(self._timings(wanted), limit)

    def export_failures(self, wanted: FailureFilter, *, limit: int = MAX_EXPORTED) -> Iterator[FailureEntry]:
        """The same failures, read as they are taken."""
        return self._exported(self._failed(wanted), limit)

    def _traces(self, wanted: TraceFilter) -> _Kind[SearchTrace]:
        types = _SEARCHES if wanted.lookups else _SEARCHES[:1]
        return _Kind(tuple(Sought(each, wanted.within.span()) for each in types), search_trace, wanted.keeps)

    def _timings(self, wanted: TimingFilter) -> _Kind[SessionTiming]:
        subject = f"session:{wanted.session}" if wanted.session is not None else None
        sought = Sought(EventType.EXTRACTION_TIMED, wanted.within.span(), subject)
        return _Kind((sought,), session_timing, wanted.keeps)

    def _failed(self, wanted: FailureFilter) -> _Kind[FailureEntry]:
        def read(event: Event) -> FailureEntry:
            return failure(event, self._message_types)

        return _Kind(tuple(Sought(each, wanted.within.span()) for each in FAILURES), read, wanted.keeps)

    def _events(self, kind: _Kind[T], *, most: int) -> Iterator[Event]:
        """What a report reads, of whatever type, newest first."""
        streams = (
            (event for page in self._review.pages(each, most=most) for event in page) for each in kind.sought
        )  # fmt: skip
        return heapq.merge(*streams, key=lambda event: (-event.at_ms, -event.seq))

    def _listed(self, kind: _Kind[T], limit: int) -> ReportPage[T]:
        most = _at_most(limit, MAX_LISTED)
        rows: list[T] = []
        scanned = 0
        for event in islice(self._events(kind, most=MOST_LOOKED_AT), MOST_LOOKED_AT):
            if len(rows) == most:
                return ReportPage(tuple(rows), scanned, truncated=False)
            scanned += 1
            row = kind.kept(event)
            if row is not None:
                rows.append(row)
        return ReportPage(tuple(rows), scanned, truncated=scanned >= MOST_LOOKED_AT)

    def _exported(self, kind: _Kind[T], limit: int) -> Iterator[T]:
        left = _at_most(limit, MAX_EXPORTED)
        for event in islice(self._events(kind, most=MOST_EXPORTED_FROM), MOST_EXPORTED_FROM):
            row = kind.kept(event)
            if row is not None:
                yield row
                left -= 1
                if left == 0:
                    return


def _at_most(limit: int, most: int) -> int:
    if not 1 <= limit <= most:
        raise InvalidArgument(f"limit {limit} is not between 1 and {most:,}")
    return limit


WINDOW_S = range(60, 86_400 + 1)
BUCKET_S = range(10, 3_600 + 1)


@dataclass(frozen=True, slots=True)
class TrendBucket:
    """One stretch of time; an average of nothing is None."""

    from_ms: int
    searches: int
    search_ms: float | None
    extractions: int
    extraction_ms: float | None
    failures: int


@dataclass(frozen=True, slots=True)
class Trend:
    """The window, oldest bucket first, empty ones included; the last one may be shorter than the rest."""

    from_ms: int
    to_ms: int
    buckets: tuple[TrendBucket, ...]
    truncated: bool  # so many events that the oldest were left out


class Trends:
    """Sums up the acting tenant's log."""

    def __init__(self, review: Review, clock: Clock) -> None:
        self._review = review
        self._clock = clock

    def lately(self, *, window_s: int = 3_600, bucket_s: int = 60, most: int = MOST_MEASURED,
               until_ms: int | None = None) -> Trend:  # fmt: skip
        """The time up to now, or up to and with this millisecond, cut into buckets."""
        for name, value, allowed in (("windowSec", window_s, WINDOW_S), ("bucketSec", bucket_s, BUCKET_S)):
            if value not in allowed:
                raise InvalidArgument(f"{name} must be between {allowed.start} and {allowed.stop - 1}, not {value}")
        last_ms = until_ms if until_ms is not None else self._clock.now_ms()
        to_ms = max(last_ms, window_s * 1000) + 1  # what happened in this very millisecond counts
        span, width_ms = EventSpan(to_ms - window_s * 1000, to_ms), bucket_s * 1000
        sums = [
            self._review.sums(what, span, width_ms=width_ms, most=most)
            for what in (EventType.SEARCH_ANSWERED, EventType.EXTRACTION_TIMED, *FAILURES)
        ]
        by_time = [{each.from_ms: each for each in found.buckets} for found in sums]
        buckets = tuple(
            _bucket(start, *(found.get(start, EventTimings(start, 0, 0, 0)) for found in by_time))
            for start in range(span.from_ms, span.to_ms, width_ms)
        )
        return Trend(span.from_ms, span.to_ms, buckets, any(found.truncated for found in sums))


def _bucket(start: int, searched: EventTimings, extracted: EventTimings, *failed: EventTimings) -> TrendBucket:
    return TrendBucket(
        start, searched.count, _average_ms(searched), extracted.count, _average_ms(extracted),
        sum(each.count for each in failed),
    )  # fmt: skip


def _average_ms(measured: EventTimings) -> float | None:
    return round(measured.took_us / measured.timed / 1000, 3) if measured.timed else None
