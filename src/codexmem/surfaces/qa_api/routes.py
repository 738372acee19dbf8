"""The five paths of contract 001 §8. Each but the search may be sent again with its Idempotency-Key."""

from typing import Any, Protocol

from fastapi import APIRouter, Request, Response

from codexmem.domain.history import By
from codexmem.domain.qa.items import BATCH
from codexmem.services.receipts import Answer
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.qa_api import answers, review, wire
from codexmem.surfaces.qa_api.problems import refusals


class Services(review.Services, Protocol):
    """What this door needs."""


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()

    @door.post(
        "/v1/qa/search", response_model=answers.QASearchAnswer, response_model_exclude_unset=True,
        responses=refusals(keyed=False),
    )  # fmt: skip
    def search(body: wire.QASearchPayload) -> dict[str, Any]:
        """The answers that fit, best first."""
        return answers.found(
            services.qa.searching.find(body.project_id, body.query, limit=body.limit, min_score=body.min_score)
        )

    @door.post(
        "/v1/qa/candidates", response_model=answers.QACandidateAnswer, status_code=201,
        responses={200: {"model": answers.QACandidateAnswer, "description": "added to an item that asks the same"},
                   **refusals()},
    )  # fmt: skip
    def candidates(
        request: Request, response: Response, body: wire.QACandidatePayload, key: IdempotencyKey
    ) -> dict[str, Any]:
        """Hand in an answer that is not proven yet."""
        # Before the receipt's transaction: it searches.
        prepared = services.qa.candidates.prepare(body.new())

        def effect() -> Answer:
            outcome = services.qa.candidates.store(prepared, By(actor_of(request.scope)))
            return Answer(answers.stored(outcome), f"memory:{outcome.item.memory.seq}")

        told = services.receipts.once("/v1/qa/candidates", key, body.model_dump(mode="json"), effect)
        response.status_code = 201 if told["created"] else 200
        return told

    @door.post("/v1/qa/hit", response_model=answers.QAHitsAnswer, responses=refusals())
    def hit(request: Request, body: wire.QAHitsPayload, key: IdempotencyKey) -> dict[str, Any]:
        """Report which answers were shown and used."""

        def effect() -> Answer:
            references = [each.reference() for each in body.references]
            by = By(actor_of(request.scope))
            return Answer(answers.counted(services.qa.signals.hit(body.project_id, references, by)))

        return services.receipts.once("/v1/qa/hit", key, body.model_dump(mode="json"), effect)

    @door.post("/v1/qa/validate", response_model=answers.QAValidationAnswer, responses=refusals(missing=True))
    def validate(request: Request, body: wire.QAValidationPayload, key: IdempotencyKey) -> dict[str, Any]:
        """Report whether an answer worked."""
        report = body.report()

        def effect() -> Answer:
            outcome = services.qa.signals.validate(body.project_id, report, By(actor_of(request.scope)))
            return Answer(answers.validated(outcome), f"memory:{outcome.item.memory.seq}")

        return services.receipts.once("/v1/qa/validate", key, body.model_dump(mode="json"), effect)

    @door.post("/v1/qa/expire", response_model=answers.QAExpireAnswer, responses=refusals(keyed=False))
    def expire(request: Request, body: wire.QAExpirePayload | None = None) -> dict[str, Any]:
        """Expire answers that nobody speaks for any more, some at a time; repeating it is safe."""
        size = body.batch_size if body is not None else BATCH
        return answers.expired(services.qa.expiry.expire(By(actor_of(request.scope)), batch_size=size))

    review.add(door, services)
    return door
