"""A receiver of OTLP/HTTP on loopback: decodes what an exporter posts by the protocol's own descriptions."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

WITHIN_S = 30.0


class OtlpReceiver:
    """What was posted, as messages."""

    def __init__(self) -> None:
        self.traces: list[ExportTraceServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []
        self.bodies: list[bytes] = []  # as they came, to look for what must not be in them
        self.headers: list[dict[str, str]] = []
        self._came = threading.Condition()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> OtlpReceiver:
        outer = self

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                answer = outer._taken(self.path, body, {name.lower(): value for name, value in self.headers.items()})
                self.send_response(200 if answer is not None else 404)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer or b"")))
                self.end_headers()
                self.wfile.write(answer or b"")

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What to name as the endpoint."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    def _taken(self, path: str, body: bytes, headers: dict[str, str]) -> bytes | None:
        with self._came:
            if path == "/v1/traces":
                self.traces.append(ExportTraceServiceRequest.FromString(body))
                answer: bytes = ExportTraceServiceResponse().SerializeToString()
            elif path == "/v1/metrics":
                self.metrics.append(ExportMetricsServiceRequest.FromString(body))
                answer = ExportMetricsServiceResponse().SerializeToString()
            else:
                return None
            self.bodies.append(body)
            self.headers.append(headers)
            self._came.notify_all()
            return answer

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until enough has come."""
        with self._came:
            assert self._came.wait_for(holds, WITHIN_S), sorted(each.name for each in self.spans())

    def spans(self) -> list[Any]:
        """All spans so far."""
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def named(self, name: str) -> list[Any]:
        """Those of one name."""
        return [span for span in self.spans() if span.name == name]

    def resource(self) -> dict[str, str]:
        """What the first sender says of itself."""
        return attributes(self.traces[0].resource_spans[0].resource)

    def figures(self) -> Iterator[Any]:
        """The metrics of the newest sending."""
        for request in self.metrics[-1:]:
            for resource in request.resource_metrics:
                for scope in resource.scope_metrics:
                    yield from scope.metrics


def attributes(holder: Any) -> dict[str, Any]:
    """The attributes of a span, a point or a resource."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in holder.attributes}
