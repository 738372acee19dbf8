"""Feedback on a run (contract 002 §4.3)."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from codexmem.services.receipts import Answer
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.lab_api import wire_feedback as wire
from codexmem.surfaces.lab_api.services import Services

_Learn = Annotated[bool, Query(description="false: save it without learning from it")]


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/runs/{run_id}/feedback")
    def shown(run_id: str) -> dict[str, Any]:
        return {"feedback": wire.feedback(services.lab.judging.of_run(run_id))}

    @door.put("/api/v1/runs/{run_id}/feedback")
    def save(run_id: str, body: wire.FeedbackRequest, key: IdempotencyKey, learn: _Learn = True) -> dict[str, Any]:
        def effect() -> Answer:
            saved = services.lab.judging.save(run_id, body.to_opinion(), learn=learn)
            return Answer(wire.saved(saved), f"run:{run_id}")

        given = {"run_id": run_id, "learn": learn, **body.model_dump()}
        return services.receipts.once("PUT /api/v1/runs/feedback", key, given, effect)
