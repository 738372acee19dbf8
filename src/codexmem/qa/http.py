"""The routes of `/v1/qa`: the five paths of contract 001 §8 and, beyond it, looking through items and deciding.

What writes may be sent again with its Idempotency-Key. Errors are `{"error", "hint"}`, the plain style, for the same
clients read it; only the status differs: a body that is JSON and does not fit is 422, as services of this contract's
make answer, and one that is no JSON at all is 400.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from codexmem.http.errors import PLAIN, STATUSES, ErrorStyle, Reply
from codexmem.http.guard import written_by
from codexmem.http.params import IdempotencyKey
from codexmem.http.surface import Surface, router
from codexmem.kernel.feature import Rooms
from codexmem.kernel.model import audience
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import MAX_PROJECT, Kind, Status
from codexmem.kernel.model.query import RowCursor
from codexmem.qa import wire
from codexmem.qa.model.items import BATCH
from codexmem.qa.model.validation import UnprocessableReport
from codexmem.qa.service import QaService
from codexmem.qa.service.items import QaEntry
from codexmem.qa.service.review import COUNTED

MAX_PAGE = 100
MAX_SIMILAR = 20
_MAX_PATH = 500
_Project = Annotated[str | None, Query(max_length=MAX_PROJECT)]


class Problem(BaseModel):
    """What every refusal answers."""

    error: str
    hint: str | None = None


@dataclass(frozen=True)
class QaErrors(ErrorStyle):
    """The plain style with 422 for what was understood and does not fit."""

    def reply(self, error: CodexmemError) -> Reply:
        """Render the error; what the framework found wrong with fields comes with a list of them."""
        if type(error) is InvalidArgument and "errors" in error.details:
            error = UnprocessableReport(error.message, hint=error.hint, details=error.details)
        return ErrorStyle.reply(self, error)


# For the interface description, where the framework would promise bodies of its own.
_REFUSALS = {
    401: "no API key, or an unknown one",
    404: "no such item in this project",
    409: "the Idempotency-Key was used for another request",
    422: "a field is missing, out of bounds, or contradicts another",
    503: "not ready yet; try again",
}


def _refusals(*, missing: bool = False, keyed: bool = True) -> dict[int | str, dict[str, object]]:
    """What a route may answer instead of its answer."""
    return {
        status: {"model": Problem, "description": text}
        for status, text in _REFUSALS.items()
        if (missing or status != 404) and (keyed or status != 409)
    }


def routes(rooms: Rooms) -> APIRouter:
    """The routes on the services of an open store."""
    api = router()
    _add_contract(api, rooms)
    _add_review(api, rooms)
    return api


def _add_contract(api: APIRouter, rooms: Rooms) -> None:
    @api.post("/v1/qa/search", response_model_exclude_unset=True, responses=_refusals(keyed=False))
    def search(body: wire.QASearchPayload) -> wire.QASearchAnswer:
        """The answers that fit, best first."""
        find = rooms.room(QaService).searching.find
        with audience.agents():  # who asks here puts the answers before a model
            found = find(body.project_id, body.query, limit=body.limit, min_score=body.min_score)
        return wire.QASearchAnswer.of(found)

    added: dict[int | str, dict[str, object]] = {
        200: {"model": wire.QACandidateAnswer, "description": "added to an item that asks the same"}
    }

    @api.post("/v1/qa/candidates", status_code=201, responses={**added, **_refusals()})
    def candidates(
        request: Request, response: Response, body: wire.QACandidatePayload, key: IdempotencyKey
    ) -> wire.QACandidateAnswer:
        """Hand in an answer that is not proven yet."""
        qa = rooms.room(QaService)
        # Before the receipt's transaction: it searches.
        prepared = qa.candidates.prepare(body.new())

        def effect() -> tuple[wire.QACandidateAnswer, str]:
            stored = qa.candidates.store(prepared, written_by(request.scope))
            return wire.QACandidateAnswer.of(stored), f"memory:{stored.item.memory.seq}"

        answer = qa.receipts.once_as(wire.QACandidateAnswer, "/v1/qa/candidates", key, body, effect)
        response.status_code = 201 if answer.created else 200
        return answer

    @api.post("/v1/qa/hit", responses=_refusals())
    def hit(request: Request, body: wire.QAHitsPayload, key: IdempotencyKey) -> wire.QAHitsAnswer:
        """Report which answers were shown and used."""
        qa = rooms.room(QaService)

        def effect() -> tuple[wire.QAHitsAnswer, None]:
            references = [each.reference() for each in body.references]
            hits = qa.signals.hit(body.project_id, references, written_by(request.scope))
            return wire.QAHitsAnswer.of(hits), None

        return qa.receipts.once_as(wire.QAHitsAnswer, "/v1/qa/hit", key, body, effect)

    @api.post("/v1/qa/validate", responses=_refusals(missing=True))
    def validate(request: Request, body: wire.QAValidationPayload, key: IdempotencyKey) -> wire.QAValidationAnswer:
        """Report whether an answer worked."""
        qa, report = rooms.room(QaService), body.report()

        def effect() -> tuple[wire.QAValidationAnswer, str]:
            validated = qa.signals.validate(body.project_id, report, written_by(request.scope))
            return wire.QAValidationAnswer.of(validated), f"memory:{validated.item.memory.seq}"

        return qa.receipts.once_as(wire.QAValidationAnswer, "/v1/qa/validate", key, body, effect)

    @api.post("/v1/qa/expire", responses=_refusals(keyed=False))
    def expire(request: Request, body: wire.QAExpirePayload | None = None) -> wire.QAExpireAnswer:
        """Expire answers that nobody speaks for any more, some at a time; repeating it is safe."""
        size = body.batch_size if body is not None else BATCH
        return wire.QAExpireAnswer.of(rooms.room(QaService).expiry.expire(written_by(request.scope), batch_size=size))


def _add_review(api: APIRouter, rooms: Rooms) -> None:
    @api.get("/v1/qa/items", responses=_refusals(keyed=False))
    def items(
        status: Literal["candidate", "active", "validated", "deprecated", "expired"] | None = None,
        project_id: _Project = None,
        cursor: Annotated[str | None, Query(pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$")] = None,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    ) -> wire.QAItemsAnswer:
        """One page of items, newest first; `cursor` is the `next_cursor` of the page before."""
        queue = rooms.room(QaService).reviewing.page(
            status=Status(status) if status is not None else None,
            project=project_id,
            limit=limit,
            after=_cursor(cursor) if cursor is not None else None,
        )
        return wire.QAItemsAnswer.of(queue)

    @api.get("/v1/qa/counts", responses=_refusals(keyed=False))
    def counts(project_id: _Project = None) -> wire.QACountsAnswer:
        """How many items there are of each status."""
        return wire.QACountsAnswer.of(rooms.room(QaService).reviewing.counts(project_id), COUNTED)

    @api.get("/v1/qa/items/{qa_id}", responses=_refusals(missing=True, keyed=False))
    def item(qa_id: str, project_id: _Project = None) -> wire.QAItemDetail:
        """One item with what asks nearly the same and what contradicts it."""
        return wire.QAItemDetail.of_page(rooms.room(QaService).reviewing.look(qa_id, project_id))

    @api.post("/v1/qa/items/{qa_id}/approve", responses=_refusals(missing=True))
    def approve(
        request: Request, qa_id: str, key: IdempotencyKey, body: wire.QAProjectPayload | None = None
    ) -> wire.QADecision:
        """A person says that it is right: it is validated."""
        qa, project = rooms.room(QaService), body.project_id if body is not None else None
        return _decided(qa, request, key, body, lambda by: qa.reviewing.approve(qa_id, project, by))

    @api.post("/v1/qa/items/{qa_id}/reject", responses=_refusals(missing=True))
    def reject(
        request: Request, qa_id: str, key: IdempotencyKey, body: wire.QAProjectPayload | None = None
    ) -> wire.QADecision:
        """A person says that it is wrong: it is no longer offered."""
        qa, project = rooms.room(QaService), body.project_id if body is not None else None
        return _decided(qa, request, key, body, lambda by: qa.reviewing.reject(qa_id, project, by))

    @api.post("/v1/qa/items/{qa_id}/merge", responses=_refusals(missing=True))
    def merge(request: Request, qa_id: str, body: wire.QAMergePayload, key: IdempotencyKey) -> wire.QADecision:
        """Give an item's questions to another one, which is answered; the first is no longer offered."""
        qa = rooms.room(QaService)
        return _decided(qa, request, key, body, lambda by: qa.reviewing.merge(qa_id, body.into, body.project_id, by))

    @api.get(
        "/v1/qa/items/{qa_id}/similar",
        response_model_exclude_unset=True,
        responses=_refusals(missing=True, keyed=False),
    )
    def similar(
        qa_id: str, project_id: _Project = None, limit: Annotated[int, Query(ge=1, le=MAX_SIMILAR)] = 5
    ) -> wire.QASimilarAnswer:
        """Items that ask nearly the same, compared with this one."""
        return wire.QASimilarAnswer.of(*rooms.room(QaService).reviewing.similar(qa_id, project_id, limit=limit))

    @api.patch("/v1/qa/items/{qa_id}", responses=_refusals(missing=True))
    def edit(request: Request, qa_id: str, body: wire.QACorrectionPayload, key: IdempotencyKey) -> wire.QADecision:
        """Correct an item's question, answer, summary or tags."""
        qa, change = rooms.room(QaService), body.correction()
        correct = qa.editing.edit
        return _decided(
            qa, request, key, body, lambda by: correct(qa_id, change, body.project_id, by, seen=body.version)
        )

    @api.post("/v1/qa/items/{qa_id}/undo", responses=_refusals(missing=True))
    def undo(request: Request, qa_id: str, body: wire.QAUndoPayload, key: IdempotencyKey) -> wire.QARetracted:
        """Take a decision back: what it wrote, and what was learned from it."""
        qa = rooms.room(QaService)

        def effect() -> tuple[wire.QARetracted, str]:
            done = qa.retracting.undo(qa_id, body.delta, body.project_id, written_by(request.scope))
            answer = wire.QARetracted.of(done.item, delta=done.item.delta, undone=done.undone)
            return answer, f"memory:{done.item.memory.seq}"

        return qa.receipts.once_as(wire.QARetracted, _path(request), key, body, effect)


def _decided(
    qa: QaService, request: Request, key: str | None, body: BaseModel | None, decide: Callable[[WriteContext], QaEntry]
) -> wire.QADecision:
    def effect() -> tuple[wire.QADecision, str]:
        item = decide(written_by(request.scope))
        return wire.QADecision.of(item, delta=item.delta), f"memory:{item.memory.seq}"

    return qa.receipts.once_as(wire.QADecision, _path(request), key, body, effect)


def _cursor(text: str) -> RowCursor:
    created_ms, seq = (int(part) for part in text.split("."))
    return RowCursor(created_ms, seq)


def _path(request: Request) -> str:
    path: str = request.scope["path"]
    if len(path) > _MAX_PATH:
        raise UnprocessableReport("no item has so long an id")
    return path


SURFACE: Surface[Rooms] = Surface(
    name="qa_api",
    prefixes=("/v1/qa",),
    kinds=frozenset({Kind.QA}),
    routes=routes,
    errors=QaErrors(PLAIN.body, {**STATUSES, UnprocessableReport.code: 422}),
)
