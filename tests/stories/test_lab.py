"""The lab, from a request to a lesson and back: over HTTP on both engines, with a scripted model for the paid one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import codexmem.lab.service
from codexmem.kernel.model.event import TRACED
from codexmem.kernel.store.opening import upgrade_store
from tests._support.lab_endpoint import LabEndpoint, lab_endpoint
from tests._support.model_server import ModelServer
from tests._support.postgres import PostgresServer
from tests._support.server import create_key
from tests._support.waiting import eventually
from tests.stories.lab_cast import BROKEN, FRESH, KNOWN, REFINED, script

KEY = "sk-lab-story-0123456789abcdefghij"
SAMPLE = Path(codexmem.lab.service.__file__).parent / "sample_kb"
# What contract 002 §2.7.1 says that each type of event tells.
EVENTS = {
    "run_started": "mode user_request recipes_per_run temperature",
    "recap_info": "agent recap_state task_name think subtasks result depth steps",
    "kb_query": "kb_namespace query mode top_k results",
    "kb_get": "alias ref source kb_namespace lightrag_chunk_id",
    "kb_list": "total limit shown_aliases",
    "llm_request": "model temperature messages attempt turn steps recap_state task_name agent",
    "llm_response": "content tool_calls raw",
    "citations_resolved": "aliases resolved",
    "memories_resolved": "mem_ids",
    "final_output": "recipes_json citations memory_ids",
    "mem_search": "query top_k results",
    "mem_get": "mem_id role type status source_run_id",
    "mem_list": "total limit shown_mem_ids",
    "rb_learn_queued": "rb_job_id kind status",
    "rb_job_started": "rb_job_id kind",
    "rb_job_completed": "rb_job_id kind delta_id",
    "rb_job_failed": "rb_job_id kind error missing",
    "rb_learn_completed": "rb_job_id delta_id n_ops dry_run",
    "rb_learn_failed": "rb_job_id error traceback",
    "rb_learn_snapshot": "rb_job_id snapshot budget policy",
    "rb_source_opened": "rb_job_id source_type source_id mode_requested mode_used returned_chars truncated",
    "rb_rollback_started": "delta_id reason n_ops",
    "rb_rollback_completed": "delta_id status",
    "run_failed": "error",
    "run_canceled": "reason",
}
WITHIN = {
    ("kb_query", "results"): "alias ref source content kb_namespace lightrag_chunk_id",
    ("mem_search", "results"): "mem_id role type status source_run_id",
    ("rb_learn_snapshot", "snapshot"): "trace_cutoff_ts feedback_id feedback_updated_at final_output_event_id",
}


@pytest.fixture
def story(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LabEndpoint]:
    """A lab with the sample documents, and a model that plays its part."""
    options: dict[str, Any] = {
        "kb_principles_dir": str(SAMPLE / "principles"), "kb_modulation_dir": str(SAMPLE / "modulation"),
        "openai_model": "scripted", "openai_api_key": KEY,
    }  # fmt: skip
    if engine_name == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        options["database_url"] = server.create_database("codexmem_lab_story")
        upgrade_store(options["database_url"])
        options["key"] = create_key(tmp_path, options["database_url"], "lab")
    with (
        ModelServer(script=script) as model,
        lab_endpoint(tmp_path, None, openai_base_url=model.url, **options) as endpoint,
    ):
        yield endpoint


def events(lab: LabEndpoint, run_id: str) -> list[dict[str, Any]]:
    return [each for page in lab.pages(f"/runs/{run_id}/events?include_payload=true", limit=100) for each in page]


def bank(lab: LabEndpoint) -> bytes:
    """Every lesson in use, to the byte; when it was touched and how often is not what it says."""
    found = [each for page in lab.pages("/memories", limit=50) for each in page]
    kept = [{name: value for name, value in each.items() if name not in {"updated_at", "version"}} for each in found]
    return json.dumps(kept, ensure_ascii=False, sort_keys=True).encode()


def judge(lab: LabEndpoint, run_id: str, **feedback: Any) -> dict[str, Any]:
    """Give feedback and wait until it is learned."""
    reply = lab.request("PUT", f"/api/v1/runs/{run_id}/feedback", feedback)
    assert reply.status == 200, reply.body
    return learned(lab, run_id, reply.json["learning"]["job_id"])


def learned(lab: LabEndpoint, run_id: str, job_id: str) -> dict[str, Any]:
    def job() -> dict[str, Any]:
        jobs = lab.get(f"/runs/{run_id}/reasoningbank/jobs").json["jobs"]
        found: dict[str, Any] = next(each for each in jobs if each["rb_job_id"] == job_id)
        return found

    eventually(lambda: job()["ended_at"] is not None)
    return job()


def by_title(lab: LabEndpoint, title: str) -> dict[str, Any]:
    (found,) = [each for each in lab.get("/memories").json["items"] if each["title"] == title]
    lesson: dict[str, Any] = found
    return lesson


@pytest.mark.clause(
    "002 §2.7.1 run_started", "told in a real trace, with mode user_request recipes_per_run temperature"
)
@pytest.mark.clause(
    "002 §2.7.1 recap_info", "told in a real trace, with agent recap_state task_name think subtasks result depth steps"
)
@pytest.mark.clause("002 §2.7.1 kb_query", "told in a real trace, with kb_namespace query mode top_k results")
@pytest.mark.clause("002 §2.7.1 kb_get", "told in a real trace, with alias ref source kb_namespace lightrag_chunk_id")
@pytest.mark.clause("002 §2.7.1 kb_list", "told in a real trace, with total limit shown_aliases")
@pytest.mark.clause(
    "002 §2.7.1 llm_request",
    "told in a real trace, with model temperature messages attempt turn steps recap_state task_name agent",
)
@pytest.mark.clause("002 §2.7.1 llm_response", "told in a real trace, with content tool_calls raw")
@pytest.mark.clause("002 §2.7.1 citations_resolved", "told in a real trace, with aliases resolved")
@pytest.mark.clause("002 §2.7.1 memories_resolved", "told in a real trace, with mem_ids")
@pytest.mark.clause("002 §2.7.1 final_output", "told in a real trace, with recipes_json citations memory_ids")
@pytest.mark.clause("002 §2.7.1 mem_search", "told in a real trace, with query top_k results")
@pytest.mark.clause("002 §2.7.1 mem_get", "told in a real trace, with mem_id role type status source_run_id")
@pytest.mark.clause("002 §2.7.1 mem_list", "told in a real trace, with total limit shown_mem_ids")
@pytest.mark.clause("002 §2.7.1 rb_learn_queued", "told in a real trace, with rb_job_id kind status")
@pytest.mark.clause("002 §2.7.1 rb_job_started", "told in a real trace, with rb_job_id kind")
@pytest.mark.clause("002 §2.7.1 rb_job_completed", "told in a real trace, with rb_job_id kind delta_id")
@pytest.mark.clause("002 §2.7.1 rb_job_failed", "told in a real trace, with rb_job_id kind error missing")
@pytest.mark.clause("002 §2.7.1 rb_learn_completed", "told in a real trace, with rb_job_id delta_id n_ops dry_run")
@pytest.mark.clause("002 §2.7.1 rb_learn_failed", "told in a real trace, with rb_job_id error traceback")
@pytest.mark.clause("002 §2.7.1 rb_learn_snapshot", "told in a real trace, with rb_job_id snapshot budget policy")
@pytest.mark.clause(
    "002 §2.7.1 rb_source_opened",
    "told in a real trace, with rb_job_id source_type source_id mode_requested mode_used returned_chars truncated",
)
@pytest.mark.clause("002 §2.7.1 rb_rollback_started", "told in a real trace, with delta_id reason n_ops")
@pytest.mark.clause("002 §2.7.1 rb_rollback_completed", "told in a real trace, with delta_id status")
@pytest.mark.clause("002 §2.7.1 run_failed", "told in a real trace, with error")
@pytest.mark.clause("002 §2.7.1 run_canceled", "told in a real trace, with reason")
@pytest.mark.clause("002 §5.2", "feedback is learned from by itself, and again when asked after a rollback")
@pytest.mark.clause("002 §5.3", "strict rollback restores the bank to the byte, over later edits by hand")
@pytest.mark.clause("002 §0", "what an output cites, kb aliases and mem:<id>, can be opened")
def test_a_request_a_lesson_and_back(story: LabEndpoint) -> None:
    lab = story
    # A batch of four answers with evidence.
    made = lab.batch(4, "为 CO2 还原提出 Cu 基光催化剂 for C2H4", dry_run=False, recipes_per_run=1)
    batch = lab.ended(made["batch"]["batch_id"])
    assert (batch["status"], batch["error"]) == ("completed", None)
    first, second, third, _ = (run["run_id"] for run in made["runs"])
    output = lab.get(f"/runs/{first}/output").json
    assert output["memory_ids"] == []
    cited = lab.get(f"/runs/{first}/evidence/C1").json
    assert output["citations"] == {"C1": cited["ref"]}
    line = max(cited["content"].splitlines(), key=len)
    assert any(line in each.read_text(encoding="utf-8") for each in (SAMPLE / "principles").glob("*.md"))
    listed = lab.get(f"/runs/{first}/evidence?include_content=true").json["items"]
    assert cited in listed
    assert {each["kb_namespace"] for each in listed} == {"kb_principles", "kb_modulation"}

    # A person knows something, another judges a run: the lab learns.
    lab.post("/api/v1/memories", {"content": "每个系列先做空白实验 (blank first)"})
    products = [lab.post("/api/v1/products", {"name": name}).json["product"]["product_id"] for name in ("C2H4", "CO")]
    measured = [{"product_id": each, "value": value} for each, value in zip(products, (12.3, 4.5), strict=True)]
    assert judge(lab, second, score=6, pros="铜含量低时更好", products=measured)["status"] == "completed"
    assert by_title(lab, KNOWN[0])["content"] == KNOWN[1]

    # That is the state before the learning that will be taken back.
    before = bank(lab)
    job = judge(lab, first, score=3, cons="第三次循环后失活", products=measured)
    assert (job["status"], job["n_ops"]) == ("completed", 2)
    (delta,) = lab.get(f"/runs/{first}/reasoningbank/deltas").json["items"]
    assert (delta["delta_id"], sorted(op["op"] for op in delta["ops"])) == (job["delta_id"], ["add", "update"])
    assert by_title(lab, KNOWN[0])["content"] == REFINED
    lesson = by_title(lab, FRESH[0])
    after = bank(lab)
    assert after != before

    # A second batch finds the lesson and cites it.
    again = lab.batch(1, "Cu–Mo 用于长时间实验", dry_run=False, recipes_per_run=1)
    assert lab.ended(again["batch"]["batch_id"])["status"] == "completed"
    later = again["runs"][0]["run_id"]
    output = lab.get(f"/runs/{later}/output").json
    assert lesson["mem_id"] in output["memory_ids"]
    assert f"mem:{lesson['mem_id']}" in output["recipes_json"]["recipes"][0]["rationale"]

    # Somebody edits both lessons by hand; the strict rollback takes that back too.
    for mem_id in (lesson["mem_id"], by_title(lab, KNOWN[0])["mem_id"]):
        edit = {"content": "edited by hand 手改", "extra": {"页": 7}}
        assert lab.request("PATCH", f"/api/v1/memories/{mem_id}", edit).status == 200
    path = f"/api/v1/runs/{first}/reasoningbank/rollback"
    preview = lab.request("GET", f"{path}/preview").json
    assert len(preview["overwritten_mem_ids"]) == 2
    taken = lab.post(path, {"reason": "测量有误"}).json
    assert (taken["run_id"], taken["delta_id"], taken["status"]) == (first, delta["delta_id"], "reverted")
    assert bank(lab) == before
    everything = lab.get(f"/runs/{first}/reasoningbank/deltas?cause=all").json["items"]
    undone = next(each for each in everything if each["reverts"] == delta["delta_id"])
    was = {op["mem_id"]: op["before"] for op in delta["ops"] if op["op"] == "update"}
    now = {op["mem_id"]: op["after"] for op in undone["ops"] if op["op"] == "restore"}
    assert json.dumps(was, sort_keys=True).encode() == json.dumps(now, sort_keys=True).encode()
    assert lab.get(f"/memories/{lesson['mem_id']}").json["memory"]["status"] == "deleted"  # the later run cited it

    # And it learns again, to the same lessons.
    queued = lab.post(f"/api/v1/runs/{first}/reasoningbank/learn", {}).json
    assert learned(lab, first, queued["job_id"])["status"] == "completed"
    assert by_title(lab, KNOWN[0])["content"] == REFINED
    assert by_title(lab, FRESH[0])["content"] == FRESH[1]

    told = endings(lab, third)
    for run_id in (first, later):
        told += events(lab, run_id)
    require_events(told)


def endings(lab: LabEndpoint, unjudged: str) -> list[dict[str, Any]]:
    """The traces of what does not end well: a refused model, a cancel, a learning without feedback."""
    failed, canceled = (lab.batch(1, request, dry_run=False) for request in (BROKEN, "取消 me"))
    lab.post(f"/api/v1/batches/{canceled['batch']['batch_id']}/cancel", {"reason": "user_cancel"})
    assert lab.ended(failed["batch"]["batch_id"])["status"] == "failed"
    assert lab.ended(canceled["batch"]["batch_id"])["status"] == "canceled"
    queued = lab.post(f"/api/v1/runs/{unjudged}/reasoningbank/learn", {}).json
    assert learned(lab, unjudged, queued["job_id"])["status"] == "failed"
    runs = [failed["runs"][0]["run_id"], canceled["runs"][0]["run_id"], unjudged]
    return [event for run_id in runs for event in events(lab, run_id)]


def require_events(told: list[dict[str, Any]]) -> None:
    """Every type of event was told, with all that the contract names; and no key was."""
    assert set(EVENTS) == {each.value for each in TRACED} - {"run_resumed"}  # ours, for a run that lost its worker
    for event in told:
        missing = set(EVENTS[event["event_type"]].split()) - set(event["payload"])
        assert missing - {"missing"} == set(), event
    payloads = {each: [event["payload"] for event in told if event["event_type"] == each] for each in EVENTS}
    assert [each for each, found in payloads.items() if not found] == []
    for (event_type, name), fields in WITHIN.items():
        inner = [value for payload in payloads[event_type] for value in _listed(payload[name])]
        assert inner
        assert all(set(fields.split()) <= set(value) for value in inner)
    assert {payload["recap_state"] for payload in payloads["recap_info"]} == {"down", "action_taken", "up"}
    assert payloads["rb_job_failed"][0]["missing"]
    assert "feedback" in {payload["source_type"] for payload in payloads["rb_source_opened"]}
    assert {payload["mode"] for payload in payloads["run_started"]} == {"normal"}
    assert KEY not in json.dumps(told)


def _listed(value: Any) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else [value]
