"""Feedback on a run (contract 002 §4.3)."""

from typing import Any

from fastapi import APIRouter

from codexmem.services.receipts import Answer
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.lab_api import wire_feedback as wire
from codexmem.surfaces.lab_api.services import Services


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/runs/{run_id}/feedback")
    def shown(run_id: str) -> dict[str, Any]:
        return {"feedback": wire.feedback(services.lab.judging.of_run(run_id))}

    @door.put("/api/v1/runs/{run_id}/feedback")
    def save(run_id: str, body: wire.FeedbackRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            return Answer(wire.saved(services.lab.judging.save(run_id, body.to_opinion())), f"run:{run_id}")

        given = {"run_id": run_id, **body.model_dump()}
        return services.receipts.once("PUT /api/v1/runs/feedback", key, given, effect)
