"""The one guard: it stands before routing, on every path, and lets nothing through that a browser page of another site,
an oversized body or an unknown caller could use.

The order is fixed: Host, Sec-Fetch-Site, Origin, Content-Type, body limits, authentication (where we may listen at all
is decided earlier, in `bind`). No step trusts X-Forwarded-*; no reply ever carries a CORS header. The tenant comes from
the authenticated identity and is entered around the whole request, endpoints in worker threads included.

Without keys, only the user who started the server is served. Here it is decided, too, who speaks: our own page in a
browser and a command that a person types are a person, everything else is an agent. Neither is believed by a header
alone: the page has a session, the command brings the token of the data directory, or both bring a key. A key whose role
does not decide what is told is taken for an agent's whatever it says.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import parse_qs, unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codexmem.http.admission import Admission, ClientLeft
from codexmem.http.authority import Authority, OurNames
from codexmem.http.errors import (
    STATUSES,
    BodyTooLarge,
    BodyTooSlow,
    ErrorTable,
    HeadTooLarge,
    Misdirected,
    Reply,
    UnsupportedMediaType,
)
from codexmem.http.json_body import DEFAULT_LIMITS, PARSED, BodyLimits, parse_json_aside
from codexmem.http.long_replies import LongReply
from codexmem.http.peer import Peer
from codexmem.kernel.model.errors import (
    CodexmemError,
    Forbidden,
    InvalidArgument,
    TenantElsewhere,
    Unauthorized,
    Unavailable,
)
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import MAX_PROJECT, Origin
from codexmem.kernel.model.project_scope import acting_for
from codexmem.kernel.model.tenant import LOCAL, Identity, TenantRole
from codexmem.kernel.services.live_sessions import (
    CLIENT_HEADER,
    PERSON_HEADER,
    PROCESSES_HEADER,
    Caller,
    LiveSessions,
)

log = logging.getLogger(__name__)

Authenticate = Callable[[str | None], Identity | None]
EnterTenant = Callable[[str], AbstractContextManager[object]]

REFUSED = "codexmem.refused"  # scope key: code of the guard's refusal, for the request log
PEER = "codexmem.peer"  # scope state: who is at the other end of the connection
PROJECT_HEADER = "x-codexmem-project"
_PROBES = frozenset({"/api/health", "/api/readiness", "/api/version", "/healthz", "/api/v1/healthz"})
ANYONE = Identity(LOCAL, LOCAL)  # whom a request acts for while authentication is off

# Of a body that was refused: read and thrown away behind the answer, because closing on unread bytes resets the
# connection, and the client would never see why.
_DISCARDED_BYTES = 64 * 1024 * 1024
_DISCARDED_S = 5.0
# Keys are looked up in threads of their own: requests that hang must not keep others from being told who they are.
_LOOKING = 4
_LOOKED_S = 4.0

_SAME_SITE = frozenset({"same-origin", "none"})
_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/=-]{1,512})")
_SESSION = re.compile(r"cms_[0-9a-f]{64}")
_JSON_TYPE = re.compile(r"application/json", re.IGNORECASE)
_PARAMETER = re.compile(r"\s*[A-Za-z0-9!#$&^_.+-]{1,64}=(?:[A-Za-z0-9!#$&^_.+-]{1,64}|\"[^\"\\]{0,64}\")\s*")

Headers = Mapping[str, list[str]]


class PersonProof(Protocol):
    """By what a person is known where no key is asked for."""

    @property
    def cookie(self) -> str: ...
    @property
    def session(self) -> str:
        """The cookie's value, which our own page is given."""

    def authenticate(self, bearer: str | None) -> Identity | None:
        """Whom the token in the data directory stands for; None for anything else."""


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """What the composition root decides about admission."""

    authenticate: Authenticate | None  # None: authentication is off, every request acts for the local tenant
    enter_tenant: EnterTenant  # entered around each request that acts for a tenant
    names: tuple[str, ...] = ()  # further Host names, see OurNames.of
    port: int | None = None  # the bound port; None takes it from the socket that the request came in on
    head_bytes: int = 32 * 1024  # address and headers together
    limits: BodyLimits = DEFAULT_LIMITS
    body_seconds: float = 30.0  # a body that takes longer to arrive is refused
    # For probes, which bring no key, and for a page that shows nothing until it is given one; they have no tenant.
    open_paths: frozenset[str] = frozenset(
        {
            "/api/health", "/api/readiness", "/api/version", "/healthz", "/api/v1/healthz", "/", "/viewer", "/ui",
            "/api/sign-in", "/sign-in", "/sign-in/callback",
        }
    )  # fmt: skip
    # What a device sends that has no key yet.
    open_posts: frozenset[str] = frozenset({"/api/sign-in/device", "/api/sign-in/device/token"})
    # Where another site sends a browser's window to: nothing there goes by what the browser brings of itself.
    arrivals: frozenset[str] = frozenset({"/sign-in/callback"})
    session_cookie: str = ""  # the name of the cookie that can stand for a key; empty for none
    known: Callable[[str], Identity | None] = lambda _: None  # whom a key acts for, where that need not be looked up
    person: Callable[[], PersonProof | None] = lambda: None  # while authentication is off; without it nobody is one
    admission: Admission | None = None  # who is answered now, where tenants share a server
    sessions: LiveSessions | None = None  # among which the one that speaks is looked for
    open_folder: str = "/ui/"  # the application's own files: below it no route answers anything but them


