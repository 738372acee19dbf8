"""An index of notes by when they were changed last.

Why: an agent asks for the latest of them at every start, and creation order is another. Old rows: indexed as they are.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the index."""
    only = sa.text("kind = 'note'")
    op.create_index(
        "memories_changed", "memories", ["tenant", "updated_ms", "seq"], sqlite_where=only, postgresql_where=only
    )
