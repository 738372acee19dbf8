"""Spans and figures as a receiver of OpenTelemetry gets them: who caused what, and nothing of what is remembered."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from prometheus_client import CollectorRegistry

from codexmem.app.telemetry import TelemetryExport, summary
from codexmem.hook.surroundings import traceparent
from codexmem.kernel.model import spans
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import NewJob
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.jobs import Jobs
from codexmem.settings.telemetry import Telemetry, telemetry
from tests._support import warm
from tests._support.otlp_receiver import OtlpReceiver, attributes
from tests._support.server import Server, environment
from tests._support.services import build

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{CALLER}-01"
TEXT = "zinnoberrote Giraffen pflegen den Aufzug"  # of a memory and a prompt; may stand in nothing that is sent
KEY = "cm_unverkennbar0123456789"
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


def test_a_request_is_followed_from_the_hook_to_the_job(tmp_path: Path) -> None:
    with OtlpReceiver() as receiver:
        sending = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "20",
            "OTEL_METRIC_EXPORT_INTERVAL": "200", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20collector", "CODEXMEM_BATCH_WAIT_S": "0",
        }  # fmt: skip
        with Server(tmp_path, settings=sending) as server:
            _hook(server, "session-init", {"prompt": TEXT})
            _hook(server, "observation", {"tool_name": "Bash", "tool_input": {"command": f"echo {TEXT}"},
                                            "tool_response": TEXT})  # fmt: skip
            sent = {"traceparent": PARENT, "Authorization": f"Bearer {KEY}"}
            saved = server.post("/api/memory/save", {"text": TEXT, "project": "zoo"}, headers={"traceparent": PARENT})
            assert saved.status == 200, saved.body
            server.request("GET", "/api/search?query=Giraffen&project=zoo", headers=sent)
            listed = server.post("/mcp", _tool_call(), headers={"Accept": "application/json, text/event-stream"})
            assert listed.status == 200, listed.body
            assert server.post("/api/memory/save", {"text": [TEXT]}).status == 400
            receiver.until(lambda: any(span.links for span in receiver.spans()) and bool(receiver.named("tool search")))
            receiver.until(lambda: _saves(receiver) == 2 and any(_is_of_queue(figure) for figure in receiver.figures()))
            figures = {figure.name: figure for figure in receiver.figures()}
            scraped = server.request("GET", "/metrics").body.decode()
        found = {span.span_id: span for span in receiver.spans()}

    # From the caller's span through the route and the service to the database.
    [saving] = [each for each in receiver.named("POST /api/memory/save") if each.trace_id.hex() == TRACE]
    assert saving.parent_span_id.hex() == CALLER
    assert saving.kind == Span.SPAN_KIND_SERVER
    told = attributes(saving)
    assert told["http.route"] == "/api/memory/save"
    assert (told["http.response.status_code"], told["codexmem.tenant"]) == (200, "local")
    below = [each for each in found.values() if saving.span_id in _ancestors(found, each)]
    assert [each.name for each in below].count("memories.remember") == 1
    [remembering] = [each for each in below if each.name == "memories.remember"]
    writing = next(each for each in below if each.name == "store.write")
    assert remembering.span_id in _ancestors(found, writing) or writing.span_id in _ancestors(found, remembering)
    asked = attributes(writing)
    assert "INSERT memories" in asked["db.query.summary"]
    assert asked["codexmem.statements"] >= 3
    # The hook's own trace is its caller's too, and its job is linked to it.
    reported = [each for each in receiver.named("POST /api/sessions/observations") if each.trace_id.hex() == TRACE]
    assert reported
    jobs = [each for each in found.values() if each.links]
    assert any(link.trace_id.hex() == TRACE for job in jobs for link in job.links)
    for job in jobs:
        assert job.kind == Span.SPAN_KIND_CONSUMER
        assert job.trace_id.hex() != TRACE
        assert any(each.trace_id == job.trace_id and each.name == "store.write" for each in found.values()), job.name
    # Nothing of what is remembered, asked or allowed.
    secrets = [*(word for word in TEXT.split() if len(word) > 3), KEY]
    assert [word for word in secrets for body in receiver.bodies if word.encode() in body] == []
    assert all(not span.status.message and not span.events for span in found.values())
    assert receiver.resource()["service.name"] == "codexmem"
    assert receiver.resource()["deployment.environment.name"] == "test"
    assert receiver.headers[0]["authorization"] == "Bearer collector"
    # The figures are those of a scrape.
    families = {name.removesuffix("_total") for name in re.findall(r"^# TYPE (\S+) \S+$", scraped, re.MULTILINE)}
    assert {name for name in families if not name.endswith("_created")} == set(figures)
    requests = figures["codexmem_http_requests"].sum
    assert requests.is_monotonic
    point = next(each for each in requests.data_points if attributes(each)["route"] == "/api/memory/save"
                 and attributes(each)["status"] == "2xx")  # fmt: skip
    assert point.as_double == 1
    timed = next(each for each in figures["codexmem_http_request_seconds"].histogram.data_points
                 if attributes(each) == {"route": "/api/memory/save"})  # fmt: skip
    assert timed.count == sum(timed.bucket_counts) == 2  # one was refused
    assert len(timed.bucket_counts) == len(timed.explicit_bounds) + 1
    assert timed.sum > 0


def test_spans_on_each_engine(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with Recording(monkeypatch) as receiver:
        base = build(database)
        jobs = Jobs(database)
        recorder = spans.recorder()
        assert recorder is not None
        with database.reading():
            pass  # belongs to no request, and leaves no span
        with recorder.request({"traceparent": PARENT}):
            base.memories.remember(
                MemoryDraft(Kind.OBSERVATION, State(TEXT, ObservationAttrs()), Origin.AGENT), WriteContext("test")
            )
            number = jobs.enqueue(NewJob("extract", {"session": 1}), now_ms=1)
        assert number is not None
        job = jobs.get(number)
        assert job is not None
        assert job.payload["session"] == 1
        caused = recorder.job(job.kind, job.payload[spans.CAUSE])
        with pytest.raises(ValueError, match=TEXT), caused, database.transaction():
            raise ValueError(TEXT)
        # Nobody recorded the request, so nobody records its job.
        with recorder.request({"traceparent": PARENT[:-1] + "0"}):
            assert recorder.cause() is None
        with recorder.job("extract", PARENT[:-1] + "0"), database.reading():
            pass
    names = [span.name for span in receiver.spans()]
    assert sorted(names) == sorted(
        ["request", "memories.remember", "store.write", "store.write", "job extract", "store.write"]
    )
    [ran] = receiver.named("job extract")
    assert ran.links[0].trace_id.hex() == TRACE
    assert ran.status.code == Status.STATUS_CODE_ERROR
    assert attributes(ran)["error.type"] == "ValueError"
    first = receiver.named("store.write")[0]
    assert attributes(first)["db.system.name"] == database.engine.name
    assert "INSERT memory_versions" in attributes(first)["db.query.summary"]
    assert not [body for body in receiver.bodies if TEXT.encode() in body]
    assert spans.recorder() is None


class Recording:
    """A process that records, in this one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._receiver = OtlpReceiver()

    def __enter__(self) -> OtlpReceiver:
        self._receiver.__enter__()
        self._monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", self._receiver.url)
        self._export = TelemetryExport(Telemetry(traces=True, metrics=False, interval_s=60), CollectorRegistry())
        return self._receiver

    def __exit__(self, *_: object) -> None:
        self._export.close()
        self._receiver.__exit__()