@dataclass(frozen=True, slots=True)
class _Admitted:
    identity: Identity | None
    body: bytes


class _Incoming:
    """What the client sends, and how far it has come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.begun = False
        self.ended = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.begun = True
        self.ended = message["type"] != "http.request" or not message.get("more_body", False)
        return message


class Guard:
    """ASGI application around another one that sees admitted requests only."""

    def __init__(self, app: ASGIApp, settings: GuardSettings, errors: ErrorTable) -> None:
        self._app = app
        self._settings = settings
        self._names = OurNames.of(settings.names)
        self._errors = errors
        self._looking: ThreadPoolExecutor | None = None
        self._looked_up: dict[str | None, asyncio.Future[Identity | None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit and run, or refuse without entering the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        send, incoming = _hardened(send), _Incoming(receive)
        slot = None
        try:
            admitted = await self._admit(scope, incoming)
            if admitted.identity is not None and self._settings.admission is not None:
                slot = await self._settings.admission.enter(
                    admitted.identity.tenant, scope["method"], scope["path"], receive, send
                )
                send = slot.send
        except ClientLeft:
            return
        except CodexmemError as refusal:
            scope[REFUSED] = refusal.code
            await _refuse(self._errors.reply(scope["path"], refusal), scope, incoming, send)
            return
        except Exception as error:
            scope[REFUSED] = "internal"
            failure = CodexmemError(f"the guard failed: {type(error).__name__}")
            failure.__cause__ = error
            await self._errors.reply(scope["path"], failure).send(send)
            return
        try:
            await self._answer(admitted, scope, receive, send)
        finally:
            if slot is not None:
                slot.release()

    async def _answer(self, admitted: _Admitted, scope: Scope, receive: Receive, send: Send) -> None:
        if admitted.identity is not None:
            identity = replace(admitted.identity, address=(scope.get("client") or (None,))[0])
            scope.setdefault("state", {})["identity"] = self._speaking(identity, scope)
        receive, send = _replay(admitted.body, receive), self._with_session(scope, send)
        tenant = self._settings.enter_tenant(admitted.identity.tenant) if admitted.identity else nullcontext()
        with tenant, acting_for(admitted.identity):
            if self._settings.authenticate is None or admitted.identity is None:
                await self._app(scope, receive, send)
                return
            reply = LongReply(receive, send, lambda: self._is_still(admitted.identity, scope))
            try:
                await self._app(scope, reply.receive, reply.send)
            finally:
                reply.close()

    async def _is_still(self, identity: Identity | None, scope: Scope) -> bool:
        """Whether the request would be admitted as the same caller now."""
        try:
            return await self._identify(scope, _collect(scope["headers"])) == identity
        except (Unauthorized, TenantElsewhere):
            return False

    async def _admit(self, scope: Scope, receive: Receive) -> _Admitted:
        headers = _collect(scope["headers"])
        self._check_source(scope, headers)
        self._check_owner(scope)
        declared = _declared_length(headers)
        if declared:
            _require_json(headers)
        if declared > self._settings.limits.body_bytes:
            raise _too_large(self._settings.limits)
        body = await self._read(receive)
        if body and not declared:
            _require_json(headers)
        self._check_head(scope)
        if body:
            scope[PARSED] = await parse_json_aside(body, self._settings.limits)
        return _Admitted(await self._identify(scope, headers), body)

    def _check_source(self, scope: Scope, headers: Headers) -> None:
        port = self._settings.port if self._settings.port is not None else (scope.get("server") or (None, None))[1]
        hosts = headers.get("host", [])
        asked = Authority.parse(hosts[0]) if len(hosts) == 1 else None
        # A target in absolute form carries a second, overriding authority.
        if asked is None or not self._names.own(asked, port) or not scope["path"].startswith("/"):
            raise Misdirected(
                "this server does not answer to that Host",
                hint="use the address that the server printed, or add the name to its allowed hosts",
            )
        sites = headers.get("sec-fetch-site", [])
        if sites and (len(sites) > 1 or sites[0] not in _SAME_SITE) and not self._arrives(scope, headers):
            raise Forbidden("requests from other sites are refused")
        origins = headers.get("origin", [])
        if origins and (len(origins) > 1 or not self._names.same_origin(origins[0], asked, port)):
            raise Forbidden("requests from other origins are refused")

    def _check_owner(self, scope: Scope) -> None:
        """Refuse other users of this machine, where no key says who they are."""
        peer = scope.get("state", {}).get(PEER)
        if self._settings.authenticate is None and isinstance(peer, Peer) and scope["path"] not in _PROBES:
            if not peer.is_owner:
                raise Forbidden(
                    "this server serves the user who started it, and you are another user of this machine",
                    hint="start a server of your own (codexmem serve --port 0), or ask its owner to switch keys on "
                    "(CODEXMEM_AUTH=token) and to make one for you (codexmem key create)",
                    details={"reason": "other_user"},
                )

    def _with_session(self, scope: Scope, send: Send) -> Send:
        """A send that gives the window of a browser the session by which its person is known."""
        headers = _collect(scope["headers"])
        sites = headers.get("sec-fetch-site")
        proof = self._settings.person() if self._settings.authenticate is None else None
        if proof is None or not _is_window(scope, headers) or sites not in (["none"], ["same-origin"]):
            return send
        cookie = f"{proof.cookie}={proof.session}; Path=/; HttpOnly; SameSite=Strict"

        async def given(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), (b"set-cookie", cookie.encode())]}
            await send(message)

        return given

    def _arrives(self, scope: Scope, headers: Headers) -> bool:
        """Whether a person's window comes from elsewhere to a place that is there for it."""
        return _is_window(scope, headers) and scope["path"] in self._settings.arrivals

    def _check_head(self, scope: Scope) -> None:
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size + len(scope["path"]) + len(scope["query_string"]) > self._settings.head_bytes:
            raise HeadTooLarge(f"address and headers are larger than {self._settings.head_bytes} bytes")
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            raise InvalidArgument("the address holds a NUL character")

    async def _read(self, receive: Receive) -> bytes:
        limits, chunks, size = self._settings.limits, [], 0
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientLeft
                    chunk = message.get("body", b"")
                    size += len(chunk)
                    if size > limits.body_bytes:
                        raise _too_large(limits)
                    chunks.append(chunk)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise BodyTooSlow(f"the body did not arrive within {self._settings.body_seconds:g} seconds") from None
        return b"".join(chunks)

    def _speaking(self, identity: Identity, scope: Scope) -> Identity:
        """The identity with who speaks: a person or an agent, and in which session."""
        headers = _collect(scope["headers"])
        # Whoever may not decide what is told is heard as an agent is: a person's word would decide it.
        decides, (on_page, typed) = identity.decides, self._proven(headers)
        if decides and (on_page or identity.origin is Origin.HUMAN):
            return replace(identity, origin=Origin.HUMAN)
        processes, client = (headers.get(name, [""])[0] for name in (PROCESSES_HEADER, CLIENT_HEADER))
        caller = Caller.of(processes, client, _project(scope, headers))
        sessions = self._settings.sessions
        # What an agent starts is the agent, whatever it says of itself.
        below = sessions is not None and sessions.below_agent(identity.tenant, caller)
        if decides and typed and not below:
            return replace(identity, origin=Origin.HUMAN)
        found = sessions.of(identity.tenant, caller) if sessions is not None else None
        return replace(identity, session=found.key, source=found.subject) if found is not None else identity

    def _proven(self, headers: Headers) -> tuple[bool, bool]:
        """Whether our own page asks, and whether a command does that a person types."""
        on_page, typed = headers.get("sec-fetch-site") == ["same-origin"], headers.get(PERSON_HEADER) == ["1"]
        if self._settings.authenticate is not None:
            return on_page, typed  # it brought a key
        proof = self._settings.person()
        if proof is None:
            return False, False
        in_session = on_page and _cookies(headers, proof.cookie) == [proof.session]
        return in_session, typed and proof.authenticate(_bearer(headers)) is not None

    def _open(self, method: str, path: str) -> bool:
        if method in {"GET", "HEAD"}:
            return path in self._settings.open_paths or path.startswith(self._settings.open_folder)
        return method == "POST" and path in self._settings.open_posts

    def _session(self, scope: Scope, headers: Headers) -> str | None:
        """The secret of a browser's session, where our own page sends it or its person asks for an address.

        Browsers say which it is. What does not say so could be caused by another site, and has no session.
        """
        name, sites = self._settings.session_cookie, headers.get("sec-fetch-site", [])
        own = sites == ["same-origin"] or (sites == ["none"] and scope["method"] in {"GET", "HEAD"})
        if not name or not own or "authorization" in headers:
            return None
        found = _cookies(headers, name)
        return found[0] if len(found) == 1 and _SESSION.fullmatch(found[0]) else None

    async def _identify(self, scope: Scope, headers: Headers) -> Identity | None:
        if self._settings.authenticate is None:
            return ANYONE
        if self._open(scope["method"], scope["path"]):
            return None
        bearer = _bearer(headers)
        # A session is no key: it comes in its cookie or not at all.
        secret = bearer if bearer and not _SESSION.fullmatch(bearer) else self._session(scope, headers)
        # A header that is there but cannot be read is a refusal, not an anonymous request.
        identity = self._settings.known(secret) if secret else None
        if identity is None and (secret or not headers.get("authorization")):
            identity = await self._look_up(self._settings.authenticate, secret)
        if identity is None:
            raise Unauthorized("a valid API key is required", hint="send it as: Authorization: Bearer <key>")
        return identity

    async def _look_up(self, authenticate: Authenticate, bearer: str | None) -> Identity | None:
        looking = self._looked_up.get(bearer)
        if looking is None:  # requests that bring the same key at the same time share one look
            self._looking = self._looking or ThreadPoolExecutor(_LOOKING, thread_name_prefix="codexmem-keys")
            looking = asyncio.get_running_loop().run_in_executor(self._looking, authenticate, bearer)
            self._looked_up[bearer] = looking
            looking.add_done_callback(lambda _: self._looked_up.pop(bearer, None))
        try:
            return await asyncio.wait_for(asyncio.shield(looking), _LOOKED_S)
        except TimeoutError:
            raise Unavailable(
                "the key could not be looked up in time",
                hint="try again in a moment",
                details={"reason": "store", "retry_after_s": 2},
            ) from None


