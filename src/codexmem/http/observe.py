"""The outermost layer: one log line and one measurement for every request, refused ones included.

It names the route's template, never the path, so that neither log volume nor metric cardinality is in a caller's hand.
"""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codexmem.http.guard import REFUSED, identity_of
from codexmem.http.logs import log_request
from codexmem.http.metrics import Metrics

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
        status = GONE

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        try:
            with self._metrics.running():
                await self._app(scope, receive, watching)
        except Exception:
            status = 500
            raise
        finally:
            seconds = time.perf_counter() - began
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


def route_template(scope: Scope) -> str:
    """The template of the route that answered, or `unmatched`."""
    template = getattr(scope.get("route"), "path", None)
    return template if isinstance(template, str) else "unmatched"
