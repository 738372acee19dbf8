"""The short form of `just bench-lab-queue`: turns, a cancel and pages, small."""

from __future__ import annotations

import pytest

from bench import lab_queue
from bench.stores import stores


@pytest.mark.postgresql
@pytest.mark.timeout(180)
def test_batches_take_turns_and_a_cancel_is_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_queue, "WORKERS", 1)
    monkeypatch.setattr(lab_queue, "AT_ONCE", 3)
    with stores("postgresql", durable=False) as made:
        turns = lab_queue.turns(made, (40, 4, 16), run_s=0.02)
        assert turns["runs"] == 60
        assert turns["largest_lead"] <= turns["at_once"] + 2
        assert turns["small_batch_done_after_starts"] <= 3 * 4 + turns["at_once"]
        canceled = lab_queue.cancel(made, 60)
        assert canceled["canceled_events"] == 60
        assert canceled["all_canceled_s"] <= 10  # two seconds are promised of a machine that is not shared


@pytest.mark.sqlite
def test_pages_are_compared() -> None:
    with stores("sqlite", durable=False) as made:
        found = lab_queue.pages(made, long=600, short=120, looks=3)
    assert set(found) == set(lab_queue.LOOKS)
    assert all(each["ratio"] > 0 for each in found.values())


def test_a_lead_is_counted_while_both_wait() -> None:
    assert lab_queue._largest_lead([0, 0, 0, 1, 1, 1], (3, 3)) == 2
    assert lab_queue._largest_lead([0, 1, 0, 1, 0, 1], (3, 3)) == 1
    assert lab_queue._largest_lead([0] * 10 + [1], (11, 2)) == 10
