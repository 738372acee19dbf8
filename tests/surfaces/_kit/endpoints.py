"""Two small surfaces that count every entry into a handler, and the application made of them."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, field_validator
from starlette.types import ASGIApp

from codexmem.http.assemble import Hook, build_asgi
from codexmem.http.errors import ENVELOPE, PLAIN, ErrorStyle
from codexmem.http.guard import Authenticate, GuardSettings
from codexmem.http.json_body import BodyLimits
from codexmem.http.metrics import Metrics, Sample
from codexmem.http.params import IdempotencyKey, Int64
from codexmem.http.surface import Surface, router
from codexmem.kernel.model.errors import Conflict, NotFound, RateLimited, StorageFull, Unavailable
from codexmem.kernel.model.tenant import Identity

TENANT: ContextVar[str | None] = ContextVar("tenant", default=None)
KEY = "k" * 43
LIMITS = BodyLimits(body_bytes=64 * 1024)

# Every path that answers, with its methods; the last two exist in no surface.
ROUTES = [
    ("GET", "/api/health"),
    ("GET", "/api/version"),
    ("POST", "/api/echo"),
    ("GET", "/api/items/{item}"),
    ("DELETE", "/api/items/{item}"),
    ("POST", "/api/reset"),
    ("GET", "/api/stream"),
    ("POST", "/api/v1/batches"),
    ("GET", "/api/v1/fail/{how}"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("POST", "/api/nowhere"),
    ("OPTIONS", "/api/echo"),
]


@contextmanager
def acting_as(tenant: str) -> Iterator[None]:
    token = TENANT.set(tenant)
    try:
        yield
    finally:
        TENANT.reset(token)


def keyring(bearer: str | None) -> Identity | None:
    return Identity("acme", "key:ci") if bearer == KEY else None


@dataclass
class Endpoints:
    """The services of the two surfaces: a tally of entries, and latches for slow requests."""

    entries: Counter[str] = field(default_factory=Counter)
    slow_entered: threading.Event = field(default_factory=threading.Event)
    slow_may_end: threading.Event = field(default_factory=threading.Event)

    @property
    def total(self) -> int:
        return sum(self.entries.values())

    def collect(self) -> Iterable[Sample]:
        self.entries["metrics"] += 1
        yield Sample("codexmem_jobs", "Jobs by status", 3, {"status": "queued"})
        yield Sample("codexmem_jobs", "Jobs by status", 1, {"status": "running"})


class Batch(BaseModel):
    title: str
    count: int = 1

    @field_validator("count")
    @classmethod
    def positive(cls, value: int) -> int:
        if value < 1:
            raise ValueError("count must be positive")
        return value


def worker_routes(endpoints: Endpoints) -> APIRouter:
    routes = router()

    @routes.get("/api/health")
    def health() -> dict[str, Any]:
        endpoints.entries["health"] += 1
        return {"status": "ok", "tenant": TENANT.get()}

    @routes.get("/api/version")
    def version() -> dict[str, Any]:
        endpoints.entries["version"] += 1
        return {"version": "1"}

    @routes.post("/api/echo")
    def echo(body: Annotated[Any, Body()], key: IdempotencyKey) -> dict[str, Any]:
        endpoints.entries["echo"] += 1
        return {"echo": body, "tenant": TENANT.get(), "key": key}

    @routes.get("/api/items/{item}")
    def item(item: Int64) -> dict[str, Any]:
        endpoints.entries["item"] += 1
        return {"item": item, "thread": threading.current_thread().name, "tenant": TENANT.get()}

    @routes.delete("/api/items/{item}")
    def drop(item: Int64) -> dict[str, Any]:
        endpoints.entries["drop"] += 1
        return {"item": item}

    @routes.post("/api/reset")
    def reset() -> Response:
        endpoints.entries["reset"] += 1
        return Response(b"{}", headers={"Access-Control-Allow-Origin": "*"}, media_type="application/json")

    @routes.get("/api/stream")
    def stream() -> StreamingResponse:
        endpoints.entries["stream"] += 1
        return StreamingResponse((f"{TENANT.get()}\n" for _ in range(2)), media_type="text/plain")

    @routes.get("/api/slow")
    def slow() -> dict[str, Any]:
        endpoints.slow_entered.set()
        assert endpoints.slow_may_end.wait(30)
        return {"slow": True}

    return routes


def lab_routes(endpoints: Endpoints) -> APIRouter:
    routes = router()

    @routes.post("/api/v1/batches")
    def batches(batch: Batch) -> dict[str, Any]:
        endpoints.entries["batches"] += 1
        return {"title": batch.title}

    @routes.get("/api/v1/fail/{how}")
    def fail(how: str) -> dict[str, Any]:
        endpoints.entries["fail"] += 1
        raise FAILURES[how]

    return routes


FAILURES: dict[str, Exception] = {
    "missing": NotFound("Run #7 not found", details={"run": 7}),
    "conflict": Conflict("changed since version 3", hint="read it again"),
    "busy": RateLimited("too many", details={"retry_after_s": 2}),
    "down": Unavailable("the database does not answer"),
    "full": StorageFull("the disk is full"),
    "bug": RuntimeError("/home/someone secret SELECT * FROM memories"),
}

WORKER: Surface[Endpoints] = Surface(
    "worker",
    ("/api",),
    frozenset(),
    worker_routes,
    ErrorStyle(PLAIN.body, texts={("/api/echo", ""): "echo needs something to say"}),
)
LAB: Surface[Endpoints] = Surface("lab", ("/api/v1",), frozenset(), lab_routes, ENVELOPE)


def application(
    endpoints: Endpoints,
    *,
    authenticate: Authenticate | None = None,
    names: tuple[str, ...] = (),
    limits: BodyLimits = LIMITS,
    body_seconds: float = 30.0,
    lifespan: tuple[Hook, ...] = (),
) -> ASGIApp:
    metrics = Metrics()
    metrics.register(endpoints.collect)
    settings = GuardSettings(authenticate, acting_as, names=names, limits=limits, body_seconds=body_seconds)
    return build_asgi([WORKER, LAB], endpoints, settings, version="1.0", lifespan=lifespan, metrics=metrics)
