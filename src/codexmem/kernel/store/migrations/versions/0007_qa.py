"""What was learned about questions with answers, and the signals it was learned from.

Why: shown, used and validated signals change how far an item is believed; repeated signals must count once, and expiry
must find what is due without reading the rest. Old rows: nobody could write such an item before, and one without a row
here is believed as its author said.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import security

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "qa_beliefs",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("good", sa.Float, nullable=False),
        sa.Column("bad", sa.Float, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("spoken_ms", sa.BigInteger, nullable=False),
        sa.Column("due_ms", sa.BigInteger),
        sa.PrimaryKeyConstraint("tenant", "seq"),
        sa.ForeignKeyConstraint(["tenant", "seq"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
    )
    can_expire = sa.text("due_ms IS NOT NULL")
    op.create_index(
        "qa_beliefs_due", "qa_beliefs", ["tenant", "due_ms", "seq"],
        sqlite_where=can_expire, postgresql_where=can_expire,
    )  # fmt: skip
    op.create_table(
        "qa_signals",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("signal", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq", "signal", "message"),
        sa.ForeignKeyConstraint(["tenant", "seq"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
    )
    op.create_index("qa_signals_age", "qa_signals", ["tenant", "at_ms"])
    if op.get_bind().dialect.name == "postgresql":
        security.fence("qa_beliefs")
        security.fence("qa_signals")
