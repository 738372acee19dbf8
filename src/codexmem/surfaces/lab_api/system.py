"""What somebody who watches the lab asks (contract 002 §7.1)."""

from typing import Any

from fastapi import APIRouter

from codexmem.services.lab.system import View
from codexmem.surfaces.lab_api.services import Services
from codexmem.surfaces.lab_api.wire import seconds


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/system/worker")
    def worker() -> dict[str, Any]:
        return shown(services.lab.system.view())


def shown(view: View) -> dict[str, Any]:
    """One look as the contract writes it."""
    return {
        "ts": seconds(view.at_ms),
        "worker": {
            "enabled": view.worker.enabled,
            "running": view.worker.running,
            "poll_interval_s": view.worker.poll_interval_s,
        },
        "queue": {
            "runs_by_status": {status.value: count for status, count in view.runs.items()},
            "batches_by_status": {status.value: count for status, count in view.batches.items()},
            "rb_jobs_by_status": {status.value: count for status, count in view.learning.items()},
        },
        "startup": {"reconciled_running_runs": view.reconciled},
    }
