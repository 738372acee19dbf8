"""The recall endpoints on an opened store, called without a server; the store is filled as extraction would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from codexmem.app import worker_api
from codexmem.kernel.model.attrs import Attrs, ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.services.status import ServerStatus
from codexmem.kernel.store.counts import Figures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall.lookup import Lookup
from codexmem.recall.overview import Overview
from codexmem.recall.saving import Saving
from codexmem.recall.timeline import TimelineReader
from tests._support import services
from tests._support.one_app import app_on
from tests.surfaces._kit import asgi
from tests.surfaces._kit.asgi import Answer

ME = WriteContext("test", source="session:1")
NOON = 1_771_430_400_000  # 18 February 2026, 16:00 UTC; tests count in minutes from here
MINUTE = 60_000


@dataclass(frozen=True)
class RecallServices:
    """What the recall endpoints need."""

    memories: Memories
    lookup: Lookup
    timeline: TimelineReader
    saving: Saving
    receipts: Receipts
    overview: Overview
    status: ServerStatus


class Endpoint:
    """Short words for writing and asking."""

    def __init__(self, db: Database, tenant: str, **parts: Any) -> None:
        self.real = services.build(db, **parts)
        memories, search = self.real.memories, self.real.search
        self.services = RecallServices(
            memories,
            Lookup(memories, Labels(db), search),
            TimelineReader(memories, search),
            Saving(db, MemoryTable(db), memories),
            self.real.receipts,
            Overview(db, Labels(db), Figures(db), Sessions(db), waiting_kinds=("capture.extract",),
                     followers=lambda: 0, path="/somewhere"),
            ServerStatus(version="test", clock=SystemClock()),
        )  # fmt: skip
        self.app = app_on(worker_api.SURFACE, self.services, tenant)

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
        draft = MemoryDraft(
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
def recall_endpoint(db: Database, tenant: str, **parts: Any) -> Iterator[Endpoint]:
    """The endpoint on this store, closed again."""
    made = Endpoint(db, tenant, **parts)
    try:
        yield made
    finally:
        made.real.traces.close()
