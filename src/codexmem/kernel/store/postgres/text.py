"""The text index on PostgreSQL: a tsvector of each state's words, GIN, and BM25 computed by a function in the server.

A lexeme's positions only tell how often its word counts. How common a word is stands in `memory_terms`; writers do not
touch it but leave a note in `text_changes`, so that they never wait for each other's common words, and `fold` adds the
notes up. Only `fold` and erasing change the statistics, each under the tenant's lock and waiting for nothing else.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.project_scope import present_scope
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store import bm25, texts
from codexmem.kernel.store.bm25 import Bag
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.index import IndexedTokens, IndexHit, PastHit, Required
from codexmem.kernel.store.postgres.routines import FIND_TEXTS
from codexmem.kernel.store.schema import memory_texts, text_changes

_POSITIONS = [",".join(map(str, range(1, count + 1))) for count in range(256)]

_PUT = """
    WITH former AS (
        UPDATE memory_texts SET to_ms = %(from_ms)s
        WHERE tenant = %(tenant)s AND seq = %(seq)s AND to_ms IS NULL AND version < %(version)s RETURNING version
    ), added AS (
        INSERT INTO memory_texts (
            tenant, seq, version, kind, status, priority, created_ms, from_ms, length, words
        )
        SELECT %(tenant)s, %(seq)s, %(version)s, %(kind)s, %(status)s, %(priority)s, %(created_ms)s, %(from_ms)s,
               %(length)s, %(words)s::tsvector
        FROM (SELECT count(*) FROM former) ended
        ON CONFLICT DO NOTHING RETURNING version
    ), noted AS (
        INSERT INTO text_changes (tenant, seq, version, sign)
        SELECT %(tenant)s, %(seq)s, version, -1 FROM former
        UNION ALL SELECT %(tenant)s, %(seq)s, version, 1 FROM added
    )
    SELECT count(*) FROM added
"""
_PUT_PAST = """
    INSERT INTO memory_texts (tenant, seq, version, kind, status, priority, created_ms, from_ms, to_ms, length, words)
    VALUES (%(tenant)s, %(seq)s, %(version)s, %(kind)s, %(status)s, %(priority)s, %(created_ms)s, %(from_ms)s,
            %(to_ms)s, %(length)s, %(words)s::tsvector)
    ON CONFLICT DO NOTHING
"""
_FIND = f"""
    SELECT seq, version, score, whole FROM {FIND_TEXTS}(
        %(terms)s::text[], %(each)s::text[], %(scope)s, %(kinds)s::text[], %(statuses)s::text[],
        %(created_from_ms)s::bigint, %(created_to_ms)s::bigint, %(priority_min)s::integer, %(priority_max)s::integer,
        %(as_of_ms)s::bigint, %(limit)s::integer, %(all)s::boolean)
"""  # noqa: S608  our own text
_COMMONNESS = "SELECT term, texts FROM memory_terms WHERE tenant = %(tenant)s AND term = ANY (%(terms)s)"
_TEXTS = "SELECT texts FROM text_counts WHERE tenant = %(tenant)s"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('texts/' || %(tenant)s, 0))"
# Adds up what `read` says: texts that count (+1) or no longer do (-1). Terms in order, and those that nobody has left
# come back to be removed.
_ADD_UP = """
    changed AS (
        SELECT lexeme, sum(read.sign)::integer AS texts FROM read, unnest(read.words)
        WHERE NOT starts_with(lexeme, '#') GROUP BY lexeme HAVING sum(read.sign) <> 0
    ), kept AS (
        INSERT INTO memory_terms AS m (tenant, term, texts)
        SELECT %(tenant)s, lexeme, texts FROM changed ORDER BY lexeme
        ON CONFLICT (tenant, term) DO UPDATE SET texts = m.texts + excluded.texts RETURNING term, texts
    ), counted AS (
        INSERT INTO text_counts AS c (tenant, texts, tokens)
        SELECT %(tenant)s, sum(sign), sum(sign * length) FROM read HAVING count(*) > 0
        ON CONFLICT (tenant) DO UPDATE SET texts = c.texts + excluded.texts, tokens = c.tokens + excluded.tokens
    )
