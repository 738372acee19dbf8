"""Questions with answers, reached from a command. What a server advises in paths is said here in commands."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from codexmem.cli.backend import Answer, Backend, backend
from codexmem.cli.remote import LONG_S
from codexmem.domain.errors import CodexmemError, InvalidArgument, NotFound


class Qa:
    """What these commands ask for; answers are the documents of `/v1/qa`."""

    def __init__(self, store: Backend) -> None:
        self._store = store

    def search(self, fields: Mapping[str, Any]) -> Answer:
        """The items that fit."""
        return self._store.post("/v1/qa/search", fields)

    def page(self, *, status: str | None, project: str | None, limit: int, cursor: str | None) -> Answer:
        """Items, the newest first."""
        return self._store.get("/v1/qa/items", status=status, project_id=project, limit=limit, cursor=cursor)

    def look(self, qa_id: str) -> Answer:
        """One item with its company."""
        return self._store.get(f"/v1/qa/items/{quote(qa_id, safe='')}")

    def decide(self, qa_id: str, verb: str) -> Answer:
        """Approve or reject one item."""
        return self._store.post(f"/v1/qa/items/{quote(qa_id, safe='')}/{verb}", {})

    def hit(self, fields: Mapping[str, Any]) -> Answer:
        """Report what was shown and used."""
        return self._store.post("/v1/qa/hit", fields)

    def validate(self, fields: Mapping[str, Any]) -> Answer:
        """Report a trial."""
        return self._store.post("/v1/qa/validate", fields)

    def expire(self, batch_size: int) -> Answer:
        """Let some items expire."""
        return self._store.post("/v1/qa/expire", {"batch_size": batch_size}, timeout_s=LONG_S)


@contextmanager
def qa_of(**where: Any) -> Iterator[Qa]:
    """The way to the store that these flags name."""
    try:
        with backend(write=True, **where) as store:
            yield Qa(store)
    except CodexmemError as error:
        raise _spoken(error) from None


def own_projects(qa: Qa, ids: Sequence[str]) -> dict[str, list[str]]:
    """The ids by the project of each."""
    found: dict[str, list[str]] = {}
    for qa_id in dict.fromkeys(ids):
        found.setdefault(qa.look(qa_id)["project_id"], []).append(qa_id)
    return found


def _spoken(error: CodexmemError) -> CodexmemError:
    """The same error with commands for paths; what does not fit is the caller's mistake, whoever found it."""
    if error.code == "unprocessable":
        return InvalidArgument(error.message, hint=error.hint)
    if isinstance(error, NotFound) and error.hint is not None and "/v1/qa/" in error.hint:
        return NotFound(error.message, hint="codexmem qa search and codexmem qa candidates show ids")
    return error
