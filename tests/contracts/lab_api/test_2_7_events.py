"""Contract 002 §2.7: the trace of a run."""

from __future__ import annotations

import time

import pytest

from codexmem.kernel.model.event import TRACED, EventType
from codexmem.kernel.store.database import acting_as
from tests._support.lab import SECRET
from tests._support.lab_endpoint import LabEndpoint
from tests.contracts.lab_api.test_1_conventions import error_of


def traced(lab: LabEndpoint) -> str:
    """A run that has ended."""
    made = lab.batch()
    lab.ended(made["batch"]["batch_id"])
    run_id: str = made["runs"][0]["run_id"]
    return run_id


@pytest.mark.clause("002 §2.7", "event_id run_id created_at event_type payload; without include_payload no payload")
def test_a_page_of_events(lab: LabEndpoint) -> None:
    run_id = traced(lab)
    bare = lab.get(f"/runs/{run_id}/events").json
    assert [event["event_type"] for event in bare["items"]] == [
        "run_started", "llm_request", "llm_response", "llm_request", "llm_response", "final_output",
    ]  # fmt: skip
    assert all(event["payload"] is None and event["run_id"] == run_id for event in bare["items"])
    whole = lab.get(f"/runs/{run_id}/events?include_payload=true").json
    assert [event["event_id"] for event in whole["items"]] == [event["event_id"] for event in bare["items"]]
    assert all(isinstance(event["payload"], dict) for event in whole["items"])
    pages = list(lab.pages(f"/runs/{run_id}/events", limit=4))
    assert [len(page) for page in pages] == [4, 2]
    assert [event for page in pages for event in page] == bare["items"]


@pytest.mark.clause("002 §2.7", "who follows a trace goes on from tail_cursor, also when there was nothing more")
def test_following(lab: LabEndpoint) -> None:
    run_id = traced(lab)
    page = lab.get(f"/runs/{run_id}/events").json
    assert (page["has_more"], page["next_cursor"]) == (False, None)
    tail = page["tail_cursor"]
    empty = lab.get(f"/runs/{run_id}/events?cursor={tail}").json
    assert (empty["items"], empty["tail_cursor"]) == ([], tail)
    with acting_as("lab" if lab.key else "local"):
        (event_id,) = lab.app.services.core.lab.trace.append(run_id, (EventType.RB_LEARN_QUEUED, {}))
    later = lab.get(f"/runs/{run_id}/events?cursor={tail}").json
    assert [event["event_id"] for event in later["items"]] == [event_id]


@pytest.mark.clause("002 §2.7", "one event with its payload by event_id")
def test_one_event(lab: LabEndpoint) -> None:
    run_id, other = traced(lab), traced(lab)
    event_id = lab.get(f"/runs/{run_id}/events").json["items"][-1]["event_id"]
    event = lab.get(f"/runs/{run_id}/events/{event_id}").json
    assert (event["event_id"], event["event_type"]) == (event_id, "final_output")
    assert set(event["payload"]) == {"recipes_json", "citations", "memory_ids"}
    assert lab.get(f"/runs/{run_id}").json["run"]["final_output_event_id"] == event_id
    assert error_of(lab.get(f"/runs/{other}/events/{event_id}"))["code"] == "not_found"


@pytest.mark.clause("002 §2.7", "event_type may be repeated; since and until are seconds and included")
def test_filters(lab: LabEndpoint) -> None:
    run_id = traced(lab)
    kinds = lab.get(f"/runs/{run_id}/events?event_type=llm_response&event_type=run_started").json["items"]
    assert [event["event_type"] for event in kinds] == ["run_started", "llm_response", "llm_response"]
    pages = list(lab.pages(f"/runs/{run_id}/events?event_type=llm_request&event_type=llm_response", limit=3))
    assert [len(page) for page in pages] == [3, 1]
    everything = lab.get(f"/runs/{run_id}/events").json["items"]
    first, last = everything[0]["created_at"], everything[-1]["created_at"]
    assert lab.get(f"/runs/{run_id}/events?since={first}&until={last}").json["items"] == everything
    assert lab.get(f"/runs/{run_id}/events?until={first - 0.001}").json["items"] == []
    since = lab.get(f"/runs/{run_id}/events?since={last}").json["items"]
    assert since == [event for event in everything if event["created_at"] >= last]
    assert lab.get(f"/runs/{run_id}/events?since={time.time() + 60}").json["items"] == []
    for wrong in ("event_type=unknown", "since=yesterday", "until=-1", "include_payload=perhaps", "cursor=x"):
        assert error_of(lab.get(f"/runs/{run_id}/events?{wrong}"))["code"] == "invalid_argument"


@pytest.mark.clause("002 §2.7.1", "run_started mode user_request recipes_per_run temperature; run_canceled reason; "
                    "run_failed error traceback; final_output")  # fmt: skip
def test_events_of_the_runs_own_life(lab: LabEndpoint) -> None:
    run_id = traced(lab)
    started = lab.get(f"/runs/{run_id}/events?event_type=run_started&include_payload=true").json["items"]
    assert [set(event["payload"]) for event in started] == [{"mode", "user_request", "recipes_per_run", "temperature"}]
    assert started[0]["payload"]["mode"] == "dry_run"


@pytest.mark.clause("002 §2.7.1", "no payload holds a key: not ours, and none that looks like one, OPENAI_API_KEY "
                    "included")  # fmt: skip
def test_payloads_hold_no_secrets(lab: LabEndpoint) -> None:
    run_id = traced(lab)
    told = {"messages": [{"role": "user", "content": f"key {SECRET}, 密码: hunter2hunter2"}], "OPENAI_API_KEY": SECRET}
    core = lab.app.services.core
    with acting_as("lab" if lab.key else "local"):
        (event_id,) = core.lab.trace.append(run_id, (EventType.LLM_REQUEST, told))
    shown = lab.get(f"/runs/{run_id}/events/{event_id}").body.decode()
    assert SECRET not in shown
    assert "hunter2" not in shown
    assert shown.count("REDACTED") >= 3


@pytest.mark.clause("002 §2.7.1", "every event type of the contract can be written, listed by event_type and read")
@pytest.mark.parametrize("event_type", sorted(TRACED))
def test_every_type_can_be_traced(lab: LabEndpoint, event_type: EventType) -> None:
    if not hasattr(lab, "one_run"):
        lab.one_run = traced(lab)  # type: ignore[attr-defined]
    run_id: str = lab.one_run  # type: ignore[attr-defined]
    with acting_as("lab" if lab.key else "local"):
        (event_id,) = lab.app.services.core.lab.trace.append(run_id, (event_type, {"内容": "x"}))
    listed = lab.get(f"/runs/{run_id}/events?event_type={event_type.value}").json["items"]
    assert listed[-1]["event_id"] == event_id
    assert lab.get(f"/runs/{run_id}/events/{event_id}").json["payload"] == {"内容": "x"}
