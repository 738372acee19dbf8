"""A stretch of time that a query speaks of, and how near a moment is to it.

Days are those of UTC: memories carry no time zone, and a day's edge is soft anyway.
"""

import functools
import math
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_YEAR_MS = 31_556_952_000  # the mean year of the calendar
_AFTERWARDS = 3.0  # an event is told after it happened, often days later
_RECENT_DAYS = 14.0


class Grain(StrEnum):
    """How exactly the query names the time."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    PART = "part"  # several days or months that are none of the above: a weekend, early May, from March to June
    RECENT = "recent"  # "lately", "最近": a leaning, not a date


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time and where the query names it."""

    from_ms: int
    to_ms: int  # the first moment after it
    grain: Grain
    text: str
    start: int  # query[start:end] == text
    end: int
    yearly: bool = False  # no year was named: meant in whichever year; `from_ms` is the latest that has begun

    def closeness(self, ms: int) -> float:
        """How near a moment is: 1 inside, falling towards 0 outside.

        Outside by d days it is 2^(-d/h), where h is the square root of the span's length in days, and three times that
        after the span: a month loses half in 5.5 days before it and in 16.5 days after it. For `RECENT`, h is 14 days
        before. A yearly span is measured against its nearest occurrence.
        """
        if not self.yearly:
            return self._closeness(ms, self.from_ms, self.to_ms)
        year = 1970 + ms // _YEAR_MS
        one = _occurrence(self.from_ms, self.to_ms, year)
        # The other neighbour is on the moment's side; this also covers a year estimated one off at its turn.
        other = _occurrence(self.from_ms, self.to_ms, year + 1 if ms >= one[0] else year - 1)
        return max(self._closeness(ms, *one), self._closeness(ms, *other))

    def _closeness(self, ms: int, from_ms: int, to_ms: int) -> float:
        if from_ms <= ms < to_ms:
            return 1.0
        half = math.sqrt((to_ms - from_ms) / DAY_MS)
        if ms >= to_ms:
            half *= _AFTERWARDS
        elif self.grain is Grain.RECENT:
            half = _RECENT_DAYS
        away = from_ms - ms if ms < from_ms else ms - to_ms
        return math.exp2(-min(away, 1_000 * _YEAR_MS) / DAY_MS / half)


def to_ms(day: date) -> int:
    """The first millisecond of a day."""
    return (day.toordinal() - _EPOCH) * DAY_MS


def to_day(ms: int) -> date:
    """The day of a moment; moments beyond the calendar count as its edges."""
    ordinal = ms // DAY_MS + _EPOCH
    return date.fromordinal(min(max(ordinal, date(2, 1, 1).toordinal()), date(9998, 12, 31).toordinal()))


def on(year: int, month: int, day: int) -> date:
    """That day of that year, or the month's last day if the month is shorter."""
    while True:
        try:
            return date(year, month, day)
        except ValueError:
            if day <= 28:
                raise
            day -= 1


def occurrence(span: TimeSpan, year: int) -> tuple[int, int]:
    """From when to when a yearly span lasts that begins in that year."""
    return _occurrence(span.from_ms, span.to_ms, year)


@functools.lru_cache(maxsize=512)
def _occurrence(from_ms: int, end_ms: int, year: int) -> tuple[int, int]:
    """The span moved to the year in which it begins."""
    first, end = to_day(from_ms), to_day(end_ms)
    year = min(max(year, 2), 9_997)
    return to_ms(on(year, first.month, first.day)), to_ms(on(year + end.year - first.year, end.month, end.day))
