"""The outermost layer: one log line, one measurement and, where they are recorded, one span for every request, refused
ones included.

It names the route's template, never the path, so that neither log volume nor metric cardinality is in a caller's hand.
"""

import time
from contextlib import AbstractContextManager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codexmem.http.guard import REFUSED, identity_of
from codexmem.http.logs import log_request
from codexmem.http.metrics import METHODS, Metrics
from codexmem.kernel.model import spans

GONE = 499  # the client left before there was a reply


class Observe:
    """ASGI application that times another one."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the request and report it, however it ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        recorder = spans.recorder()
        if recorder is None:
            await self._observed(scope, receive, send, spans.NOTHING)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        await self._observed(scope, receive, send, recorder.request(headers))

    async def _observed(
        self, scope: Scope, receive: Receive, send: Send, recording: AbstractContextManager[spans.Span]
    ) -> None:
        status = GONE

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        with recording as span:
            try:
                with self._metrics.running():
                    await self._app(scope, receive, watching)
            except Exception:
                status = 500
                raise
            finally:
                self._report(scope, span, status, time.perf_counter() - began)

    def _report(self, scope: Scope, span: spans.Span, status: int, seconds: float) -> None:
        identity = identity_of(scope)
        refused = scope.get(REFUSED)
        route = "refused" if refused else route_template(scope)
        self._metrics.observe(scope["method"], route, status, seconds)
        log_request(
            method=scope["method"],
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            tenant=identity.tenant if identity else None,
            refused=refused,
        )
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        span.name(f"{method} {route}")
        span.set(http__request__method=method, http__route=route, http__response__status_code=status)
        if identity:
            span.set(codexmem__tenant=identity.tenant)
        if status >= 500:
            span.failed(str(status))


def route_template(scope: Scope) -> str:
    """The template of the route that answered, or `unmatched`."""
    template = getattr(scope.get("route"), "path", None)
    return template if isinstance(template, str) else "unmatched"
