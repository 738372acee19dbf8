"""One application for all tests of an interface, each with its own services: to build routes takes a third of a second.

Routes look at their services when they are called, so what they are given here hands on to those of the caller.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from codexmem.http.assemble import build_asgi
from codexmem.http.guard import ANYONE, GuardSettings
from codexmem.http.surface import Surface
from codexmem.kernel.model.tenant import Identity
from codexmem.kernel.store.database import acting_as

_calling: ContextVar[tuple[object, str]] = ContextVar("_calling")  # whose services, and for which tenant


class _Callers:
    """The services of whoever calls."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_calling.get()[0], name)


class BelievedPerson:
    """Whoever says so is a person: here nobody else calls."""

    cookie, session = "codexmem-test", "1"

    def authenticate(self, _: str | None) -> Identity:
        return ANYONE


_built: dict[str, ASGIApp] = {}  # by the interface's name


def _of(surface: Surface[Any]) -> ASGIApp:
    if surface.name not in _built:
        guard = GuardSettings(None, lambda _: acting_as(_calling.get()[1]), person=BelievedPerson)
        _built[surface.name] = build_asgi((surface,), _Callers(), guard, version="test")
    return _built[surface.name]


def app_on(surface: Surface[Any], services: object, tenant: str) -> ASGIApp:
    """The interface on these services."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        _calling.set((services, tenant))
        await _of(surface)(scope, receive, send)

    return app
