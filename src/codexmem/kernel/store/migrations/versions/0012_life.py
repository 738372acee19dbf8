"""Marks of memories, whom they were told, pairs that a person should look at, and sessions that only rules may read.

Why: a memory can be pinned, withheld and proposed, which is part of its state; what a session wrote after it was told
something must be found without reading every event; and duplicates and contradictions are found once and decided once.
A checkout may say that no author is told of it, which must hold
after the checkout is gone.
Old rows: no marks; nobody is known to have been told anything; no checkout has said so.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import security
from codexmem.kernel.store.schema.columns import Json

revision = "0012"
down_revision = "0011"

_OPEN = sa.text("decided IS NULL")


def upgrade() -> None:
    """Add the column and the tables."""
    op.add_column("memories", sa.Column("marks", Json, nullable=True))
    op.create_table(
        "memory_tellings",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("first_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session", "seq"),
        sa.ForeignKeyConstraint(["tenant", "seq"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
    )
    op.create_index("memory_tellings_seq", "memory_tellings", ["tenant", "seq", "first_ms"])
    op.create_index("memory_tellings_age", "memory_tellings", ["tenant", "first_ms"])
    op.create_table(
        "memory_findings",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("other", sa.BigInteger, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("score", sa.Float, nullable=False),
        sa.Column("found_ms", sa.BigInteger, nullable=False),
        sa.Column("decided", sa.Text),
        sa.Column("decided_ms", sa.BigInteger),
        sa.PrimaryKeyConstraint("tenant", "reason", "seq", "other"),
        sa.ForeignKeyConstraint(["tenant", "seq"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["tenant", "other"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
    )
    op.create_index(
        "memory_findings_open", "memory_findings", ["tenant", "project", "found_ms", "seq"],
        sqlite_where=_OPEN, postgresql_where=_OPEN,
    )  # fmt: skip
    op.create_index("memory_findings_other", "memory_findings", ["tenant", "other"])
    op.add_column("sessions", sa.Column("rules_only", sa.Boolean, nullable=False, server_default=sa.false()))
    if op.get_bind().dialect.name == "postgresql":
        security.fence("memory_tellings")
        security.fence("memory_findings")
