"""Words of memories, now and then, and how common each word is.

Why: search by words. Old rows: their memories have no words until the index has caught up with them; former states
from before this step are not searched unless they are put there.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

from codexmem.kernel.store.postgres import security

revision = "0002"
down_revision = "0001"

TABLES = ("memory_texts", "memory_terms", "text_changes", "text_counts")
# Only what was cut above is a token: everything but a space belongs to one, and nothing is folded.
_TOKENIZER = "ascii tokenchars '_.-+#='"


def upgrade() -> None:
    """Create the tables, then what each engine finds words with."""
    _tables()
    if op.get_bind().dialect.name == "postgresql":
        _postgres()
    else:
        _sqlite()


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _big(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=null)


def _int(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def _tables() -> None:
    words = sa.Column("words", sa.LargeBinary().with_variant(TSVECTOR(), "postgresql"), nullable=False)
    op.create_table(
        "memory_texts", _text("tenant"), _big("seq"), _int("version"), _text("kind"), _text("status"),
        _int("priority"), _big("created_ms"), _big("from_ms"), _big("to_ms", null=True), _int("length"), words,
        sa.PrimaryKeyConstraint("tenant", "seq", "version"),
        sa.ForeignKeyConstraint(["tenant", "seq"], ["memories.tenant", "memories.seq"], ondelete="CASCADE"),
    )  # fmt: skip
    present = sa.text("to_ms IS NULL")
    op.create_index(
        "memory_texts_present", "memory_texts", ["tenant", "seq"], unique=True,
        sqlite_where=present, postgresql_where=present,
    )  # fmt: skip
    op.create_table(
        "memory_terms", _text("tenant"), _text("term"), _int("texts"), sa.PrimaryKeyConstraint("tenant", "term")
    )
    op.create_table(
        "text_changes", _text("tenant"), _big("seq"), _int("version"), _int("sign"),
        sa.PrimaryKeyConstraint("tenant", "seq", "version", "sign"),
    )  # fmt: skip
    op.create_table("text_counts", _text("tenant"), _big("texts"), _big("tokens"), sa.PrimaryKeyConstraint("tenant"))


def _postgres() -> None:
    # The past apart from the present: a search of today's words must not read yesterday's. Few entries may wait to be
    # sorted in, because every search reads those that do.
    for name, condition in (("words", "to_ms IS NULL"), ("past_words", "to_ms IS NOT NULL")):
        op.execute(
            f"CREATE INDEX memory_texts_{name} ON memory_texts USING gin (words)"
            f" WITH (gin_pending_list_limit = 128) WHERE {condition}"
        )
    security.create_roles()
    for table in TABLES:
        security.fence(table)
        security.open_to_search(table)
    security.create_functions()


def _sqlite() -> None:
    for table in ("present_words", "past_words"):
        op.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(head, body, scope, content='', tokenize=\"{_TOKENIZER}\")")
        # What is taken out leaves no word behind in the index's pages.
        op.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', 1)")  # noqa: S608  our own names
    op.execute("CREATE VIRTUAL TABLE present_vocab USING fts5vocab(present_words, row)")
