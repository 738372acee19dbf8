"""Dates on the command line: `2026-11-01`, `2026-11-01T09:30+08:00`, or words such as `yesterday` and `上周`.

Days are those of UTC, as everywhere. What names a day, week or month means all of it.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime

import click

from codexmem.console.messages import say

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class DateRange:
    """From its first to its last millisecond."""

    first_ms: int
    last_ms: int


def stretch(text: str) -> DateRange:
    """The stretch of time that the text names."""
    found = _written(text.strip()) or _in_words(text.strip())
    if found is None:
        raise click.BadParameter(say("usage.bad_date", value=text[:40]))
    return found


def _written(text: str) -> DateRange | None:
    try:
        try:
            day = date.fromisoformat(text)
            first = _ms(datetime(day.year, day.month, day.day, tzinfo=UTC))
            return DateRange(first, first + _DAY_MS - 1)
        except ValueError:
            moment = datetime.fromisoformat(text)
            exact = _ms(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
            return DateRange(exact, exact)
    except (ValueError, OverflowError):
        return None


def _in_words(text: str) -> DateRange | None:
    from codexmem.kernel.model.ids import SystemClock
    from codexmem.kernel.search.times import Grain, spans

    for span in spans(text, SystemClock().now_ms()):
        if span.text == text and span.grain is not Grain.RECENT:
            return DateRange(span.from_ms, span.to_ms - 1)
    return None


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def moment_of(ms: int) -> str:
    """A moment to the second, as it is printed."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def day_of(ms: int) -> str:
    """The day of a moment, as it is printed."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d}"
