"""Waiting for the lab: looking again until something has ended, with a bar for people."""

import time
from collections.abc import Callable
from typing import Any

from codexmem.cli.backend import Answer
from codexmem.cli.lab.door import LabDoor
from codexmem.cli.progress import bar

LOOK_S = 0.3


def until_ended(door: LabDoor, batch_id: str, label: str, *, pause: Callable[[float], None] = time.sleep) -> Answer:
    """The batch, once its last run has ended."""
    with bar(label) as progress:
        while True:
            batch: dict[str, Any] = door.get("batches", batch_id)["batch"]
            progress(sum(batch["ended_runs"].values()), batch["n_runs"])
            if batch["ended_at"] is not None:
                return batch
            pause(LOOK_S)


def until_learned(door: LabDoor, run_id: str, job_id: str, *, pause: Callable[[float], None] = time.sleep) -> Answer:
    """The learning, once it has ended."""
    while True:
        jobs: list[Answer] = door.get("runs", run_id, "reasoningbank", "jobs")["jobs"]
        found = next((each for each in jobs if each["rb_job_id"] == job_id), None)
        if found is None or found["ended_at"] is not None:
            return found or {"rb_job_id": job_id, "status": "unknown"}
        pause(LOOK_S)
