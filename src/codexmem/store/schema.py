"""The tables, as both engines have them.

Tenant leads every key, so that a row can be found, fenced and moved by tenant alone. Facets, URIs and links are lookup
tables derived from a memory's state; the state itself stands in `memories` (now) and `memory_versions` (then).
Migrations create what is declared here, and a test compares the two.
"""

import json
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    FetchedValue,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

from codexmem.store.vector_type import Embedding

metadata = MetaData()


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encoded(value: Any) -> str | None:
    """JSON text as it stands in the tables: compact, and readable for people who look into them in Chinese."""
    return None if value is None else _encode(value)


class Json(TypeDecorator[Any]):
    """JSON kept as text: the same bytes on both engines, and no engine reorders or rounds it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: object) -> str | None:
        """What `encoded` makes of it."""
        return encoded(value)

    def process_result_value(self, value: str | None, dialect: object) -> Any:
        """What was bound."""
        return None if value is None else json.loads(value)


def _tenant() -> Column[str]:
    return Column("tenant", Text, primary_key=True)


def _numbered(name: str) -> Column[int]:
    # PostgreSQL draws it from a sequence; on SQLite the writer counts and passes it.
    return Column(name, BigInteger, primary_key=True, autoincrement=False, server_default=FetchedValue())


def _where(condition: str) -> dict[str, Any]:
    # A partial index: only rows that the condition holds for.
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


def _of_memory(*columns: str) -> ForeignKeyConstraint:
    # Erasing a memory must leave nothing behind, so every derived row goes with it.
    return ForeignKeyConstraint(["tenant", *columns], ["memories.tenant", "memories.seq"], ondelete="CASCADE")


memories = Table(
    "memories",
    metadata,
    _tenant(),
    _numbered("seq"),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("session", Text),
    Column("status", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("origin", Text, nullable=False),
    Column("source", Text),
    Column("attrs", Json, nullable=False),
    Column("uris", Json),  # null where there are none, which is almost everywhere
    Column("links", Json),
    Column("version", Integer, nullable=False),
    Column("indexed_version", Integer, nullable=False, server_default=text("0")),
    Column("shown", Integer, nullable=False, server_default=text("0")),
    Column("used", Integer, nullable=False, server_default=text("0")),
    Column("valid", Integer, nullable=False, server_default=text("0")),
    Column("invalid", Integer, nullable=False, server_default=text("0")),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    # Two memories must not answer to one id.
    Index("memories_id", "tenant", "id", unique=True),
    # Listing a project, or everything of one status, reads its page and nothing else.
    Index("memories_project", "tenant", "kind", "project", "created_ms", "seq"),
    Index("memories_status", "tenant", "kind", "status", "created_ms", "seq"),
    # A session's page, and undo or forget by session or source, touch only what they change.
    Index("memories_session", "tenant", "session", "created_ms", "seq", **_where("session IS NOT NULL")),
    Index("memories_source", "tenant", "source", "seq", **_where("source IS NOT NULL")),
)

memory_versions = Table(
    "memory_versions",
    metadata,
    _tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("version", Integer, primary_key=True),  # two writers of one version: the second fails here
    Column("op", Text, nullable=False),
    Column("state", Json, nullable=False),
    Column("delta_id", Text),
    Column("actor", Text, nullable=False),
    Column("source", Text),
    Column("note", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    _of_memory("seq"),
    # Rolling back a delta, or undoing a source, reads the versions it wrote and no others.
    Index("memory_versions_delta", "tenant", "delta_id", "seq", "version", **_where("delta_id IS NOT NULL")),
    Index("memory_versions_source", "tenant", "source", "seq", "version", **_where("source IS NOT NULL")),
)

memory_uris = Table(
    "memory_uris",
    metadata,
    _tenant(),
    Column("uri", Text, primary_key=True),  # one address, one memory
    Column("seq", BigInteger, nullable=False),
    _of_memory("seq"),
    Index("memory_uris_seq", "tenant", "seq"),
)

memory_facets = Table(
    "memory_facets",
    metadata,
    _tenant(),
    Column("facet", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    Column("created_ms", BigInteger, primary_key=True),  # the memory's, so that a filtered page is read in order
    Column("seq", BigInteger, primary_key=True),
    Column("project", Text, nullable=False),  # the memory's, so that a rare label of a project is found at once
    _of_memory("seq"),
    Index("memory_facets_seq", "tenant", "seq"),
    Index("memory_facets_project", "tenant", "facet", "value", "project", "created_ms", "seq"),
)

memory_links = Table(
    "memory_links",
    metadata,
    _tenant(),
    Column("from_seq", BigInteger, primary_key=True),
    Column("to_seq", BigInteger, primary_key=True),
    Column("relation", Text, primary_key=True),
    _of_memory("from_seq"),
    _of_memory("to_seq"),
    Index("memory_links_to", "tenant", "to_seq"),  # what points here
)

# The words of each memory, now and then; `store/texts.py` says what they are for. On SQLite they are found through the
# FTS5 tables `present_words` and `past_words`, which cannot be declared here.
memory_texts = Table(
    "memory_texts",
    metadata,
    _tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("from_ms", BigInteger, nullable=False),  # the state held from here
    Column("to_ms", BigInteger),  # to here; null while it holds
    Column("length", Integer, nullable=False),  # tokens
    Column("words", LargeBinary().with_variant(TSVECTOR(), "postgresql"), nullable=False),
    _of_memory("seq"),
    # A memory that says two things at once.
    Index("memory_texts_present", "tenant", "seq", unique=True, **_where("to_ms IS NULL")),
)

# PostgreSQL only, as is the next: how many present texts have a word. FTS5 knows by itself.
memory_terms = Table(
    "memory_terms",
    metadata,
    _tenant(),
    Column("term", Text, primary_key=True),
    Column("texts", Integer, nullable=False),
)

# Texts that came (+1) or went (-1) and are not yet folded into `memory_terms`: writers add rows here instead of waiting
# for each other's common words.
text_changes = Table(
    "text_changes",
    metadata,
    _tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("sign", Integer, primary_key=True),
)

# How many present texts there are and how long they are together. SQLite counts as it writes.
text_counts = Table(
    "text_counts",
    metadata,
    _tenant(),
    Column("texts", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
)

deltas = Table(
    "deltas",
    metadata,
    _tenant(),
    Column("id", Text, primary_key=True),
    Column("subject", Text, nullable=False),
    Column("cause", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reverts", Text),
    Column("created_ms", BigInteger, nullable=False),
    Index("deltas_subject", "tenant", "subject", "created_ms", "id"),
)

jobs = Table(
    "jobs",
    metadata,
    _tenant(),
    _numbered("id"),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("payload", Json, nullable=False),
    Column("result", Json),
    Column("subject", Text),
    Column("lane", Text),
    Column("ready", Boolean, nullable=False),  # nothing before it in its lane
    Column("dedupe_key", Text),
    Column("priority", Integer, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("max_attempts", Integer, nullable=False),
    Column("run_at_ms", BigInteger, nullable=False),
    Column("lease_until_ms", BigInteger),
    Column("worker", Text),
    Column("cancel_requested", Boolean, nullable=False, server_default=text("false")),
    Column("error", Text),
    Column("error_class", Text),
    Column("created_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("ended_ms", BigInteger),
    # The same work enqueued twice while it waits or runs.
    Index(
        "jobs_dedupe",
        "tenant",
        "dedupe_key",
        unique=True,
        **_where("dedupe_key IS NOT NULL AND status IN ('queued', 'running')"),
    ),
    # Two jobs of one lane running at once.
    Index("jobs_lane_running", "tenant", "lane", unique=True, **_where("status = 'running'")),
    # Looking for the next of a lane by reading the lane's past.
    Index("jobs_lane_queued", "tenant", "lane", "id", **_where("status = 'queued'")),
    # A claim that reads past jobs which cannot run. Priority is negated by the statement's order, not here.
    Index("jobs_claim", text("priority DESC"), "run_at_ms", "id", **_where("status = 'queued' AND ready")),
    # A search for vanished workers that reads more than what is running.
    Index("jobs_leases", "lease_until_ms", **_where("status = 'running'")),
    # Listing failures, or one subject's jobs, newest first.
    Index("jobs_status", "tenant", "status", "id"),
    Index("jobs_subject", "tenant", "subject", "id", **_where("subject IS NOT NULL")),
)

events = Table(
    "events",
    metadata,
    _tenant(),
    _numbered("seq"),
    Column("position", BigInteger, nullable=False, server_default=FetchedValue()),  # commit order; see store/events.py
    Column("id", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("payload", Json),
    # A live reader that misses or repeats an event.
    Index("events_position", "tenant", "position", "seq"),
    # A trace (one subject), a report (one type) or retention that reads other events.
    Index("events_subject", "tenant", "subject", "seq"),
    Index("events_type", "tenant", "type", "at_ms", "seq"),
)

receipts = Table(
    "receipts",
    metadata,
    _tenant(),
    Column("route", Text, primary_key=True),
    Column("key", Text, primary_key=True),  # the same request twice: the second finds the first one's answer
    Column("body_hash", Text, nullable=False),
    Column("answer", Json, nullable=False),
    Column("subject", Text),  # what the answer speaks of, so that forgetting it forgets the answer
    Column("created_ms", BigInteger, nullable=False),
    Index("receipts_age", "tenant", "created_ms"),
    Index("receipts_subject", "tenant", "subject"),
)

api_keys = Table(
    "api_keys",
    metadata,
    _tenant(),
    Column("id", Text, primary_key=True),
    Column("hash", Text, nullable=False),  # SHA-256 of a 256-bit secret: nothing to guess, nothing to leak
    Column("label", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("revoked_ms", BigInteger),
    # One secret, one tenant. The only unique index without tenant: the key is what tells the tenant.
    Index("api_keys_hash", "hash", unique=True),
)

# SQLite only: PostgreSQL has sequences. Numbers are never given twice, also after an erasure.
counters = Table(
    "counters",
    metadata,
    _tenant(),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

# Tables whose rows are numbered, and the column that holds the number.
NUMBERED = {"memories": "seq", "jobs": "id", "events": "seq"}

memory_vectors = Table(
    "memory_vectors",
    metadata,
    _tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("model", Text, primary_key=True),  # vectors of different models mean nothing to each other
    Column("part", Integer, primary_key=True),
    Column("version", Integer, nullable=False),  # of the memory that was read
    Column("project", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("code", LargeBinary),  # one bit per number, for a first pass over many; SQLite only
    Column("embedding", Embedding, nullable=False),
    _of_memory("seq"),
    # A comparison that reads vectors of other projects, and a first pass that reads vectors at all.
    Index("memory_vectors_scope", "tenant", "model", "project", "kind", "seq", "part", "code"),
)

# A search for memories without vectors that reads those which have them.
Index("memories_waiting", memories.c.tenant, memories.c.seq, **_where("indexed_version < version"))

vector_targets = Table(
    "vector_targets",
    metadata,
    _tenant(),
    Column("index_name", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("dimension", Integer),
    Column("position", BigInteger, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("redo", Boolean, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

vector_debts = Table(
    "vector_debts",
    metadata,
    _tenant(),
    Column("seq", BigInteger, primary_key=True),  # of an erased memory that an index outside the store may still have
)
