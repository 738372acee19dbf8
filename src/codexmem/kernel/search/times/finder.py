"""Finds the times of a query, Chinese and English.

Any text is legal and is read once. Times of day are left out, and so is what comes again every week or day: a memory
is dated to the day, and "every Friday" narrows nothing.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from codexmem.kernel.search.times.calendar import Calendar
from codexmem.kernel.search.times.chinese import CHINESE
from codexmem.kernel.search.times.english import ENGLISH
from codexmem.kernel.search.times.span import DAY_MS, Grain, TimeSpan, occurrence, to_day, to_ms

MAX_SPANS = 16  # in each language; a query that names more is a pasted text

_TABLES = (ENGLISH, CHINESE)
# One character for one, so that places stay true.
_FOLDED = str.maketrans("週個號兩這後節聖誕勞動國慶禮過兒內來剛", "周个号两这后节圣诞劳动国庆礼过儿内来刚") | {
    wide: wide - 0xFEE0 for wide in (*range(0xFF10, 0xFF1A), 0xFF0D, 0xFF0F)
}  # digits, hyphen, slash
_JOINED = re.compile(r" ?(?:to|and|until|till|through|thru|-|\u2013|\u2014|~|到|至|和) ?", re.IGNORECASE)
_OPENS = re.compile(r"(?:from|between|从|自)\s?(?:the )?$", re.IGNORECASE)
_SINCE = re.compile(r"(?:since|自从|自)\s?(?:the )?$", re.IGNORECASE)
_ONWARDS = re.compile(r"(?:以来|至今|到现在|to now|until now|till now)", re.IGNORECASE)
# Far enough from the ends of the calendar that every neighbouring year exists.
_EARLIEST_MS, _LATEST_MS = to_ms(date(1_000, 1, 1)), to_ms(date(9_000, 1, 1))
_NEAR = 16  # characters before a time that are looked at


def spans(text: str, asked_ms: int, first_ms: int | None = None) -> tuple[TimeSpan, ...]:
    """The times that a query names, in the order in which it names them; of very many only the first.

    `asked_ms` is what "yesterday" is counted from, `first_ms` when the oldest memory was made: a yearly span that came
    only once since then is given as that one. An expression that can be read in two ways gives two spans at one place.
    """
    lowered = text.lower()
    tables = [table for table in _TABLES if table.may_match(lowered)]
    if not tables:
        return ()
    folded = text.translate(_FOLDED)
    asked_ms = min(max(asked_ms, _EARLIEST_MS), _LATEST_MS)
    calendar = Calendar(to_day(asked_ms))
    found = [
        TimeSpan(to_ms(days.first), to_ms(days.end), days.grain, text[start:end], start, end, days.yearly)
        for table in tables
        for start, end, days in itertools.islice(table.find(folded, calendar), MAX_SPANS)
    ]
    found.sort(key=lambda span: (span.start, span.start - span.end))
    apart: list[TimeSpan] = []
    for span in found:
        # Two readings of one expression share a place; the tables of two languages may meet in one ("2023-05年").
        if not apart or span.start >= apart[-1].end or (span.start, span.end) == (apart[-1].start, apart[-1].end):
            apart.append(span)
    return tuple(_settled(span, asked_ms, first_ms) for span in _ranges(apart, folded, text, asked_ms))


def _ranges(found: Sequence[TimeSpan], folded: str, text: str, asked_ms: int) -> list[TimeSpan]:
    """Joins "from March to May 2023" into one span, and opens "since May" up to now."""
    result: list[TimeSpan] = []
    single = False  # whether the last result is one time, so that chains are not joined again and again
    for span in found:
        before = folded[max(0, span.start - _NEAR) : span.start]
        if single and (joined := _joined(result[-1], span, folded, text)):
            result[-1] = joined
            single = False
            continue
        single = True
        if span.from_ms < asked_ms and (_SINCE.search(before) or _ONWARDS.match(folded, span.end)):
            end_ms = max(span.to_ms, (asked_ms // DAY_MS + 1) * DAY_MS)
            result.append(replace(span, to_ms=end_ms, grain=Grain.PART, yearly=False))
        else:
            result.append(span)
    return result


def _joined(first: TimeSpan, last: TimeSpan, folded: str, text: str) -> TimeSpan | None:
    """One span from the beginning of the first to the end of the last, if the query says so."""
    between = folded[first.end : last.start]
    if len(between) > _NEAR or not (link := _JOINED.fullmatch(between)):
        return None
    if link[0].strip().lower() in {"and", "和"} and not _OPENS.search(
        folded[max(0, first.start - _NEAR) : first.start]
    ):
        return None
    if Grain.RECENT in {first.grain, last.grain}:
        return None
    from_ms = first.from_ms
    if first.yearly:  # the year stands with the last: the latest that began before it
        year = to_day(last.from_ms).year
        from_ms = max(
            (start for near in (year, year - 1) if (start := occurrence(first, near)[0]) <= last.from_ms),
            default=from_ms,
        )
    if from_ms >= last.to_ms:
        return None
    yearly = first.yearly and last.yearly
    return TimeSpan(from_ms, last.to_ms, Grain.PART, text[first.start : last.end], first.start, last.end, yearly)


def _settled(span: TimeSpan, asked_ms: int, first_ms: int | None) -> TimeSpan:
    """A yearly span that came once since the first memory is that one."""
    if not span.yearly or first_ms is None:
        return span
    before_ms = occurrence(span, to_day(span.from_ms).year - 1)[1]
    return replace(span, yearly=False) if before_ms <= first_ms <= span.to_ms and first_ms <= asked_ms else span
