"""The lab's interface, called by a person: by the running server that owns the store, else in this process.

Both ways lead to the same routes, so that a command and any other client mean the same by the same words, and are
refused for the same reasons. What the interface advises is in the names of paths; here it is said in those of commands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from pydantic import BaseModel

from codexmem.console.backend import Answer, Backend, InProcess, advised, backend
from codexmem.lab.wire.fields import LabPage

if TYPE_CHECKING:
    from codexmem.app import Core

M = TypeVar("M", bound=BaseModel)
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


class LabApi:
    """The lab's interface."""

    def __init__(self, wire: Backend, core: "Core | None" = None) -> None:
        self._wire = wire
        self._core = core

    def get(self, answer: type[M], *path: str, **query: Any) -> M:
        """Look; a list is repeated, and what is None or empty is left out."""
        given = [(name, value) for name, value in query.items() if value not in (None, "", [], ())]
        return answer.model_validate(self._call("GET", path, urlencode(given, doseq=True), None))

    def send(self, answer: type[M], method: str, *path: str, **body: Any) -> M:
        """Ask for a change; what is None is left out."""
        given = {name: value for name, value in body.items() if value is not None}
        return answer.model_validate(self._call(method, path, "", given))

    def items(self, page: type[LabPage[M]], *path: str, limit: int, **query: Any) -> LabPage[M]:
        """The first so many of a list, asked for page by page."""
        found: list[M] = []
        cursor: str | None = None
        while True:
            told = self.get(page, *path, **query, cursor=cursor, limit=min(PAGE, limit - len(found)))
            found += told.items
            cursor = told.next_cursor
            if not cursor or len(found) >= limit:
                return page.of(found, cursor)

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
        with advised(lambda hint: _NAME.sub(lambda found: _COMMANDS[found[0]], hint)):
            return self._wire.call(method, target, body)


@contextmanager
def lab_api(*, create: bool = False, **where: Any) -> Iterator[LabApi]:
    """The lab of the store that these flags name; one that does not exist yet is made only if that is said."""
    with backend(write=True, create=create, **where) as store:
        yield LabApi(store, store.core if isinstance(store, InProcess) else None)
