"""Indexes of what is hidden or out of use, and of sessions that only rules may read.

Why: lists by project read the few that are put away without those that are in use; an author is asked about a project
only after a look whether one of its checkouts forbids it.
Old rows: indexed while writers go on, where the engine can. An index that an interrupted try left behind is replaced.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_PUT_AWAY = sa.text("status NOT IN ('candidate', 'active', 'validated')")
_RULES_ONLY = sa.text("rules_only")


def upgrade() -> None:
    """Build both, each in a transaction of its own."""
    if op.get_bind().dialect.name != "postgresql":
        _build()
        return
    with op.get_context().autocommit_block():
        for name in ("memories_put_away", "sessions_rules_only"):
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        _build()


def _build() -> None:
    op.create_index(
        "memories_put_away", "memories", ["tenant", "project", "kind", "status", "created_ms", "seq"],
        sqlite_where=_PUT_AWAY, postgresql_where=_PUT_AWAY, postgresql_concurrently=True,
    )  # fmt: skip
    op.create_index(
        "sessions_rules_only", "sessions", ["tenant", "project"],
        sqlite_where=_RULES_ONLY, postgresql_where=_RULES_ONLY, postgresql_concurrently=True,
    )  # fmt: skip
