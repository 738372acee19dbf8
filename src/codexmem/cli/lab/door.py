"""The lab's interface, called by a person: by the running server that owns the store, else in this process.

Both ways lead to the same routes, so that a command and any other client mean the same by the same words, and are
refused for the same reasons. What the interface advises is in the names of paths; here it is said in those of commands.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote, urlencode

from codexmem import __version__
from codexmem.cli.reach import opened
from codexmem.cli.remote import refusal, server_of
from codexmem.cli.store import chosen, tenant_of
from codexmem.domain.errors import CodexmemError

if TYPE_CHECKING:
    from codexmem.app import Core

Answer = dict[str, Any]
PAGE = 200  # items that are asked for at once
GRACE_S = 5.0
_COMMANDS = {
    "/api/v1/batches": "codexmem batch ls",
    "/api/v1/runs": "codexmem run ls",
    "/api/v1/products": "codexmem product ls",
    "/api/v1/product_presets": "codexmem preset ls",
    "/api/v1/memories": "codexmem rb ls",
    "…/reasoningbank/deltas": "codexmem rb deltas",
    "…/events": "codexmem run events",
    "…/evidence": "codexmem run evidence",
    "PUT the same path to give it": "codexmem run feedback --help says how to give it",
}
_NAME = re.compile("|".join(re.escape(each) for each in sorted(_COMMANDS, key=len, reverse=True)))


class Wire(Protocol):
    """Whoever answers requests."""

    def call(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> Answer:
        """The answer, or the error that was answered."""
        ...


class LabDoor:
    """The lab's interface."""

    def __init__(self, wire: Wire, core: "Core | None" = None) -> None:
        self._wire = wire
        self._core = core

    def get(self, *path: str, **query: Any) -> Answer:
        """Look; a list is repeated, and what is None or empty is left out."""
        given = [(name, value) for name, value in query.items() if value not in (None, "", [], ())]
        return self._call("GET", path, urlencode(given, doseq=True), None)

    def send(self, method: str, *path: str, **body: Any) -> Answer:
        """Ask for a change; what is None is left out."""
        return self._call(method, path, "", {name: value for name, value in body.items() if value is not None})

    def items(self, *path: str, limit: int, **query: Any) -> tuple[list[Answer], bool]:
        """The first so many of a list, page by page, and whether there are more."""
        found: list[Answer] = []
        cursor = ""
        while True:
            told = self.get(*path, **query, cursor=cursor, limit=min(PAGE, limit - len(found)))
            found += told["items"]
            cursor = told["next_cursor"] or ""
            if not cursor or len(found) >= limit:
                return found, bool(cursor)

    @contextmanager
    def working(self) -> Iterator[bool]:
        """Run what is queued during the block, if nobody else can; says whether that is so."""
        if self._core is None or self._core.db.engine.ambient_tenant is None:
            yield False
            return
        self._core.begin()
        try:
            yield True
        finally:
            self._core.stop(GRACE_S)

    def _call(self, method: str, path: Sequence[str], query: str, body: Mapping[str, Any] | None) -> Answer:
        target = "/".join(("/api/v1", *(quote(part, safe="") for part in path))) + (f"?{query}" if query else "")
        try:
            return self._wire.call(method, target, body)
        except CodexmemError as error:
            raise _spoken(error) from None


class _Here:
    """The routes in this process, on a store that it has opened."""

    def __init__(self, core: "Core") -> None:
        from codexmem.app import Services
        from codexmem.domain.ids import SystemClock
        from codexmem.services.status import Status
        from codexmem.surfaces._kit.assemble import build_asgi
        from codexmem.surfaces._kit.guard import GuardSettings
        from codexmem.surfaces.lab_api import SURFACE

        services = Services(Status(version=__version__, clock=SystemClock()))
        services.opened(core)
        # Whose store it is has been said when it was opened.
        guard = GuardSettings(None, lambda _: nullcontext(), port=80)
        self._app = build_asgi([SURFACE], services, guard, version=__version__)

    def call(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> Answer:
        """Call it."""
        import asyncio

        status, answer = asyncio.run(self._called(method, target, body))
        if status != 200:
            raise refusal(status, answer)
        return answer

    async def _called(self, method: str, target: str, body: Mapping[str, Any] | None) -> tuple[int, Answer]:
        raw = b"" if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        path, _, query = target.partition("?")
        headers = [(b"host", b"localhost:80")]
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

        await self._app(scope, receive, send)
        answer = json.loads(bytes(said) or b"{}")
        return status, answer if isinstance(answer, dict) else {}


@contextmanager
def lab_door(*, tenant: str | None, data_dir: str | None, database_url: str | None,
             create: bool = False) -> Iterator[LabDoor]:  # fmt: skip
    """The lab of the store that these flags name; one that does not exist yet is made only if that is said."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    tenant = tenant_of(settings, tenant)
    server = server_of(settings)
    if server is not None:
        yield LabDoor(server)
        return
    with opened(settings, tenant, create=create) as core:
        yield LabDoor(_Here(core), core)


def _spoken(error: CodexmemError) -> CodexmemError:
    """The same error with commands for paths."""
    if error.hint is None:
        return error
    hint = _NAME.sub(lambda found: _COMMANDS[found[0]], error.hint)
    return type(error)(error.message, hint=hint, details=error.details)
