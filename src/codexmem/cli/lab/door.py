"""The lab's interface, called by a person: by the running server that owns the store, else in this process.

Both ways lead to the same routes, so that a command and any other client mean the same by the same words, and are
refused for the same reasons. What the interface advises is in the names of paths; here it is said in those of commands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from codexmem.cli.backend import Answer, Backend, InProcess, backend
from codexmem.domain.errors import CodexmemError

if TYPE_CHECKING:
    from codexmem.app import Core

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


class LabDoor:
    """The lab's interface."""

    def __init__(self, wire: Backend, core: "Core | None" = None) -> None:
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


@contextmanager
def lab_door(*, create: bool = False, **where: Any) -> Iterator[LabDoor]:
    """The lab of the store that these flags name; one that does not exist yet is made only if that is said."""
    with backend(write=True, create=create, **where) as store:
        yield LabDoor(store, store.core if isinstance(store, InProcess) else None)


def _spoken(error: CodexmemError) -> CodexmemError:
    """The same error with commands for paths."""
    if error.hint is None:
        return error
    hint = _NAME.sub(lambda found: _COMMANDS[found[0]], error.hint)
    return type(error)(error.message, hint=hint, details=error.details)
