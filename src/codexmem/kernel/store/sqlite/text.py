"""The text index on SQLite: two FTS5 tables, one of what memories say now and one of what they said.

FTS5 gets tokens that were cut above; its own tokenizer only splits at spaces, so that `c++` and `app.py` stay one. The
tables hold no text: `memory_texts` keeps the words, which FTS5 needs to take an entry back out for good. A former
state's entry is numbered by memory and version together.
"""

import functools
import itertools
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store import bm25, texts
from codexmem.kernel.store.bm25 import Bag
from codexmem.kernel.store.database import Database, Transaction
from codexmem.kernel.store.index import IndexedTokens, IndexHit, PastHit, Required
from codexmem.kernel.store.schema import memory_texts

PRESENT, PAST = "present_words", "past_words"
_VERSION_BITS = 20  # a former state's number is its memory's, shifted, and its version
_RANK = f"bm25({{}}, {bm25.HEAD_WEIGHT}.0, 1.0, 0.0)"
_PLAIN = re.compile(r"[a-z0-9_.\-+#\u0080-\U0010ffff]+")
_SPARE = 200  # texts that are ranked again beyond those asked for
_DRIFT = 20  # how common a word is, is counted anew when the store has changed by this part
_REMEMBERED = 100_000  # words

_ROW = """
    SELECT t.seq, t.version, {rank} AS score FROM {words}
    CROSS JOIN memory_texts t ON t.tenant = :tenant AND {same}
    WHERE {words} MATCH :query AND {held}
      AND (:required IS NULL OR {words}.rowid IN (SELECT rowid FROM {words} WHERE {words} MATCH :required))
      AND t.kind IN (SELECT value FROM json_each(:kinds)) AND t.status IN (SELECT value FROM json_each(:statuses))
      AND (:created_from_ms IS NULL OR t.created_ms >= :created_from_ms)
      AND (:created_to_ms IS NULL OR t.created_ms <= :created_to_ms)
      AND (:priority_min IS NULL OR t.priority >= :priority_min)
      AND (:priority_max IS NULL OR t.priority <= :priority_max)
    ORDER BY score, t.seq DESC LIMIT :limit
"""
_SAME_MEMORY = f"t.seq = {PRESENT}.rowid AND t.to_ms IS NULL"
_SAME_VERSION = f"t.seq = {PAST}.rowid >> {_VERSION_BITS} AND t.version = ({PAST}.rowid & {(1 << _VERSION_BITS) - 1})"
# CROSS JOIN: words first, whatever the planner thinks of the other conditions.
_FIND = _ROW.format(rank=_RANK.format(PRESENT), words=PRESENT, same=_SAME_MEMORY, held="true")
_FIND_STANDING = _ROW.format(
    rank=_RANK.format(PRESENT), words=PRESENT, same=_SAME_MEMORY, held="t.from_ms <= :as_of_ms"
)
_FIND_FORMER = _ROW.format(
    rank=_RANK.format(PAST), words=PAST, same=_SAME_VERSION, held="t.from_ms <= :as_of_ms AND t.to_ms > :as_of_ms"
)
_HAVING = "SELECT term, doc FROM present_vocab WHERE term IN (SELECT value FROM json_each(?))"
_COUNTS = "SELECT texts, tokens FROM text_counts WHERE tenant = ?"
_STANDING = "SELECT version, from_ms, length, words FROM memory_texts WHERE tenant = ? AND seq = ? AND to_ms IS NULL"
_ALL_OF = "SELECT version, to_ms, length, words FROM memory_texts WHERE tenant = ? AND seq = ?"
_ONE = "SELECT to_ms, length, words FROM memory_texts WHERE tenant = ? AND seq = ? AND version = ?"
_END = "UPDATE memory_texts SET to_ms = ? WHERE tenant = ? AND seq = ? AND version = ?"
_DROP = "DELETE FROM memory_texts WHERE tenant = ? AND seq = ? AND version = ?"
_COUNT = """
    INSERT INTO text_counts (tenant, texts, tokens) VALUES (?, ?, ?)
    ON CONFLICT (tenant) DO UPDATE SET texts = texts + excluded.texts, tokens = tokens + excluded.tokens
"""


