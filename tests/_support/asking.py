"""Questions with answers on an opened store, as services and as the door, called without a server."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from starlette.types import ASGIApp

from codexmem.app.asking import qa_of
from codexmem.domain.history import By
from codexmem.domain.memory import Memory
from codexmem.domain.qa.items import KINDS, NewQa
from codexmem.domain.qa.validation import trial
from codexmem.domain.query import Id
from codexmem.events.log import Log
from codexmem.services.qa import Qa
from codexmem.services.qa.candidates import Stored
from codexmem.services.qa.signals import Hits, Reference, Report, Validated
from codexmem.services.qa.views import Item
from codexmem.services.receipts import Receipts
from codexmem.store.bell import LocalBell
from codexmem.store.database import Database, acting_as
from codexmem.store.events import Events
from codexmem.store.memories import Memories as Table
from codexmem.surfaces import qa_api
from codexmem.surfaces._kit.assemble import build_asgi
from codexmem.surfaces._kit.guard import GuardSettings
from tests._support import services
from tests.surfaces._kit import asgi
from tests.surfaces._kit.asgi import Answer

ME = By("test")
PROJECT = "demo"
DAY_MS = 86_400_000


@dataclass
class Spoken:
    """What the door needs, of whoever speaks through it now: the application is built once, stores come and go."""

    qa: Qa | None = None
    receipts: Receipts | None = None
    tenant: str = ""


_spoken = Spoken()


@functools.cache
def _app() -> ASGIApp:
    guard = GuardSettings(None, lambda _: acting_as(_spoken.tenant))
    return build_asgi((qa_api.SURFACE,), cast(Any, _spoken), guard, version="test")


class Asked:
    """Short words for long calls."""

    def __init__(self, db: Database, **parts: Any) -> None:
        self.real = services.build(db, **parts)
        self.table = Table(db)
        book = Log(db, Events(db), LocalBell(), self.real.clock)
        self.qa = qa_of(
            db, self.real.clock, table=self.table, memories=self.real.memories, history=self.real.history, book=book,
            search=self.real.search,
        )  # fmt: skip

    def tell(self, question: str, answer: str, *, project: str = PROJECT, **fields: Any) -> Stored:
        """Hand in a candidate."""
        prepared = self.qa.candidates.prepare(NewQa(project, question, answer, **fields))
        return self.qa.candidates.store(prepared, ME)

    def add(self, question: str, answer: str, **fields: Any) -> str:
        """Hand in a candidate that is new; its id."""
        stored = self.tell(question, answer, **fields)
        assert stored.created
        return stored.item.memory.id

    def find(self, query: str, *, project: str = PROJECT, **fields: Any) -> list[Item]:
        """Search."""
        return list(self.qa.searching.find(project, query, **fields).items)

    def hit(self, *references: Reference, project: str = PROJECT) -> Hits:
        """Report hits."""
        return self.qa.signals.hit(project, references, ME)

    def used(self, qa_id: str, message: str | None = None) -> Hits:
        """Report that it was shown and used."""
        return self.hit(Reference(qa_id, shown=True, used=True, message=message))

    def tried(self, qa_id: str, success: bool, *, strong: bool = False, strength: float = 1.0,
              project: str = PROJECT) -> Validated:  # fmt: skip
        """Report a trial."""
        told = trial(success=success, result=None, strength=strength, strong=strong)
        return self.qa.signals.validate(project, Report(qa_id, told), ME)

    def memory(self, qa_id: str) -> Memory:
        """The item as it is stored."""
        return self.real.memories.get(Id(qa_id), KINDS)

    def item(self, qa_id: str) -> Item:
        """The item as it stands."""
        return self.qa.reviewing.look(qa_id, None).item


class Door(Asked):
    """The same through the door."""

    def __init__(self, db: Database, tenant: str, **parts: Any) -> None:
        super().__init__(db, **parts)
        _spoken.qa, _spoken.receipts, _spoken.tenant = self.qa, self.real.receipts, tenant
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
def qa_door(db: Database, tenant: str, **parts: Any) -> Iterator[Door]:
    """The door on this store, closed again."""
    made = Door(db, tenant, **parts)
    try:
        yield made
    finally:
        made.real.traces.close()
