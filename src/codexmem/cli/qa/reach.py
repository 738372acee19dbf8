"""Questions with answers, reached from a command: by the running server that owns the store, else by opening it here.

Both ways take the same fields and answer with the same documents, because the store opened here is asked through the
door's own parsing and rendering. What the door advises is in its paths; here it is said in commands.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote

from codexmem.cli.reach import ACTOR, opened
from codexmem.cli.remote import LONG_S, Remote, server_of
from codexmem.cli.store import chosen, tenant_of
from codexmem.domain.errors import CodexmemError, InvalidArgument, NotFound
from codexmem.domain.history import By

if TYPE_CHECKING:
    from pydantic import BaseModel

    from codexmem.app import Core

    Payload = TypeVar("Payload", bound=BaseModel)

Answer = dict[str, Any]
_BY = By(ACTOR)


class Qa(Protocol):
    """What these commands ask for; answers are the documents of `/v1/qa`."""

    def search(self, fields: Mapping[str, Any]) -> Answer:
        """The items that fit."""
        ...

    def page(self, *, status: str | None, project: str | None, limit: int, cursor: str | None) -> Answer:
        """Items, the newest first."""
        ...

    def look(self, qa_id: str) -> Answer:
        """One item with its company."""
        ...

    def decide(self, qa_id: str, verb: str) -> Answer:
        """Approve or reject one item."""
        ...

    def hit(self, fields: Mapping[str, Any]) -> Answer:
        """Report what was shown and used."""
        ...

    def validate(self, fields: Mapping[str, Any]) -> Answer:
        """Report a trial."""
        ...

    def expire(self, batch_size: int) -> Answer:
        """Let some items expire."""
        ...


class _Here:
    """The store, opened by this process."""

    def __init__(self, core: "Core") -> None:
        self._qa = core.qa

    def search(self, fields: Mapping[str, Any]) -> Answer:
        """The items that fit."""
        from codexmem.surfaces.qa_api import answers, wire

        body = _parsed(wire.QASearchPayload, fields)
        return answers.found(
            self._qa.searching.find(body.project_id, body.query, limit=body.limit, min_score=body.min_score)
        )

    def page(self, *, status: str | None, project: str | None, limit: int, cursor: str | None) -> Answer:
        """Items, the newest first."""
        from codexmem.domain.memory import Status
        from codexmem.surfaces.qa_api import answers

        wanted = Status(status) if status is not None else None
        after = answers.cursor(cursor) if cursor is not None else None
        return answers.page(self._qa.reviewing.page(status=wanted, project=project, limit=limit, after=after))

    def look(self, qa_id: str) -> Answer:
        """One item with its company."""
        from codexmem.surfaces.qa_api import answers

        return answers.detail(self._qa.reviewing.look(qa_id, None))

    def decide(self, qa_id: str, verb: str) -> Answer:
        """Approve or reject one item."""
        from codexmem.surfaces.qa_api import answers

        decision = {"approve": self._qa.reviewing.approve, "reject": self._qa.reviewing.reject}[verb]
        return answers.item(decision(qa_id, None, _BY))

    def hit(self, fields: Mapping[str, Any]) -> Answer:
        """Report what was shown and used."""
        from codexmem.surfaces.qa_api import answers, wire

        body = _parsed(wire.QAHitsPayload, fields)
        references = [each.reference() for each in body.references]
        return answers.counted(self._qa.signals.hit(body.project_id, references, _BY))

    def validate(self, fields: Mapping[str, Any]) -> Answer:
        """Report a trial."""
        from codexmem.surfaces.qa_api import answers, wire

        body = _parsed(wire.QAValidationPayload, fields)
        return answers.validated(self._qa.signals.validate(body.project_id, body.report(), _BY))

    def expire(self, batch_size: int) -> Answer:
        """Let some items expire."""
        from codexmem.surfaces.qa_api import answers

        return answers.expired(self._qa.expiry.expire(_BY, batch_size=batch_size))


class _There:
    """The store, by way of its server."""

    def __init__(self, server: Remote) -> None:
        self._server = server

    def search(self, fields: Mapping[str, Any]) -> Answer:
        """The items that fit."""
        return self._server.post("/v1/qa/search", fields)

    def page(self, *, status: str | None, project: str | None, limit: int, cursor: str | None) -> Answer:
        """Items, the newest first."""
        return self._server.get("/v1/qa/items", status=status, project_id=project, limit=limit, cursor=cursor)

    def look(self, qa_id: str) -> Answer:
        """One item with its company."""
        return self._server.get(f"/v1/qa/items/{quote(qa_id, safe='')}")

    def decide(self, qa_id: str, verb: str) -> Answer:
        """Approve or reject one item."""
        return self._server.post(f"/v1/qa/items/{quote(qa_id, safe='')}/{verb}", {})

    def hit(self, fields: Mapping[str, Any]) -> Answer:
        """Report what was shown and used."""
        return self._server.post("/v1/qa/hit", fields)

    def validate(self, fields: Mapping[str, Any]) -> Answer:
        """Report a trial."""
        return self._server.post("/v1/qa/validate", fields)

    def expire(self, batch_size: int) -> Answer:
        """Let some items expire."""
        return self._server.post("/v1/qa/expire", {"batch_size": batch_size}, timeout_s=LONG_S)


@contextmanager
def qa_of(*, tenant: str | None, data_dir: str | None, database_url: str | None) -> Iterator[Qa]:
    """The way to the store that these flags name."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    server = server_of(settings)
    try:
        if server is not None:
            yield _There(server)
            return
        with opened(settings, whose, create=False) as core:
            yield _Here(core)
    except CodexmemError as error:
        raise _spoken(error) from None


def own_projects(qa: Qa, ids: Sequence[str]) -> dict[str, list[str]]:
    """The ids by the project of each."""
    found: dict[str, list[str]] = {}
    for qa_id in dict.fromkeys(ids):
        found.setdefault(qa.look(qa_id)["project_id"], []).append(qa_id)
    return found


def _parsed(model: "type[Payload]", fields: Mapping[str, Any]) -> "Payload":
    from pydantic import ValidationError

    from codexmem.surfaces._kit.errors import invalid

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problems = [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]
        raise invalid("", problems, {}) from None


def _spoken(error: CodexmemError) -> CodexmemError:
    """The same error with commands for paths; what does not fit is the caller's mistake, whoever found it."""
    if error.code == "unprocessable":
        return InvalidArgument(error.message, hint=error.hint)
    if isinstance(error, NotFound) and error.hint is not None and "/v1/qa/" in error.hint:
        return NotFound(error.message, hint="codexmem qa search and codexmem qa candidates show ids")
    return error
