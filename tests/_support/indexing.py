"""Memories written and erased as the services do it, with their indexes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from codexmem.domain.attrs import NoteAttrs
from codexmem.domain.history import Op, Version
from codexmem.domain.ids import mint
from codexmem.domain.memory import Draft, Kind, Memory, Origin, State
from codexmem.embed.model import Embedder
from codexmem.search.indexer import Caught, Indexer
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.history import Versions
from codexmem.store.keeping import KeptVectors
from codexmem.store.memories import Memories
from codexmem.store.postgres.text import PostgresTextIndex
from codexmem.store.sqlite.text import SqliteTextIndex
from codexmem.store.texts import KeptTextIndex
from tests._support.clock import StepClock
from tests._support.toy_embedder import ToyEmbedder


@dataclass
class Indexed:
    """A store whose indexes are looked after."""

    db: Database
    vectors: KeptVectors
    embedder: Embedder | None = field(default_factory=ToyEmbedder)
    reminded: list[str] = field(default_factory=list)
    remind: Callable[[str], None] | None = None
    clock: StepClock = field(default_factory=StepClock)

    def __post_init__(self) -> None:
        self.table, self.versions, self.backlog = Memories(self.db), Versions(self.db), CatchingUp(self.db)
        self.text: KeptTextIndex = (
            SqliteTextIndex(self.db) if self.db.engine.name == "sqlite" else PostgresTextIndex(self.db)
        )

    @property
    def indexer(self) -> Indexer:
        return Indexer(self.db, self.text, self.vectors, self.backlog, self.versions, self.embedder, self.clock,
                       remind=self._remind)  # fmt: skip

    def remember(self, content: str, **state: Any) -> Memory:
        draft = Draft(Kind.NOTE, State(content=content, attrs=NoteAttrs(), **state), Origin.AGENT)
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
        self.versions.add(Version(memory.seq, memory.version, op, memory.state, "test", memory.updated_ms))
        self.indexer.put(memory)
