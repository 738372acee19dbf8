"""Beyond the contract: looking through items and deciding about them, for people and for pages made for them."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Query, Request

from codexmem.domain.history import By
from codexmem.domain.memory import MAX_PROJECT, Status
from codexmem.domain.qa.validation import Unfit
from codexmem.services.qa import Qa
from codexmem.services.qa.views import Item
from codexmem.services.receipts import Answer, Receipts
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.qa_api import answers, wire
from codexmem.surfaces.qa_api.problems import refusals

MAX_PAGE = 100
MAX_SIMILAR = 20
_Project = Annotated[str | None, Query(max_length=MAX_PROJECT)]


class Services(Protocol):
    """What these routes need."""

    @property
    def qa(self) -> Qa: ...
    @property
    def receipts(self) -> Receipts: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/v1/qa/items", response_model=answers.QAItemsAnswer, responses=refusals(keyed=False))
    def items(
        status: Literal["candidate", "active", "validated", "deprecated", "expired"] | None = None,
        project_id: _Project = None,
        cursor: Annotated[str | None, Query(pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$")] = None,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    ) -> dict[str, Any]:
        """One page of items, newest first; `cursor` is the `next_cursor` of the page before."""
        return answers.page(services.qa.reviewing.page(
            status=Status(status) if status is not None else None, project=project_id, limit=limit,
            after=answers.cursor(cursor) if cursor is not None else None,
        ))  # fmt: skip

    @door.get("/v1/qa/counts", response_model=answers.QACountsAnswer, responses=refusals(keyed=False))
    def counts(project_id: _Project = None) -> dict[str, Any]:
        """How many items there are of each status."""
        return answers.counts(services.qa.reviewing.counts(project_id))

    @door.get(
        "/v1/qa/items/{qa_id}", response_model=answers.QAItemDetail, responses=refusals(missing=True, keyed=False)
    )
    def item(qa_id: str, project_id: _Project = None) -> dict[str, Any]:
        """One item with what asks nearly the same and what contradicts it."""
        return answers.detail(services.qa.reviewing.look(qa_id, project_id))

    @door.post("/v1/qa/items/{qa_id}/approve", response_model=answers.QADecision, responses=refusals(missing=True))
    def approve(
        request: Request, qa_id: str, key: IdempotencyKey, body: wire.QAProjectPayload | None = None
    ) -> dict[str, Any]:
        """A person says that it is right: it is validated."""
        project = body.project_id if body is not None else None
        decide = services.qa.reviewing.approve
        return _once(services, request, key, body, lambda by: decide(qa_id, project, by))

    @door.post("/v1/qa/items/{qa_id}/reject", response_model=answers.QADecision, responses=refusals(missing=True))
    def reject(
        request: Request, qa_id: str, key: IdempotencyKey, body: wire.QAProjectPayload | None = None
    ) -> dict[str, Any]:
        """A person says that it is wrong: it is no longer offered."""
        project = body.project_id if body is not None else None
        decide = services.qa.reviewing.reject
        return _once(services, request, key, body, lambda by: decide(qa_id, project, by))

    @door.post("/v1/qa/items/{qa_id}/merge", response_model=answers.QADecision, responses=refusals(missing=True))
    def merge(request: Request, qa_id: str, body: wire.QAMergePayload, key: IdempotencyKey) -> dict[str, Any]:
        """Give an item's questions to another one, which is answered; the first is no longer offered."""
        decide = services.qa.reviewing.merge
        return _once(services, request, key, body, lambda by: decide(qa_id, body.into, body.project_id, by))

    @door.get(
        "/v1/qa/items/{qa_id}/similar", response_model=answers.QASimilarAnswer, response_model_exclude_unset=True,
        responses=refusals(missing=True, keyed=False),
    )  # fmt: skip
    def similar(
        qa_id: str, project_id: _Project = None, limit: Annotated[int, Query(ge=1, le=MAX_SIMILAR)] = 5
    ) -> dict[str, Any]:
        """Items that ask nearly the same, compared with this one."""
        return answers.similar(*services.qa.reviewing.similar(qa_id, project_id, limit=limit))

    @door.patch("/v1/qa/items/{qa_id}", response_model=answers.QADecision, responses=refusals(missing=True))
    def edit(request: Request, qa_id: str, body: wire.QACorrectionPayload, key: IdempotencyKey) -> dict[str, Any]:
        """Correct an item's question, answer, summary or tags."""
        change, correct = body.correction(), services.qa.editing.edit
        return _once(
            services, request, key, body, lambda by: correct(qa_id, change, body.project_id, by, seen=body.version)
        )

    @door.post("/v1/qa/items/{qa_id}/undo", response_model=answers.QARetracted, responses=refusals(missing=True))
    def undo(request: Request, qa_id: str, body: wire.QAUndoPayload, key: IdempotencyKey) -> dict[str, Any]:
        """Take a decision back: what it wrote, and what was learned from it."""

        def effect() -> Answer:
            by = By(actor_of(request.scope))
            outcome = services.qa.retracting.undo(qa_id, body.delta, body.project_id, by)
            return Answer(answers.retracted(outcome), f"memory:{outcome.item.memory.seq}")

        return services.receipts.once(_route(request), key, body.model_dump(mode="json"), effect)


def _once(services: Services, request: Request, key: str | None,
          body: wire.QAProjectPayload | wire.QAMergePayload | wire.QACorrectionPayload | None,
          decide: Callable[[By], Item]) -> dict[str, Any]:  # fmt: skip
    def effect() -> Answer:
        decided = decide(By(actor_of(request.scope)))
        return Answer(answers.decided(decided), f"memory:{decided.memory.seq}")

    given = body.model_dump(mode="json") if body is not None else {}
    return services.receipts.once(_route(request), key, given, effect)


def _route(request: Request) -> str:
    path: str = request.scope["path"]
    if len(path) > _MAX_PATH:
        raise Unfit("no item has so long an id")
    return path


_MAX_PATH = 500
