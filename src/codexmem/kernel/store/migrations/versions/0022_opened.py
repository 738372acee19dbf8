"""When a session first opened a memory that it was told.

Why: what a session used is shown while it runs, and a count for the memory alone cannot say by whom.
Old rows: it is not known whether they were opened.
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add the column."""
    op.add_column("memory_tellings", sa.Column("opened_ms", sa.BigInteger))
