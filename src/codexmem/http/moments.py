"""Times as callers write them: epoch seconds, epoch milliseconds or ISO 8601. Days are those of UTC."""

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_SECONDS_BELOW = 100_000_000_000  # a smaller number counts seconds: in milliseconds it would be before March 1973
_MOST = 2**53
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From its first to its last millisecond: a moment, or a whole day."""

    first_ms: int
    last_ms: int


def stretch(value: object) -> TimeRange:
    """The time that is meant; ValueError if none can be."""
    if isinstance(value, str):
        text = value.strip()
        if text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= 16:
            return _number(int(text))
        return _written(text)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return _number(value)
    raise ValueError(f"not a time: {value!r:.40}")


def iso(ms: int) -> str:
    """A time as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _number(value: float) -> TimeRange:
    exact = round(value * 1000 if abs(value) < _SECONDS_BELOW else value)
    if abs(exact) > _MOST:
        raise ValueError("too far away")
    return TimeRange(exact, exact)


def _written(text: str) -> TimeRange:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        exact = _ms(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
        return TimeRange(exact, exact)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return TimeRange(_ms(midnight), _ms(midnight) + int(_DAY / timedelta(milliseconds=1)) - 1)


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
