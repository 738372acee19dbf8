"""What every table is made of: one metadata, JSON as text, the leading tenant, numbered keys and partial indexes."""

import json
from typing import Any, TypedDict

from sqlalchemy import (
    BigInteger,
    Column,
    FetchedValue,
    ForeignKeyConstraint,
    MetaData,
    Text,
    TextClause,
    TypeDecorator,
    text,
)

metadata = MetaData()


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encoded(value: Any) -> str | None:
    """JSON text as it stands in the tables: compact, and readable for people who look into them in Chinese."""
    return None if value is None else _encode(value)


class Json(TypeDecorator[Any]):
    """JSON kept as text: the same bytes on both engines, and no engine reorders or rounds it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: object) -> str | None:
        """What `encoded` makes of it."""
        return encoded(value)

    def process_result_value(self, value: str | None, dialect: object) -> Any:
        """What was bound."""
        return None if value is None else json.loads(value)


def tenant() -> Column[str]:
    """The first part of every key."""
    return Column("tenant", Text, primary_key=True)


def numbered(name: str) -> Column[int]:
    """A key that counts."""
    # PostgreSQL draws it from a sequence; on SQLite the writer counts and passes it.
    return Column(name, BigInteger, primary_key=True, autoincrement=False, server_default=FetchedValue())


class PartialIndex(TypedDict):
    """What an index is told to hold only some rows."""

    sqlite_where: TextClause
    postgresql_where: TextClause


def where(condition: str) -> PartialIndex:
    """For a partial index: only rows that the condition holds for."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


def of_memory(*columns: str) -> ForeignKeyConstraint:
    """A row that belongs to a memory."""
    # Erasing a memory must leave nothing behind, so every derived row goes with it.
    return ForeignKeyConstraint(["tenant", *columns], ["memories.tenant", "memories.seq"], ondelete="CASCADE")
