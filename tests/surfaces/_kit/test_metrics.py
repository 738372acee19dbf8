"""What a scrape shows, and that it shows no path, no tenant and no failure of its own."""

from collections.abc import Iterable

import pytest
from starlette.types import ASGIApp

from codexmem.http.metrics import Metrics, Sample
from tests.surfaces._kit.asgi import call
from tests.surfaces._kit.endpoints import Endpoints


def test_requests_are_counted_by_template_and_class(app: ASGIApp) -> None:
    for number in range(5):
        call(app, "GET", f"/api/items/{number}")
    call(app, "GET", "/api/items/x")
    call(app, "GET", "/api/none")
    call(app, "BREW", "/api/health")
    call(app, "GET", "/api/health", headers=[("host", "evil.test")])
    answer = call(app, "GET", "/metrics")
    assert answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.body.decode().splitlines()
    for line in [
        'codexmem_http_requests_total{method="GET",route="/api/items/{item}",status="2xx"} 5.0',
        'codexmem_http_requests_total{method="GET",route="/api/items/{item}",status="4xx"} 1.0',
        'codexmem_http_requests_total{method="GET",route="unmatched",status="4xx"} 1.0',
        'codexmem_http_requests_total{method="OTHER",route="/api/health",status="4xx"} 1.0',
        'codexmem_http_requests_total{method="GET",route="refused",status="4xx"} 1.0',
        'codexmem_http_request_seconds_count{route="/api/items/{item}"} 6.0',
        "codexmem_http_requests_running 1.0",
        'codexmem_jobs{status="queued"} 3.0',
        'codexmem_jobs{status="running"} 1.0',
    ]:
        assert line in lines
    assert any(line.startswith("process_resident_memory_bytes") for line in lines)


def test_cardinality_is_not_in_the_callers_hand(app: ASGIApp) -> None:
    sizes = []
    for round_number in range(2):
        for number in range(20):
            call(app, f"M{round_number}{number}", f"/p{round_number}/{number}")
        sizes.append(len(call(app, "GET", "/metrics").body.splitlines()))
    assert sizes[1] - sizes[0] <= 20  # the series of /metrics itself appear after its first scrape


def test_metrics_need_the_key(keyed: ASGIApp, endpoints: Endpoints) -> None:
    assert call(keyed, "GET", "/metrics").status == 401
    assert endpoints.total == 0


def test_a_failing_collector_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()

    def broken() -> Iterable[Sample]:
        yield Sample("codexmem_a", "a", 1)
        raise RuntimeError("the database is away")

    metrics.register(broken)
    metrics.register(lambda: [Sample("codexmem_b", "b", 2)])
    metrics.endpoint()
    body = bytes(metrics.endpoint().body).decode()
    assert "codexmem_b 2.0" in body
    assert "codexmem_a" not in body
    assert "codexmem_collector_failures_total" in body
    assert "the database is away" in caplog.text


def test_registries_are_separate() -> None:
    assert Metrics().registry is not Metrics().registry
