"""How a command reaches the store: over HTTP to the server that has it, else by the same routes in this process.

Both ways answer the same requests with the same documents, so that a command has one way to ask and one text to print.
Beside a server nothing is loaded that only a server needs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode

from codexmem import __version__
from codexmem.client import transport
from codexmem.client.transport import HttpReply
from codexmem.console.store import chosen, place_of, tenant_of
from codexmem.kernel.model.errors import CodexmemError, NotFound, Unavailable
from codexmem.kernel.model.memory import Origin
from codexmem.kernel.model.tenant import LOCAL
from codexmem.settings import Settings, is_person

if TYPE_CHECKING:
    from codexmem.app import Core, Services

ACTOR = "cli"
TIMEOUT_S = 120.0
LONG_S = 3600.0  # for what the server does in many steps before it answers
Answer = dict[str, Any]  # as JSON was read: whoever asked knows its fields
_ACCEPT = "application/json, text/event-stream"  # the tools' endpoint wants both, and answers with the first
_NO_KEY = "the server asks for a token: run this as the user who runs the server, with its data directory"
_SQLITE = "sqlite:///"
_LARGEST = 64 << 20  # bytes of a request in this process, where nobody else sends any
_MOST_REPLY = 16 << 20


class Backend(ABC):
    """Whoever answers requests: a path, what is asked, and a document back."""

    def get(self, path: str, **query: object) -> Answer:
        """Ask; what is None is left out, a list is repeated."""
        given = {name: value for name, value in query.items() if value is not None}
        return self.call("GET", f"{path}?{urlencode(given, doseq=True)}" if given else path)

    def post(self, path: str, body: Mapping[str, object], *, timeout_s: float | None = None) -> Answer:
        """Send; a server has its own time to answer, unless another one is given."""
        return self.call("POST", path, body, timeout_s=timeout_s)

    def call(self, method: str, target: str, body: Mapping[str, object] | None = None, *,
             timeout_s: float | None = None) -> Answer:  # fmt: skip
        """Any request to a path with its query; what is refused is raised as if it had happened here."""
        status, answer = self._answer(method, target, transport.encoded(body), timeout_s)
        if status not in {200, 201}:
            raise transport.refusal(status, answer, no_key=_NO_KEY)
        return answer

    @abstractmethod
    def _answer(self, method: str, target: str, body: bytes | None, timeout_s: float | None) -> tuple[int, Answer]:
        """Status and document."""


class Remote(Backend):
    """A running server, spoken to over HTTP as any client would: it owns the store, so changes go there."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self.url = url
        self._headers = {"Accept": _ACCEPT, **(headers or {})}
        self._timeout_s = timeout_s

    def _answer(self, method: str, target: str, body: bytes | None, timeout_s: float | None) -> tuple[int, Answer]:
        try:
            reply = transport.ask(
                self.url, method, target, body, self._headers, timeout_s=timeout_s or self._timeout_s, most=_MOST_REPLY
            )
            return reply.status, reply.document()
        except (OSError, ValueError) as error:
            problem = str(error) or type(error).__name__
            raise Unavailable(
                f"the server at {self.url} does not answer: {problem}",
                hint="for details run codexmem doctor; what was done so far is kept, and the command can be repeated",
                details={"reason": "server_silent", "url": self.url, "problem": problem},
            ) from error


