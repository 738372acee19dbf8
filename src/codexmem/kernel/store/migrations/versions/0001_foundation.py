"""Memories with versions, deltas, facets, URIs and links; jobs; events; receipts; keys.

Why: the first schema. Old rows: none.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import security

revision = "0001"
down_revision = None

_PARTIAL = {
    "session": "session IS NOT NULL",
    "source": "source IS NOT NULL",
    "delta": "delta_id IS NOT NULL",
    "subject": "subject IS NOT NULL",
    "waiting": "dedupe_key IS NOT NULL AND status IN ('queued', 'running')",
    "running": "status = 'running'",
    "queued": "status = 'queued'",
    "claimable": "status = 'queued' AND ready",
}
TABLES = (
    "memories",
    "memory_versions",
    "memory_uris",
    "memory_facets",
    "memory_links",
    "deltas",
    "jobs",
    "events",
    "receipts",
    "api_keys",
    "counters",
)


def upgrade() -> None:
    """Create everything, then fence it on PostgreSQL."""
    _memories()
    _history()
    _lookups()
    _jobs()
    _events()
    _access()
    if op.get_bind().dialect.name == "postgresql":
        security.create_roles()
        security.show_schema_version()
        security.number_column("memories", "seq")
        security.number_column("jobs", "id")
        security.number_column("events", "seq")
        # The transaction's number: transactions below the horizon are all decided.
        op.execute("ALTER TABLE events ALTER COLUMN position SET DEFAULT (pg_current_xact_id()::text::bigint)")
        for table in TABLES:
            security.fence(table)
        security.open_to_dispatch("jobs", "SELECT, UPDATE")
        security.open_to_dispatch("api_keys", "SELECT")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=null)


def _big(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=null)


def _int(name: str, default: str | None = None) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, server_default=sa.text(default) if default else None)


def _index(
    name: str, table: str, columns: list[str | sa.TextClause], *, where: str | None = None, unique: bool = False
) -> None:
    condition = sa.text(_PARTIAL[where]) if where else None
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _of_memory(column: str = "seq") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant", column], ["memories.tenant", "memories.seq"], ondelete="CASCADE")


def _memories() -> None:
    op.create_table(
        "memories", _text("tenant"), _big("seq"), _text("id"), _text("kind"), _text("project"),
        _text("session", null=True), _text("status"), _text("type"), _text("title"), _text("content"), _int("priority"),
        sa.Column("confidence", sa.Float, nullable=False), _text("origin"), _text("source", null=True), _text("attrs"),
        _text("uris", null=True), _text("links", null=True), _int("version"), _int("indexed_version", "0"),
        _int("shown", "0"), _int("used", "0"), _int("valid", "0"), _int("invalid", "0"),
        _big("created_ms"), _big("updated_ms"), sa.PrimaryKeyConstraint("tenant", "seq"),
    )  # fmt: skip
    _index("memories_id", "memories", ["tenant", "id"], unique=True)
    _index("memories_project", "memories", ["tenant", "kind", "project", "created_ms", "seq"])
    _index("memories_status", "memories", ["tenant", "kind", "status", "created_ms", "seq"])
    _index("memories_session", "memories", ["tenant", "session", "created_ms", "seq"], where="session")
    _index("memories_source", "memories", ["tenant", "source", "seq"], where="source")


def _history() -> None:
    op.create_table(
        "memory_versions", _text("tenant"), _big("seq"), _int("version"), _text("op"), _text("state"),
        _text("delta_id", null=True), _text("actor"), _text("source", null=True), _text("note"), _big("created_ms"),
        sa.PrimaryKeyConstraint("tenant", "seq", "version"), _of_memory(),
    )  # fmt: skip
    _index("memory_versions_delta", "memory_versions", ["tenant", "delta_id", "seq", "version"], where="delta")
    _index("memory_versions_source", "memory_versions", ["tenant", "source", "seq", "version"], where="source")
    op.create_table(
        "deltas", _text("tenant"), _text("id"), _text("subject"), _text("cause"), _text("actor"), _text("status"),
        _text("reverts", null=True), _big("created_ms"), sa.PrimaryKeyConstraint("tenant", "id"),
    )  # fmt: skip
    _index("deltas_subject", "deltas", ["tenant", "subject", "created_ms", "id"])


def _lookups() -> None:
    op.create_table(
        "memory_uris",
        _text("tenant"),
        _text("uri"),
        _big("seq"),
        sa.PrimaryKeyConstraint("tenant", "uri"),
        _of_memory(),
    )
    _index("memory_uris_seq", "memory_uris", ["tenant", "seq"])
    op.create_table(
        "memory_facets", _text("tenant"), _text("facet"), _text("value"), _big("created_ms"), _big("seq"),
        _text("project"), sa.PrimaryKeyConstraint("tenant", "facet", "value", "created_ms", "seq"), _of_memory(),
    )  # fmt: skip
    _index("memory_facets_seq", "memory_facets", ["tenant", "seq"])
    _index("memory_facets_project", "memory_facets", ["tenant", "facet", "value", "project", "created_ms", "seq"])
    op.create_table(
        "memory_links", _text("tenant"), _big("from_seq"), _big("to_seq"), _text("relation"),
        sa.PrimaryKeyConstraint("tenant", "from_seq", "to_seq", "relation"),
        _of_memory("from_seq"), _of_memory("to_seq"),
    )  # fmt: skip
    _index("memory_links_to", "memory_links", ["tenant", "to_seq"])


def _jobs() -> None:
    op.create_table(
        "jobs", _text("tenant"), _big("id"), _text("kind"), _text("status"), _text("payload"),
        _text("result", null=True), _text("subject", null=True), _text("lane", null=True),
        sa.Column("ready", sa.Boolean, nullable=False), _text("dedupe_key", null=True), _int("priority"),
        _int("attempts", "0"), _int("max_attempts"),
        _big("run_at_ms"), _big("lease_until_ms", null=True), _text("worker", null=True),
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.text("false")),
        _text("error", null=True), _text("error_class", null=True), _big("created_ms"), _big("started_ms", null=True),
        _big("ended_ms", null=True), sa.PrimaryKeyConstraint("tenant", "id"),
    )  # fmt: skip
    _index("jobs_dedupe", "jobs", ["tenant", "dedupe_key"], where="waiting", unique=True)
    _index("jobs_lane_running", "jobs", ["tenant", "lane"], where="running", unique=True)
    _index("jobs_lane_queued", "jobs", ["tenant", "lane", "id"], where="queued")
    _index("jobs_claim", "jobs", [sa.text("priority DESC"), "run_at_ms", "id"], where="claimable")
    _index("jobs_leases", "jobs", ["lease_until_ms"], where="running")
    _index("jobs_status", "jobs", ["tenant", "status", "id"])
    _index("jobs_subject", "jobs", ["tenant", "subject", "id"], where="subject")


def _events() -> None:
    op.create_table(
        "events", _text("tenant"), _big("seq"),
        sa.Column("position", sa.BigInteger, nullable=False, server_default=sa.text("0")), _text("id"),
        _big("at_ms"), _text("type"),
        _text("subject"), _text("project"), _text("payload", null=True), sa.PrimaryKeyConstraint("tenant", "seq"),
    )  # fmt: skip
    _index("events_position", "events", ["tenant", "position", "seq"])
    _index("events_subject", "events", ["tenant", "subject", "seq"])
    _index("events_type", "events", ["tenant", "type", "at_ms", "seq"])


def _access() -> None:
    op.create_table(
        "receipts", _text("tenant"), _text("route"), _text("key"), _text("body_hash"), _text("answer"),
        _text("subject", null=True), _big("created_ms"), sa.PrimaryKeyConstraint("tenant", "route", "key"),
    )  # fmt: skip
    _index("receipts_age", "receipts", ["tenant", "created_ms"])
    _index("receipts_subject", "receipts", ["tenant", "subject"])
    op.create_table(
        "api_keys", _text("tenant"), _text("id"), _text("hash"), _text("label"), _big("created_ms"),
        _big("revoked_ms", null=True), sa.PrimaryKeyConstraint("tenant", "id"),
    )  # fmt: skip
    _index("api_keys_hash", "api_keys", ["hash"], unique=True)
    op.create_table(
        "counters", _text("tenant"), _text("name"), _big("value"), sa.PrimaryKeyConstraint("tenant", "name")
    )
