"""API keys: hashes of secrets, each telling its tenant. The secret itself is shown once and never stored."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import api_keys


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as people see it."""

    tenant: str
    id: str
    label: str
    created_ms: int
    revoked_ms: int | None


class KeyTable:
    """Reads and writes `api_keys`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, id: str, hash: str, label: str, now_ms: int) -> None:
        """Register the hash of a new secret for the acting tenant."""
        with self._db.transaction() as tx:
            tx.run(_add, id=id, hash=hash, label=label, created_ms=now_ms, revoked_ms=None)

    def by_hash(self, hash: str) -> ApiKey | None:
        """The living key with this hash, of whatever tenant: this is how a request finds its tenant."""
        with self._db.dispatching() as tx:
            row = tx.connection.execute(_by_hash, {"hash": hash}).mappings().first()
        return ApiKey(**row) if row is not None else None

    def all(self) -> list[ApiKey]:
        """The acting tenant's keys, newest first, at most a thousand."""
        with self._db.reading() as tx:
            return [ApiKey(**row) for row in tx.run(_all).mappings()]

    def revoke(self, id: str, now_ms: int) -> bool:
        """End a key's life; False if there is no such living key."""
        with self._db.transaction() as tx:
            return bool(tx.run(_revoke, key_id=id, revoked_ms=now_ms).rowcount)


_k = api_keys.c
_seen = (_k.tenant, _k.id, _k.label, _k.created_ms, _k.revoked_ms)
_add = sa.insert(api_keys)
_by_hash = sa.select(*_seen).where(_k.hash == bindparam("hash"), _k.revoked_ms.is_(None))
_all = sa.select(*_seen).where(_k.tenant == ACTING).order_by(_k.created_ms.desc()).limit(1000)
_revoke = (
    sa.update(api_keys)
    .where(_k.tenant == ACTING, _k.id == bindparam("key_id"), _k.revoked_ms.is_(None))
    .values(revoked_ms=bindparam("revoked_ms"))
)
