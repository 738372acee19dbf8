"""Who may call: API keys, each telling its tenant, and the one token of a local store.

A secret is 256 random bits, shown once; only its hash is kept, so that neither a stolen backup nor a log gives one
away. A revoked key stops working within the few seconds that an answer may be remembered.
"""

import hashlib
import hmac
import os
import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model import ids, redaction
from codexmem.kernel.model.errors import InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.tenant import LOCAL, Identity, tenant_name
from codexmem.kernel.store.database import Database, acting_as
from codexmem.operations import key_store as table
from codexmem.operations.key_store import ApiKey

_SECRET = re.compile(r"cmk_[0-9a-f]{64}")
_TOKEN_PREFIX = "cmt_"  # by which redaction knows a token; those of older stores have none and are known by value
_TOKEN = re.compile(rf"(?:{_TOKEN_PREFIX})?[0-9a-f]{{64}}")
_REMEMBERED = 1024
_REMEMBER_SECONDS = 2.5  # half of what is promised: a long reply asks again after the other half
_LABEL_MAX = 100


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made: the only moment at which its secret exists outside the caller."""

    key: ApiKey
    secret: str


class Keys:
    """The verbs on API keys."""

    def __init__(self, db: Database, log: Callable[[NewEvent], object], clock: Clock) -> None:
        self._db = db
        self._table = table.KeyTable(db)
        self._log = log
        self._clock = clock
        self._remembered: OrderedDict[str, tuple[float, Identity]] = OrderedDict()
        self._lock = threading.Lock()

    def create(self, tenant: str, label: str) -> NewKey:
        """A new key for the tenant."""
        label = label.strip()
        if not label or len(label) > _LABEL_MAX or not label.isprintable():
            raise InvalidArgument(
                f"a key's label is 1 to {_LABEL_MAX} printable characters", details={"reason": "bad_label"}
            )
        secret = f"cmk_{ids.secret()}"
        key = ApiKey(tenant_name(tenant), ids.prefixed("key"), label, self._clock.now_ms(), None)
        with acting_as(tenant), self._db.transaction():
            self._table.add(key.id, _hash(secret), label, key.created_ms)
            self._log(NewEvent(EventType.KEY_CREATED, subject=f"key:{key.id}", payload={"label": label}))
        return NewKey(key, secret)

    def list(self, tenant: str) -> list[ApiKey]:
        """The tenant's keys, newest first, revoked ones included."""
        with acting_as(tenant):
            return self._table.all()

    def revoke(self, tenant: str, id: str) -> None:
        """End a key's life."""
        with acting_as(tenant), self._db.transaction():
            if not self._table.revoke(id, self._clock.now_ms()):
                raise NotFound(
                    f"tenant {tenant} has no valid key {id[:80]!r}",
                    hint="codexmem key ls shows them",
                    details={"reason": "no_key", "id": id[:80], "tenant": tenant},
                )
            self._log(NewEvent(EventType.KEY_REVOKED, subject=f"key:{id}", payload={}))
        with self._lock:
            self._remembered.clear()

    def authenticate(self, bearer: str | None) -> Identity | None:
        """Whom this secret acts for; None if nobody gave it out or it was revoked."""
        if bearer is None or not _SECRET.fullmatch(bearer):
            return None
        hashed = _hash(bearer)
        now = ids.monotonic()
        with self._lock:
            known = self._remembered.get(hashed)
            if known is not None and known[0] > now:
                return known[1]
        key = self._table.by_hash(hashed)
        if key is None:
            with self._lock:
                self._remembered.pop(hashed, None)
            return None
        identity = Identity(key.tenant, f"key:{key.label}")
        with self._lock:
            self._remembered[hashed] = (now + _REMEMBER_SECONDS, identity)
            self._remembered.move_to_end(hashed)
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return identity


def _hash(secret: str) -> str:
    # Plain SHA-256: the secret is random and long, so there is no dictionary to slow down.
    return hashlib.sha256(secret.encode()).hexdigest()


class LocalToken:
    """The token in the data directory, which programs of the same user find and others cannot read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._token = self._read() or self._create()
        redaction.mask_always(self._token)

    def authenticate(self, bearer: str | None) -> Identity | None:
        """The local owner, for the right token; takes the same time for every wrong one."""
        if bearer is None or not hmac.compare_digest(bearer.encode(), self._token.encode()):
            return None
        return Identity(LOCAL, "token")

    def _read(self) -> str | None:
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(str(error.strerror)) from error
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
                raise self._unusable("others may read it")
            text = os.read(handle, 200).decode("ascii", "replace").strip()
        finally:
            os.close(handle)
        if not _TOKEN.fullmatch(text):
            raise self._unusable("it does not hold a token")
        return text

    def _create(self) -> str:
        token = f"{_TOKEN_PREFIX}{ids.secret()}"
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self._path.with_name(f".token.{os.getpid()}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(handle, token.encode() + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)
        try:
            os.link(draft, self._path)  # unlike a rename, never replaces a token that others already use
        except FileExistsError:
            return self._read() or token
        finally:
            draft.unlink()
        return token

    def _unusable(self, why: str) -> Unavailable:
        return Unavailable(
            f"the token file {self._path} cannot be used: {why}",
            hint="remove it; a new one is created at the next start",
            details={"reason": "bad_token_file", "path": str(self._path), "problem": why},
        )
