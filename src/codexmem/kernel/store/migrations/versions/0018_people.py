"""Members, groups and grants; keys that belong to a member; and what a member may see of each table.

Why: inside a tenant every key saw every project. Members' transactions run under a role of their own, which sees the
projects that they were granted; a table without a policy for it does not exist for members.
Old rows: keys of no member act for the whole tenant, as before, under the role that they had.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import member_policies as policies
from codexmem.kernel.store.postgres import security
from codexmem.kernel.store.postgres.roles import MEMBER_ROLE

revision = "0018"
down_revision = "0016"

_KEPT = (
    "memory.erased", "delta.rolled_back", "workspace.erased", "knowledge.restored", "store.backed_up",
    "store.restored", "key.created", "key.revoked", "member.changed", "grant.changed",
)  # fmt: skip
_NUMBERED = (
    ("memories", "seq"), ("jobs", "id"), ("events", "seq"), ("sessions", "id"), ("captured_events", "seq"),
)  # fmt: skip
# Of a job members see how it stands, not what it is about in detail.
_JOB_COLUMNS = (
    "tenant", "id", "kind", "status", "subject", "lane", "ready", "dedupe_key", "priority", "attempts", "max_attempts",
    "run_at_ms", "lease_until_ms", "worker", "cancel_requested", "error_class", "created_ms", "started_ms", "ended_ms",
)  # fmt: skip


def upgrade() -> None:
    """Add the tables and the column, and open to members what they need."""
    op.create_table(
        "members", _text("tenant"), _text("id"), _text("name"), _text("kind"), _big("created_ms"),
        sa.Column("disabled_ms", sa.BigInteger), sa.PrimaryKeyConstraint("tenant", "id"),
    )  # fmt: skip
    op.create_index("members_name", "members", ["tenant", "name"], unique=True)
    op.create_table(
        "groups", _text("tenant"), _text("name"), _big("created_ms"), sa.PrimaryKeyConstraint("tenant", "name")
    )
    op.create_table(
        "group_members", _text("tenant"), _text("group_name"), _text("member"),
        sa.PrimaryKeyConstraint("tenant", "group_name", "member"),
        sa.ForeignKeyConstraint(["tenant", "group_name"], ["groups.tenant", "groups.name"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["tenant", "member"], ["members.tenant", "members.id"], ondelete="CASCADE"),
    )  # fmt: skip
    op.create_index("group_members_member", "group_members", ["tenant", "member"])
    op.create_table(
        "grants", _text("tenant"), _text("holder"), sa.Column("every", sa.Boolean, nullable=False), _text("project"),
        _text("role"), _big("created_ms"), sa.PrimaryKeyConstraint("tenant", "holder", "every", "project"),
    )  # fmt: skip
    op.add_column("api_keys", sa.Column("member", sa.Text))
    if op.get_bind().dialect.name == "postgresql":
        _postgres()


def _postgres() -> None:
    security.create_roles()
    for table in ("members", "groups", "group_members", "grants"):
        security.fence(table)
    security.keep("events", "type", _KEPT)
    security.apply(policies.projects_to_search())
    security.create_functions()
    for table, column in _NUMBERED:
        security.apply(policies.numbered(table, column))
    for table in ("memories", "memory_facets", "sessions"):
        security.apply(policies.by_project(table))
    for table in ("memory_versions", "memory_uris", "memory_texts", "text_changes", "qa_beliefs", "qa_signals"):
        security.apply(policies.by_memory(table, "seq"))
    security.apply(policies.by_memory("memory_links", "from_seq", "to_seq"))
    security.apply(policies.by_memory("memory_findings", "seq", "other"))
    security.apply(policies.by_memory("memory_tellings", "seq", told=True))
    if op.get_bind().execute(sa.text("SELECT to_regclass('memory_vectors')")).scalar() is not None:
        security.apply(policies.by_project("memory_vectors"))
    _less_direct()


def _less_direct() -> None:
    captured = (
        "EXISTS (SELECT FROM sessions s WHERE s.tenant = captured_events.tenant AND s.id = captured_events.session"
    )
    written = "EXISTS (SELECT FROM memory_versions v WHERE v.tenant = deltas.tenant AND v.delta_id = deltas.id)"
    own = "starts_with(key, current_setting('codexmem.member') || ':')"
    everything = policies.EVERYTHING
    opened = {
        "captured_events": (
            f"{captured})",
            f"{captured} AND {policies.among('writes', 's.project')})",
            "SELECT, INSERT, UPDATE",
        ),
        # Who appends to the log need not be able to read it. What belongs to no project (searches of everybody, the
        # audit) is for those who see the whole tenant.
        "events": (f"{policies.among('reads')} AND project <> ''", everything, "SELECT, INSERT"),
        "deltas": (written, everything, "SELECT, INSERT"),
        "receipts": (own, own, "SELECT, INSERT, UPDATE"),
        "tallies": (everything, everything, "SELECT, INSERT, UPDATE"),
        **dict.fromkeys(("memory_terms", "text_counts", "vector_targets"), (everything, everything, "SELECT")),
        "jobs": (everything, everything, "SELECT, INSERT, UPDATE"),
    }
    for table, (reads, writes, rights) in opened.items():
        security.apply(policies.opened(table, reads, writes, rights))
    op.execute(f"REVOKE SELECT, UPDATE ON jobs FROM {MEMBER_ROLE}")
    op.execute(f"GRANT SELECT ({', '.join(_JOB_COLUMNS)}), UPDATE (run_at_ms) ON jobs TO {MEMBER_ROLE}")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)
