"""Signing in with the issuer of a deployment: by a browser, which gets a session, or by a device, which gets a key.

A person is known by what the issuer calls them, never by a name or an address of mail, which people may choose. What
the issuer says about groups is taken over at each sign-in, for the groups that settings map and for no other. Somebody
new becomes a member only if settings allow it and a claim gives a group; somebody who was removed does not come back
by himself. Every sign-in, refusal and sign-out leaves a line in the audit.
"""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, NotFound, RateLimited
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.tenant import Identity, TenantRole
from codexmem.kernel.store.database import Database, acting_as
from codexmem.operations.key_store import SESSION
from codexmem.operations.keys import Keys, NewKey
from codexmem.operations.oidc import Issuer, SignInRefused
from codexmem.operations.people_store import MemberKind, PeopleTable, TeamMember

ATTEMPT_S = 600  # between leaving for the issuer and coming back
CALLBACK = "/sign-in/callback"
_ATTEMPT = re.compile(r"cma_[0-9a-f]{64}")
_NEXT = re.compile(r"/(?:ui|viewer)(?:[/?#][A-Za-z0-9/._~%?#&=:@!$'()*+,;-]{0,1900})?")
_NAME_CLAIMS = ("preferred_username", "email", "name")
_NAME_MAX = 80
_AT_ONCE = 4  # requests of strangers that wait for the issuer
# Refusals of people whom the issuer has not named: anybody can cause them, and lines of the audit stay for ever.
_REFUSALS, _REFUSALS_S = 60, 60.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SignInPolicy:
    """What settings say about who may sign in, and for how long."""

    tenant: str
    public_url: str
    groups: Mapping[str, frozenset[str]]  # a value of the claim, and the groups that it stands for
    joins: bool
    session_ms: int
    key_ms: int

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; with a prefix that only this very host can set, where it is encrypted."""
        return cookie_name(self.public_url)

    @property
    def redirect(self) -> str:
        """Where the issuer sends browsers back to: always the same address, whatever a request says."""
        return self.public_url + CALLBACK


def cookie_name(public_url: str) -> str:
    """How the cookie of a session is called under this address."""
    return "__Host-codexmem" if public_url.startswith("https://") else "codexmem-session"


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """One way to the issuer and back; what has to be secret is derived from one secret that the browser keeps."""

    secret: str

    @classmethod
    def new(cls) -> "SignInAttempt":
        """A fresh one."""
        return cls(f"cma_{ids.secret()}")

    @property
    def state(self) -> str:
        """What the issuer hands back, so that nobody can be led through the end of somebody else's attempt."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """What the ID token must contain, so that none of another attempt fits."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """What proves that whoever redeems the code asked for it (PKCE)."""
        return self._derived("verifier")

    @property
    def session(self) -> str:
        """The id of the session that it may lead to: one at most."""
        return SESSION + self._derived("session")[:32]

    def _derived(self, what: str) -> str:
        return hashlib.sha256(f"{what}:{self.secret}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Credential:
    """What a request came with: none is a local store's own."""

    kind: Literal["session", "key", "none"]
    member: str | None = None  # by name; None where it acts for the whole tenant
    expires_ms: int | None = None


class SignIn:
    """The verbs; without an issuer every one but `whoami` and `leave` says that there is none."""

    def __init__(self, db: Database, keys: Keys, log: Callable[[NewEvent], object], clock: Clock,
                 issuer: Issuer | None = None, policy: SignInPolicy | None = None) -> None:  # fmt: skip
        self._db = db
        self._keys = keys
        self._people = PeopleTable(db)
        self._log = log
        self._clock = clock
        self._issuer = issuer
        self._policy = policy
        self._asking = threading.BoundedSemaphore(_AT_ONCE)
        self._refusals: list[float] = []
        self._untold = 0
        self._lock = threading.Lock()

    @property
    def issuer(self) -> str | None:
        """The host that people sign in with; None if they cannot."""
        return urlsplit(self._issuer.client.issuer).hostname if self._issuer is not None else None

    @property
    def policy(self) -> SignInPolicy:
        """What holds here."""
        return self._configured()[1]

    def begin(self, attempt: SignInAttempt) -> str:
        """Where the browser goes."""
        issuer, policy = self._configured()
        with self._one_of_few():
            return issuer.authorization_url(
                redirect=policy.redirect, state=attempt.state, nonce=attempt.nonce, verifier=attempt.verifier
            )

    def finish(self, given: str, answer: Mapping[str, str], address: str | None) -> NewKey:
        """The session of whoever comes back from the issuer; `given` is what the browser kept of its attempt."""
        issuer, policy = self._configured()
        try:
            attempt = SignInAttempt(given)
            if not _ATTEMPT.fullmatch(given) or answer.get("state") != attempt.state:
                raise SignInRefused(
                    "state", "this browser did not begin that sign-in, or too long ago", hint="sign in once more"
                )
            if "error" in answer or "code" not in answer:
                word = answer.get("error", "")[:60]
                said = word if word.isascii() and word.replace("_", "").isalnum() else "no reason given"
                raise SignInRefused("issuer_error", f"the issuer refused: {said}")
            with self._one_of_few():
                claims = issuer.redeem(
                    answer["code"], redirect=policy.redirect, verifier=attempt.verifier, nonce=attempt.nonce,
                    said_by=answer.get("iss"),
                )  # fmt: skip
        except SignInRefused as refusal:
            self._note_stranger(refusal, address)
            raise

        def opened(member: TeamMember) -> NewKey:
            try:
                return self._keys.open_session(policy.tenant, attempt.session, member.id, policy.session_ms)
            except Conflict:
                raise SignInRefused("state", "this sign-in was used before", hint="sign in once more") from None

        return self._admitted(claims, address, "browser", opened)[1]

    def begin_device(self) -> Mapping[str, object]:
        """What a person types in where, for a device."""
        issuer, _ = self._configured()
        with self._one_of_few():
            return issuer.begin_device()

    def finish_device(self, device_code: str, machine: str, role: TenantRole,
                      address: str | None) -> tuple[str, NewKey] | str:  # fmt: skip
        """The name of whoever typed the code in with a key for the machine, or the word for why there is none yet."""
        issuer, policy = self._configured()
        try:
            with self._one_of_few():
                claims = issuer.poll_device(device_code)
        except SignInRefused as refusal:
            self._note_stranger(refusal, address)
            raise
        if isinstance(claims, str):
            return claims

        member, made = self._admitted(
            claims, address, "device",
            lambda member: self._keys.renew_login(policy.tenant, member, machine, role, policy.key_ms),
        )  # fmt: skip
        return member.name, made

    def leave(self, identity: Identity) -> bool:
        """End a member's session or key that the request came with; others' keys are not somebody's to give back."""
        key = identity.key

        def ended() -> bool:
            if key is None or (found := self._keys.get(identity.tenant, key)) is None or found.member is None:
                return False
            with acting_as(identity.tenant), self._db.transaction():
                self._keys.revoke(identity.tenant, key, by=identity.actor)
                self._tell(EventType.SIGN_IN_ENDED, f"key:{key}", {"by": identity.actor, "address": identity.address})
            return True

        return _as_server(ended)

    def credential(self, identity: Identity) -> "Credential":
        """What the request came with, and whose it is."""

        def found() -> Credential:
            key = self._keys.get(identity.tenant, identity.key) if identity.key is not None else None
            if key is None:
                return Credential("none")
            kind: Literal["session", "key"] = "session" if key.is_session else "key"
            with acting_as(identity.tenant):
                member = self._people.member(key.member) if key.member is not None else None
            return Credential(kind, member.name if member is not None else None, key.expires_ms)

        return _as_server(found)

    def _admitted(self, claims: Mapping[str, object], address: str | None, way: str,
                  opened: Callable[[TeamMember], NewKey]) -> tuple[TeamMember, NewKey]:  # fmt: skip
        """Whom the claims name with what is opened for him, if he may come in."""
        issuer, policy = self._configured()
        who = {"subject_id": claims["sub"], "issuer": issuer.client.issuer, "way": way, "address": address}
        try:
            with acting_as(policy.tenant), self._db.transaction():
                self._people.hold()
                member, groups = self._member_of(claims)
                made = opened(member)
                told = {"by": f"member:{member.name}", "key": made.key.id, "groups": sorted(groups), **who}
                self._tell(EventType.SIGN_IN_ACCEPTED, f"member:{member.id}", told)
                return member, made
        except SignInRefused as refusal:
            with acting_as(policy.tenant):
                self._tell(EventType.SIGN_IN_REFUSED, f"subject:{claims['sub']}", {"reason": refusal.reason, **who})
            raise

    def _member_of(self, claims: Mapping[str, object]) -> tuple[TeamMember, set[str]]:
        issuer, policy = self._configured()
        subject, now_ms = str(claims["sub"]), self._clock.now_ms()
        groups = self._groups(claims)
        known = self._people.subject(issuer.client.issuer, subject)
        if known is None:
            if not policy.joins:
                raise SignInRefused(
                    "unknown", "you are not a member here", subject=subject, tenant=policy.tenant,
                    hint=f"ask an admin for: codexmem member link NAME {subject} --tenant {policy.tenant}",
                )  # fmt: skip
            if not groups:
                raise SignInRefused(
                    "no_group", "none of your groups at the issuer is one of this server's",
                    hint="ask an admin to add you to a group at the issuer, or to map one with oidc_groups",
                )  # fmt: skip
            member = TeamMember(ids.prefixed("mbr"), self._free_name(claims), MemberKind.PERSON, now_ms)
            self._people.add_member(member)
            self._people.link(issuer.client.issuer, subject, member.id, now_ms)
            self._tell(EventType.MEMBER_CHANGED, f"member:{member.id}", {
                "by": "sign-in", "act": "added", "name": member.name, "kind": member.kind.value,
                "issuer": issuer.client.issuer, "subject_id": subject,
            })  # fmt: skip
        else:
            found = self._people.member(known)
            if found is None:
                raise SignInRefused(
                    "removed", "you were removed from this server",
                    hint="ask an admin to add you again, with codexmem member add and codexmem member link",
                )  # fmt: skip
            if found.disabled_ms is not None:
                raise SignInRefused("disabled", "you are shut out of this server", hint="ask an admin")
            member = found
        self._take_over(member, groups)
        return member, groups

    def _groups(self, claims: Mapping[str, object]) -> set[str]:
        """The groups of the tenant that the claims give."""
        issuer, policy = self._configured()
        told = claims.get(issuer.client.group_claim, ())
        values = [told] if isinstance(told, str) else told if isinstance(told, list | tuple) else ()
        wanted = {group for value in values if isinstance(value, str) for group in policy.groups.get(value, ())}
        return {group for group in wanted if self._people.has_group(group)}

    def _take_over(self, member: TeamMember, groups: set[str]) -> None:
        """Let the member be in these groups, and in none of the others that the issuer speaks about."""
        spoken_of = {group for each in self._configured()[1].groups.values() for group in each}
        now = self._people.groups_of(member.id) & spoken_of
        for group in sorted(groups - now):
            self._people.join(group, member.id)
        for group in sorted(now - groups):
            self._people.leave(group, member.id)
        for act, changed in (("joined", groups - now), ("left", now - groups)):
            for group in sorted(changed):
                told = {"by": "sign-in", "act": act, "name": group, "member": member.name}
                self._tell(EventType.MEMBER_CHANGED, f"group:{group}", told)

    def _free_name(self, claims: Mapping[str, object]) -> str:
        """What the person is called; a name that somebody has gets a number, for he is another person."""
        told = (str(claims.get(name, "")) for name in (*_NAME_CLAIMS, "sub"))
        plain = ("".join(each for each in text if each.isprintable() and each != ":").strip() for text in told)
        name = next((each[:_NAME_MAX] for each in plain if each), "somebody")
        for number in range(1, 1000):
            tried = name if number == 1 else f"{name} {number}"
            if self._people.member_named(tried) is None:
                return tried
        return f"{name} {ids.secret(4)}"

    def _note_stranger(self, refusal: SignInRefused, address: str | None) -> None:
        """A line about a refusal that anybody can cause: some in a minute, and then how many there were besides."""
        now = ids.monotonic()
        with self._lock:
            self._refusals = [each for each in self._refusals if now - each < _REFUSALS_S]
            if len(self._refusals) >= _REFUSALS:
                self._untold += 1
                return
            self._refusals.append(now)
            more, self._untold = self._untold, 0
        payload = {"reason": refusal.reason, "address": address, **({"untold": more} if more else {})}
        with acting_as(self.policy.tenant):
            self._tell(EventType.SIGN_IN_REFUSED, "subject:", payload)

    def _tell(self, type: EventType, subject: str, payload: Mapping[str, object]) -> None:
        self._log(NewEvent(type, subject=subject, payload=payload))

    @contextmanager
    def _one_of_few(self) -> Iterator[None]:
        """Strangers must not take every thread while the issuer is slow."""
        if not self._asking.acquire(blocking=False):
            raise RateLimited(
                "too many people are signing in just now", hint="try again in a moment",
                details={"reason": "signing_in", "retry_after_s": 2},
            )  # fmt: skip
        try:
            yield
        finally:
            self._asking.release()

    def _configured(self) -> tuple[Issuer, SignInPolicy]:
        if self._issuer is None or self._policy is None:
            raise NotFound(
                "nobody can sign in here: this server has no issuer",
                hint="use an API key, or have the operator set oidc_issuer",
                details={"reason": "no_issuer"},
            )
        return self._issuer, self._policy


def page_after(asked: str) -> str:
    """Where a browser goes when it is signed in: a page of ours, whatever it asks for."""
    return asked if _NEXT.fullmatch(asked) and "//" not in asked.partition("?")[0] else "/ui"


def _as_server(work: Callable[[], T]) -> T:
    """Outside the caller's own rights: what was granted in projects does not reach people and keys."""
    return Context().run(work)
