"""Times as callers write them."""

from __future__ import annotations

import pytest

from codexmem.http.moments import iso, stretch

NOON = 1_771_416_000_000  # 18 February 2026, 12:00 UTC


@pytest.mark.parametrize(
    "written",
    [
        NOON, NOON // 1000, str(NOON), str(NOON // 1000), f" {NOON} ", NOON / 1000, float(NOON),
        "2026-02-18T12:00:00Z", "2026-02-18T12:00", "2026-02-18 12:00:00", "2026-02-18T20:00:00+08:00",
    ],
)  # fmt: skip
def test_a_moment(written: object) -> None:
    found = stretch(written)
    assert (found.first_ms, found.last_ms) == (NOON, NOON)


def test_a_day_is_all_of_it() -> None:
    found = stretch("2026-02-18")
    assert (iso(found.first_ms), iso(found.last_ms)) == ("2026-02-18T00:00:00.000Z", "2026-02-18T23:59:59.999Z")


@pytest.mark.parametrize(
    "nonsense",
    ["", "soon", "2026-02-30", "12:00", True, None, [], float("nan"), float("inf"), "9" * 16, 10**18, "１２３", "0x10"],
)
def test_what_is_no_time(nonsense: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        stretch(nonsense)
