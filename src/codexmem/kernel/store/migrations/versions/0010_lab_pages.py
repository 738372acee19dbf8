"""What lists of the lab read: an outline of each event of a run, and indexes of all learnings and of their deltas.

Why: a list of events shows where each stands and what it is about without reading payloads of any size, and lists of
learnings over all runs must not read other jobs and deltas. Old rows: events without an outline, which stand in a list
as before.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_LEARNINGS = sa.text("kind = 'lab.learn'")
_OF_A_RUN = sa.text("substr(subject, 1, 4) = 'run:'")


def upgrade() -> None:
    """Add the column and the indexes."""
    op.add_column("events", sa.Column("outline", sa.Text, nullable=True))
    for name, columns in (("", ["tenant", "id"]), ("_status", ["tenant", "status", "id"])):
        op.create_index(
            f"jobs_learn{name}", "jobs", columns, sqlite_where=_LEARNINGS, postgresql_where=_LEARNINGS
        )  # fmt: skip
    op.create_index(
        "deltas_run", "deltas", ["tenant", "created_ms", "id"], sqlite_where=_OF_A_RUN, postgresql_where=_OF_A_RUN
    )  # fmt: skip
