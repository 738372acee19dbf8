"""The short form of `just soak-streams`: 31 stalled readers, one that reads, and no event lost or kept in memory."""

from __future__ import annotations

import pytest

from bench import streams
from bench.stores import stores


@pytest.mark.postgresql
@pytest.mark.timeout(180)
def test_stalled_readers_cost_little_and_the_other_misses_nothing() -> None:
    # Buffered for 31 readers, this would be more than 200 MB.
    with stores("postgresql", durable=False) as made:
        figures = streams.run(made, events=2_000, size=4_000, reconnects=2)
    assert streams.kept(figures), figures
    assert (figures["received"], figures["reconnects"], figures["readers"]) == (2_000, 2, 32)
    assert figures["stopped_in_s"] < 6