class SqliteTextIndex:
    """Words in FTS5."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # Counting a common word costs as much as searching for it. Threads extend and replace this without a lock: what
        # is lost is counted again.
        self._common: dict[str, int] = {}
        self._counted_at = 0

    def put(self, memory: Memory, words: IndexedTokens) -> None:
        """Index the memory's present state in place of the former one, which moves to the past."""
        with self._db.transaction() as tx:
            bag = bm25.counted(words, texts.scope_of(tx.tenant, memory))
            standing = tx.first(_STANDING, tx.tenant, memory.seq)
            version, from_ms, length, packed = standing or (0, 0, 0, b"")
            before = _unpacked(packed) if standing else None
            if before != bag:
                if before is not None:
                    _take(tx, PRESENT, memory.seq, before)
                _give(tx, PRESENT, memory.seq, bag)
            if before is not None:
                self._end(tx, memory, version, from_ms, before)
            tx.write(_COUNT, tx.tenant, int(before is None), bag.length - length)
            tx.add(memory_texts, {**texts.columns_of(memory, bag.length), "words": _packed(bag)})

    def put_past(self, memory: Memory, words: IndexedTokens, until_ms: int) -> None:
        """Index a former state; nothing if it already is."""
        with self._db.transaction() as tx:
            if memory.updated_ms < until_ms and _run(tx, _ONE, tx.tenant, memory.seq, memory.version).first() is None:
                bag = bm25.counted(words, texts.scope_of(tx.tenant, memory))
                _give(tx, PAST, _past_id(memory.seq, memory.version), bag)
                columns = texts.columns_of(memory, bag.length)
                tx.add(memory_texts, {**columns, "to_ms": until_ms, "words": _packed(bag)})

    def _end(self, tx: Transaction, memory: Memory, version: int, from_ms: int, bag: Bag) -> None:
        # The same version again, or one that held for no time, leaves nothing to look back at.
        if version < memory.version and from_ms < memory.updated_ms:
            _give(tx, PAST, _past_id(memory.seq, version), bag)
            tx.write(_END, memory.updated_ms, tx.tenant, memory.seq, version)
        else:
            tx.write(_DROP, tx.tenant, memory.seq, version)

    def drop(self, seqs: Sequence[int]) -> None:
        """Leave nothing of these behind, past included."""
        with self._db.transaction() as tx:
            for seq in seqs:
                for row in _run(tx, _ALL_OF, tx.tenant, seq).all():
                    self._drop(tx, seq, row.version, row)

    def drop_past(self, versions: Sequence[tuple[int, int]]) -> None:
        """Leave nothing behind of these former versions."""
        with self._db.transaction() as tx:
            for seq, version in versions:
                row = _run(tx, _ONE, tx.tenant, seq, version).first()
                if row is not None and row.to_ms is not None:
                    self._drop(tx, seq, version, row)

    def _drop(self, tx: Transaction, seq: int, version: int, row: Any) -> None:
        bag = _unpacked(row.words)
        if row.to_ms is None:
            _take(tx, PRESENT, seq, bag)
            tx.write(_COUNT, tx.tenant, -1, -row.length)
        else:
            _take(tx, PAST, _past_id(seq, version), bag)
        tx.write(_DROP, tx.tenant, seq, version)

    def find(self, terms: Sequence[str], wanted: Filter, *, limit: int, required: Required = ()) -> list[IndexHit]:
        """The best matches of any of the terms that pass the filter, best first."""
        if not terms:
            return []
        with self._db.reading() as tx:
            # A project, session or label already leaves few texts to rank.
            narrow = bool(texts.narrow_scopes(tx.tenant, wanted))
            having = None if narrow else self._having(tx, terms, self._counts(tx)[0])
            first, others = bm25.choice(terms, having) if having is not None else (terms, ())
            if len(first) < len(terms):
                # All terms once more: FTS5 must see them to rank by them. What it counts twice so, is ranked again.
                found = _run(tx, _FIND, **_asked(tx, terms, wanted, limit + _SPARE, required, first, others)).all()
                if len(found) >= limit:
                    best = sorted(self._ranked(tx, found, terms), key=lambda past: (-past.score, -past.seq))
                    return [IndexHit(past.seq, past.score) for past in best[:limit]]
            return [
                IndexHit(row.seq, -row.score) for row in _run(tx, _FIND, **_asked(tx, terms, wanted, limit, required))
            ]

    def find_past(self, terms: Sequence[str], wanted: Filter, as_of_ms: int, *, limit: int,
                  required: Required = ()) -> list[PastHit]:  # fmt: skip
        """The best matches among the states that held at that time, each memory once."""
        if not terms:
            return []
        with self._db.reading() as tx:
            asked = _asked(tx, terms, wanted, limit, required) | {"as_of_ms": as_of_ms}
            standing = [PastHit(row.seq, row.version, -row.score) for row in _run(tx, _FIND_STANDING, **asked)]
            former = _run(tx, _FIND_FORMER, **asked | {"limit": limit + _SPARE}).all()
            both = [*standing, *self._ranked(tx, former, terms)] if former else standing
        return sorted(both, key=lambda past: (-past.score, -past.seq))[:limit]

    def commonness(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many texts the tenant has, and about how many have each term."""
        with self._db.reading() as tx:
            number, _ = self._counts(tx)
            having = self._having(tx, terms, number) or self._counted(tx, terms)
            return number, {term: min(number, having[term]) for term in terms}

    def _having(self, tx: Transaction, terms: Sequence[str], number: int) -> dict[str, int] | None:
        """About how many texts have each term, remembered for a while; None in a store so small that all are ranked."""
        if number <= bm25.ENOUGH:
            return None
        if abs(number - self._counted_at) > number // _DRIFT or len(self._common) > _REMEMBERED:
            self._common, self._counted_at = {}, number
        common = self._common
        common.update(self._counted(tx, [term for term in terms if term not in common]))
        return common

    def _counted(self, tx: Transaction, terms: Sequence[str]) -> dict[str, int]:
        if not terms:
            return {}
        spelled = {_spelled(term): term for term in terms}
        having = {row.term: row.doc for row in _run(tx, _HAVING, json.dumps(list(spelled)))}
        return {term: having.get(token, 0) for token, term in spelled.items()}

    def _weights(self, tx: Transaction, terms: Sequence[str]) -> dict[str, float]:
        number, _ = self._counts(tx)
        having = self._having(tx, terms, number) or self._counted(tx, terms)
        return {term: bm25.idf(number, having[term]) for term in terms}

    def _counts(self, tx: Transaction) -> tuple[int, int]:
        return tx.first(_COUNTS, tx.tenant) or (0, 0)

    def _ranked(self, tx: Transaction, found: Iterable[Any], terms: Sequence[str]) -> Iterator[PastHit]:
        """With all terms, by how rare each is in the present; so that past and present stand on one scale."""
        number, tokens = self._counts(tx)
        weights = self._weights(tx, terms)
        for row in found:
            kept = _run(tx, _ONE, tx.tenant, row.seq, row.version).one()
            mean = tokens / number if number else kept.length
            score = bm25.score(_unpacked(kept.words).weighted(), kept.length, mean, weights)
            yield PastHit(row.seq, row.version, score)

    def missing(self, *, limit: int, after: int = 0) -> list[int]:
        """Numbers above `after`, ascending, of memories whose present state is not indexed."""
        with self._db.reading() as tx:
            return list(tx.run(texts.missing, limit=limit, after=after).scalars())

    def fold(self, limit: int) -> int:
        """Nothing to do: FTS5 counts as it writes."""
        return 0


def _run(tx: Transaction, statement: str, *values: Any, **named: Any) -> Any:
    return tx.connection.exec_driver_sql(statement, named or values)


def _past_id(seq: int, version: int) -> int:
    return seq << _VERSION_BITS | version


def _packed(bag: Bag) -> bytes:
    return zlib.compress(json.dumps([bag.head, bag.body, bag.scope], ensure_ascii=False).encode(), 1)


def _unpacked(stored: bytes) -> Bag:
    head, body, scope = json.loads(zlib.decompress(stored))
    return Bag(head, body, tuple(scope))


@functools.lru_cache(maxsize=1 << 16)
def _spelled(token: str) -> str:
    # No two tokens are spelled alike, and none is split or folded by FTS5.
    return token if _PLAIN.fullmatch(token) else f"#={token.encode('utf-8', 'surrogatepass').hex()}"


def _columns(bag: Bag) -> tuple[str, str, str]:
    def repeated(counts: Mapping[str, int]) -> str:
        return " ".join(itertools.chain.from_iterable(itertools.repeat(_spelled(w), n) for w, n in counts.items()))

    return repeated(bag.head), repeated(bag.body), " ".join(bag.scope)


def _give(tx: Transaction, table: str, number: int, bag: Bag) -> None:
    tx.write(_given(table), number, *_columns(bag))


def _take(tx: Transaction, table: str, number: int, bag: Bag) -> None:
    tx.write(_taken(table), number, *_columns(bag))


@functools.cache
def _given(table: str) -> str:
    return f"INSERT INTO {table} (rowid, head, body, scope) VALUES (?, ?, ?, ?)"  # noqa: S608  our own names


@functools.cache
def _taken(table: str) -> str:
    return f"INSERT INTO {table} ({table}, rowid, head, body, scope) VALUES ('delete', ?, ?, ?, ?)"  # noqa: S608


def _asked(tx: Transaction, terms: Sequence[str], wanted: Filter, limit: int, required: Required,
           *needed: Sequence[str]) -> dict[str, object]:  # fmt: skip
    """What the statements bind; of each further group of terms a text must have one as well."""
    # Kinds alone are left to the join: their lists are as long as the table.
    scopes = [f"scope : ({_any(group)})" for group in texts.narrow_scopes(tx.tenant, wanted)]
    return {
        "tenant": tx.tenant,
        "query": " AND ".join([*_having_words((terms, *needed)), *scopes]),
        # Asked apart, because FTS5 ranks by every word that a query names, as often as it does.
        "required": " AND ".join([*_having_words(required), *scopes]) if required else None,
        "kinds": json.dumps(sorted(wanted.kinds)),
        "statuses": json.dumps(sorted(wanted.statuses)),
        "created_from_ms": wanted.created_from_ms,
        "created_to_ms": wanted.created_to_ms,
        "priority_min": wanted.priority_min,
        "priority_max": wanted.priority_max,
        "limit": limit,
    }


def _having_words(groups: Required) -> list[str]:
    return [f"{{head body}} : ({_any(map(_spelled, each))})" for each in groups if each]


def _any(tokens: Iterable[str]) -> str:
    return " OR ".join(f'"{token}"' for token in tokens)
