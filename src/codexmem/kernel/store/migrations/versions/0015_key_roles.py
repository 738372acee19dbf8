"""What a key may do, until when, and when it was last used.

Why: a key that reads is not one that erases, and one that nobody uses any more should end.
Old rows: may do everything, as before, for ever; when they were last used is not known.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("api_keys", sa.Column("role", sa.Text, nullable=False, server_default="admin"))
    op.add_column("api_keys", sa.Column("expires_ms", sa.BigInteger))
    op.add_column("api_keys", sa.Column("used_ms", sa.BigInteger))