"""
_FOLD = f"""
    WITH taken AS (
        DELETE FROM text_changes WHERE tenant = %(tenant)s AND (seq, version, sign) IN (
            SELECT seq, version, sign FROM text_changes WHERE tenant = %(tenant)s
            ORDER BY seq, version, sign DESC LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
        RETURNING seq, version, sign
    ), read AS MATERIALIZED (
        SELECT taken.sign, t.words, t.length FROM taken
        JOIN memory_texts t ON t.tenant = %(tenant)s AND t.seq = taken.seq AND t.version = taken.version
    ), {_ADD_UP}
    SELECT (SELECT count(*) FROM taken), ARRAY(SELECT term FROM kept WHERE texts = 0)
"""  # noqa: S608  our own text
# A text is in the statistics if it is present and not noted as new, or past and still noted as gone.
_TAKE_AWAY = f"""
    WITH asked AS (
        SELECT * FROM unnest(%(seqs)s::bigint[], %(versions)s::integer[]) AS asked (seq, version)
    ), read AS MATERIALIZED (
        SELECT -counts AS sign, words, length FROM (
            SELECT t.words, t.length, (t.to_ms IS NULL)::integer - coalesce((
                SELECT sum(x.sign) FROM text_changes x
                WHERE x.tenant = %(tenant)s AND x.seq = t.seq AND x.version = t.version), 0)::integer AS counts
            FROM asked JOIN memory_texts t
              ON t.tenant = %(tenant)s AND t.seq = asked.seq AND (asked.version IS NULL OR t.version = asked.version)
        ) standing WHERE counts <> 0
    ), {_ADD_UP}
    SELECT ARRAY(SELECT term FROM kept WHERE texts = 0)
"""  # noqa: S608  our own text
_UNUSED = "DELETE FROM memory_terms WHERE tenant = %(tenant)s AND term = ANY (%(unused)s) AND texts = 0"


class PostgresTextIndex:
    """Words in tsvectors."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, memory: Memory, words: IndexedTokens) -> None:
        """Index the memory's present state in place of the former one, which moves to the past."""
        with self._db.transaction() as tx:
            row = _row(tx, memory, words, None)
            if not _run(tx, _PUT, **row).scalar():
                # This version is there already: its words are being made anew.
                self._remove(tx, [(memory.seq, memory.version)])
                _run(tx, _PUT, **row)

    def put_past(self, memory: Memory, words: IndexedTokens, until_ms: int) -> None:
        """Index a former state; nothing if it already is."""
        if memory.updated_ms < until_ms:
            with self._db.transaction() as tx:
                _run(tx, _PUT_PAST, **_row(tx, memory, words, until_ms))

    def drop(self, seqs: Sequence[int]) -> None:
        """Leave nothing of these behind, past included."""
        if seqs:
            with self._db.transaction() as tx:
                self._remove(tx, [(seq, None) for seq in seqs])

    def drop_past(self, versions: Sequence[tuple[int, int]]) -> None:
        """Leave nothing behind of these former versions."""
        with self._db.transaction() as tx:
            former = [row for row in versions if tx.run(_is_past, seq=row[0], version=row[1]).first() is not None]
            if former:
                self._remove(tx, former)

    def _remove(self, tx: Transaction, rows: Sequence[tuple[int, int | None]]) -> None:
        _run(tx, _LOCK)
        seqs, versions = [seq for seq, _ in rows], [version for _, version in rows]
        unused = _run(tx, _TAKE_AWAY, seqs=seqs, versions=versions).scalar()
        _run(tx, _UNUSED, unused=unused)
        for statement in (_drop_changes, _drop_texts):
            tx.run_many(statement, [{"of_seq": seq, "of_version": version} for seq, version in rows])

    def find(self, terms: Sequence[str], wanted: Filter, *, limit: int, required: Required = ()) -> list[IndexHit]:
        """The best matches of any of the terms that pass the filter, best first."""
        return [IndexHit(row.seq, row.score) for row in self._find(terms, wanted, None, limit, required)]

    def find_past(self, terms: Sequence[str], wanted: Filter, as_of_ms: int, *, limit: int,
                  required: Required = ()) -> list[PastHit]:  # fmt: skip
        """The best matches among the states that held at that time, each memory once."""
        return [
            PastHit(row.seq, row.version, row.score) for row in self._find(terms, wanted, as_of_ms, limit, required)
        ]

    def _find(self, terms: Sequence[str], wanted: Filter, as_of_ms: int | None, limit: int,
              required: Required) -> list[Any]:  # fmt: skip
        if not terms:
            return []
        with self._db.reading() as tx:
            groups = texts.narrow_scopes(tx.tenant, wanted)
            if wanted.project is None:
                scope = present_scope()
                if scope is None or scope.reads is None:
                    groups.append(texts.kind_scope(tx.tenant, wanted))
                else:  # an index finds them; what the function itself leaves out it has to look at
                    own = texts.projects_scope(tx.tenant, wanted, sorted(scope.reads))
                    groups.append([*own, *texts.everyone_scope(tx.tenant, wanted)])
            groups += map(list, required)
            asked = {
                "terms": list(terms), "each": [_quoted(term) for term in terms],
                "scope": " & ".join(f"({' | '.join(map(_quoted, group))})" for group in groups),
                "kinds": sorted(wanted.kinds), "statuses": sorted(wanted.statuses),
                "created_from_ms": wanted.created_from_ms, "created_to_ms": wanted.created_to_ms,
                "priority_min": wanted.priority_min, "priority_max": wanted.priority_max,
                "as_of_ms": as_of_ms, "limit": limit,
            }  # fmt: skip
            found: list[Any] = _run(tx, _FIND, **asked, all=False).all()
            if len(found) < limit and not (found and found[0].whole):
                found = _run(tx, _FIND, **asked, all=True).all()
            return found

    def commonness(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many texts the tenant has, and how many have each term; what waits to be folded is not counted."""
        with self._db.reading() as tx:
            having = {row.term: row.texts for row in _run(tx, _COMMONNESS, terms=list(terms))}
            return _run(tx, _TEXTS).scalar() or 0, having

    def missing(self, *, limit: int, after: int = 0) -> list[int]:
        """Numbers above `after`, ascending, of memories whose present state is not indexed."""
        with self._db.reading() as tx:
            return list(tx.run(texts.missing, limit=limit, after=after).scalars())

    def fold(self, limit: int) -> int:
        """Add up to so many notes of writers into the statistics; returns how many there were."""
        with self._db.transaction() as tx:
            _run(tx, _LOCK)
            taken, unused = _run(tx, _FOLD, limit=limit).one()
            if unused:
                _run(tx, _UNUSED, unused=unused)
            return int(taken)


_t, _x = memory_texts.c, text_changes.c
_is_past = sa.select(_t.seq).where(
    _t.tenant == ACTING, _t.seq == bindparam("seq"), _t.version == bindparam("version"), _t.to_ms.is_not(None)
)
_any_version = bindparam("of_version", type_=sa.Integer).is_(None)
_drop_changes = sa.delete(text_changes).where(
    _x.tenant == ACTING,
    _x.seq == bindparam("of_seq"),
    sa.or_(_any_version, _x.version == bindparam("of_version", type_=sa.Integer)),
)
_drop_texts = sa.delete(memory_texts).where(
    _t.tenant == ACTING,
    _t.seq == bindparam("of_seq"),
    sa.or_(_any_version, _t.version == bindparam("of_version", type_=sa.Integer)),
)


def _run(tx: Transaction, statement: str, **values: Any) -> Any:
    return tx.connection.exec_driver_sql(statement, {"tenant": tx.tenant, **values})


def _row(tx: Transaction, memory: Memory, words: IndexedTokens, to_ms: int | None) -> dict[str, object]:
    bag = bm25.counted(words, texts.scope_of(tx.tenant, memory))
    return {**texts.columns_of(memory, bag.length), "to_ms": to_ms, "words": _vector(bag)}


def _vector(bag: Bag) -> str:
    """The bag as a tsvector's literal."""
    counted = [f"{_quoted(word)}:{_POSITIONS[count]}" for word, count in bag.weighted().items()]
    return " ".join([*counted, *map(_quoted, bag.scope)])


def _quoted(token: str) -> str:
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"
