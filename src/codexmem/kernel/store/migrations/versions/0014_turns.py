"""An index of waiting jobs by tenant within each priority.

Why: workers take jobs of one tenant after the other, so a backlog of one must not be read past to reach the next.
Old rows: indexed while writers go on. An index that an interrupted try left behind is replaced. A file has one tenant,
and no such index.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_READY = sa.text("status = 'queued' AND ready")


def upgrade() -> None:
    """Build it, in a transaction of its own."""
    if op.get_bind().dialect.name != "postgresql":
        return
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS jobs_turn")
        op.create_index(
            "jobs_turn", "jobs", ["priority", "tenant", "run_at_ms", "id"],
            postgresql_where=_READY, postgresql_concurrently=True,
        )  # fmt: skip
