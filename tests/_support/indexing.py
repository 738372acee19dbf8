"""Memories written and erased as the services do it, with their indexes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.history import MemoryVersion, Op
from codexmem.kernel.model.ids import mint
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.search.indexer import Caught, Indexer
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.index_backlog import CatchingUp
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.postgres.text import PostgresTextIndex
from codexmem.kernel.store.sqlite.text import SqliteTextIndex
from codexmem.kernel.store.texts import WritableTextIndex
from codexmem.kernel.store.writable_index import WritableVectorIndex
from tests._support.clock import StepClock
from tests._support.toy_embedder import ToyEmbedder


@dataclass
class Indexed:
    """A store whose indexes are looked after."""

    db: Database
    vectors: WritableVectorIndex
    embedder: Embedder | None = field(default_factory=ToyEmbedder)
    reminded: list[str] = field(default_factory=list)
    remind: Callable[[str], None] | None = None
    clock: StepClock = field(default_factory=StepClock)

    def __post_init__(self) -> None:
        self.table, self.versions, self.backlog = MemoryTable(self.db), VersionTable(self.db), CatchingUp(self.db)
        self.text: WritableTextIndex = (
            SqliteTextIndex(self.db) if self.db.engine.name == "sqlite" else PostgresTextIndex(self.db)
        )

    @property
    def indexer(self) -> Indexer:
        return Indexer(self.db, self.text, self.vectors, self.backlog, self.versions, self.embedder, self.clock,
                       remind=self._remind)  # fmt: skip

    def remember(self, content: str, **state: Any) -> Memory:
        draft = MemoryDraft(Kind.NOTE, State(content=content, attrs=NoteAttrs(), **state), Origin.AGENT)
        with self.db.transaction():
            memory = self.table.insert(draft, id=mint(Kind.NOTE), source=None, now_ms=self.clock.now_ms())
            self._written(memory)
            return memory

    def change(self, memory: Memory, content: str) -> Memory:
        after = memory.with_state(replace(memory.state, content=content), now_ms=self.clock.now_ms())
        with self.db.transaction():
            assert self.table.save(memory, after)
            self._written(after)
            return after

    def forget(self, *memories: Memory) -> None:
        with self.db.transaction():
            self.indexer.drop([memory.seq for memory in memories])
            self.table.erase([memory.seq for memory in memories])

    def catch_up(self) -> Caught:
        return self.indexer.catch_up(lambda: None)

    def _remind(self, tenant: str) -> None:
        self.reminded.append(tenant)
        if self.remind is not None:
            self.remind(tenant)

    def _written(self, memory: Memory) -> None:
        op = Op.ADD if memory.version == 1 else Op.UPDATE
        self.versions.add(MemoryVersion(memory.seq, memory.version, op, memory.state, "test", memory.updated_ms))
        self.indexer.put(memory)