class InProcess(Backend):
    """The server's own routes in this process, on a store that it has opened; it is waited for as long as it takes."""

    def __init__(self, core: "Core", tenant: str) -> None:
        self.core = core
        self._tenant = tenant
        self._apps: dict[str, object] = {}  # by the surface's name: only what is asked for is built
        self.origin = Origin.HUMAN if is_person() else Origin.AGENT

    def _app(self, path: str) -> Any:
        from codexmem.app import SURFACES

        fitting = [(len(prefix), each) for each in SURFACES for prefix in each.prefixes if path.startswith(prefix)]
        surface = max(fitting, key=lambda pair: pair[0])[1]
        if surface.name not in self._apps:
            self._apps[surface.name] = self._built(surface)
        return self._apps[surface.name]

    @cached_property
    def services(self) -> "Services":
        """What routes and tools call."""
        from codexmem.app import Services
        from codexmem.kernel.model.ids import SystemClock
        from codexmem.kernel.services.status import ServerStatus

        services = Services(ServerStatus(version=__version__, clock=SystemClock()))
        services.opened(self.core)
        return services

    def _built(self, surface: Any) -> Any:
        from codexmem.http.assemble import build_asgi
        from codexmem.http.guard import GuardSettings
        from codexmem.http.json_body import BodyLimits
        from codexmem.kernel.model.tenant import Identity
        from codexmem.kernel.store.database import acting_as

        identity = Identity(self._tenant, ACTOR, self.origin)
        guard = GuardSettings(lambda _: identity, acting_as, port=80, limits=BodyLimits(body_bytes=_LARGEST))
        return build_asgi([surface], self.services, guard, version=__version__)

    def _answer(self, method: str, target: str, body: bytes | None, timeout_s: float | None) -> tuple[int, Answer]:
        import asyncio

        reply = asyncio.run(self._called(method, target, body))
        return reply.status, reply.document()

    async def _called(self, method: str, target: str, body: bytes | None) -> HttpReply:
        path, _, query = target.partition("?")
        headers = [(b"host", b"localhost:80"), (b"accept", _ACCEPT.encode())]
        if body is not None:
            headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": headers, "server": ("localhost", 80), "client": None,
        }  # fmt: skip
        status, said = 500, bytearray()

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": body or b"", "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                said.extend(message.get("body", b""))

        await self._app(unquote(path))(scope, receive, send)
        return HttpReply(status, bytes(said))


@contextmanager
def backend(*, tenant: str | None, data_dir: str | None, database_url: str | None, write: bool = False,
            create: bool = False) -> Iterator[Backend]:  # fmt: skip
    """The way to the store that these flags name.

    Without a server it is opened here, unless it is to `write` for looking only; one that does not exist yet is made
    only if that is said.
    """
    settings = chosen(data_dir=data_dir, database_url=database_url)
    server = server_of(settings)
    # Whose memories a server tells is decided by the key that it is given.
    whose = tenant_of(settings, tenant) if server is None or tenant is not None else LOCAL
    if server is not None:
        yield server
        return
    with opened(settings, whose, write=write, create=create) as core:
        yield InProcess(core, whose)


@contextmanager
def opened(settings: Settings, tenant: str, *, write: bool = True, create: bool = False) -> Iterator["Core"]:
    """The store, opened by this process for a tenant; one that does not exist yet is made only if that is said."""
    if not create:
        require_store(settings)
    from codexmem.app import open_core, open_reading
    from codexmem.kernel.store.database import acting_as

    core = open_core(settings) if write or create else open_reading(settings)
    try:
        with acting_as(tenant):
            yield core
    finally:
        core.close()


def server_of(settings: Settings) -> Remote | None:
    """The server to ask; None where the store is to be opened here."""
    from codexmem.client import background
    from codexmem.client.starting import headers

    place, named = place_of(settings), settings.origins["database_url"] == "flag"
    if (settings.on_postgres and (named or not place.url)) or (named and not _owned(settings)):
        return None
    running = background.look(place)
    if running is None and not place.url:
        return None
    return Remote(running.url if running else place.url.rstrip("/"), {**headers(place), **speaking()})


def speaking() -> dict[str, str]:
    """Headers by which a server knows whether a person types the command, or in which agent's session it runs."""
    from codexmem.hook import processes

    above = {"X-Codexmem-Processes": ",".join(processes.ancestors())}
    return {**above, "X-Codexmem-Person": "1"} if is_person() else above


def _owned(settings: Settings) -> bool:
    from codexmem.kernel.store import inspection

    return inspection.owned(settings.database_url)


@contextmanager
def advised(rewrite: Callable[[str], str]) -> Iterator[None]:
    """What a server advises in the names of paths or tools is said in those of commands, by rewriting the hint."""
    try:
        yield
    except CodexmemError as error:
        if error.hint is None:
            raise
        raise type(error)(error.message, hint=rewrite(error.hint), details=error.details) from None


def require_store(settings: Settings) -> None:
    """Refuse where there is nothing to look at yet."""
    from pathlib import Path

    path = Path(settings.database_url.removeprefix(_SQLITE))
    if settings.database_url.startswith(_SQLITE) and not path.is_file():
        raise NotFound(
            f"there is no store at {path}",
            hint="create one with codexmem init; codexmem config get data_dir shows where it is expected",
            details={"reason": "no_store", "path": str(path)},
        )
