"""Vectors beside the rows, what an index outside the store still has to forget, and how far a model has come.

Why: search by meaning. Old rows: every memory waits for its vectors (`indexed_version` is 0), and the catch-up job
fills them in. A PostgreSQL server without pgvector gets no vector table; the next `codexmem db upgrade` tries again.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import pgvector, security

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables and the index of what waits."""
    waits = sa.text("indexed_version < version")
    op.create_index("memories_waiting", "memories", ["tenant", "seq"], sqlite_where=waits, postgresql_where=waits)
    op.create_table(
        "vector_targets",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("index_name", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("dimension", sa.Integer),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.Column("redo", sa.Boolean, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "index_name", "model"),
    )
    op.create_table(
        "vector_debts",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq"),
    )
    if op.get_bind().dialect.name == "postgresql":
        security.fence("vector_targets")
        security.fence("vector_debts")
        pgvector.install(op.get_bind())
    else:
        _vectors()


def _vectors() -> None:
    op.create_table(
        "memory_vectors",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("code", sa.LargeBinary),
        sa.Column("embedding", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq", "model", "part"),
        sa.ForeignKeyConstraint(["tenant", "seq"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
    )
    op.create_index(
        "memory_vectors_scope", "memory_vectors", ["tenant", "model", "project", "kind", "seq", "part", "code"]
    )
