"""The operator's paths on an opened store, called without a server; the log is filled as the services fill it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa

from codexmem.app.operating import Ground, operations_of
from codexmem.domain.memory import Kind
from codexmem.domain.writer import RULES, writer_of
from codexmem.embed.model import Embedder
from codexmem.events.review import Review
from codexmem.services.operations.backups import Commands
from codexmem.services.operations.model_watch import ModelWatch
from codexmem.services.operations.standing import Spent, WorkerState
from codexmem.services.status import Status
from codexmem.store.database import ACTING, Database, acting_as
from codexmem.store.event_pages import EventPages
from codexmem.store.keeping import KeptVectors
from codexmem.store.schema import jobs
from codexmem.store.tallies import Tallies
from codexmem.surfaces import worker_api
from codexmem.surfaces._kit.assemble import build_asgi
from codexmem.surfaces._kit.guard import GuardSettings
from tests._support import vectors as support
from tests._support.searching import Searched
from tests.jobs.stores import Parts
from tests.services.operations.logbook import Logbook
from tests.surfaces._kit import asgi
from tests.surfaces._kit.asgi import Answer

# Straight into the row: no worker runs here.
_failed = (
    sa.update(jobs)
    .where(jobs.c.tenant == ACTING, jobs.c.id == sa.bindparam("of_id"))
    .values(status="failed", ready=False, attempts=5, ended_ms=1)
)


class OpsDoor:
    """Short words for writing and asking."""

    def __init__(self, db: Database, tenant: str, embedder: Embedder | None, vectors: KeptVectors | None) -> None:
        self.vectors = vectors or support.table(db)
        self.book = Logbook(db)
        self.parts = Parts.of("", db)
        self.store = Searched(db, embedder=embedder, vectors=self.vectors)
        self.tallies = Tallies(db)
        self.operations = operations_of(
            db, self.parts.bell, self.book.clock, live=self.parts.live, queue=self.parts.queue,
            indexer=self.store.real.indexer, vectors=self.vectors, embedder=embedder, tallies=self.tallies,
            memories=self.store.real.memories,
            model=ModelWatch(Review(EventPages(db)), writer_of(RULES, model="", base_url="", api_key="")),
            ground=Ground(
                lambda: WorkerState(True, True, 5.0, 1, 0, 250, None), lambda: Spent("2026-11-15", 120, 1_000), None,
                Commands(), None, told=False,
            ),
        )  # fmt: skip
        services: Any = SimpleNamespace(
            operations=self.operations, status=Status(version="test", clock=self.book.clock),
            memories=self.store.real.memories,
        )  # fmt: skip
        guard = GuardSettings(None, lambda _: acting_as(tenant))
        self.app = build_asgi((worker_api.SURFACE,), services, guard, version="test")

    def write(self, text: str, kind: Kind = Kind.OBSERVATION, project: str = "shop") -> int:
        """A memory, as extraction writes it."""
        return self.store.write(text, kind=kind, project=project).seq

    def fail_one(self, session: int) -> int:
        """A job of this session that has failed for good; returns its number."""
        number = self.parts.store("capture.extract", subject=f"session:{session}")
        assert number is not None
        with self.parts.db.transaction() as tx:
            tx.run(_failed, of_id=number)
        return number

    def get(self, path: str, **query: Any) -> Answer:
        """One GET; a name that ends in `_` is a word that Python keeps to itself."""
        asked = {name.removesuffix("_"): value for name, value in query.items()}
        return asgi.call(self.app, "GET", path, query=urlencode(asked).encode())

    def rows(self, path: str, **query: Any) -> Any:
        """The JSON of an answer that must be good."""
        reply = self.get(path, **query)
        assert reply.status == 200, reply.body
        return reply.json

    def post(self, path: str, body: Any = None) -> Answer:
        """One POST, without a body unless one is given."""
        return asgi.call(self.app, "POST", path) if body is None else asgi.post(self.app, path, body)


@contextmanager
def ops_door(db: Database, tenant: str, *, embedder: Embedder | None = None,
             vectors: KeptVectors | None = None) -> Iterator[OpsDoor]:  # fmt: skip
    """The door on this store, closed again."""
    made = OpsDoor(db, tenant, embedder, vectors)
    try:
        yield made
    finally:
        made.operations.watching.close(wait_s=5)
        made.store.real.traces.close()
        made.parts.bell.close()