@pytest.mark.parametrize(
    "statement, said",
    [
        ("SELECT a FROM memories WHERE tenant = :t", "SELECT memories"),
        ("INSERT INTO events (a) VALUES (?)", "INSERT events"),
        ("UPDATE jobs SET ready = 1", "UPDATE jobs"),
        ("WITH found AS (SELECT seq FROM postings) SELECT 1", "WITH postings"),
        ("SAVEPOINT requeue", "SAVEPOINT"),
        ("SELECT 1 WHERE 'FROM Geheim' = ?", "SELECT geheim"),
    ],
)
def test_a_statement_is_its_verb_and_its_table(statement: str, said: str) -> None:
    assert summary(statement) == said


@pytest.mark.parametrize(
    "environ, traces, metrics",
    [
        ({}, False, False),
        (ENDPOINT, True, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h/v1/traces"}, True, False),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://h/v1/metrics"}, False, True),
        (ENDPOINT | {"OTEL_SDK_DISABLED": "true"}, False, False),
        (ENDPOINT | {"OTEL_TRACES_EXPORTER": "none"}, False, True),
        (ENDPOINT | {"OTEL_METRICS_EXPORTER": "prometheus"}, True, False),
        ({"OTEL_SERVICE_NAME": "codexmem"}, False, False),
    ],
)
def test_only_an_endpoint_switches_it_on(environ: dict[str, str], traces: bool, metrics: bool) -> None:
    wanted = telemetry(environ)
    assert (wanted.traces, wanted.metrics, wanted.refused) == (traces, metrics, "")


def test_another_protocol_is_refused_by_name() -> None:
    assert telemetry(ENDPOINT | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}) == Telemetry(False, False, 60.0, "grpc")
    own = ENDPOINT | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}
    assert telemetry(own).traces
    assert telemetry(ENDPOINT | {"OTEL_METRIC_EXPORT_INTERVAL": "250"}).interval_s == 0.25


def test_the_hook_passes_on_a_trace_only_if_it_is_given_one() -> None:
    assert traceparent({}) == ""
    assert traceparent({"TRACEPARENT": PARENT}) == PARENT
    for wrong in ("", "00-x-y-01", PARENT + "\r\nX: 1", PARENT[:-1] + "g", "0" * 55):
        assert traceparent({"TRACEPARENT": wrong}) == ""


def test_nothing_is_loaded_unless_it_is_wanted() -> None:
    """Without an endpoint a server loads no part of the SDK, and a span is one look at a variable."""
    code = "import sys, codexmem.app; print([m for m in sys.modules if m.startswith('opentelemetry.') and 'sdk' in m])"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert spans.part("anything") is spans.NOTHING


def _hook(server: Server, event: str, said: dict[str, object]) -> None:
    env = environment(server.data_dir, CODEXMEM_AUTOSTART="0", CODEXMEM_PORT=str(server.port), TRACEPARENT=PARENT)
    given = {"session_id": "s1", "cwd": str(server.data_dir), **said}
    done = subprocess.run(
        [warm.program("codexmem"), "hook", "claude-code", event], env=env, input=json.dumps(given).encode(),
        capture_output=True, check=False, cwd=server.data_dir,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def _saves(receiver: OtlpReceiver) -> int:
    """How many saves the newest figures know of."""
    route = {"route": "/api/memory/save"}
    timed = [figure for figure in receiver.figures() if figure.name == "codexmem_http_request_seconds"]
    return sum(each.count for figure in timed for each in figure.histogram.data_points if attributes(each) == route)


def _is_of_queue(figure: Any) -> bool:
    return bool(figure.name == "codexmem_jobs")


def _tool_call() -> dict[str, object]:
    call = {"name": "search", "arguments": {"query": TEXT}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}


def _ancestors(found: dict[bytes, Span], span: Span) -> list[bytes]:
    """The spans above one, nearest first."""
    above = []
    while span.parent_span_id in found:
        span = found[span.parent_span_id]
        above.append(span.span_id)
    return above
