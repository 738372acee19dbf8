"""The recall doors on an opened store, called without a server; what is in the store is written as extraction would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from starlette.types import ASGIApp

from codexmem.domain.attrs import Attrs, ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.domain.history import By
from codexmem.domain.ids import SystemClock
from codexmem.domain.memory import Draft, Kind, Memory, Origin, State
from codexmem.services.lookup import Lookup
from codexmem.services.memories import Memories
from codexmem.services.overview import Overview
from codexmem.services.receipts import Receipts
from codexmem.services.saving import Saving
from codexmem.services.status import Status
from codexmem.services.timeline import Timeline
from codexmem.store.database import Database, acting_as
from codexmem.store.figures import Figures
from codexmem.store.labels import Labels
from codexmem.store.memories import Memories as Table
from codexmem.store.sessions import Sessions
from codexmem.surfaces import worker_api
from codexmem.surfaces._kit.assemble import build_asgi
from codexmem.surfaces._kit.guard import GuardSettings
from tests._support import services
from tests.surfaces._kit import asgi
from tests.surfaces._kit.asgi import Answer

ME = By("test", source="session:1")
NOON = 1_771_430_400_000  # 18 February 2026, 16:00 UTC; tests count in minutes from here
MINUTE = 60_000


@dataclass(frozen=True)
class RecallServices:
    """What the recall doors need."""

    memories: Memories
    lookup: Lookup
    timeline: Timeline
    saving: Saving
    receipts: Receipts
    overview: Overview
    status: Status


class Door:
    """Short words for writing and asking."""

    def __init__(self, db: Database, tenant: str, **parts: Any) -> None:
        self.real = services.build(db, **parts)
        memories, search = self.real.memories, self.real.search
        self.services = RecallServices(
            memories,
            Lookup(memories, Labels(db), search),
            Timeline(memories, search),
            Saving(db, Table(db), memories),
            self.real.receipts,
            Overview(db, Labels(db), Figures(db), Sessions(db), waiting_kinds=("capture.extract",),
                     followers=lambda: 0, path="/somewhere"),
            Status(version="test", clock=SystemClock()),
        )  # fmt: skip
        guard = GuardSettings(None, lambda _: acting_as(tenant))
        self.app: ASGIApp = build_asgi((worker_api.SURFACE,), cast(Any, self.services), guard, version="test")

    def observe(self, title: str, narrative: str = "", *, minute: int = 0, project: str = "demo", type: str = "change",
                session: str = "s1", **attrs: Any) -> Memory:  # fmt: skip
        """An observation, as extraction writes it."""
        return self._write(Kind.OBSERVATION, narrative, ObservationAttrs(**attrs), minute, project, session,
                           type=type, title=title)  # fmt: skip

    def summarize(self, request: str, *, minute: int = 0, project: str = "demo", session: str = "s1",
                  **attrs: Any) -> Memory:  # fmt: skip
        """A summary, as extraction writes it."""
        told = SummaryAttrs(request=request, **attrs)
        return self._write(Kind.SUMMARY, told.text(), told, minute, project, session, title=request)

    def ask(self, prompt: str, *, minute: int = 0, project: str = "demo", session: str = "s1", number: int = 1,
            private: bool = False) -> Memory:  # fmt: skip
        """A prompt, as capture writes it."""
        told = PromptAttrs(prompt_number=number, private=private)
        return self._write(Kind.PROMPT, prompt, told, minute, project, session)

    def _write(self, kind: Kind, content: str, attrs: Attrs, minute: int, project: str, session: str,
               **state: Any) -> Memory:  # fmt: skip
        draft = Draft(
            kind, State(content, attrs, project=project, **state), Origin.MODEL, session=session,
            created_ms=NOON + minute * MINUTE,
        )  # fmt: skip
        return self.real.memories.remember(draft, ME)

    def get(self, path: str, **query: Any) -> Answer:
        """One GET."""
        return asgi.call(self.app, "GET", path, query=urlencode(query, doseq=True).encode())

    def post(self, path: str, body: Any) -> Answer:
        """One POST."""
        return asgi.post(self.app, path, body)

    def text(self, path: str, **query: Any) -> str:
        """The text of an answer that has one."""
        reply = self.get(path, **query)
        assert reply.status == 200, reply.body
        (content,) = reply.json["content"]
        assert content["type"] == "text"
        told: str = content["text"]
        return told

    def rows(self, path: str, **query: Any) -> Any:
        """The rows of an answer."""
        reply = self.get(path, format="json", **query)
        assert reply.status == 200, reply.body
        return reply.json


@contextmanager
def recall_door(db: Database, tenant: str, **parts: Any) -> Iterator[Door]:
    """The door on this store, closed again."""
    made = Door(db, tenant, **parts)
    try:
        yield made
    finally:
        made.real.traces.close()
