"""The short form of `just soak-streams`: 31 stalled readers, one that reads, and no event lost or kept in memory."""

from __future__ import annotations

import pytest

from bench import streams
from bench.stores import stores


@pytest.mark.postgresql
@pytest.mark.timeout(180)
def test_stalled_readers_cost_little_and_the_other_misses_nothing() -> None:
    # Buffered for 31 readers, this would be 124 MB more. Without any backlog a server grows by 14 MB with its first
    # requests, and with this one by 40 to 55 from run to run: one reader's share and what the allocator keeps.
    with stores("postgresql", durable=False) as made:
        figures = streams.run(made, events=1_000, size=4_000, reconnects=2)
    assert figures["in_order_once"], figures
    assert figures["memory_grown_mb"] < 75, figures
    assert figures["stopped_well"], figures
    assert (figures["received"], figures["reconnects"], figures["readers"]) == (1_000, 2, 32)
    assert figures["stopped_in_s"] < 6
