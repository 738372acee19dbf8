"""Who may call: API keys, each telling its tenant, and the one token of a local store; and the key of our frames.

A secret is 256 random bits, shown once; only its hash is kept, so that neither a stolen backup nor a log gives one
away. A revoked key stops working within the few seconds that an answer may be remembered.
"""

import hashlib
import hmac
import logging
import os
import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model import ids, redaction
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.framing import KEY_BYTES, Frame
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.tenant import LOCAL, Identity, TenantRole, tenant_name
from codexmem.kernel.model.visibility import Viewer, Visibility
from codexmem.kernel.store.database import Database, acting_as
from codexmem.operations import key_store as table
from codexmem.operations.key_store import ApiKey
from codexmem.operations.people import People
from codexmem.operations.people_store import TeamMember

_FRAME_KEY = "frame.key"  # in the data directory; losing it costs nothing but the caches of prompts
_SECRET = re.compile(r"cm[ks]_[0-9a-f]{64}")  # of a key, or of a browser's session
_TOKEN_PREFIX = "cmt_"  # by which redaction knows a token; those of older stores have none and are known by value
_TOKEN = re.compile(rf"(?:{_TOKEN_PREFIX})?[0-9a-f]{{64}}")
_REMEMBERED = 1024
FORGOTTEN_SECONDS = 5.0  # after so long nobody acts for a key that is gone: what is promised
_REMEMBER_SECONDS = FORGOTTEN_SECONDS / 2  # a long reply asks again after the other half
_LABEL_MAX = 100
_USED_MS = 5 * 60 * 1000

