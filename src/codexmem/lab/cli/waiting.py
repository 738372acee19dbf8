"""Waiting for the lab: looking again until something has ended, with a bar for people."""

import time
from collections.abc import Callable

from codexmem.console.progress import bar
from codexmem.lab.cli.api import LabApi
from codexmem.lab.wire.bank import LearningJob, RunLearnings
from codexmem.lab.wire.runs import LabBatch, OneBatch

LOOK_S = 0.3


def until_ended(api: LabApi, batch_id: str, label: str, *, pause: Callable[[float], None] = time.sleep) -> LabBatch:
    """The batch, once its last run has ended."""
    with bar(label) as progress:
        while True:
            batch = api.get(OneBatch, "batches", batch_id).batch
            progress(batch.ended_runs.total, batch.n_runs)
            if batch.ended_at is not None:
                return batch
            pause(LOOK_S)


def until_learned(
    api: LabApi, run_id: str, job_id: str, *, pause: Callable[[float], None] = time.sleep
) -> LearningJob | None:
    """The learning, once it has ended; None if the server no longer lists it."""
    while True:
        jobs = api.get(RunLearnings, "runs", run_id, "reasoningbank", "jobs").jobs
        found = next((each for each in jobs if each.rb_job_id == job_id), None)
        if found is None or found.ended_at is not None:
            return found
        pause(LOOK_S)
