"""Contract 000 §3.2: what hooks report to `/api/sessions/*`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests._support.server import Server
from tests._support.waiting import eventually

INIT, OBSERVE, SUMMARIZE, COMPLETE = (
    f"/api/sessions/{name}" for name in ("init", "observations", "summarize", "complete")
)


@pytest.fixture
def session(project: str) -> str:
    return f"session-of-{project}"


@pytest.fixture
def begin(api: Server, session: str, project: str) -> Callable[[str], Any]:
    def send(prompt: str) -> Any:
        return api.post(INIT, {"contentSessionId": session, "project": project, "prompt": prompt}).json

    return send


def tool(session: str, **told: object) -> dict[str, object]:
    body = {"contentSessionId": session, "tool_name": "Read", "tool_input": {"file_path": "/r/a.py"},
            "tool_response": {"content": "x = 1"}, "cwd": "/r"}  # fmt: skip
    return body | told


@pytest.mark.clause("000 §3.2.1", "init answers sessionDbId, promptNumber and skipped; prompts are counted")
def test_3_2_1_init_counts_the_prompts_of_a_session(begin: Callable[[str], Any]) -> None:
    first, second = begin("修复登录"), begin("run the tests")
    assert first == {"sessionDbId": first["sessionDbId"], "promptNumber": 1, "skipped": False}
    assert second == {"sessionDbId": first["sessionDbId"], "promptNumber": 2, "skipped": False}


@pytest.mark.clause("000 §3.2.1", "a private prompt is skipped with the reason private, and its text is stored nowhere")
@pytest.mark.parametrize(
    "prompt", ["<private>机密 plan</private>", "<private>机密 plan", "<PRIVATE >机密 plan</private>"]
)
def test_3_2_1_a_private_prompt(api: Server, begin: Callable[[str], Any], project: str, prompt: str) -> None:
    answer = begin(prompt)
    assert answer == {
        "sessionDbId": answer["sessionDbId"], "promptNumber": 1, "skipped": True, "reason": "private",
    }  # fmt: skip
    assert "机密" not in api.request("GET", f"/api/prompts?project={project}").body.decode()
    assert begin("an open one")["promptNumber"] == 2


@pytest.mark.clause("000 §3.2.2", "an event of a session that was never begun takes its project from cwd")
@pytest.mark.parametrize("cwd", ["/home/me/{}", "/home/me/{}/", "C:\\work\\{}"])
def test_3_2_2_an_event_without_init_takes_its_project_from_cwd(
    api: Server, session: str, project: str, cwd: str
) -> None:
    body = tool(session, cwd=cwd.format(project), tool_response={"content": "the port is 37877"})
    assert api.post(OBSERVE, body).json == {"status": "queued"}
    told = api.request("GET", f"/api/sessions?project={project}").json
    assert [each["key"] for each in told["items"]] == [session]


@pytest.mark.clause("000 §3.2.1", "a request without contentSessionId is a 400")
@pytest.mark.parametrize("path", [INIT, OBSERVE, SUMMARIZE, COMPLETE])
def test_3_2_a_session_needs_a_name(api: Server, path: str) -> None:
    reply = api.post(path, {"prompt": "hello", "tool_name": "Read"})
    assert (reply.status, reply.json["error"]) == (400, "contentSessionId is required and must be non-empty")


@pytest.mark.clause("000 §3.2.2", "a new event is queued, a repeated one deduped")
def test_3_2_2_queued_then_deduped(api: Server, begin: Callable[[str], Any], session: str) -> None:
    begin("go")
    assert api.post(OBSERVE, tool(session)).json == {"status": "queued"}
    assert api.post(OBSERVE, tool(session)).json == {"status": "deduped"}
    assert api.post(OBSERVE, tool(session, tool_use_id="t1")).json == {"status": "queued"}
    assert api.post(OBSERVE, tool(session, tool_use_id="t1", tool_response="other")).json == {"status": "deduped"}


@pytest.mark.clause("000 §3.2.2", "an excluded tool is skipped with the reason tool_excluded")
@pytest.mark.parametrize("name", ["TodoWrite", "AskUserQuestion", "mcp__codexmem__search"])
def test_3_2_2_an_excluded_tool(api: Server, session: str, name: str) -> None:
    assert api.post(OBSERVE, tool(session, tool_name=name)).json == {"status": "skipped", "reason": "tool_excluded"}


@pytest.mark.clause("000 §3.2.2", "events of a private turn are skipped with the reason private")
@pytest.mark.clause("000 §3.2.3", "the summary of a private turn is skipped with the reason private")
def test_3_2_2_events_of_a_private_turn(api: Server, begin: Callable[[str], Any], session: str) -> None:
    begin("open")
    begin("<private>closed</private>")
    skipped = {"status": "skipped", "reason": "private"}
    assert api.post(OBSERVE, tool(session)).json == skipped
    assert api.post(SUMMARIZE, {"contentSessionId": session, "last_assistant_message": "ok"}).json == skipped


@pytest.mark.clause("000 §3.2.2", "a captured event becomes an observation of its session and project")
def test_3_2_2_an_event_becomes_an_observation(
    api: Server, begin: Callable[[str], Any], session: str, project: str
) -> None:
    begin("把令牌有效期改为两小时")
    edit = {"file_path": "/r/src/auth.py", "old_string": "TTL = 3600", "new_string": "TTL = 7200"}
    api.post(OBSERVE, tool(session, tool_name="Edit", tool_input=edit, tool_response="ok"))
    api.post(COMPLETE, {"contentSessionId": session})
    (row,) = eventually(lambda: api.request("GET", f"/api/observations?project={project}").json["items"])
    assert row["memory_session_id"] == session
    assert row["files_modified"] == ["src/auth.py"]
    assert row["prompt_number"] == 1
    assert "auth.py" in row["title"]


@pytest.mark.clause("000 §3.2.3", "a summary is queued once for a turn and its last message, then deduped")
def test_3_2_3_summaries(api: Server, begin: Callable[[str], Any], session: str, project: str) -> None:
    begin("修复登录")
    body = {"contentSessionId": session, "last_assistant_message": "登录已修复。Next: write tests."}
    assert api.post(SUMMARIZE, body).json == {"status": "queued"}
    assert api.post(SUMMARIZE, body).json == {"status": "deduped"}
    (row,) = eventually(lambda: api.request("GET", f"/api/summaries?project={project}").json["items"])
    assert row["request"] == "修复登录"


@pytest.mark.clause("000 §3.2.4", "completing answers completed with sessionDbId, else skipped not_active")
def test_3_2_4_complete(api: Server, begin: Callable[[str], Any], session: str) -> None:
    number = begin("go")["sessionDbId"]
    assert api.post(COMPLETE, {"contentSessionId": session}).json == {"status": "completed", "sessionDbId": number}
    not_active = {"status": "skipped", "reason": "not_active"}
    assert api.post(COMPLETE, {"contentSessionId": session}).json == not_active
    assert api.post(COMPLETE, {"contentSessionId": f"{session}-unknown"}).json == not_active


def test_an_idempotency_key_makes_a_prompt_one_turn(api: Server, session: str, project: str) -> None:
    body, key = {"contentSessionId": session, "project": project, "prompt": "go"}, {"Idempotency-Key": session}
    first, second = api.post(INIT, body, key).json, api.post(INIT, body, key).json
    assert first == second
    assert first["promptNumber"] == 1


def test_a_repeated_delivery_is_one_turn(api: Server, session: str, project: str) -> None:
    body = {"contentSessionId": session, "project": project, "prompt": "go", "event_id": f"e-{session}"}
    assert [api.post(INIT, body).json["promptNumber"] for _ in range(3)] == [1, 1, 1]
