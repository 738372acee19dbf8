"""Beyond contract 002: learnings over all runs, what a delta wrote and who wrote since, versions of a lesson, and what
lists show beside their rows."""

from __future__ import annotations

import time
from typing import Any

import pytest

from codexmem.kernel.model.event import EventType
from codexmem.kernel.store.database import acting_as
from tests._support.lab import SECRET
from tests._support.lab_endpoint import LabEndpoint
from tests.contracts.lab_api.test_1_conventions import error_of
from tests.contracts.lab_api.test_5_reasoningbank import judged, learned, made, note, patch, unique

CONS = "- 铜钼比例不要超过 2:1，否则失活。\n- 煅烧温度应低于 300 ℃。"


def deltas(lab: LabEndpoint, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = lab.get(f"/reasoningbank/deltas?limit=200{query}").json["items"]
    return found


def whole(lab: LabEndpoint, delta_id: str) -> dict[str, Any]:
    reply = lab.get(f"/reasoningbank/deltas/{delta_id}")
    assert reply.status == 200, reply.body
    found: dict[str, Any] = reply.json["delta"]
    return found


def test_learnings_of_all_runs_are_listed_newest_first(lab: LabEndpoint) -> None:
    first, second = judged(lab, cons=CONS), judged(lab, pros="光照 8 小时有效。")
    listed = lab.get("/reasoningbank/jobs?limit=200").json["items"]
    numbers = [int(job["rb_job_id"].removeprefix("rbjob_")) for job in listed]
    assert numbers == sorted(numbers, reverse=True)
    mine = [job for job in listed if job["run_id"] in {first, second}]
    assert [job["run_id"] for job in mine] == [second, first]
    own = lab.get(f"/runs/{first}/reasoningbank/jobs").json["jobs"]
    assert mine[1] == own[0]
    done = lab.get("/reasoningbank/jobs?limit=200&status=completed").json["items"]
    assert [job["rb_job_id"] for job in done if job["run_id"] in {first, second}] == [job["rb_job_id"] for job in mine]
    assert all(job["status"] == "completed" for job in done)
    paged = [job for page in lab.pages("/reasoningbank/jobs", limit=1) for job in page]
    assert paged[: len(listed)] == listed
    for query in ("status=lost", "cursor=x", "limit=0"):
        assert error_of(lab.get(f"/reasoningbank/jobs?{query}"))["code"] == "invalid_argument"


def test_deltas_of_all_runs_are_listed_with_how_much_they_did(lab: LabEndpoint) -> None:
    run_id, other = (judged(lab, cons=unique(f"- 不要使用{salt}")) for salt in ("硝酸铜", "氯化锌"))
    mine = [each for each in deltas(lab) if each["run_id"] in {run_id, other}]
    assert [each["run_id"] for each in mine] == [other, run_id]
    delta = mine[1]
    assert (delta["cause"], delta["status"], delta["reverts"]) == ("learn", "applied", None)
    own = lab.get(f"/runs/{run_id}/reasoningbank/deltas").json["items"][0]
    assert (delta["delta_id"], delta["n_ops"]) == (own["delta_id"], len(own["ops"]))
    assert delta["counts"]["add"] == sum(op["op"] == "add" for op in own["ops"]) > 0
    assert deltas(lab, f"&run_id={run_id}") == [delta]
    lab.post(f"/api/v1/runs/{run_id}/reasoningbank/rollback", {"delta_id": delta["delta_id"]})
    rollback, reverted = deltas(lab, f"&run_id={run_id}")
    assert (rollback["cause"], rollback["reverts"], reverted["status"]) == ("rollback", delta["delta_id"], "reverted")
    assert rollback["counts"]["remove"] == delta["counts"]["add"]
    assert reverted in deltas(lab, "&status=reverted")
    assert reverted not in deltas(lab, "&status=applied")
    assert [each["delta_id"] for each in deltas(lab, f"&run_id={run_id}&status=reverted")] == [delta["delta_id"]]
    paged = [each for page in lab.pages("/reasoningbank/deltas", limit=1) for each in page]
    assert paged == deltas(lab)[: len(paged)]
    assert deltas(lab, "&run_id=run_nowhere") == []


def test_a_delta_tells_before_and_after_and_who_has_written_since(lab: LabEndpoint) -> None:
    run_id = judged(lab, cons=unique("- 不要把甲醇加热到沸点"))
    (lesson,) = learned(lab, run_id)
    (delta,) = deltas(lab, f"&run_id={run_id}")
    (op,) = whole(lab, delta["delta_id"])["ops"]
    assert (op["op"], op["mem_id"], op["before"], op["edited_since"]) == ("add", lesson["mem_id"], None, [])
    assert op["after"]["content"] == lesson["content"]
    made(patch(lab, lesson["mem_id"], content="改写：甲醇不要煮沸。"))
    told = whole(lab, delta["delta_id"])
    assert {name: told[name] for name in delta} == delta
    (op,) = told["ops"]
    (edit,) = op["edited_since"]
    assert (edit["by_hand"], edit["delta_id"], edit["op"], edit["actor"]) == (True, None, "update", "lab")
    assert edit["version"] == op["version"] + 1
    assert edit["created_at"] <= time.time()
    assert (op["after"]["content"], op["more_since"]) == (lesson["content"], False)
    for number in range(22):
        made(patch(lab, lesson["mem_id"], content=f"第 {number} 次改写"))
    (op,) = whole(lab, delta["delta_id"])["ops"]
    assert (len(op["edited_since"]), op["more_since"]) == (20, True)
    assert op["edited_since"][0]["version"] == op["version"] + 23
    for missing in ("rbd_0", "x" * 300):
        assert error_of(lab.get(f"/reasoningbank/deltas/{missing}"))["code"] == "not_found"


def test_versions_of_a_lesson(lab: LabEndpoint) -> None:
    run_id = judged(lab, cons=unique("- 苯甲酸不要过量"))
    (lesson,) = learned(lab, run_id)
    made(patch(lab, lesson["mem_id"], content="苯甲酸要适量"))
    made(lab.post(f"/api/v1/memories/{lesson['mem_id']}/archive", {}))
    pages = list(lab.pages(f"/memories/{lesson['mem_id']}/versions", limit=2))
    assert [len(page) for page in pages] == [2, 1]
    third, second, first = [each for page in pages for each in page]
    assert [(each["version"], each["op"]) for each in (first, second, third)] == [
        (1, "add"), (2, "update"), (3, "archive"),
    ]  # fmt: skip
    assert (first["content"], first["source_run_id"], first["edited_by_hand"]) == (lesson["content"], run_id, False)
    assert first["delta_id"] == deltas(lab, f"&run_id={run_id}")[0]["delta_id"]
    assert (second["content"], second["delta_id"], second["edited_by_hand"]) == ("苯甲酸要适量", None, True)
    assert (third["status"], third["content"]) == ("archived", "苯甲酸要适量")
    assert error_of(lab.get("/memories/nowhere/versions"))["code"] == "not_found"
    assert lab.get(f"/memories/{note(lab, unique('一'))['mem_id']}/versions").json["items"][0]["version"] == 1


def test_feedback_can_be_saved_without_learning_from_it(lab: LabEndpoint) -> None:
    batch = lab.batch(request="Cu–Mo 光催化 C2H4")
    lab.ended(batch["batch"]["batch_id"])
    run_id = batch["runs"][0]["run_id"]
    reply = lab.request("PUT", f"/api/v1/runs/{run_id}/feedback?learn=false", {"score": 3.0, "cons": CONS})
    assert (reply.status, reply.json["learning"]) == (200, None)
    assert lab.get(f"/runs/{run_id}/reasoningbank/jobs").json["jobs"] == []
    assert lab.get(f"/runs/{run_id}/feedback").json["feedback"]["score"] == 3.0
    reply = lab.request("PUT", f"/api/v1/runs/{run_id}/feedback?learn=perhaps", {})
    assert error_of(reply)["code"] == "invalid_argument"


def test_roles_that_a_lesson_can_be_for(lab: LabEndpoint) -> None:
    roles = lab.get("/reasoningbank/roles").json["roles"]
    assert roles[0] == "global"
    assert "mof_expert" in roles
    assert [note(lab, unique("仅此一条"), role=role)["role"] for role in roles] == roles


def test_batches_tell_where_their_runs_stand(lab: LabEndpoint) -> None:
    made_now = lab.batch(n_runs=3)
    begun = {"queued": 3, "running": 0, "completed": 0, "failed": 0, "canceled": 0}
    assert made_now["batch"]["runs_by_status"] == begun
    batch_id = made_now["batch"]["batch_id"]
    lab.ended(batch_id)
    ended = begun | {"queued": 0, "completed": 3}
    assert lab.get(f"/batches/{batch_id}").json["batch"]["runs_by_status"] == ended
    listed = {each["batch_id"]: each for each in lab.get("/batches?limit=200").json["items"]}
    assert listed[batch_id]["runs_by_status"] == ended
    assert all(sum(each["runs_by_status"].values()) == each["n_runs"] for each in listed.values())


def test_runs_tell_whether_they_were_judged(lab: LabEndpoint) -> None:
    batch = lab.batch(n_runs=2)
    lab.ended(batch["batch"]["batch_id"])
    one, other = (run["run_id"] for run in batch["runs"])
    lab.request("PUT", f"/api/v1/runs/{one}/feedback", {"score": 7.5, "pros": "好"})
    listed = lab.get(f"/runs?batch_id={batch['batch']['batch_id']}").json["items"]
    assert [(run["feedback"] or {}).get("score") for run in listed] == [7.5, None]
    assert listed[1]["feedback"] is None
    newest = {run["run_id"]: run for run in lab.get("/runs?limit=200").json["items"]}
    assert newest[one] == listed[0] == lab.get(f"/runs/{one}").json["run"]
    assert newest[other]["feedback"] is None
    lab.quiet()


def test_events_tell_where_they_stand_without_their_payloads(lab: LabEndpoint) -> None:
    batch = lab.batch()
    lab.ended(batch["batch"]["batch_id"])
    run_id = batch["runs"][0]["run_id"]
    within = {"depth": 1, "task_path": "0.2.1", "agent": "mof_expert"}
    told = {"query": f"苯甲酸 {SECRET}\n binds", "took_ms": 1_500, **within}
    with acting_as("lab" if lab.key else "local"):
        trace = lab.app.services.core.lab.trace
        trace.append(run_id, (EventType.KB_QUERY, told), (EventType.KB_GET, {"error": "no piece C9", **within}))
        trace.append(run_id, (EventType.RB_LEARN_FAILED, {"rb_job_id": "rbjob_1", "error": "坏了"}))
    *before, query, wrong, failed = lab.get(f"/runs/{run_id}/events").json["items"]
    assert query["payload"] is None
    assert (query["depth"], query["task"], query["parent_task"], query["agent"]) == (1, "0.2.1", "0", "mof_expert")
    assert query["duration_ms"] == 1_500
    assert query["started_at"] == pytest.approx(query["created_at"] - 1.5)
    assert query["label"].startswith("苯甲酸")
    assert query["label"].endswith("binds")
    assert SECRET not in query["label"]
    assert (query["failed"], wrong["failed"], failed["failed"]) == (False, True, True)
    assert (wrong["label"], wrong["duration_ms"], wrong["started_at"]) == ("no piece C9", None, wrong["created_at"])
    assert (failed["depth"], failed["task"], failed["label"]) == (None, None, "坏了")
    assert before[0]["event_type"] == "run_started"
    assert before[0]["parent_task"] is None
    one = lab.get(f"/runs/{run_id}/events/{query['event_id']}").json
    assert one["payload"]["took_ms"] == 1_500
    assert {name: one[name] for name in query if name != "payload"} == {
        name: value for name, value in query.items() if name != "payload"
    }


@pytest.mark.postgresql
def test_tenants_do_not_see_each_others_learnings(postgresql_lab: LabEndpoint) -> None:
    lab = postgresql_lab
    run_id = judged(lab, cons=CONS)
    delta_id = deltas(lab, f"&run_id={run_id}")[0]["delta_id"]
    banking = lab.app.services.core.lab.banking
    with acting_as("somebody-else"):
        assert banking.learnings.jobs(status=None, below=None, limit=10) == ([], None)
        assert banking.learnings.deltas(run_id=run_id, status=None, below=None, limit=10) == ([], None)
        assert banking.learnings.deltas(run_id=None, status=None, below=None, limit=10) == ([], None)
        with pytest.raises(Exception, match="no delta"):
            banking.learnings.delta(delta_id)
