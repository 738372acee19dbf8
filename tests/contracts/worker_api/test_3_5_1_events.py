"""Contract 000 §3.5.1 and §3.5.2: the live stream and the page that shows it, from a running server."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.outcomes import failure_event
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.postgres.notify import PostgresNotifier
from tests._support.server import Server, create_key
from tests._support.sse import Stream
from tests.services.operations.logbook import failed_job

_sessions = itertools.count(1)


@pytest.fixture
def url(api: Server) -> str:
    return f"http://127.0.0.1:{api.port}"


def begin(api: Server, project: str) -> str:
    """A session that begins and ends; returns the agent's name for it."""
    name = f"live-{project}-{next(_sessions)}"
    reply = api.post("/api/sessions/init", {"contentSessionId": name, "project": project, "prompt": "修复登录"})
    assert reply.status == 200, reply.body
    return name


def end(api: Server, name: str) -> None:
    assert api.post("/api/sessions/complete", {"contentSessionId": name}).json["status"] == "completed"


@contextmanager
def kept_busy(api: Server, name: str) -> Iterator[None]:
    """Tool calls keep coming meanwhile: a single job may be over before the meter, which looks now and then, looks."""
    enough = threading.Event()

    def work() -> None:
        for number in itertools.count(1):
            tool = {"contentSessionId": name, "tool_name": "Bash", "tool_input": {"command": f"just test {number}"},
                    "tool_response": {"stdout": "3 passed"}, "cwd": "/r"}  # fmt: skip
            assert api.post("/api/sessions/observations", tool).json == {"status": "queued"}
            if enough.wait(0.01):
                return

    with ThreadPoolExecutor(1) as worker:
        working = worker.submit(work)
        try:
            yield
        finally:
            enough.set()
            working.result()


def statuses(stream: Stream, count: int, project: str) -> list[tuple[str, str]]:
    """What the stream tells of sessions of this project."""
    stream.read(lambda seen: sum(each.data.get("project") == project for each in seen) >= count)
    return [
        (each.data["contentSessionId"], each.data["status"])
        for each in stream.messages
        if each.name == "session.status" and each.data["project"] == project
    ]


@pytest.mark.clause("000 §3.5.1", "session.status when a session begins and ends, with the number of its event as id")
def test_3_5_1_session_status(api: Server, url: str, project: str) -> None:
    with Stream(url, key=api.key) as stream:
        assert (stream.reply.status, stream.reply.getheader("content-type")) == (
            200, "text/event-stream; charset=utf-8",
        )  # fmt: skip
        assert stream.reply.getheader("cache-control") == "no-store"
        name = begin(api, project)
        end(api, name)
        assert statuses(stream, 2, project) == [(name, "active"), (name, "completed")]
        told = [each for each in stream.messages if each.name == "session.status"][-1]
        assert told.data["sessionDbId"] >= 1
        assert (told.id, told.data["subject"]) == (str(told.data["id"]), f"session:{told.data['sessionDbId']}")


@pytest.mark.clause("000 §3.5.1", "queue.depth at once and when it changes, without an id")
def test_3_5_1_queue_depth(api: Server, url: str, project: str) -> None:
    with Stream(url, key=api.key) as stream:
        first = stream.named("queue.depth")[0]
        assert first.id is None
        assert {"queued", "running", "failed", "queueDepth", "isProcessing"} == set(first.data)
        with kept_busy(api, begin(api, project)):
            stream.read(lambda seen: any(each.name == "queue.depth" and each.data["queued"] > 0 for each in seen))


@pytest.mark.clause("000 §3.5.1", "model.result for each extraction, saying who answered and how")
def test_3_5_1_model_result(api: Server, url: str, project: str) -> None:
    with Stream(url, key=api.key) as stream:
        name = begin(api, project)
        tool = {"contentSessionId": name, "tool_name": "Bash", "tool_input": {"command": "just test"},
                "tool_response": {"stdout": "3 passed"}, "cwd": "/r"}  # fmt: skip
        api.post("/api/sessions/observations", tool)
        api.post("/api/sessions/summarize", {"contentSessionId": name, "last_assistant_message": "完成"})
        stream.read(lambda seen: any(_result_of(each.data, project) for each in seen if each.name == "model.result"))
        told = [each for each in stream.messages if each.name == "model.result"][-1]
        assert told.id == str(told.data["id"])
        assert told.data["messageType"] in {"observation", "summarize"}
        assert told.data["by"] == "rules"  # no model is configured here
        assert told.data["outcome"] == ["fallback_used"]  # openai is the default, and there is no key


def _result_of(data: dict[str, object], project: str) -> bool:
    return data["project"] == project and data["messageType"] == "observation"


@pytest.fixture
def team_log(postgres_url: str, postgres_database: Database) -> Iterator[Log]:
    """Another process that writes to the same log, as a worker of its own does."""
    notifier = PostgresNotifier(postgres_url)
    yield Log(postgres_database, EventTable(postgres_database), notifier, SystemClock())
    notifier.close()