_log = logging.getLogger(__name__)


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
        self._people = People(db, log, clock)
        self._log = log
        self._clock = clock
        self._remembered: OrderedDict[str, tuple[float, Identity]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def people(self) -> People:
        """Those whose keys there may be."""
        return self._people

    def create(
        self,
        tenant: str,
        label: str,
        *,
        role: TenantRole = TenantRole.ADMIN,
        lifetime_ms: int | None = None,
        member: str | None = None,
        visibility: Visibility | None = None,
        by: str = "",
    ) -> NewKey:
        """A new key for the tenant, or for one of its members by name; its label is no other valid key's.

        A member's key may do what the member may, and no more than its own role.
        """
        label = label.strip()
        if not label or len(label) > _LABEL_MAX or not label.isprintable():
            raise InvalidArgument(
                f"a key's label is 1 to {_LABEL_MAX} printable characters", details={"reason": "bad_label"}
            )
        if visibility is Visibility.MINE and member is None:
            raise InvalidArgument(
                "nothing can be private to a key of no member", hint="name its member with --member",
                details={"reason": "no_owner"},
            )  # fmt: skip
        now_ms = self._clock.now_ms()
        expires_ms = now_ms + lifetime_ms if lifetime_ms is not None else None
        with acting_as(tenant_name(tenant)), self._db.transaction():
            self._table.hold()
            if any(key.is_valid(now_ms) for key in self._table.labelled(label)):
                raise Conflict(
                    f"tenant {tenant} has a valid key {label!r} already",
                    hint="choose another label, or renew that key with codexmem key rotate",
                    details={"reason": "label_taken", "label": label, "tenant": tenant},
                )
            whose = self._people.named(tenant, member).id if member is not None else None
            return self._given(tenant, label, role, expires_ms, by, {}, whose, visibility)

    def rotate(self, tenant: str, id: str, *, overlap_ms: int, by: str = "") -> NewKey:
        """A new key in the place of this one, with its label, role and lifetime; the old one works on for a while."""
        now_ms = self._clock.now_ms()
        with acting_as(tenant), self._db.transaction():
            self._table.hold()
            old = self._table.get(id)
            if old is None or not old.is_valid(now_ms):
                raise _no_key(tenant, id)
            lasts = old.expires_ms - old.created_ms if old.expires_ms is not None else None
            ends_ms = min(now_ms + overlap_ms, old.expires_ms or now_ms + overlap_ms)
            self._table.end(id, ends_ms)
            return self._given(
                tenant, old.label, old.role, now_ms + lasts if lasts is not None else None, by,
                {"replaces": id, "ends_ms": ends_ms}, old.member, old.visibility,
            )  # fmt: skip

    def open_session(self, tenant: str, id: str, member: str, lifetime_ms: int) -> NewKey:
        """A browser's session of a member, by ids; a session is opened once, also if it has ended since."""
        now_ms = self._clock.now_ms()
        with acting_as(tenant), self._db.transaction():
            self._table.hold()
            if self._table.get(id) is not None:
                raise Conflict("this session was opened before")
            self._table.drop_sessions(member, now_ms)
            secret = f"cms_{ids.secret()}"
            key = ApiKey(tenant, id, "browser", now_ms, expires_ms=now_ms + lifetime_ms, member=member)
            self._table.add(key, _hash(secret))
        return NewKey(key, secret)

    def renew_login(self, tenant: str, member: TeamMember, machine: str, role: TenantRole, lifetime_ms: int) -> NewKey:
        """A key for a member's machine, in the place of the one that he had there."""
        label, by, now_ms = f"{member.name}@{machine}"[:_LABEL_MAX], f"member:{member.name}", self._clock.now_ms()
        with acting_as(tenant), self._db.transaction():
            self._table.hold()
            for old in self._table.labelled(label):
                if old.member != member.id:  # somebody made a key that happens to be called so
                    label = f"{label[: _LABEL_MAX - 9]} {ids.secret(4)}"
                else:
                    self._table.revoke(old.id, now_ms)
                    self._log(NewEvent(EventType.KEY_REVOKED, subject=f"key:{old.id}", payload={"by": by}))
            return self._given(tenant, label, role, now_ms + lifetime_ms, by, {}, member.id, None)

    def get(self, tenant: str, id: str) -> ApiKey | None:
        """A key or a session, by its id."""
        with acting_as(tenant):
            return self._table.get(id)

    def _given(
        self,
        tenant: str,
        label: str,
        role: TenantRole,
        expires_ms: int | None,
        by: str,
        more: dict[str, object],
        member: str | None,
        visibility: Visibility | None,
    ) -> NewKey:
        secret = f"cmk_{ids.secret()}"
        key = ApiKey(
            tenant, ids.prefixed("key"), label, self._clock.now_ms(), role=role, expires_ms=expires_ms, member=member,
            visibility=visibility,
        )  # fmt: skip
        self._table.add(key, _hash(secret))
        payload = {"label": label, "role": role.value, "expires_ms": expires_ms, "by": by, **more}
        if member is not None:
            payload["member"] = member
        self._log(NewEvent(EventType.KEY_CREATED, subject=f"key:{key.id}", payload=payload))
        return NewKey(key, secret)

    def list(self, tenant: str) -> list[ApiKey]:
        """The tenant's keys, newest first, revoked ones included."""
        with acting_as(tenant):
            return self._table.all()

    def revoke(self, tenant: str, id: str, *, by: str = "") -> None:
        """End a key's life."""
        with acting_as(tenant), self._db.transaction():
            if not self._table.revoke(id, self._clock.now_ms()):
                raise _no_key(tenant, id)
            self._log(NewEvent(EventType.KEY_REVOKED, subject=f"key:{id}", payload={"by": by}))
        with self._lock:
            self._remembered.clear()

    def remembered(self, bearer: str) -> Identity | None:
        """Whom this secret acts for, if that was looked up in the last moments; never waits."""
        if not _SECRET.fullmatch(bearer):
            return None
        with self._lock:
            known = self._remembered.get(_hash(bearer))
        return known[1] if known is not None and known[0] > ids.monotonic() else None

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
        now_ms = self._clock.now_ms()
        identity = self._identity(key) if key is not None and key.is_valid(now_ms) else None
        if key is None or identity is None:
            with self._lock:
                self._remembered.pop(hashed, None)
            return None
        self._note_use(key, now_ms)
        with self._lock:
            self._remembered[hashed] = (now + _REMEMBER_SECONDS, identity)
            self._remembered.move_to_end(hashed)
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return identity

    def _identity(self, key: ApiKey) -> Identity | None:
        """Whom a valid key acts for; nobody, where its member is gone or disabled."""
        if key.member is None:
            return Identity(key.tenant, f"key:{key.label}", role=key.role, key=key.id)
        found = self._people.rights(key.tenant, key.member, key.role)
        if found is None:
            return None
        member, rights = found
        # Whoever has one role in every project acts as a key of no member does: a role says everything about him.
        return Identity(
            key.tenant, f"{'' if key.is_session else 'key:'}{key.label} of {member.name}",
            role=rights.highest or TenantRole.READER, rights=None if rights.is_whole else rights,
            viewer=Viewer.of(member.id, key.visibility or member.visibility), key=key.id,
        )  # fmt: skip

    def _note_use(self, key: ApiKey, now_ms: int) -> None:
        """Once in some minutes; a store that cannot be written just now can still be read with the key."""
        if key.used_ms is not None and now_ms - key.used_ms < _USED_MS:
            return
        try:
            with acting_as(key.tenant):
                self._table.used(key.id, now_ms)
        except Exception:  # also what a database says that may only be read
            _log.info("when key %s was used could not be noted", key.id, exc_info=True)


def _no_key(tenant: str, id: str) -> NotFound:
    return NotFound(
        f"tenant {tenant} has no valid key {id[:80]!r}",
        hint="codexmem key ls shows them",
        details={"reason": "no_key", "id": id[:80], "tenant": tenant},
    )


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

    @property
    def cookie(self) -> str:
        """The name of the cookie of our own page: servers of other folders on this machine have other names."""
        return f"codexmem-{self._digest('name')[:8]}"

    @property
    def session(self) -> str:
        """The value of that cookie, which is the same after a restart."""
        return self._digest("session")

    def _digest(self, of: str) -> str:
        return hmac.new(self._token.encode(), of.encode(), hashlib.sha256).hexdigest()

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


def stored_frame(folder: Path, *, create: bool = True) -> Frame:
    """The frame by the key of this folder, made when first asked for; one that cannot be kept serves the process."""
    try:
        key = _read_key(folder / _FRAME_KEY) or (_create_key(folder / _FRAME_KEY) if create else None)
    except OSError:
        key = None
    return Frame(key) if key is not None else Frame.of_process()


def _read_key(path: Path) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    try:
        key = os.read(handle, 2 * KEY_BYTES)
    finally:
        os.close(handle)
    return key if len(key) >= KEY_BYTES else None


def _create_key(path: Path) -> bytes:
    key = bytes.fromhex(ids.secret(KEY_BYTES))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{ids.secret(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, key)
    finally:
        os.close(handle)
    try:
        os.link(draft, path)  # whoever is first wins; a key is never seen half-written
    except FileExistsError:
        return _read_key(path) or key
    finally:
        draft.unlink()
    return key
