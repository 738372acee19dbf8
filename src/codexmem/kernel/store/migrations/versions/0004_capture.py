"""Sessions, captured events, running sums, and how long an event took.

Why: hooks report what agents do; extraction reads it later, and trends show how long it takes. Old rows: nothing was
captured before; old events do not say how long they took.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import security

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables and widen the log."""
    op.add_column("events", sa.Column("took_us", sa.BigInteger))
    op.drop_index("events_type", "events")
    op.create_index("events_type", "events", ["tenant", "type", "at_ms", "seq", "took_us"])
    _sessions()
    _captured_events()
    op.create_table(
        "tallies",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "name"),
    )
    if op.get_bind().dialect.name == "postgresql":
        security.number_column("sessions", "id")
        security.number_column("captured_events", "seq")
        for table in ("sessions", "captured_events", "tallies"):
            security.fence(table)


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("platform", sa.Text, nullable=False),
        sa.Column("cwd", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("private", sa.Boolean, nullable=False),
        sa.Column("gathering", sa.BigInteger),
        sa.Column("gathered", sa.Integer, nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("last_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger),
        sa.PrimaryKeyConstraint("tenant", "id"),
        sa.UniqueConstraint("tenant", "key", name="sessions_key"),
    )
    active = sa.text("status = 'active'")
    op.create_index("sessions_recent", "sessions", ["tenant", "last_ms", "id"])
    op.create_index("sessions_project", "sessions", ["tenant", "project", "last_ms", "id"])
    op.create_index(
        "sessions_active", "sessions", ["tenant", "last_ms", "id"], sqlite_where=active, postgresql_where=active
    )


def _captured_events() -> None:
    op.create_table(
        "captured_events",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("session", sa.BigInteger, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("delivery", sa.Text),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("body", sa.Text),
        sa.Column("job", sa.BigInteger),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq"),
        sa.UniqueConstraint("tenant", "key", name="captured_events_key"),
    )
    has_job, has_body = sa.text("job IS NOT NULL"), sa.text("body IS NOT NULL")
    op.create_index(
        "captured_events_job", "captured_events", ["tenant", "job", "seq"],
        sqlite_where=has_job, postgresql_where=has_job,
    )  # fmt: skip
    delivered = sa.text("delivery IS NOT NULL")
    op.create_index(
        "captured_events_delivery", "captured_events", ["tenant", "delivery"], unique=True,
        sqlite_where=delivered, postgresql_where=delivered,
    )  # fmt: skip
    op.create_index("captured_events_session", "captured_events", ["tenant", "session", "seq"])
    op.create_index(
        "captured_events_age", "captured_events", ["tenant", "created_ms"],
        sqlite_where=has_body, postgresql_where=has_body,
    )  # fmt: skip