@pytest.mark.clause("000 §3.5.1", "queue.failed of a worker in another process, with its class and its session")
def test_3_5_1_queue_failed(postgresql_api: Server, team_log: Log) -> None:
    with Stream(f"http://127.0.0.1:{postgresql_api.port}", key=postgresql_api.key) as stream:
        with acting_as("contracts"):
            team_log.append(failure_event(failed_job(77, "capture.extract", 12), "模型太忙", "rate_limit"))
        (told,) = stream.named("queue.failed")
        assert told.id == str(told.data["id"])
        kept = ("errorClass", "error", "sessionDbId", "kind", "attempts", "subject")
        assert {name: told.data[name] for name in kept} == {
            "errorClass": "rate_limit", "error": "模型太忙", "sessionDbId": 12, "kind": "capture.extract",
            "attempts": 5, "subject": "job:77",
        }  # fmt: skip


@pytest.mark.clause("000 §3.5.1", "a reader that comes back with the last id gets every event once and in order")
@pytest.mark.parametrize("by_header", [True, False])
def test_3_5_1_coming_back(api: Server, url: str, project: str, by_header: bool) -> None:
    with Stream(url, key=api.key) as stream:
        names = [begin(api, project)]
        statuses(stream, 1, project)
        last = stream.last_id
    names += [begin(api, project) for _ in range(5)]
    path = "/api/events" if by_header else f"/api/events?lastEventId={last}"
    with Stream(url, key=api.key, last_id=last if by_header else None, path=path) as again:
        names.append(begin(api, project))
        assert [name for name, _ in statuses(again, 6, project)] == names[1:]
        numbers = [int(each.id) for each in again.messages if each.id is not None]
        assert len(numbers) == len(set(numbers))


@pytest.mark.clause("000 §3.5.1", "a reader that never saw an event comes back without a gap, too")
def test_3_5_1_coming_back_before_anything_happened(api: Server, url: str, project: str) -> None:
    with Stream(url, key=api.key) as stream:
        stream.named("queue.depth")
        last = stream.last_id
    assert last.isdigit()
    name = begin(api, project)
    with Stream(url, key=api.key, last_id=last) as again:
        assert (name, "active") in statuses(again, 1, project)


@pytest.mark.clause("000 §4.1", "a place that is none is a 400")
@pytest.mark.parametrize("last", ["x", "-1", "9" * 40, "1.2.3"])
def test_3_5_1_a_place_that_is_none(api: Server, url: str, last: str) -> None:
    with Stream(url, key=api.key, last_id=last) as stream:
        assert stream.reply.status == 400
        assert b"place in the log" in stream.reply.read()


@pytest.mark.clause("000 §3.5.1", "/stream is another name of /api/events")
def test_3_5_1_another_name(api: Server, url: str) -> None:
    with Stream(url, key=api.key, path="/stream") as stream:
        assert stream.named("queue.depth")


@pytest.mark.clause("000 §3.5.1", "nobody sees an event of another tenant")
def test_3_5_1_tenants_apart(postgresql_api: Server, postgres_url: str, team_log: Log) -> None:
    url = f"http://127.0.0.1:{postgresql_api.port}"
    tenants = ("live-left", "live-right")
    keys = {tenant: create_key(postgresql_api.data_dir, postgres_url, tenant) for tenant in tenants}
    streams = {tenant: Stream(url, key=keys[tenant]) for tenant in tenants}
    beginning = {tenant: streams[tenant].named("queue.depth") for tenant in tenants}
    assert all(beginning.values())
    for number in range(40):
        for tenant in tenants:
            with acting_as(tenant):
                payload = {"n": number, "whose": tenant}
                team_log.append(NewEvent(EventType.SESSION_STATUS, f"session:{number}", payload))
    for tenant, stream in streams.items():
        told = stream.named("session.status", 40)
        assert [(each.data["n"], each.data["whose"]) for each in told] == [(number, tenant) for number in range(40)]
        stream.close()
    # Nor by coming back with a number that belongs to the other.
    with Stream(url, key=keys["live-left"], last_id="0") as stream:
        told = stream.named("session.status", 40)
        assert {each.data["whose"] for each in told} == {"live-left"}


@pytest.mark.clause("000 §3.5.1", "a team's server asks for a key")
def test_3_5_1_a_key_is_needed(postgresql_api: Server) -> None:
    with Stream(f"http://127.0.0.1:{postgresql_api.port}") as stream:
        assert stream.reply.status == 401


@pytest.mark.clause("000 §3.5.2", "/viewer is a page, in the language of the browser, for anyone to open")
def test_3_5_2_viewer(api: Server) -> None:
    for language, tag in (("zh-CN,zh;q=0.9", "zh-CN"), ("en", "en")):
        reply = api.request("GET", "/viewer", headers={"Accept-Language": language, "Authorization": ""})
        assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert f'<html lang="{tag}">' in reply.body.decode()
        assert "default-src 'none'" in reply.headers["content-security-policy"]


@pytest.mark.clause("000 §3.5.2", "/viewer leads to the reports and downloads, in a browser without scripts too")
def test_3_5_2_viewer_without_scripts(api: Server) -> None:
    for language, word in (("zh-CN,zh;q=0.9", "实时事件"), ("en", "Live events")):
        reply = api.request("GET", "/viewer?plain=1", headers={"Accept-Language": language, "Authorization": ""})
        assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
        page = reply.body.decode()
        assert word in page
        reports = ("search-traces", "session-timings", "failure-summary")
        links = ["/api/ops/trends", "/api/events", *(f"/api/ops/{name}" for name in reports)]
        links += [f"/api/ops/{name}/export?format=ndjson" for name in reports]
        assert [link for link in links if link not in page] == []
        assert "default-src 'none'" in reply.headers["content-security-policy"]
