"""How a command reaches the store: over HTTP to the server that has it, else by the same routes in this process.

Both ways answer the same requests with the same documents, so that a command has one way to ask and one text to print.
Beside a server nothing is loaded that only a server needs.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from codexmem import __version__
from codexmem.cli.remote import DONE, Remote, encoded, refusal, with_query
from codexmem.cli.store import chosen, place_of, tenant_of
from codexmem.domain.errors import NotFound
from codexmem.domain.tenant import LOCAL
from codexmem.settings import Settings

if TYPE_CHECKING:
    from codexmem.app import Core

ACTOR = "cli"
Answer = dict[str, Any]
_SQLITE = "sqlite:///"
_LARGEST = 64 << 20  # bytes of a request in this process, where nobody else sends any


class Backend(Protocol):
    """Whoever answers requests: a path, what is asked, and a document back."""

    def get(self, path: str, **query: object) -> Answer:
        """Ask; what is None is left out, a list is repeated."""
        ...

    def post(self, path: str, body: Mapping[str, Any], *, timeout_s: float | None = None) -> Answer:
        """Send."""
        ...

    def call(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> Answer:
        """Any request to a path with its query."""
        ...


class InProcess:
    """The server's own routes in this process, on a store that it has opened."""

    def __init__(self, core: "Core", tenant: str) -> None:
        self.core = core
        self._tenant = tenant
        self._apps: dict[str, Any] = {}  # by the surface's name: only what is asked for is built

    def _app(self, path: str) -> Any:
        from codexmem.app import SURFACES

        fitting = [(len(prefix), each) for each in SURFACES for prefix in each.prefixes if path.startswith(prefix)]
        surface = max(fitting, key=lambda pair: pair[0])[1]
        if surface.name not in self._apps:
            self._apps[surface.name] = self._built(surface)
        return self._apps[surface.name]

    def _built(self, surface: Any) -> Any:
        from codexmem.app import Services
        from codexmem.domain.ids import SystemClock
        from codexmem.domain.tenant import Identity
        from codexmem.services.status import Status
        from codexmem.store.database import acting_as
        from codexmem.surfaces._kit.assemble import build_asgi
        from codexmem.surfaces._kit.guard import GuardSettings
        from codexmem.surfaces._kit.json_body import Limits

        services = Services(Status(version=__version__, clock=SystemClock()))
        services.opened(self.core)
        identity = Identity(self._tenant, ACTOR)
        guard = GuardSettings(lambda _: identity, acting_as, port=80, limits=Limits(body_bytes=_LARGEST))
        return build_asgi([surface], services, guard, version=__version__)

    def get(self, path: str, **query: object) -> Answer:
        """Ask."""
        return self.call("GET", with_query(path, query))

    def post(self, path: str, body: Mapping[str, Any], *, timeout_s: float | None = None) -> Answer:
        """Send; whoever asks waits for as long as it takes."""
        return self.call("POST", path, body)

    def call(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> Answer:
        """Any request."""
        import asyncio

        status, answer = asyncio.run(self._called(method, target, body))
        if status not in DONE:
            raise refusal(status, answer)
        return answer

    async def _called(self, method: str, target: str, body: Mapping[str, Any] | None) -> tuple[int, Answer]:
        raw = b"" if body is None else encoded(body)
        path, _, query = target.partition("?")
        headers = [(b"host", b"localhost:80"), (b"accept", b"application/json, text/event-stream")]
        if body is not None:
            headers += [(b"content-type", b"application/json"), (b"content-length", str(len(raw)).encode())]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": headers, "server": ("localhost", 80), "client": None,
        }  # fmt: skip
        status, said = 500, bytearray()

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": raw, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                said.extend(message.get("body", b""))

        await self._app(unquote(path))(scope, receive, send)
        answer = json.loads(bytes(said) or b"{}")
        return status, answer if isinstance(answer, dict) else {}


@contextmanager
def backend(*, tenant: str | None, data_dir: str | None, database_url: str | None, write: bool = False,
            create: bool = False) -> Iterator[Backend]:  # fmt: skip
    """The way to the store that these flags name.

    Without a server it is opened here, unless it is to `write` for looking only; one that does not exist yet is made
    only if that is said.
    """
    settings = chosen(data_dir=data_dir, database_url=database_url)
    with reached(settings, tenant, write=write, create=create) as found:
        yield found


@contextmanager
def reached(settings: Settings, tenant: str | None, *, write: bool, create: bool = False) -> Iterator[Backend]:
    """The way to the store of these settings."""
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
    from codexmem.store.database import acting_as

    core = open_core(settings) if write or create else open_reading(settings)
    try:
        with acting_as(tenant):
            yield core
    finally:
        core.close()


def server_of(settings: Settings) -> Remote | None:
    """The server to ask; None where the store is to be opened here."""
    from codexmem.clients import background
    from codexmem.clients.starting import headers

    place, named = place_of(settings), settings.origins["database_url"] == "flag"
    if (settings.on_postgres and (named or not place.url)) or (named and not _owned(settings)):
        return None
    running = background.look(place)
    if running is None and not place.url:
        return None
    key = headers(place).get("Authorization", "").removeprefix("Bearer ")
    return Remote(running.url if running else place.url.rstrip("/"), key)


def _owned(settings: Settings) -> bool:
    from codexmem.store import inspection

    return inspection.owned(settings.database_url)


def require_store(settings: Settings) -> None:
    """Refuse where there is nothing to look at yet."""
    from pathlib import Path

    path = Path(settings.database_url.removeprefix(_SQLITE))
    if settings.database_url.startswith(_SQLITE) and not path.is_file():
        raise NotFound(
            f"there is no store at {path}",
            hint="codexmem init makes one; codexmem config get data_dir shows where it is looked for",
            details={"reason": "no_store", "path": str(path)},
        )
