"""The plan of docs/scale.md: its sums hold."""

from __future__ import annotations

import json

import pytest

from bench import growth

INPUTS = json.loads(growth.COSTS.read_text())
ASSUMED = {name: each["value"] for name, each in INPUTS["assumed"].items()}


def test_a_plan_by_hand() -> None:
    """Round costs, so that each figure can be checked without a computer."""
    cost = {"process_ms": 10.0, "postgres_ms": 10.0, "bytes": 1000, "wal_bytes": 1000}
    measured = {"costs": dict.fromkeys(("event", "extraction", "memory", "vector", "search"), cost)}
    made = growth.plan(864_000, measured, ASSUMED | {
        "events_per_day": 100, "memories_per_day": 20, "searches_per_day": 10, "days_per_year": 100, "capture_days": 10,
        "peak": 3, "utilisation": 0.5, "cell_tb": 1, "cell_cores": 16, "machine_cores": 8, "copies": 3,
    })  # fmt: skip
    assert made.events_per_s == 1_000
    assert made.peak_events_per_s == 3_000
    assert made.server_cores == 66  # 1,100 requests a second of 10 ms, three times that, half used
    assert made.worker_cores == 72
    # 20 memories on 100 days of 2 kB with their vectors, and 100 events on 10 days of 1 kB.
    assert made.stored_bytes == 864_000 * (20 * 100 * 2000 + 100 * 10 * 1000)
    assert (made.cells, made.database_cores) == (10, 150)  # by processors; by storage it would be 5
    assert made.machines == 9 + 9 + 30


def test_ten_million_developers_are_two_billion_events_a_day() -> None:
    plans = {number: growth.plan(number, INPUTS["measured"], ASSUMED) for number in growth.STEPS}
    assert plans[10_000_000].events_per_s * growth.DAY_S == pytest.approx(2e9)
    assert plans[1].cells == plans[1].machines == 0
    assert plans[1].total == plans[1].dollars["model"]
    shares = [plan.total - plan.dollars["model"] for number, plan in plans.items() if number > 1]
    assert shares == sorted(shares, reverse=True)  # what must stand anyhow is shared by more
    for made in plans.values():
        assert made.database_cores <= made.cells * ASSUMED["cell_cores"]
        assert made.stored_bytes <= max(1, made.cells) * ASSUMED["cell_tb"] * growth.TB
