"""Questions with answers on an opened store, as services and as the endpoint, called without a server."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp

from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.events.log import Log
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.query import Id
from codexmem.kernel.opened import Kernel
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.qa import http as qa_api
from codexmem.qa.model.items import KINDS, NewQa
from codexmem.qa.model.validation import QaReference, ValidationReport, trial
from codexmem.qa.service import QaService, build
from codexmem.qa.service.candidates import Stored
from codexmem.qa.service.evidence import HitOutcome, Validated
from codexmem.qa.service.items import QaEntry
from tests._support import services
from tests.surfaces._kit import asgi
from tests.surfaces._kit.asgi import Answer

ME = WriteContext("test")
PROJECT = "demo"
DAY_MS = 86_400_000


@dataclass
class Spoken:
    """What the endpoint needs, of whoever speaks through it now: the application is built once, stores come and go."""

    qa: QaService | None = None
    tenant: str = ""

    def room(self, _: type[Any]) -> Any:
        return self.qa


_spoken = Spoken()


@functools.cache
def _app() -> ASGIApp:
    guard = GuardSettings(None, lambda _: acting_as(_spoken.tenant))
    return build_asgi((qa_api.SURFACE,), _spoken, guard, version="test")


class Asked:
    """Short words for long calls."""

    def __init__(self, db: Database, **parts: Any) -> None:
        self.real = services.build(db, **parts)
        self.table = MemoryTable(db)
        log = Log(db, EventTable(db), LocalNotifier(), self.real.clock)
        self.qa = build(Kernel(
            db, self.real.clock, Path(), table=self.table, memories=self.real.memories, history=self.real.history,
            receipts=self.real.receipts, log=log, search=self.real.search,
            queue=services.queue_of(db, self.real.clock),
        ))  # fmt: skip

    def tell(self, question: str, answer: str, *, project: str = PROJECT, **fields: Any) -> Stored:
        """Hand in a candidate."""
        prepared = self.qa.candidates.prepare(NewQa(project, question, answer, **fields))
        return self.qa.candidates.store(prepared, ME)

    def add(self, question: str, answer: str, **fields: Any) -> str:
        """Hand in a candidate that is new; its id."""
        stored = self.tell(question, answer, **fields)
        assert stored.created
        return stored.item.memory.id

    def find(self, query: str, *, project: str = PROJECT, **fields: Any) -> list[QaEntry]:
        """Search."""
        return list(self.qa.searching.find(project, query, **fields).items)

    def hit(self, *references: QaReference, project: str = PROJECT) -> HitOutcome:
        """Report hits."""
        return self.qa.signals.hit(project, references, ME)

    def used(self, qa_id: str, message: str | None = None) -> HitOutcome:
        """Report that it was shown and used."""
        return self.hit(QaReference(qa_id, shown=True, used=True, message=message))

    def tried(self, qa_id: str, success: bool, *, strong: bool = False, strength: float = 1.0,
              project: str = PROJECT) -> Validated:  # fmt: skip
        """Report a trial."""
        told = trial(success=success, result=None, strength=strength, strong=strong)
        return self.qa.signals.validate(project, ValidationReport(qa_id, told), ME)

    def memory(self, qa_id: str) -> Memory:
        """The item as it is stored."""
        return self.real.memories.get(Id(qa_id), KINDS)

    def item(self, qa_id: str) -> QaEntry:
        """The item as it stands."""
        return self.qa.reviewing.look(qa_id, None).item


class Endpoint(Asked):
    """The same through the endpoint."""

    def __init__(self, db: Database, tenant: str, **parts: Any) -> None:
        super().__init__(db, **parts)
        _spoken.qa, _spoken.tenant = self.qa, tenant
        self.app = _app()

    def get(self, path: str, **query: Any) -> Answer:
        """One GET."""
        return asgi.call(self.app, "GET", path, query=urlencode(query).encode())

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """One POST."""
        sent = [asgi.JSON, *(headers or {}).items()]
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        return asgi.call(self.app, "POST", path, headers=sent, body=raw)

    def said(self, path: str, body: Any, status: int = 200) -> Any:
        """What a POST answers that must go well."""
        reply = self.post(path, body)
        assert reply.status == status, reply.body
        return reply.json


@contextmanager
def asked(db: Database, **parts: Any) -> Iterator[Asked]:
    """The services on this store, closed again."""
    made = Asked(db, **parts)
    try:
        yield made
    finally:
        made.real.traces.close()


@contextmanager
def qa_endpoint(db: Database, tenant: str, **parts: Any) -> Iterator[Endpoint]:
    """The endpoint on this store, closed again."""
    made = Endpoint(db, tenant, **parts)
    try:
        yield made
    finally:
        made.real.traces.close()
