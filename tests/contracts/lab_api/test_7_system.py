"""Contract 002 §7: what somebody who watches the lab sees, and what stays hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.settings import load
from tests._support.lab import SECRET, StepAgent
from tests._support.lab_endpoint import LabEndpoint, lab_endpoint
from tests.contracts.lab_api.test_1_conventions import error_of

STATUSES = {"queued", "running", "completed", "failed", "canceled"}


@pytest.mark.clause("002 §7.1", "ts, worker enabled running poll_interval_s, queue runs_by_status batches_by_status "
                    "rb_jobs_by_status, startup reconciled_running_runs")  # fmt: skip
def test_the_worker(lab: LabEndpoint) -> None:
    lab.quiet()
    before = lab.get("/system/worker").json
    assert set(before) == {"ts", "worker", "queue", "startup"}
    assert set(before["worker"]) == {"enabled", "running", "poll_interval_s"}
    assert (before["worker"]["enabled"], before["worker"]["running"]) == (True, True)
    assert isinstance(before["startup"]["reconciled_running_runs"], int)
    assert set(before["queue"]) == {"runs_by_status", "batches_by_status", "rb_jobs_by_status"}
    assert all(set(counts) == STATUSES for counts in before["queue"].values())
    lab.ended(lab.batch(3)["batch"]["batch_id"])
    after = lab.get("/system/worker").json
    counted = [each["queue"]["runs_by_status"]["completed"] for each in (before, after)]
    assert counted[1] - counted[0] == 3
    assert after["ts"] >= before["ts"]


@pytest.mark.clause("002 §7.2", "debug paths answer not_found unless C2XC_ENABLE_DEBUG_ENDPOINTS switches them on")
def test_debug_is_off(lab: LabEndpoint) -> None:
    reply = lab.get("/_debug/state")
    assert (reply.status, error_of(reply)["code"]) == (404, "not_found")


@pytest.mark.sqlite
@pytest.mark.clause("002 §7.2", "switched on they show settings and queue, and no secret")
def test_debug_can_be_switched_on(tmp_path: Path) -> None:
    environ = {"C2XC_ENABLE_DEBUG_ENDPOINTS": "1"}
    assert load({"data_dir": str(tmp_path)}, environ, tmp_path).enable_debug_endpoints
    assert not load({"data_dir": str(tmp_path)}, {}, tmp_path).enable_debug_endpoints
    with lab_endpoint(tmp_path, StepAgent(), enable_debug_endpoints=True, openai_api_key=SECRET) as lab:
        reply = lab.get("/_debug/state")
        assert reply.status == 200
        assert {"settings", "queue", "worker"} <= set(reply.json)
        assert reply.json["settings"]["openai_api_key"] == "***"
        assert SECRET not in reply.body.decode()
