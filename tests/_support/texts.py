"""A text index beside the table of memories, without the services above: for tests and soak programs."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.search import tokens
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.index import IndexedTokens
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.texts import WritableTextIndex

ALL = Filter(frozenset(Kind))
_ENGLISH = (
    *("connection", "pool", "timeout", "retry", "backoff", "error", "server", "deploy", "database", "migration"),
    *("index", "query", "cache", "login", "token", "parser", "crash", "memory", "leak", "thread", "lock", "worker"),
    *("queue", "search", "vector", "config", "docker", "build", "pipeline", "test", "failure", "user", "session"),
)
_CHINESE = (
    "数据库连接超时重试错误服务器部署迁移索引查询缓存登录令牌解析崩溃内存泄漏线程锁队列搜索配置构建测试失败用户会话"
)
_CODE = ("fetchWithBackoff", "user_id", "src/app.py", "node.js", "ERR_CONNECTION_RESET", "E0599", "c++", "v1.2.3",
         "HTTPServer", "get_user_by_id", "0x80070005", "docker-compose.yml")  # fmt: skip


def text_index(db: Database) -> WritableTextIndex:
    """The index of this store's engine."""
    if db.engine.name == "sqlite":
        from codexmem.kernel.store.sqlite.text import SqliteTextIndex

        return SqliteTextIndex(db)
    from codexmem.kernel.store.postgres.text import PostgresTextIndex

    return PostgresTextIndex(db)


def words_of(memory: Memory) -> IndexedTokens:
    """Title as head, content as body."""
    return IndexedTokens(tuple(tokens.words(memory.state.title)), tuple(tokens.words(memory.state.content)))


def sentence(chance: random.Random, length: int) -> str:
    """Words as developers mix them: some common, most rare, English, Chinese and code."""
    parts = []
    for _ in range(length):
        draw = chance.random()
        if draw < 0.55:
            parts.append(_ENGLISH[int(len(_ENGLISH) * chance.random() ** 2)])
        elif draw < 0.8:
            start = chance.randrange(len(_CHINESE) - 4)
            parts.append(_CHINESE[start : start + chance.randint(1, 4)])
        else:
            parts.append(chance.choice(_CODE))
    return " ".join(parts)


class Texts:
    """Writes memories with their words, one transaction each, as the services do."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.index = text_index(db)
        self._table = MemoryTable(db)
        self._now = 1_000
        self._names = 0

    def add(self, content: str, title: str = "", *, kind: Kind = Kind.OBSERVATION, project: str = "p",
            session: str | None = None, concepts: tuple[str, ...] = (), priority: int = 5,
            status: Status = Status.ACTIVE, created_ms: int | None = None) -> Memory:  # fmt: skip
        """A new memory, a second later than the last write."""
        self._now += 1_000
        self._names += 1
        state = State(content, ObservationAttrs(concepts=concepts), project=project, title=title, priority=priority,
                      status=status)  # fmt: skip
        draft = MemoryDraft(kind, state, Origin.AGENT, session=session, created_ms=created_ms)
        with self.db.transaction():
            memory = self._table.insert(draft, id=f"m{self._names}", source=None, now_ms=self._now)
            self.index.put(memory, words_of(memory))
        return memory

    def change(self, memory: Memory, *, after_ms: int = 1_000, **fields: object) -> Memory:
        """The next version of it."""
        self._now += after_ms
        changed = memory.with_state(replace(memory.state, **fields), now_ms=self._now)  # type: ignore[arg-type]
        with self.db.transaction():
            assert self._table.save(memory, changed)
            self.index.put(changed, words_of(changed))
        return changed

    def erase(self, *memories: Memory) -> None:
        """Forget them."""
        seqs = [memory.seq for memory in memories]
        with self.db.transaction():
            self.index.drop(seqs)
            self._table.erase(seqs)

    def found(self, query: str, wanted: Filter = ALL, *, limit: int = 20) -> list[int]:
        """Numbers of what is found, best first."""
        return [hit.seq for hit in self.index.find(tokens.terms(query), wanted, limit=limit)]

    def found_past(self, query: str, as_of_ms: int, wanted: Filter = ALL) -> list[tuple[int, int]]:
        """Numbers and versions of what would have been found then."""
        past = self.index.find_past(tokens.terms(query), wanted, as_of_ms, limit=20)
        return [(each.seq, each.version) for each in past]

    def fold(self, limit: int = 100) -> None:
        """Until there is nothing left to fold."""
        while self.index.fold(limit):
            pass


def seqs(memories: Iterable[Memory]) -> list[int]:
    """Their numbers."""
    return [memory.seq for memory in memories]
