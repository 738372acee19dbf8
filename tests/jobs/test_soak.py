"""The soak programs of the queue in short form: the long one is `just soak-queue`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ENGINES = [
    pytest.param("sqlite", marks=pytest.mark.sqlite),
    pytest.param("postgresql", marks=pytest.mark.postgresql),
]


def soak(*arguments: str) -> dict[str, Any]:
    """In a process of its own, because it forks workers and must have no threads."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    reply = subprocess.run(
        [sys.executable, "-m", "bench.queue", "--json", "--seed", "7", *arguments],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=170, check=False,
    )  # fmt: skip
    assert reply.returncode in {0, 1}, reply.stderr
    figures: dict[str, Any] = json.loads(reply.stdout)
    return figures


@pytest.mark.parametrize("engine", ENGINES)
def test_workers_that_die_lose_no_job_and_repeat_no_effect(engine: str) -> None:
    found = soak("crash", "--crashes", "40", "--engine", engine)[f"crash {engine}"]
    assert found["crashes"] == 40
    assert (found["lost"], found["effects twice"], found["stuck over 30 s"]) == (0, 0, 0)
    assert found["runs"] > found["jobs"] >= 30


@pytest.mark.postgresql
def test_lanes_never_overlap_with_four_worker_processes() -> None:
    found = soak("lanes", "--lanes", "30", "--per-lane", "12")["lanes postgresql"]
    assert (found["overlaps"], found["out of order"], found["completed"]) == (0, 0, 360)
    assert found["processes that ran some"] == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_a_backlog_neither_slows_the_start_nor_the_claim(engine: str) -> None:
    short = ("--jobs", "2000", "--samples", "50", "--starts", "1")
    found = soak("backlog", *short, "--engine", engine)[f"backlog {engine}"]
    assert found["open + first claim s"] < 2