def _is_window(scope: Scope, headers: Headers) -> bool:
    """Whether a browser asks for what its window is to show."""
    asked = [headers.get(name) for name in ("sec-fetch-mode", "sec-fetch-dest")]
    return scope["method"] == "GET" and asked == [["navigate"], ["document"]]


def _bearer(headers: Headers) -> str | None:
    given = headers.get("authorization", [])
    found = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
    return found[1] if found else None


def _cookies(headers: Headers, name: str) -> list[str]:
    pairs = (pair.strip().partition("=") for line in headers.get("cookie", []) for pair in line.split(";"))
    return [value for key, _, value in pairs if key == name]


def _project(scope: Scope, headers: Headers) -> str:
    """The project that the caller of a tool works in, as the address says, else as a header says."""
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("project", [""])[0]
    return (asked or unquote(headers.get(PROJECT_HEADER, [""])[0])).strip()[:MAX_PROJECT]


def _collect(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    headers: dict[str, list[str]] = {}
    for name, value in raw:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _declared_length(headers: Headers) -> int:
    """The announced size of the body: 0 for none, 1 for a chunked body, whose size is known only at its end."""
    lengths, encodings = set(headers.get("content-length", [])), headers.get("transfer-encoding", [])
    if encodings and lengths:
        raise InvalidArgument("Content-Length and Transfer-Encoding exclude each other")
    if encodings:
        return 1
    if not lengths:
        return 0
    text = lengths.pop()
    if lengths or not text.isascii() or not text.isdigit() or len(text) > 18:
        raise InvalidArgument("Content-Length is not one plain number")
    return int(text)


def _require_json(headers: Headers) -> None:
    types = headers.get("content-type", [])
    encodings = headers.get("content-encoding", [])
    if len(types) == 1 and not any(encoding.lower() != "identity" for encoding in encodings):
        media, *parameters = types[0].split(";")
        if _JSON_TYPE.fullmatch(media.strip()) and all(_acceptable(text) for text in parameters):
            return
    raise UnsupportedMediaType("a body must be application/json in UTF-8", hint="send Content-Type: application/json")


def _acceptable(parameter: str) -> bool:
    if not _PARAMETER.fullmatch(parameter):
        return not parameter.strip()
    name, _, value = parameter.strip().partition("=")
    return name.lower() != "charset" or value.strip('"').lower() in {"utf-8", "utf8"}


def _too_large(limits: BodyLimits) -> BodyTooLarge:
    return BodyTooLarge(
        f"the body is larger than {limits.body_bytes} bytes",
        hint="send less at once; the server's limit is its setting max_body_bytes",
    )


async def _refuse(reply: Reply, scope: Scope, incoming: _Incoming, send: Send) -> None:
    """Answer at once, then take a bounded amount of the body that is still on its way."""
    headers = _collect(scope["headers"])
    announced = headers.get("content-length", ["0"]) != ["0"] or "transfer-encoding" in headers
    # Whoever waits for leave to send has sent nothing yet, and the answer denies it.
    waits = not incoming.begun and "expect" in headers
    if incoming.ended or waits or not announced or reply.status == STATUSES[BodyTooSlow.code]:
        await reply.send(send)
        return
    raw = [*reply.response().raw_headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": reply.status, "headers": raw})
    await send({"type": "http.response.body", "body": reply.body, "more_body": True})
    left = _DISCARDED_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(_DISCARDED_S):
            while left > 0 and not incoming.ended:
                left -= len((await incoming()).get("body", b""))
    await send({"type": "http.response.body"})


def _replay(body: bytes, receive: Receive) -> Receive:
    """A receive that tells the body once more, then whatever the connection says next (that is: disconnect)."""
    told = False

    async def replayed() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _hardened(send: Send) -> Send:
    """A send that strips CORS headers, whoever set them, and forbids guessing of content types."""

    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept: list[tuple[bytes, bytes]] = [
                (name, value)
                for name, value in message.get("headers", [])
                if not name.lower().startswith(b"access-control-") and name.lower() != b"x-content-type-options"
            ]
            message = {**message, "headers": [*kept, (b"x-content-type-options", b"nosniff")]}
        await send(message)

    return hardened


def identity_of(scope: Mapping[str, object]) -> Identity | None:
    """Whom the request acts for; None on an open path or before the guard has decided."""
    state = scope.get("state")
    identity = state.get("identity") if isinstance(state, dict) else None
    return identity if isinstance(identity, Identity) else None


def require(scope: Mapping[str, object], needed: TenantRole) -> None:
    """Refuse what the request's caller may not do."""
    if (identity := identity_of(scope)) is not None:
        identity.require(needed)


def require_every_project(scope: Mapping[str, object]) -> None:
    """Refuse a caller who has rights to some projects only."""
    if (identity := identity_of(scope)) is not None:
        identity.require_every_project()


@contextmanager
def acting(scope: Mapping[str, object], needed: TenantRole) -> Iterator[None]:
    """Refuse what the request's caller may not do, and confine the block to the projects in which he may."""
    require(scope, needed)
    with acting_for(identity_of(scope), needed):
        yield


def actor_of(scope: Mapping[str, object]) -> str:
    """How the request's author is called in history."""
    identity = identity_of(scope)
    return identity.actor if identity is not None else "unknown"


def written_by(scope: Mapping[str, object]) -> WriteContext:
    """How what the request writes is signed: its author, who that is, and in which session."""
    identity = identity_of(scope)
    return identity.by() if identity is not None else WriteContext("unknown")
