"""Contract 002 §5: lessons, learning from feedback, and strict rollback; and the events that tell of them."""

from __future__ import annotations

import re
import uuid
from typing import Any
from urllib.parse import quote, unquote

import pytest

from tests._support.lab import SECRET
from tests._support.lab_endpoint import LabEndpoint
from tests._support.server import Reply
from tests._support.waiting import eventually
from tests.contracts.lab_api.test_1_conventions import error_of

FIELDS = {
    "mem_id", "status", "role", "type", "content", "source_run_id", "created_at", "updated_at", "schema_version",
    "extra",
}  # fmt: skip
NOWHERE = "00000000-0000-0000-0000-000000000000"


def made(reply: Reply) -> dict[str, Any]:
    assert reply.status == 200, reply.body
    memory: dict[str, Any] = reply.json["memory"]
    return memory


def note(lab: LabEndpoint, content: str, **fields: Any) -> dict[str, Any]:
    return made(lab.post("/api/v1/memories", {"content": content, **fields}))


def patch(lab: LabEndpoint, mem_id: str, **fields: Any) -> Reply:
    return lab.request("PATCH", f"/api/v1/memories/{mem_id}", fields)


def jobs(lab: LabEndpoint, run_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = lab.get(f"/runs/{run_id}/reasoningbank/jobs").json["jobs"]
    return found


def settled(lab: LabEndpoint, run_id: str) -> list[dict[str, Any]]:
    """The learnings of a run once none waits or runs."""
    eventually(lambda: all(job["ended_at"] is not None for job in jobs(lab, run_id)))
    return jobs(lab, run_id)


def judged(lab: LabEndpoint, *, dry_run: bool = False, **feedback: Any) -> str:
    """A run that was judged, and learned from."""
    batch = lab.batch(request="Cu–Mo 光催化 C2H4", dry_run=dry_run)
    lab.ended(batch["batch"]["batch_id"])
    run_id: str = batch["runs"][0]["run_id"]
    save(lab, run_id, **feedback)
    return run_id


def save(lab: LabEndpoint, run_id: str, **feedback: Any) -> None:
    body = {"score": 7.5, "pros": "", "cons": "", "other": "", "products": [], **feedback}
    reply = lab.request("PUT", f"/api/v1/runs/{run_id}/feedback", body)
    assert reply.status == 200, reply.body
    settled(lab, run_id)


def learned(lab: LabEndpoint, run_id: str) -> list[dict[str, Any]]:
    """The lessons in use that this run taught."""
    found = lab.get("/memories?limit=200&status=active&type=reasoningbank_item").json["items"]
    return [memory for memory in found if memory["source_run_id"] == run_id]


def told(lab: LabEndpoint, run_id: str, event_type: str) -> list[dict[str, Any]]:
    found = lab.get(f"/runs/{run_id}/events?event_type={event_type}&include_payload=true&limit=200").json["items"]
    return [event["payload"] for event in found]


def unique(text: str) -> str:
    """A text that no other test wrote."""
    return f"{text} {uuid.uuid4().hex}"


@pytest.mark.clause("002 §5.1", "POST /memories adds a manual_note: mem_id status role type content source_run_id "
                    "created_at updated_at schema_version extra")  # fmt: skip
@pytest.mark.clause("002 §1.3", "mem_id is a UUID")
def test_adding(lab: LabEndpoint) -> None:
    memory = note(lab, "苯甲酸修饰有效", role="mof_expert", schema_version=2, extra={"页": 3})
    assert set(memory) >= FIELDS
    assert str(uuid.UUID(memory["mem_id"])) == memory["mem_id"]
    assert (memory["status"], memory["type"], memory["role"]) == ("active", "manual_note", "mof_expert")
    assert (memory["source_run_id"], memory["schema_version"], memory["extra"]) == (None, 2, {"页": 3})
    assert isinstance(memory["created_at"], float)
    assert lab.get(f"/memories/{memory['mem_id']}").json["memory"] == memory


@pytest.mark.clause("002 §5.1", "secrets are masked, and what is private is left out")
def test_nothing_secret_is_kept(lab: LabEndpoint) -> None:
    memory = note(lab, f"key {SECRET} <private>王工的电话</private>ok", extra={"password": "hunter2hunter2"})
    assert SECRET not in str(memory)
    assert "王工" not in memory["content"]
    assert "hunter2" not in str(memory)


@pytest.mark.clause("002 §1.5", "Idempotency-Key: a note that is sent again is stored once")
def test_adding_twice(lab: LabEndpoint) -> None:
    headers, body = {"Idempotency-Key": str(uuid.uuid4())}, {"content": unique("一次")}
    one, other = (lab.post("/api/v1/memories", body, headers=headers) for _ in range(2))
    assert one.json == other.json
    conflict = lab.post("/api/v1/memories", {"content": "other"}, headers=headers)
    assert (conflict.status, error_of(conflict)["code"]) == (409, "conflict")


@pytest.mark.clause("002 §5.1", "PATCH edits only what is given")
def test_editing(lab: LabEndpoint) -> None:
    memory = note(lab, "before", extra={"a": 1})
    edited = made(patch(lab, memory["mem_id"], content="之后"))
    assert (edited["content"], edited["extra"], edited["role"]) == ("之后", {"a": 1}, "global")
    assert edited["updated_at"] >= memory["updated_at"]
    assert error_of(patch(lab, memory["mem_id"], content="x", version=1))["code"] == "conflict"
    assert error_of(patch(lab, NOWHERE, content="x"))["code"] == "not_found"
    assert error_of(patch(lab, memory["mem_id"], role="nobody"))["code"] == "invalid_argument"
    assert error_of(patch(lab, memory["mem_id"], status="deleted"))["code"] == "invalid_argument"


@pytest.mark.clause("002 §5.1", "PATCH of the content keeps the title")
def test_editing_keeps_the_title(lab: LabEndpoint) -> None:
    run_id = judged(lab, pros=unique("苯甲酸修饰提高选择性"))
    lesson = learned(lab, run_id)[0]
    edited = made(patch(lab, lesson["mem_id"], content="Benzoic acid helps below 2 % Cu."))
    assert lesson["title"]
    assert (edited["title"], edited["content"]) == (lesson["title"], "Benzoic acid helps below 2 % Cu.")


@pytest.mark.clause("002 §5.1", "archive hides softly: status=archived")
def test_archiving(lab: LabEndpoint) -> None:
    word = uuid.uuid4().hex
    mem_id = note(lab, f"光照 {word}")["mem_id"]
    assert made(lab.post(f"/api/v1/memories/{mem_id}/archive", {}))["status"] == "archived"
    assert made(lab.post(f"/api/v1/memories/{mem_id}/archive", {}))["status"] == "archived"
    assert lab.get(f"/memories?query={word}&status=active").json["items"] == []
    assert [each["mem_id"] for each in lab.get(f"/memories?query={word}&status=archived").json["items"]] == [mem_id]
    assert error_of(lab.post(f"/api/v1/memories/{NOWHERE}/archive", {}))["code"] == "not_found"


@pytest.mark.clause("002 §5.1", "GET /memories filters by query role status type, with limit and cursor")
@pytest.mark.clause("002 §1.6", "pages of lessons are stable under inserts")
@pytest.mark.parametrize("searched", [True, False])
def test_listing(lab: LabEndpoint, searched: bool) -> None:
    word = f"煅烧{uuid.uuid4().hex}"
    mine = {note(lab, f"{word} 第 {number} 次", role="tio2_expert")["mem_id"] for number in range(5)}
    note(lab, f"{word} for another", role="mof_expert")
    lab.indexed()
    path = f"/memories?role=tio2_expert&status=active&type=manual_note{f'&query={quote(word)}' if searched else ''}"
    seen: list[str] = []
    for page in lab.pages(path, limit=2):
        seen += [memory["mem_id"] for memory in page]
        assert all(memory["role"] == "tio2_expert" for memory in page)
        note(lab, f"{word} later", role="tio2_expert")
    assert len(seen) == len(set(seen))
    assert mine <= set(seen)
    assert not searched or set(seen) == mine
    assert error_of(lab.get("/memories?status=deleted"))["code"] == "invalid_argument"
    assert error_of(lab.get("/memories?cursor=nonsense"))["code"] == "invalid_argument"


@pytest.mark.clause("002 §5.2", "saving feedback queues a learning, which writes lessons")
@pytest.mark.clause("002 §2.7", "rb_learn_queued rb_job_started rb_learn_snapshot rb_source_opened rb_learn_completed "
                    "rb_job_completed rb_job_id kind status delta_id n_ops dry_run snapshot trace_cutoff_ts "
                    "feedback_id feedback_updated_at final_output_event_id budget policy source_type source_id "
                    "mode_requested mode_used returned_chars truncated")  # fmt: skip
def test_feedback_is_learned_from(lab: LabEndpoint) -> None:
    pros = unique("苯甲酸修饰提高选择性")
    run_id = judged(lab, pros=pros, cons=unique("Fe–Ni lost activity"))
    job = jobs(lab, run_id)[0]
    assert (job["status"], job["kind"], job["run_id"], job["error"]) == ("completed", "learn", run_id, None)
    assert re.fullmatch(r"rbjob_\w+", job["rb_job_id"])
    assert job["created_at"] <= job["started_at"] <= job["ended_at"]
    assert (job["schema_version"], job["extra"]) == (1, {})
    lessons = learned(lab, run_id)
    assert len(lessons) == 2
    assert any(pros in each["content"] for each in lessons)
    queued, started = (told(lab, run_id, each)[0] for each in ("rb_learn_queued", "rb_job_started"))
    assert (queued["kind"], queued["status"], queued["rb_job_id"]) == ("learn", "queued", job["rb_job_id"])
    assert (started["kind"], started["rb_job_id"]) == ("learn", job["rb_job_id"])
    snapshot = told(lab, run_id, "rb_learn_snapshot")[0]
    feedback = lab.get(f"/runs/{run_id}/feedback").json["feedback"]
    assert snapshot["snapshot"] == {
        "trace_cutoff_ts": snapshot["snapshot"]["trace_cutoff_ts"],
        "feedback_id": feedback["feedback_id"],
        "feedback_updated_at": feedback["updated_at"],
        "final_output_event_id": lab.get(f"/runs/{run_id}").json["run"]["final_output_event_id"],
    }
    assert {"budget", "policy"} <= set(snapshot)
    opened = told(lab, run_id, "rb_source_opened")
    assert {each["source_type"] for each in opened} >= {"feedback", "final_output"}
    assert all(
        {"source_id", "mode_requested", "mode_used", "returned_chars", "truncated"} <= set(each) for each in opened
    )
    completed, ended = (told(lab, run_id, each)[0] for each in ("rb_learn_completed", "rb_job_completed"))
    assert (completed["n_ops"], completed["dry_run"]) == (2, False)
    assert completed["delta_id"] == ended["delta_id"] == job["delta_id"]


@pytest.mark.clause("002 §5.2", "nothing is learned from a dry run, and the learning says so")
def test_a_dry_run_teaches_nothing(lab: LabEndpoint) -> None:
    pros = unique("placeholder recipes worked")
    run_id = judged(lab, dry_run=True, pros=pros)
    job = jobs(lab, run_id)[0]
    assert (job["status"], job["n_ops"], job["reason"]) == ("completed", 0, "dry_run")
    assert learned(lab, run_id) == []
    assert not [each for each in lab.get(f"/memories?query={quote(pros)}").json["items"] if pros in each["content"]]
    completed = told(lab, run_id, "rb_learn_completed")[0]
    assert (completed["n_ops"], completed["dry_run"], completed["reason"]) == (0, True, "dry_run")


@pytest.mark.clause("002 §5.2", "POST …/learn by hand: run_id job_id status queued; GET …/jobs?limit= lists")
def test_learning_by_hand(lab: LabEndpoint) -> None:
    run_id = judged(lab, pros=unique("ok"))
    reply = lab.post(f"/api/v1/runs/{run_id}/reasoningbank/learn", {})
    assert (reply.status, set(reply.json)) == (200, {"run_id", "job_id", "status"})
    assert (reply.json["run_id"], reply.json["status"]) == (run_id, "queued")
    assert settled(lab, run_id)[0]["rb_job_id"] == reply.json["job_id"]
    assert len(lab.get(f"/runs/{run_id}/reasoningbank/jobs?limit=1").json["jobs"]) == 1
    for path in ("reasoningbank/learn", "reasoningbank/rollback"):
        assert error_of(lab.post(f"/api/v1/runs/run_nowhere/{path}", {}))["code"] == "not_found"
    for path in ("jobs", "deltas", "rollback/preview"):
        assert error_of(lab.get(f"/runs/run_nowhere/reasoningbank/{path}"))["code"] == "not_found"


@pytest.mark.clause("002 §2.7", "rb_job_failed rb_learn_failed error missing traceback")
@pytest.mark.clause("002 §5.2", "a learning that fails says why")
def test_learning_from_nothing(lab: LabEndpoint) -> None:
    batch = lab.batch()
    lab.ended(batch["batch"]["batch_id"])
    run_id = batch["runs"][0]["run_id"]
    name = lab.post(f"/api/v1/runs/{run_id}/reasoningbank/learn", {}).json["job_id"]
    job = settled(lab, run_id)[0]
    assert (job["status"], job["rb_job_id"]) == ("failed", name)
    assert "feedback" in job["error"]
    failed = told(lab, run_id, "rb_job_failed")[0]
    assert (failed["rb_job_id"], failed["kind"], failed["missing"]) == (name, "learn", ["feedback"])
    assert failed["error"]
    assert {"error", "traceback", "rb_job_id"} <= set(told(lab, run_id, "rb_learn_failed")[0])


@pytest.mark.clause(
    "002 §5.3", "deltas: delta_id run_id created_at ops add update archive before after schema_version extra"
)
@pytest.mark.clause("002 §5.3", "rollback by delta_id or the last: exactly the state before, hand edits overwritten")
@pytest.mark.clause("002 §2.7", "rb_rollback_started rb_rollback_completed delta_id reason n_ops status")
def test_strict_rollback(lab: LabEndpoint) -> None:
    pros = unique("煅烧 450 °C 最好")
    run_id = judged(lab, pros=pros)
    first = learned(lab, run_id)[0]
    save(lab, run_id, cons=unique("其实不行 hot"))
    deltas = lab.get(f"/runs/{run_id}/reasoningbank/deltas").json["items"]
    assert [each["status"] for each in deltas] == ["applied", "applied"]
    assert all(re.fullmatch(r"rbd_\w+", each["delta_id"]) and each["run_id"] == run_id for each in deltas)
    assert {"created_at", "schema_version", "extra"} <= set(deltas[0])
    assert sorted(op["op"] for op in deltas[0]["ops"]) == ["add", "archive"]
    archived = next(op for op in deltas[0]["ops"] if op["op"] == "archive")
    assert archived["mem_id"] == first["mem_id"]
    assert (archived["before"]["status"], archived["after"]["status"]) == ("active", "archived")
    made(patch(lab, first["mem_id"], content="手工改过", status="active", role="mof_expert", extra={"x": 1}))

    shown = lab.get(f"/runs/{run_id}/reasoningbank/rollback/preview").json
    assert (shown["delta_id"], shown["overwritten_mem_ids"]) == (deltas[0]["delta_id"], [first["mem_id"]])
    assert sorted(each["op"] for each in shown["changes"]) == ["remove", "restore"]
    assert lab.post(f"/api/v1/runs/{run_id}/reasoningbank/rollback/preview", {"mode": "safe"}).json["mode"] == "safe"

    reply = lab.post(f"/api/v1/runs/{run_id}/reasoningbank/rollback", {"reason": "测错了"})
    assert (reply.json["delta_id"], reply.json["status"]) == (deltas[0]["delta_id"], "reverted")
    now = lab.get(f"/memories/{first['mem_id']}").json["memory"]
    changing = {"updated_at", "version"}
    assert {k: v for k, v in now.items() if k not in changing} == {k: v for k, v in first.items() if k not in changing}
    assert [each["mem_id"] for each in learned(lab, run_id)] == [first["mem_id"]]
    started, completed = (told(lab, run_id, f"rb_rollback_{each}")[0] for each in ("started", "completed"))
    assert (started["delta_id"], started["reason"], started["n_ops"]) == (deltas[0]["delta_id"], "测错了", 2)
    assert (completed["delta_id"], completed["status"]) == (deltas[0]["delta_id"], "reverted")

    assert lab.post(
        f"/api/v1/runs/{run_id}/reasoningbank/rollback", {"delta_id": deltas[1]["delta_id"]}
    ).json["restored_mem_ids"] == [first["mem_id"]]  # fmt: skip
    assert learned(lab, run_id) == []
    gone = lab.get(f"/memories/{first['mem_id']}").json["memory"]
    assert gone["status"] == "deleted", "what a run cited can be read"
    assert error_of(patch(lab, first["mem_id"], content="x"))["code"] == "conflict"
    assert error_of(lab.post(f"/api/v1/runs/{run_id}/reasoningbank/rollback", {}))["code"] == "not_found"
    causes = [each["cause"] for each in lab.get(f"/runs/{run_id}/reasoningbank/deltas?cause=all").json["items"]]
    assert sorted(causes) == ["learn", "learn", "rollback", "rollback"]


@pytest.mark.clause("002 §5.3", "beyond the contract: safe mode leaves what was edited since, and relearn learns again")
def test_safe_rollback_and_learning_again(lab: LabEndpoint) -> None:
    run_id = judged(lab, pros=unique("安全模式 keeps"), cons=unique("和另一条 other"))
    mine, other = learned(lab, run_id)
    made(patch(lab, mine["mem_id"], content=unique("mine")))
    path = f"/api/v1/runs/{run_id}/reasoningbank/rollback"
    reply = lab.post(path, {"mode": "safe"}).json
    assert (reply["left_mem_ids"], reply["restored_mem_ids"]) == ([mine["mem_id"]], [other["mem_id"]])
    assert reply["status"] == "applied"
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    again = [lab.post(path, {"relearn": True}, headers=headers).json for _ in range(2)]
    assert again[0] == again[1]
    assert again[0]["learning"]["status"] == "queued"
    assert settled(lab, run_id)[0]["status"] == "completed"
    assert len(learned(lab, run_id)) == 2
    assert {mine["mem_id"], other["mem_id"]}.isdisjoint(each["mem_id"] for each in learned(lab, run_id))
    for wrong in ({"mode": "half"}, {"delta_id": 7}, {"reason": "x" * 501}):
        assert error_of(lab.post(path, wrong))["code"] == "invalid_argument"


@pytest.mark.clause("002 §1.4", "odd names and texts are refused or not found, never an internal error")
def test_odd_names(lab: LabEndpoint) -> None:
    run_id = judged(lab, pros=unique("odd"))
    for odd in ("%00", "%ED%A0%80", "%F0%9F%99%82", "..", "'", "a" * 300):
        for path in (
            f"/memories/{odd}", f"/memories?role={odd}", f"/memories?query={odd}", f"/runs/{odd}/reasoningbank/jobs",
            f"/runs/{odd}/reasoningbank/deltas", f"/runs/{odd}/reasoningbank/rollback/preview?delta_id={odd}",
        ):  # fmt: skip
            assert lab.get(path).status in {200, 400, 404}, path
        assert lab.get(f"/runs/{run_id}/reasoningbank/rollback/preview?delta_id={odd}").status in {400, 404}
        name = unquote(odd)
        for body in ({"content": f"x{name}", "source_run_id": name}, {"content": "x", "role": name}):
            assert lab.post("/api/v1/memories", body).status in {400, 404}
