"""Whose a memory, a session or an event is, and who may see it inside its project.

Why: in a project everybody saw what everybody's agents captured. What is private is now hidden by the database from all
but its owner, and what is everyone's is seen by members of other projects too.
Old rows: belong to nobody and are seen by whoever may read their project, as before.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import member_policies as policies
from codexmem.kernel.store.postgres import pgvector, security
from codexmem.kernel.store.postgres.roles import APP_ROLE

revision = "0020"
down_revision = "0019"
OLDEST_PROGRAM = "0019"  # older programs see and write nothing private

_OF_MEMORY = ("memory_versions", "memory_uris", "memory_tellings", "memory_texts", "text_changes", "qa_beliefs",
              "qa_signals")  # fmt: skip


def upgrade() -> None:
    """Add the table and the columns, and on PostgreSQL the policies."""
    op.create_table(
        "memory_visibility",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq"),
        sa.ForeignKeyConstraint(["tenant", "seq"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
    )
    owned = sa.text("owner IS NOT NULL")
    op.create_index(
        "memory_visibility_owner", "memory_visibility", ["tenant", "owner", "seq"],
        sqlite_where=owned, postgresql_where=owned,
    )  # fmt: skip
    for table in ("memories", "sessions"):
        op.add_column(table, sa.Column("visibility", sa.Text))
        op.add_column(table, sa.Column("owner", sa.Text))
    op.add_column("events", sa.Column("owner", sa.Text))
    for table in ("members", "api_keys"):
        op.add_column(table, sa.Column("visibility", sa.Text))
    if op.get_bind().dialect.name == "postgresql":
        _postgres()


def _postgres() -> None:
    security.fence("memory_visibility")
    security.open_to_search("memory_visibility")
    security.apply(policies.opened(
        "memory_visibility", policies.EVERYTHING, policies.EVERYTHING, "SELECT, INSERT, UPDATE, DELETE"
    ))  # fmt: skip
    security.create_functions()
    for table in ("memories", "memory_facets"):
        security.apply(policies.by_project_or_everyone(table))
        security.apply(policies.hidden(table, "seq"))
    for table in _OF_MEMORY:
        security.apply(policies.hidden(table, "seq"))
    security.apply(policies.hidden("memory_links", "from_seq", "to_seq"))
    security.apply(policies.hidden("memory_findings", "seq", "other"))
    if op.get_bind().execute(sa.text("SELECT to_regclass('memory_vectors')")).scalar() is not None:
        security.apply(pgvector.visible())
    own_session = f"visibility IS DISTINCT FROM 'mine' OR owner = (SELECT {policies.VIEWER})"
    security.apply(policies.private("sessions", own_session))
    # A session that is not seen hides what was captured of it.
    security.apply(policies.private(
        "captured_events",
        "EXISTS (SELECT FROM sessions s WHERE s.tenant = captured_events.tenant AND s.id = captured_events.session)",
    ))  # fmt: skip
    security.apply(policies.private("events"))
    # Receipts hold answers; those of members begin with whose they are.
    security.apply(policies.private(
        "receipts", f"NOT starts_with(key, 'mbr_') OR starts_with(key, (SELECT {policies.VIEWER}) || ':')",
        roles=APP_ROLE,  # members see their own alone in any case
    ))  # fmt: skip
