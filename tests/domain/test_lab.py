"""The lab's state machines, and what may stand in `extra`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import RETENTION_MS, TRACED, EventType
from codexmem.lab.model import ENDED, MOVES, BatchStatus, RunStatus, ending, kept_extra, sources

# The list of contract 002 §2.7.1, word for word.
CONTRACT = [
    "run_started", "recap_info", "kb_query", "kb_get", "kb_list", "llm_request", "llm_response", "citations_resolved",
    "memories_resolved", "final_output", "mem_search", "mem_get", "mem_list", "rb_learn_queued", "rb_job_started",
    "rb_job_completed", "rb_job_failed", "rb_learn_completed", "rb_learn_failed", "rb_learn_snapshot",
    "rb_source_opened", "rb_rollback_started", "rb_rollback_completed", "run_failed", "run_canceled",
]  # fmt: skip


def test_an_end_is_an_end() -> None:
    assert {each for each in RunStatus if not MOVES[each]} == ENDED == {each for each in RunStatus if each.ended}
    assert sources(RunStatus.RUNNING) == (RunStatus.QUEUED,)
    assert sources(RunStatus.QUEUED) == (RunStatus.RUNNING,)
    assert sources(RunStatus.COMPLETED) == (RunStatus.RUNNING,)
    assert set(sources(RunStatus.CANCELED)) == {RunStatus.QUEUED, RunStatus.RUNNING}


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_how_a_batch_ends(completed: int, failed: int, canceled_runs: int, canceled: bool) -> None:
    status = ending(n_runs=completed + failed + canceled_runs, completed=completed, failed=failed, canceled=canceled)
    assert status.ended
    if canceled:
        assert status is BatchStatus.CANCELED
    elif failed:
        assert status is BatchStatus.FAILED
    else:
        assert status is (BatchStatus.CANCELED if canceled_runs else BatchStatus.COMPLETED)


def test_every_event_of_the_contract_may_be_traced_and_is_kept() -> None:
    assert set(CONTRACT) <= {each.value for each in TRACED}
    assert {each.value for each in TRACED} - set(CONTRACT) == {"run_resumed"}
    assert all(RETENTION_MS[each] is None for each in TRACED)
    assert all("." in each.value for each in EventType if each not in TRACED)


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {}}}}}}}}},
        {"字": "长" * 16_384},
        {"many": list(range(20_000))},
        {"k" * 16_385: 1},
    ],
)
def test_extra_is_bounded(value: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="extra"):
        kept_extra(value)


def test_extra_is_kept_as_it_is() -> None:
    value: dict[str, object] = {"a": [1, 2.5, None, True, {"b": "中文"}], "": {}}
    assert kept_extra(value) is value
