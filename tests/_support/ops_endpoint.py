"""The operator's paths on an opened store, called without a server; the log is filled as the services fill it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa

from codexmem.app import worker_api
from codexmem.app.operations import OperationsContext, operations_of
from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.events.review import Review
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.writer import RULES, writer_of
from codexmem.kernel.services.status import ServerStatus
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.event_pages import EventPages
from codexmem.kernel.store.schema import jobs
from codexmem.kernel.store.tallies import Tallies
from codexmem.kernel.store.writable_index import WritableVectorIndex
from codexmem.operations.keys import Keys
from codexmem.operations.service.backups import StoreCommands
from codexmem.operations.service.dashboard import ModelWatch, Spent, WorkerState
from codexmem.operations.sign_in import SignIn
from tests._support import vectors as support
from tests._support.one_app import app_on
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


class OpsEndpoint:
    """Short words for writing and asking."""

    def __init__(
        self, db: Database, tenant: str, embedder: Embedder | None, vectors: WritableVectorIndex | None
    ) -> None:
        self.vectors = vectors or support.table(db)
        self.log = Logbook(db)
        self.parts = Parts.of("", db)
        self.store = Searched(db, embedder=embedder, vectors=self.vectors)
        self.tallies = Tallies(db)
        self.operations = operations_of(
            db, self.parts.notifier, self.log.clock, live=self.parts.live, queue=self.parts.queue,
            indexer=self.store.real.indexer, vectors=self.vectors, embedder=embedder, tallies=self.tallies,
            memories=self.store.real.memories,
            sign_in=SignIn(db, Keys(db, lambda _: None, self.log.clock), lambda _: None, self.log.clock),
            model=ModelWatch(Review(EventPages(db)), writer_of(RULES, model="", base_url="", api_key="")),
            ground=OperationsContext(
                lambda: WorkerState(True, True, 5.0, 1, 0, 250, None), lambda: Spent("2026-11-15", 120, 1_000), None,
                StoreCommands(), None, told=False,
            ),
        )  # fmt: skip
        services = SimpleNamespace(
            operations=self.operations, status=ServerStatus(version="test", clock=self.log.clock),
            memories=self.store.real.memories,
        )  # fmt: skip
        self.app = app_on(worker_api.SURFACE, services, tenant)

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
def ops_endpoint(db: Database, tenant: str, *, embedder: Embedder | None = None,
             vectors: WritableVectorIndex | None = None) -> Iterator[OpsEndpoint]:  # fmt: skip
    """The endpoint on this store, closed again."""
    made = OpsEndpoint(db, tenant, embedder, vectors)
    try:
        yield made
    finally:
        made.operations.watching.close(wait_s=5)
        made.store.real.traces.close()
        made.parts.notifier.close()
