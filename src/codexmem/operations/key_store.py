"""API keys: hashes of secrets, each telling its tenant. The secret itself is shown once and never stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import api_keys

SESSION = "ses_"  # how the id of a browser's session begins


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as people see it."""

    tenant: str
    id: str
    label: str
    created_ms: int
    revoked_ms: int | None = None
    role: TenantRole = TenantRole.ADMIN
    expires_ms: int | None = None  # from then on it is as if revoked
    used_ms: int | None = None  # about when it was last used
    member: str | None = None  # whose it is; None where it acts for the whole tenant
    visibility: Visibility | None = None  # of what is written with it; None: as its member chose

    @property
    def is_session(self) -> bool:
        """Whether it is a browser's session, which only a cookie brings and no list shows."""
        return self.id.startswith(SESSION)

    def is_valid(self, now_ms: int) -> bool:
        """Whether it opens anything."""
        return self.revoked_ms is None and (self.expires_ms is None or now_ms < self.expires_ms)


class KeyTable:
    """Reads and writes `api_keys`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, key: ApiKey, hash: str) -> None:
        """Register the hash of a new secret for the acting tenant."""
        with self._db.transaction() as tx:
            tx.run(
                _add, id=key.id, hash=hash, label=key.label, created_ms=key.created_ms, revoked_ms=None,
                role=key.role.value, expires_ms=key.expires_ms, used_ms=None, member=key.member,
                visibility=key.visibility.value if key.visibility is not None else None,
            )  # fmt: skip

    def hold(self) -> None:
        """Let nobody else give out keys of the acting tenant until the caller's transaction ends."""
        with self._db.transaction() as tx:
            tx.engine.lock_lane(tx.connection, tx.tenant, "keys")

    def by_hash(self, hash: str) -> ApiKey | None:
        """The living key with this hash, of whatever tenant: this is how a request finds its tenant."""
        with self._db.dispatching() as tx:
            row = tx.connection.execute(_by_hash, {"hash": hash}).mappings().first()
            tx.engine.require_home(tx.connection, tenant=row["tenant"] if row is not None else None, key_hash=hash)
        return _key(row) if row is not None else None

    def get(self, id: str) -> ApiKey | None:
        """The acting tenant's key of this id."""
        with self._db.reading() as tx:
            row = tx.run(_by_id, key_id=id).mappings().first()
        return _key(row) if row is not None else None

    def labelled(self, label: str) -> list[ApiKey]:
        """The acting tenant's keys of this label that were not revoked, at most a thousand."""
        with self._db.reading() as tx:
            return [_key(row) for row in tx.run(_labelled, label=label).mappings()]

    def of_member(self, member: str) -> list[ApiKey]:
        """The acting tenant's keys of this member that were not revoked, at most a thousand."""
        with self._db.reading() as tx:
            return [_key(row) for row in tx.run(_of_member, member=member).mappings()]

    def all(self) -> list[ApiKey]:
        """The acting tenant's keys, newest first, at most a thousand; no sessions."""
        with self._db.reading() as tx:
            return [_key(row) for row in tx.run(_all).mappings()]

    def drop_sessions(self, member: str, until_ms: int) -> None:
        """Remove the sessions of a member that would have ended by then, revoked or not."""
        with self._db.transaction() as tx:
            tx.run(_drop_sessions, of_member=member, until_ms=until_ms)

    def end(self, id: str, expires_ms: int) -> None:
        """Let a key end at that time."""
        with self._db.transaction() as tx:
            tx.run(_end, key_id=id, expires_ms=expires_ms)

    def used(self, id: str, now_ms: int) -> None:
        """Note that a key was used."""
        with self._db.transaction() as tx:
            tx.run(_used, key_id=id, used_ms=now_ms)

    def revoke(self, id: str, now_ms: int) -> bool:
        """End a key's life; False if there is no such living key."""
        with self._db.transaction() as tx:
            return bool(tx.run(_revoke, key_id=id, revoked_ms=now_ms).rowcount)


_k = api_keys.c
_seen = (
    _k.tenant, _k.id, _k.label, _k.created_ms, _k.revoked_ms, _k.role, _k.expires_ms, _k.used_ms, _k.member,
    _k.visibility,
)  # fmt: skip
_add = sa.insert(api_keys)
_by_hash = sa.select(*_seen).where(_k.hash == bindparam("hash"), _k.revoked_ms.is_(None))
_is_session = _k.id.startswith(SESSION, autoescape=True)
_drop_sessions = sa.delete(api_keys).where(
    _k.tenant == ACTING, _k.member == bindparam("of_member"), _is_session, _k.expires_ms < bindparam("until_ms")
)
_all = sa.select(*_seen).where(_k.tenant == ACTING, ~_is_session).order_by(_k.created_ms.desc()).limit(1000)
_by_id = sa.select(*_seen).where(_k.tenant == ACTING, _k.id == bindparam("key_id"))
_labelled = (
    sa.select(*_seen)
    .where(_k.tenant == ACTING, _k.label == bindparam("label"), _k.revoked_ms.is_(None))
    .order_by(_k.created_ms.desc())
    .limit(1000)
)
_of_member = (
    sa.select(*_seen).where(_k.tenant == ACTING, _k.member == bindparam("member"), _k.revoked_ms.is_(None)).limit(1000)
)
_end = (
    sa.update(api_keys)
    .where(_k.tenant == ACTING, _k.id == bindparam("key_id"))
    .values(expires_ms=bindparam("expires_ms"))
)
_used = (
    sa.update(api_keys).where(_k.tenant == ACTING, _k.id == bindparam("key_id")).values(used_ms=bindparam("used_ms"))
)
_revoke = (
    sa.update(api_keys)
    .where(_k.tenant == ACTING, _k.id == bindparam("key_id"), _k.revoked_ms.is_(None))
    .values(revoked_ms=bindparam("revoked_ms"))
)


def _key(row: Mapping[Any, Any]) -> ApiKey:
    seen = Visibility(row["visibility"]) if row["visibility"] else None
    return ApiKey(**{**row, "role": TenantRole(row["role"]), "visibility": seen})
