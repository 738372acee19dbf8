"""Vectors in a Chroma server: a copy beside the store, never asked inside a transaction.

One collection per model. A record's key is `tenant:seq:part`, and it says whose it is. Forgetting happens first as a
debt, a row that commits with the erasure; the catch-up job pays debts when the server answers, so that nothing stays
behind because it was down. What is found there is checked against the store before it counts.
"""

import hashlib
import re
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.query import Filter
from codexmem.kernel.store import matching
from codexmem.kernel.store.chroma.client import ChromaClient
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.index import IndexHit, Vectors
from codexmem.kernel.store.schema import vector_debts
from codexmem.kernel.store.vector_table import FEW, MAX_PARTS, Part, best_of, widen
from codexmem.kernel.store.vector_type import numbers

_AT_ONCE = 200  # records per request
_PAGE = 5_000
_MOST = 10_000  # results of one query that we ask a server for


class ChromaVectors:
    """The acting tenant's records in one server."""

    name = "chroma"

    def __init__(self, db: Database, client: ChromaClient, collection: str) -> None:
        self._db = db
        self._client = client
        self._prefix = f"{collection}-"
        # A key that is owed already is owed once.
        self._owe = db.engine.insert(vector_debts).on_conflict_do_nothing()

    def put(self, model: str, items: Sequence[Vectors]) -> None:
        """Store the vectors of these memories, then remove what is left of longer former ones."""
        tenant, name = self._tenant(), self._collection(model)
        records = [
            (_key(tenant, item.seq, part), vector, _about(tenant, item, part))
            for item in items
            for part, vector in enumerate(item.parts[:MAX_PARTS])
        ]
        for start in range(0, len(records), _AT_ONCE):
            keys, vectors, about = zip(*records[start : start + _AT_ONCE], strict=True)
            self._client.upsert(name, keys, [numbers(vector).tolist() for vector in vectors], about)
        former = [
            _key(tenant, item.seq, part)
            for item in items
            if item.version > 1 or not item.parts
            for part in range(len(item.parts), MAX_PARTS)
        ]
        for start in range(0, len(former), _PAGE):
            self._client.delete(name, keys=former[start : start + _PAGE])

    def drop(self, seqs: Sequence[int]) -> None:
        """Owe the removal of these, with the caller's transaction; the catch-up job pays."""
        with self._db.transaction() as tx:
            tx.run_many(self._owe, [{"seq": seq} for seq in seqs])

    def pay(self, *, limit: int) -> int:
        """Remove some of what is owed, from the collections of every model; returns how many memories."""
        with self._db.reading() as tx:
            seqs = list(tx.run(_owed, limit=limit).scalars())
        if not seqs:
            return 0
        where = _all_of({"tenant": self._tenant()}, {"seq": {"$in": seqs}})
        for name in self._client.names(self._prefix):
            self._client.delete(name, where=where)
        with self._db.transaction() as tx:
            tx.run(_paid, seqs=seqs)
        return len(seqs)

    def find(self, model: str, vector: bytes, wanted: Filter, *, limit: int) -> list[IndexHit]:
        """The nearest that pass the filter, as the server's index finds them."""
        with self._db.reading() as tx:
            chosen = matching.few(tx, wanted, FEW)
        if chosen is not None:
            ranked = sorted(self.near(model, vector, chosen).items(), key=lambda each: (-each[1], each[0]))
            return [IndexHit(seq, score) for seq, score in ranked[:limit]]
        conditions: list[dict[str, object]] = [
            {"tenant": self._tenant()},
            {"kind": {"$in": sorted(kind.value for kind in wanted.kinds)}},
        ]
        if wanted.project is not None:
            conditions.append({"project": wanted.project})
        where = _all_of(*conditions)

        def passing(seqs: list[int]) -> set[int]:
            with self._db.reading() as tx:
                return matching.passing(tx, seqs, wanted)

        return widen(lambda depth: self._nearest(model, vector, where, depth), passing, limit)

    def near(self, model: str, vector: bytes, seqs: Sequence[int]) -> dict[int, float]:
        """The cosine of the best part of each of these memories that has vectors."""
        if not seqs:
            return {}
        where = _all_of({"tenant": self._tenant()}, {"seq": {"$in": list(seqs)}})
        depth = 4 * len(seqs)
        while True:
            # Asked for all parts of all of them at once the answer would be large, and most have one or two.
            parts = self._nearest(model, vector, where, min(depth, _MOST))
            best = best_of(parts)
            if len(parts) < min(depth, _MOST) or len(best) == len(set(seqs)) or depth >= _MOST:
                return best
            depth *= 4

    def count(self, model: str) -> int:
        """How many memories have vectors of this model; counted page by page."""
        self.require()  # whoever wants to know how things stand should not wait out a write's time-out
        where = _all_of({"tenant": self._tenant()}, {"part": 0})
        total = 0
        while True:
            page = self._client.get(self._collection(model), where=where, limit=_PAGE, offset=total)["ids"]
            total += len(page)
            if len(page) < _PAGE:
                return total

    def versions(self, model: str, seqs: Sequence[int]) -> dict[int, int]:
        """Of which version of each of these memories there are vectors of this model."""
        keys = [_key(self._tenant(), seq, 0) for seq in seqs]
        found = self._client.get(self._collection(model), keys=keys, include=["metadatas"])
        return {about["seq"]: about["version"] for about in found.get("metadatas") or ()}

    def forget_model(self, model: str, *, limit: int) -> int:
        """Remove the acting tenant's records of a model that is no longer used; returns how many went."""
        name = self._collection(model)
        found: list[str] = self._client.get(name, where={"tenant": self._tenant()}, limit=limit)["ids"]
        if found:
            self._client.delete(name, keys=found)
        elif not self._client.get(name, limit=1)["ids"]:
            self._client.remove(name)
        return len(found)

    def require(self) -> None:
        """Raise unless the server answers soon."""
        self._client.require()

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def _nearest(self, model: str, vector: bytes, where: dict[str, object], depth: int) -> list[Part]:
        found = self._client.query(self._collection(model), numbers(vector).tolist(), where, min(depth, _MOST))
        return [(int(key.split(":")[1]), 1.0 - distance) for key, distance in found]

    def _collection(self, model: str) -> str:
        return f"{self._prefix}{slug(model)}"

    def _tenant(self) -> str:
        return self._db.acting_tenant()


def slug(model: str) -> str:
    """A model's id as a collection may be called, distinct for distinct models."""
    plain = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:60]
    return f"{plain}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def _key(tenant: str, seq: int, part: int) -> str:
    return f"{tenant}:{seq}:{part}"


def _about(tenant: str, item: Vectors, part: int) -> dict[str, object]:
    return {"tenant": tenant, "project": item.project, "kind": item.kind, "seq": item.seq, "part": part,
            "version": item.version}  # fmt: skip


def _all_of(*conditions: dict[str, object]) -> dict[str, object]:
    return {"$and": list(conditions)}


_owed = sa.select(vector_debts.c.seq).where(vector_debts.c.tenant == ACTING).limit(bindparam("limit"))
_paid = sa.delete(vector_debts).where(
    vector_debts.c.tenant == ACTING, vector_debts.c.seq.in_(bindparam("seqs", expanding=True))
)
