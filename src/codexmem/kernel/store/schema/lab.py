"""The lab: batches and their runs, journals, evidence, products, presets and feedback."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from codexmem.kernel.store.schema.columns import Json, metadata, tenant, where


def _of(parent: str, column: str) -> ForeignKeyConstraint:
    """A row that belongs to another and goes with it."""
    return ForeignKeyConstraint(["tenant", column], [f"{parent}.tenant", f"{parent}.id"], ondelete="CASCADE")


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=text("0"))


batches = Table(
    "batches",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("ended_ms", BigInteger),
    Column("user_request", Text, nullable=False),
    Column("searched", Text, nullable=False),  # its beginning, case-folded, for `q`
    Column("n_runs", Integer, nullable=False),
    Column("recipes_per_run", Integer, nullable=False),
    Column("temperature", Float, nullable=False),
    Column("dry_run", Boolean, nullable=False),
    Column("config_snapshot", Json, nullable=False),
    Column("error", Text),
    Column("cancel_id", Text),
    Column("cancel_reason", Text),
    # How many of its runs ended in which way: the last one to end knows that it is.
    _count("completed_runs"),
    _count("failed_runs"),
    _count("canceled_runs"),
    Column("schema_version", Integer, nullable=False),
    Column("extra", Json, nullable=False),
    # Listing batches, all or of a status, that reads others.
    Index("batches_recent", "tenant", "created_ms", "id"),
    Index("batches_status", "tenant", "status", "created_ms", "id"),
)

runs = Table(
    "runs",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("batch_id", Text, nullable=False),
    Column("run_index", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("ended_ms", BigInteger),
    Column("error", Text),
    Column("output", Json),
    Column("final_event_id", Text),
    Column("cancel_id", Text),
    Column("cancel_reason", Text),
    Column("job_id", BigInteger),
    Column("holder", Text),  # the attempt that may write its journal; another attempt is fenced off
    _count("steps"),  # in the journal
    Column("traced_ms", BigInteger, nullable=False),  # time of its newest event: a trace never goes back in time
    Column("schema_version", Integer, nullable=False),
    Column("extra", Json, nullable=False),
    _of("batches", "batch_id"),
    # Two runs at one place of a batch; and listing a batch's runs in order.
    UniqueConstraint("tenant", "batch_id", "run_index", name="runs_place"),
    # Listing runs, all or of a status, that reads others.
    Index("runs_recent", "tenant", "created_ms", "id"),
    Index("runs_status", "tenant", "status", "created_ms", "id"),
)

# What a run has done: each step once, with its result, so that another worker can go on from there.
run_steps = Table(
    "run_steps",
    metadata,
    tenant(),
    Column("run_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("result", Json, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    _of("runs", "run_id"),
    # The same step twice.
    UniqueConstraint("tenant", "run_id", "key", name="run_steps_key"),
)

run_evidence = Table(
    "run_evidence",
    metadata,
    tenant(),
    Column("run_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # alias C<number>
    Column("ref", Text, nullable=False),
    Column("chunk_seq", BigInteger),  # the memory it was, as long as the knowledge base has it
    Column("source", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("kb_namespace", Text, nullable=False),
    Column("chunk_id", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    _of("runs", "run_id"),
    # Two aliases for one piece.
    UniqueConstraint("tenant", "run_id", "ref", name="run_evidence_ref"),
)

products = Table(
    "products",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("folded", Text, nullable=False),  # the name, case-folded
    Column("status", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("extra", Json, nullable=False),
    # Two active products of one name.
    Index("products_name", "tenant", "folded", unique=True, **where("status = 'active'")),
    Index("products_recent", "tenant", "created_ms", "id"),
    Index("products_status", "tenant", "status", "created_ms", "id"),
)

presets = Table(
    "presets",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("extra", Json, nullable=False),
    Index("presets_recent", "tenant", "created_ms", "id"),
    Index("presets_status", "tenant", "status", "created_ms", "id"),
)

preset_products = Table(
    "preset_products",
    metadata,
    tenant(),
    Column("preset_id", Text, primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("product_id", Text, nullable=False),
    _of("presets", "preset_id"),
    _of("products", "product_id"),
    # One product twice in a preset.
    UniqueConstraint("tenant", "preset_id", "product_id", name="preset_products_once"),
)

feedback = Table(
    "feedback",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("score", Float),
    Column("pros", Text, nullable=False),
    Column("cons", Text, nullable=False),
    Column("other", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("extra", Json, nullable=False),
    _of("runs", "run_id"),
    # Two judgements of one run.
    UniqueConstraint("tenant", "run_id", name="feedback_run"),
)

feedback_products = Table(
    "feedback_products",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("feedback_id", Text, nullable=False),
    Column("place", Integer, nullable=False),
    Column("product_id", Text, nullable=False),
    Column("value", Float, nullable=False),
    Column("fraction", Float, nullable=False),
    _of("feedback", "feedback_id"),
    _of("products", "product_id"),
    # One product twice in a judgement.
    UniqueConstraint("tenant", "feedback_id", "product_id", name="feedback_products_once"),
)
