"""How busy it was lately: searches, extractions and failures by equal stretches of time.

Summed up by the store from one index, over a bounded number of events of each type; where there were more, the oldest
of the window are left out and the answer says so.
"""

from dataclasses import dataclass

from codexmem.kernel.events.review import MOST_MEASURED, Review
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.event_pages import EventSpan, EventTimings
from codexmem.operations.service.reports import FAILURES

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
