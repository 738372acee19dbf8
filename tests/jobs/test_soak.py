"""The soak programs of the queue in short form: the long one is `just soak-queue`, which also starts real servers."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import pytest

from tests._support import warm

ENGINES = [
    pytest.param("sqlite", marks=pytest.mark.sqlite),
    pytest.param("postgresql", marks=pytest.mark.postgresql),
]
SHORT = (
    *("--crashes", "24", "--lease-ms", "250"),
    *("--lanes", "12", "--per-lane", "10"),
    *("--jobs", "1000", "--samples", "50", "--starts", "0"),
)


def soak(engine: str) -> dict[str, Any]:
    """In a process of its own, because it forks workers and must have no threads."""
    arguments = ["--json", "--seed", "7", "--engine", engine, *SHORT]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = warm.start(arguments, env=os.environ, out=out.fileno(), err=err.fileno(), program="bench.queue")
        code = process.wait(170)
        out.seek(0)
        err.seek(0)
        assert code in {0, 1}, err.read()
        figures: dict[str, Any] = json.loads(out.read())
    return figures


@pytest.mark.process
@pytest.mark.parametrize("engine", ENGINES)
def test_the_queue_loses_nothing_repeats_nothing_and_does_not_slow_down(engine: str) -> None:
    found = soak(engine)
    # Workers that die lose no job and repeat no effect.
    crash = found[f"crash {engine}"]
    assert crash["crashes"] == 24
    assert (crash["lost"], crash["effects twice"], crash["stuck over 30 s"]) == (0, 0, 0)
    assert crash["runs"] > crash["jobs"] >= 18
    # A backlog slows neither the opening of a store nor the claim.
    assert found[f"backlog {engine}"]["open + first claim s"] < 2
    # Lanes never overlap with four worker processes.
    if engine == "postgresql":
        lanes = found["lanes postgresql"]
        assert (lanes["overlaps"], lanes["out of order"], lanes["completed"]) == (0, 0, 120)
        assert lanes["processes that ran some"] == 4
