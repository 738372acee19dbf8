"""The short form of `just soak-lab-kills`: a few SIGKILLs while batches run, and a verdict that can fail."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bench import lab_kills


@pytest.mark.timeout(180)
def test_runs_survive_kills(engine_name: str) -> None:
    figures = lab_kills.soak(engine_name, kills=2, seed=5, lease_ms=1_000)
    assert lab_kills.kept(figures), figures
    assert figures["kills"] == 2
    assert figures["runs"] >= 12
    assert figures["calls"] >= figures["steps"]


def judged(**changes: Any) -> list[str]:
    """What is wrong with a run that was right before these changes."""
    keys = [f"model:{n}" for n in range(1, 5)]
    trace: list[tuple[str, str, dict[str, str]]] = [("e0", "run_started", {})]
    for key in keys:
        trace += [(f"q{key}", "llm_request", {"key": key}), (f"a{key}", "llm_response", {"key": key})]
    trace.append(("end", "final_output", {}))
    given: dict[str, Any] = {
        "run_id": "run_1", "status": "completed", "count": 4, "final": "end", "error": None, "output": "{}",
        "keys": keys, "trace": trace, "calls": Counter({("run_1", key): 1 for key in keys}),
    }  # fmt: skip
    return lab_kills._run_problems(**(given | changes))


def test_the_verdict_sees_what_is_not_true() -> None:
    assert judged() == []
    assert judged(status="running")
    assert judged(status="canceled")
    assert judged(count=5)
    assert judged(output=None)
    assert judged(calls=Counter({("run_1", "model:2"): 2}))
    assert judged(keys=["model:1", "model:2", "model:3", "model:3"])
    assert judged(trace=[("e0", "run_started", {}), ("end", "final_output", {})])
