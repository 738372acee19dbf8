"""What keeps the store at work: deltas, jobs, events, receipts, keys and counters."""

from sqlalchemy import BigInteger, Boolean, Column, FetchedValue, Index, Integer, Table, Text, text

from codexmem.kernel.store.schema.columns import Json, metadata, numbered, tenant, where

# Statements must say it in these words to use the indexes below.
OF_A_RUN = "substr(subject, 1, 4) = 'run:'"
LEARNINGS = "kind = 'lab.learn'"

deltas = Table(
    "deltas",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("subject", Text, nullable=False),
    Column("cause", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reverts", Text),
    Column("created_ms", BigInteger, nullable=False),
    Index("deltas_subject", "tenant", "subject", "created_ms", "id"),
    # Listing what was learned from all runs that reads deltas of everything else.
    Index("deltas_run", "tenant", "created_ms", "id", **where(OF_A_RUN)),
)

jobs = Table(
    "jobs",
    metadata,
    tenant(),
    numbered("id"),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("payload", Json, nullable=False),
    Column("result", Json),
    Column("subject", Text),
    Column("lane", Text),
    Column("ready", Boolean, nullable=False),  # nothing before it in its lane
    Column("dedupe_key", Text),
    Column("priority", Integer, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("max_attempts", Integer, nullable=False),
    Column("run_at_ms", BigInteger, nullable=False),
    Column("lease_until_ms", BigInteger),
    Column("worker", Text),
    Column("cancel_requested", Boolean, nullable=False, server_default=text("false")),
    Column("error", Text),
    Column("error_class", Text),
    Column("created_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("ended_ms", BigInteger),
    # The same work enqueued twice while it waits or runs.
    Index(
        "jobs_dedupe",
        "tenant",
        "dedupe_key",
        unique=True,
        **where("dedupe_key IS NOT NULL AND status IN ('queued', 'running')"),
    ),
    # Two jobs of one lane running at once.
    Index("jobs_lane_running", "tenant", "lane", unique=True, **where("status = 'running'")),
    # Looking for the next of a lane by reading the lane's past.
    Index("jobs_lane_queued", "tenant", "lane", "id", **where("status = 'queued'")),
    # A claim that reads past jobs which cannot run. Priority is negated by the statement's order, not here.
    Index("jobs_claim", text("priority DESC"), "run_at_ms", "id", **where("status = 'queued' AND ready")),
    # A turn between tenants that reads past one tenant's backlog to find the next; a file has one tenant.
    Index("jobs_turn", "priority", "tenant", "run_at_ms", "id", **where("status = 'queued' AND ready")).ddl_if(
        dialect="postgresql"
    ),
    # A search for vanished workers that reads more than what is running.
    Index("jobs_leases", "lease_until_ms", **where("status = 'running'")),
    # Listing failures, or one subject's jobs, newest first.
    Index("jobs_status", "tenant", "status", "id"),
    Index("jobs_subject", "tenant", "subject", "id", **where("subject IS NOT NULL")),
    # Listing learnings, all or of a status, that reads jobs of other kinds.
    Index("jobs_learn", "tenant", "id", **where(LEARNINGS)),
    Index("jobs_learn_status", "tenant", "status", "id", **where(LEARNINGS)),
)

events = Table(
    "events",
    metadata,
    tenant(),
    numbered("seq"),
    Column(
        "position", BigInteger, nullable=False, server_default=FetchedValue()
    ),  # commit order; see kernel/store/events.py
    Column("id", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("payload", Json),
    Column("took_us", BigInteger),  # how long it took, where that means something
    Column("outline", Json),  # of a run's event: what a list shows of it without its payload
    Column("owner", Text),  # the member to whom it is private; null for that of the project
    # A live reader that misses or repeats an event.
    Index("events_position", "tenant", "position", "seq"),
    # A trace (one subject), a report (one type) or retention that reads other events.
    Index("events_subject", "tenant", "subject", "seq"),
    Index("events_type", "tenant", "type", "at_ms", "seq", "took_us"),
    # A page of a run's trace, of one type or since a time, or one event of it, that reads the rest of the trace.
    Index("events_run_time", "tenant", "subject", "at_ms", "seq", **where(OF_A_RUN)),
    Index("events_run_type", "tenant", "subject", "type", "at_ms", "seq", **where(OF_A_RUN)),
    Index("events_run_id", "tenant", "subject", "id", **where(OF_A_RUN)),
)

receipts = Table(
    "receipts",
    metadata,
    tenant(),
    Column("route", Text, primary_key=True),
    Column("key", Text, primary_key=True),  # the same request twice: the second finds the first one's answer
    Column("body_hash", Text, nullable=False),
    Column("answer", Json, nullable=False),
    Column("subject", Text),  # what the answer speaks of, so that forgetting it forgets the answer
    Column("created_ms", BigInteger, nullable=False),
    Index("receipts_age", "tenant", "created_ms"),
    Index("receipts_subject", "tenant", "subject"),
)

api_keys = Table(
    "api_keys",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("hash", Text, nullable=False),  # SHA-256 of a 256-bit secret: nothing to guess, nothing to leak
    Column("label", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("revoked_ms", BigInteger),
    Column("role", Text, nullable=False, server_default="admin"),
    Column("expires_ms", BigInteger),
    Column("used_ms", BigInteger),  # about when it was last used: written once in some minutes
    Column("member", Text),  # whose it is; null where it acts for the whole tenant
    Column("visibility", Text),  # of what is written with it; null: as its member chose
    # One secret, one tenant. The only unique index without tenant: the key is what tells the tenant.
    Index("api_keys_hash", "hash", unique=True),
)

# SQLite only: PostgreSQL has sequences. Numbers are never given twice, also after an erasure.
counters = Table(
    "counters",
    metadata,
    tenant(),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)
