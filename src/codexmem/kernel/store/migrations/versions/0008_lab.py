"""The lab: batches, runs, journals, evidence, products, presets, feedback; and indexes of the traces of runs.

Why: experiments are asked for, executed, judged and learned from. Old rows: nothing of this was there before.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import security

revision = "0008"
down_revision = "0007"

TABLES = (
    "batches", "runs", "run_steps", "run_evidence", "products", "presets", "preset_products", "feedback",
    "feedback_products",
)  # fmt: skip
_OF_A_RUN = sa.text("substr(subject, 1, 4) = 'run:'")


def upgrade() -> None:
    """Create the tables and the indexes."""
    _batches()
    _runs()
    _run_parts()
    _catalogue()
    _feedback()
    _traces()
    if op.get_bind().dialect.name == "postgresql":
        for table in TABLES:
            security.fence(table)


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=null)


def _big(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=null)


def _int(name: str, default: str | None = None) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, server_default=sa.text(default) if default else None)


def _float(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Float, nullable=null)


def _of(parent: str, column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant", column], [f"{parent}.tenant", f"{parent}.id"], ondelete="CASCADE")


def _batches() -> None:
    op.create_table(
        "batches", _text("tenant"), _text("id"), _text("status"), _big("created_ms"), _big("started_ms", null=True),
        _big("ended_ms", null=True), _text("user_request"), _text("searched"), _int("n_runs"), _int("recipes_per_run"),
        _float("temperature"), sa.Column("dry_run", sa.Boolean, nullable=False), _text("config_snapshot"),
        _text("error", null=True), _text("cancel_id", null=True), _text("cancel_reason", null=True),
        _int("completed_runs", "0"), _int("failed_runs", "0"), _int("canceled_runs", "0"), _int("schema_version"),
        _text("extra"), sa.PrimaryKeyConstraint("tenant", "id"),
    )  # fmt: skip
    op.create_index("batches_recent", "batches", ["tenant", "created_ms", "id"])
    op.create_index("batches_status", "batches", ["tenant", "status", "created_ms", "id"])


def _runs() -> None:
    op.create_table(
        "runs", _text("tenant"), _text("id"), _text("batch_id"), _int("run_index"), _text("status"),
        _big("created_ms"), _big("started_ms", null=True), _big("ended_ms", null=True), _text("error", null=True),
        _text("output", null=True), _text("final_event_id", null=True), _text("cancel_id", null=True),
        _text("cancel_reason", null=True), _big("job_id", null=True), _text("holder", null=True), _int("steps", "0"),
        _big("traced_ms"), _int("schema_version"), _text("extra"), sa.PrimaryKeyConstraint("tenant", "id"),
        _of("batches", "batch_id"), sa.UniqueConstraint("tenant", "batch_id", "run_index", name="runs_place"),
    )  # fmt: skip
    op.create_index("runs_recent", "runs", ["tenant", "created_ms", "id"])
    op.create_index("runs_status", "runs", ["tenant", "status", "created_ms", "id"])


def _run_parts() -> None:
    op.create_table(
        "run_steps", _text("tenant"), _text("run_id"), _int("number"), _text("key"), _text("result"), _big("at_ms"),
        sa.PrimaryKeyConstraint("tenant", "run_id", "number"), _of("runs", "run_id"),
        sa.UniqueConstraint("tenant", "run_id", "key", name="run_steps_key"),
    )  # fmt: skip
    op.create_table(
        "run_evidence", _text("tenant"), _text("run_id"), _int("number"), _text("ref"), _big("chunk_seq", null=True),
        _text("source"), _text("content"), _text("kb_namespace"), _text("chunk_id"), _big("created_ms"),
        sa.PrimaryKeyConstraint("tenant", "run_id", "number"), _of("runs", "run_id"),
        sa.UniqueConstraint("tenant", "run_id", "ref", name="run_evidence_ref"),
    )  # fmt: skip


def _catalogue() -> None:
    op.create_table(
        "products", _text("tenant"), _text("id"), _text("name"), _text("folded"), _text("status"), _big("created_ms"),
        _big("updated_ms"), _int("schema_version"), _text("extra"), sa.PrimaryKeyConstraint("tenant", "id"),
    )  # fmt: skip
    active = sa.text("status = 'active'")
    op.create_index(
        "products_name", "products", ["tenant", "folded"], unique=True, sqlite_where=active, postgresql_where=active
    )
    op.create_table(
        "presets", _text("tenant"), _text("id"), _text("name"), _text("status"), _big("created_ms"),
        _big("updated_ms"), _int("schema_version"), _text("extra"), sa.PrimaryKeyConstraint("tenant", "id"),
    )  # fmt: skip
    for table in ("products", "presets"):
        op.create_index(f"{table}_recent", table, ["tenant", "created_ms", "id"])
        op.create_index(f"{table}_status", table, ["tenant", "status", "created_ms", "id"])
    op.create_table(
        "preset_products", _text("tenant"), _text("preset_id"), _int("place"), _text("product_id"),
        sa.PrimaryKeyConstraint("tenant", "preset_id", "place"), _of("presets", "preset_id"),
        _of("products", "product_id"),
        sa.UniqueConstraint("tenant", "preset_id", "product_id", name="preset_products_once"),
    )  # fmt: skip


def _feedback() -> None:
    op.create_table(
        "feedback", _text("tenant"), _text("id"), _text("run_id"), _float("score", null=True), _text("pros"),
        _text("cons"), _text("other"), _big("created_ms"), _big("updated_ms"), _int("schema_version"), _text("extra"),
        sa.PrimaryKeyConstraint("tenant", "id"), _of("runs", "run_id"),
        sa.UniqueConstraint("tenant", "run_id", name="feedback_run"),
    )  # fmt: skip
    op.create_table(
        "feedback_products", _text("tenant"), _text("id"), _text("feedback_id"), _int("place"), _text("product_id"),
        _float("value"), _float("fraction"), sa.PrimaryKeyConstraint("tenant", "id"), _of("feedback", "feedback_id"),
        _of("products", "product_id"),
        sa.UniqueConstraint("tenant", "feedback_id", "product_id", name="feedback_products_once"),
    )  # fmt: skip


def _traces() -> None:
    for name, columns in (
        ("time", ["tenant", "subject", "at_ms", "seq"]),
        ("type", ["tenant", "subject", "type", "at_ms", "seq"]),
        ("id", ["tenant", "subject", "id"]),
    ):
        op.create_index(
            f"events_run_{name}", "events", columns, sqlite_where=_OF_A_RUN, postgresql_where=_OF_A_RUN
        )  # fmt: skip
