"""Dates on the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

from codexmem.console.dates import day_of, stretch

DAY_MS = 86_400_000


def ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    "text,first,last",
    [
        ("2026-11-01", ms(2026, 11, 1), ms(2026, 11, 2) - 1),
        (" 2026-11-01 ", ms(2026, 11, 1), ms(2026, 11, 2) - 1),
        ("2026-11-01T09:30", ms(2026, 11, 1, 9, 30), ms(2026, 11, 1, 9, 30)),
        ("2026-11-01 09:30Z", ms(2026, 11, 1, 9, 30), ms(2026, 11, 1, 9, 30)),
        ("2026-11-01T09:30+08:00", ms(2026, 11, 1, 1, 30), ms(2026, 11, 1, 1, 30)),
        ("2026-11", ms(2026, 11, 1), ms(2026, 12, 1) - 1),
        ("2026年11月", ms(2026, 11, 1), ms(2026, 12, 1) - 1),
    ],
)
def test_written_dates(text: str, first: int, last: int) -> None:
    found = stretch(text)
    assert (found.first_ms, found.last_ms) == (first, last)


@pytest.mark.parametrize("text", ["yesterday", "昨天"])
def test_words_are_counted_from_today(text: str) -> None:
    found = stretch(text)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    assert day_of(found.first_ms) == day_of(found.last_ms) == yesterday.isoformat()
    assert found.last_ms - found.first_ms == DAY_MS - 1


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "recently", "on friday or so", "99999999999-01-01", "1"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        stretch(text)
