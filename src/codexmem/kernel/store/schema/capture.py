"""What hooks report before it becomes memories: sessions, captured events and running sums."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text, UniqueConstraint, false

from codexmem.kernel.store.schema.columns import Json, metadata, numbered, tenant, where

sessions = Table(
    "sessions",
    metadata,
    tenant(),
    numbered("id"),
    Column("key", Text, nullable=False),  # the agent's own name for the conversation
    Column("project", Text, nullable=False),
    Column("platform", Text, nullable=False),
    Column("cwd", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("turn", Integer, nullable=False),  # prompts so far
    Column("private", Boolean, nullable=False),  # whether the current turn is
    Column("gathering", BigInteger),  # the waiting job that further events of this session may join
    Column("gathered", Integer, nullable=False),  # how many events it has
    Column("started_ms", BigInteger, nullable=False),
    Column("last_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Column("rules_only", Boolean, nullable=False, server_default=false()),  # no author may be told of it
    Column("owner", Text),  # the member whose session it is
    Column("visibility", Text),  # of the session and of what is made of it; null for that of the project
    # Two sessions for one conversation.
    UniqueConstraint("tenant", "key", name="sessions_key"),
    # Listing sessions, of a project or by status, that reads others.
    Index("sessions_recent", "tenant", "last_ms", "id"),
    Index("sessions_project", "tenant", "project", "last_ms", "id"),
    Index("sessions_active", "tenant", "last_ms", "id", **where("status = 'active'")),
    # Asking whether a project has a session that only rules may read, which reads others.
    Index("sessions_rules_only", "tenant", "project", **where("rules_only")),
)

captured_events = Table(
    "captured_events",
    metadata,
    tenant(),
    numbered("seq"),
    Column("session", BigInteger, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),  # what makes a repetition the same event, for ever
    Column("delivery", Text),  # the sender's own id of it
    Column("tool", Text, nullable=False),
    Column("body", Json),  # redacted; null once it is past its time or forgotten
    Column("job", BigInteger),  # what extracts it; null where nothing does
    Column("at_ms", BigInteger, nullable=False),  # when it happened
    Column("created_ms", BigInteger, nullable=False),  # when it was captured
    # The same event twice, and the same delivery twice, which may have reached another turn.
    UniqueConstraint("tenant", "key", name="captured_events_key"),
    Index("captured_events_delivery", "tenant", "delivery", unique=True, **where("delivery IS NOT NULL")),
    # Extraction, and a session's page, that read other sessions' events.
    Index("captured_events_job", "tenant", "job", "seq", **where("job IS NOT NULL")),
    Index("captured_events_session", "tenant", "session", "seq"),
    # Retention that reads what has already faded.
    Index("captured_events_age", "tenant", "created_ms", **where("body IS NOT NULL")),
)

# Running sums by name: outcomes of model calls, tokens spent on a day.
tallies = Table(
    "tallies",
    metadata,
    tenant(),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)
