"""Contract 002 §2.1 to §2.6: batches and runs from the order to the output, and canceling them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from tests._support.lab import StepAgent
from tests._support.lab_endpoint import LabEndpoint
from tests._support.waiting import eventually
from tests.contracts.lab_api.test_1_conventions import error_of, mark_of


@pytest.fixture
def gate(lab: LabEndpoint, step_agent: StepAgent) -> Iterator[threading.Event]:
    """While it is not set, runs stay in the middle of their first step, where they can be canceled."""
    lab.quiet()
    opened = threading.Event()

    def wait(task: object, journal: object, number: int) -> None:
        while not opened.wait(0.01):
            journal.check()  # type: ignore[attr-defined]

    before, step_agent.during = step_agent.during, wait
    yield opened
    opened.set()
    step_agent.during = before


@pytest.mark.clause("002 §2.3", "creates a batch and its runs: batch_id created_at started_at ended_at status "
                    "user_request n_runs recipes_per_run config_snapshot error; run_id run_index status")  # fmt: skip
def test_creating(lab: LabEndpoint, gate: threading.Event) -> None:
    reply = lab.post("/api/v1/batches", {
        "user_request": "给出 C2H4 的配方", "n_runs": 2, "recipes_per_run": 3, "temperature": 0.7, "dry_run": True,
        "overrides": {"kb_principles_dir": "", "kb_modulation_dir": "", "llm_model": "", "openai_api_base": ""},
        "schema_version": 1, "extra": {},
    })  # fmt: skip
    assert reply.status == 200
    batch, runs = reply.json["batch"], reply.json["runs"]
    assert batch["batch_id"].startswith("batch_")
    assert (batch["status"], batch["started_at"], batch["ended_at"], batch["error"]) == ("queued", None, None, None)
    assert (batch["user_request"], batch["n_runs"], batch["recipes_per_run"]) == ("给出 C2H4 的配方", 2, 3)
    assert isinstance(batch["created_at"], float)
    assert isinstance(batch["config_snapshot"], dict)
    assert [(run["run_index"], run["status"]) for run in runs] == [(1, "queued"), (2, "queued")]
    assert all(run["run_id"].startswith("run_") for run in runs)


@pytest.mark.clause("002 §2.3", "overrides are recorded in config_snapshot, and nothing secret with them")
def test_overrides_are_recorded(lab: LabEndpoint) -> None:
    made = lab.batch(overrides={"llm_model": "another-model"})["batch"]
    assert made["config_snapshot"]["llm_model"] == "another-model"
    assert made["config_snapshot"]["overrides"] == {"llm_model": "another-model"}
    assert "sk-" not in str(made)


@pytest.mark.clause("002 §2.1", "queued running completed: a batch is completed when all its runs are")
@pytest.mark.clause("002 §2.2", "queued running completed")
def test_states(lab: LabEndpoint, gate: threading.Event) -> None:
    made = lab.batch(2)
    batch_id, run_id = made["batch"]["batch_id"], made["runs"][0]["run_id"]
    eventually(lambda: lab.get(f"/runs/{run_id}").json["run"]["status"] != "queued")
    assert lab.get(f"/runs/{run_id}").json["run"]["status"] == "running"
    assert lab.get(f"/batches/{batch_id}").json["batch"]["status"] == "running"
    gate.set()
    assert lab.ended(batch_id)["status"] == "completed"
    assert {run["status"] for run in lab.get(f"/runs?batch_id={batch_id}").json["items"]} == {"completed"}


@pytest.mark.clause("002 §2.1", "failed when a run fails and nobody canceled the batch")
@pytest.mark.clause("002 §2.2", "failed")
def test_failing(lab: LabEndpoint, step_agent: StepAgent) -> None:
    def fail(task: object, journal: object, number: int) -> None:
        raise ValueError("模型给出的不是 JSON")

    step_agent.during = fail
    try:
        made = lab.batch(2)
        batch = lab.ended(made["batch"]["batch_id"])
    finally:
        step_agent.during = lambda task, journal, number: None
    assert batch["status"] == "failed"
    assert "模型给出的不是 JSON" in batch["error"]
    run = lab.get(f"/runs/{made['runs'][0]['run_id']}").json["run"]
    assert (run["status"], run["error"]) == ("failed", "ValueError: 模型给出的不是 JSON")


@pytest.mark.clause("002 §2.4", "GET /batches limit cursor status q, GET /batches/{batch_id}, GET /runs batch_id "
                    "limit cursor status, GET /runs/{run_id}")  # fmt: skip
def test_listing(lab: LabEndpoint) -> None:
    mark = f"Straße{time.monotonic_ns()}"
    made = lab.batch(5, request=f"一个 {mark} request")
    batch_id = made["batch"]["batch_id"]
    ended = lab.ended(batch_id)
    for text in (mark, mark.upper(), mark_of(f"一个 {mark}"), mark_of("STRASSE" + mark[6:])):
        found = lab.get(f"/batches?q={mark_of(text) if '%' not in text else text}").json["items"]
        assert found == [ended]
    assert lab.get(f"/batches?q={mark_of('%' + mark)}").json["items"] == []
    assert lab.get(f"/batches?q={mark_of(mark)}&status=failed").json["items"] == []
    assert lab.get(f"/batches?q={mark_of(mark)}&status=completed").json["items"] == [ended]
    both = lab.get(f"/batches?q={mark_of(mark)}&status=failed&status=completed").json["items"]
    assert both == [ended]
    assert len(lab.get(f"/runs?batch_id={batch_id}&status=completed&status=queued").json["items"]) == 5
    pages = list(lab.pages(f"/runs?batch_id={batch_id}", limit=2))
    assert [[run["run_index"] for run in page] for page in pages] == [[1, 2], [3, 4], [5]]
    assert lab.get(f"/runs?batch_id={batch_id}&status=queued").json["items"] == []
    newest = lab.get("/runs?limit=5").json["items"]
    assert {run["batch_id"] for run in newest} == {batch_id}
    assert lab.get(f"/runs/{newest[0]['run_id']}").json["run"] == newest[0]
    everything = [run["run_id"] for page in lab.pages("/runs", limit=50) for run in page]
    assert len(everything) == len(set(everything))


@pytest.mark.clause("002 §2.5", "canceling a batch: reason, cancel_id, status requested; what waits ends at once, what "
                    "runs at its next check, and every run has run_canceled in its trace")  # fmt: skip
@pytest.mark.clause("002 §2.1", "canceled when the batch was")
@pytest.mark.clause("002 §2.2", "canceled")
def test_canceling_a_batch(lab: LabEndpoint, gate: threading.Event) -> None:
    made = lab.batch(30)
    batch_id = made["batch"]["batch_id"]
    eventually(lambda: lab.get(f"/runs?batch_id={batch_id}&status=running").json["items"])
    reply = lab.post(f"/api/v1/batches/{batch_id}/cancel", {"reason": "user_cancel"})
    assert (reply.status, reply.json["status"]) == (200, "requested")
    assert reply.json["cancel_id"].startswith("cancel_")
    assert lab.ended(batch_id)["status"] == "canceled"
    assert {run["status"] for run in lab.get(f"/runs?batch_id={batch_id}").json["items"]} == {"canceled"}
    for run in made["runs"]:
        events = lab.get(f"/runs/{run['run_id']}/events?event_type=run_canceled&include_payload=true").json["items"]
        assert [event["payload"] for event in events] == [{"reason": "user_cancel"}]
    assert lab.post(f"/api/v1/batches/{batch_id}/cancel", {}).json == reply.json


@pytest.mark.clause("002 §2.5", "canceling one run leaves the others; a second cancel answers the same, and what has "
                    "ended is a conflict")  # fmt: skip
def test_canceling_a_run(lab: LabEndpoint, gate: threading.Event) -> None:
    made = lab.batch(2)
    batch_id, (first, second) = made["batch"]["batch_id"], [run["run_id"] for run in made["runs"]]
    reply = lab.request("POST", f"/api/v1/runs/{first}/cancel")
    assert (reply.status, reply.json["status"]) == (200, "requested")
    assert lab.post(f"/api/v1/runs/{first}/cancel", {"reason": "again"}).json == reply.json
    gate.set()
    batch = lab.ended(batch_id)
    assert (batch["status"], batch["ended_runs"]) == ("canceled", {"completed": 1, "failed": 0, "canceled": 1})
    late = lab.post(f"/api/v1/runs/{second}/cancel", {})
    assert (late.status, error_of(late)["code"]) == (409, "conflict")
    too_late = lab.post(f"/api/v1/batches/{batch_id}/cancel", {})
    assert (too_late.status, error_of(too_late)["details"]["status"]) == (409, "canceled")


@pytest.mark.clause("002 §2.6", "the output: recipes_json with recipes and overall_notes, citations, memory_ids")
def test_output(lab: LabEndpoint) -> None:
    made = lab.batch()
    lab.ended(made["batch"]["batch_id"])
    output = lab.get(f"/runs/{made['runs'][0]['run_id']}/output").json
    assert set(output) == {"recipes_json", "citations", "memory_ids"}
    assert set(output["recipes_json"]) == {"recipes", "overall_notes"}
    assert output["citations"] == {"C1": "kb:kb_principles__chunk-1"}


@pytest.mark.clause("002 §2.6", "a run without an output says what it is doing instead")
def test_no_output_yet(lab: LabEndpoint, gate: threading.Event) -> None:
    made = lab.batch()
    reply = lab.get(f"/runs/{made['runs'][0]['run_id']}/output")
    assert (reply.status, error_of(reply)["code"]) == (404, "not_found")
    assert error_of(reply)["details"]["status"] in {"queued", "running"}
