"""What hooks report (contract 000 §3.2). Each may be sent again with its Idempotency-Key, or with its `event_id`."""

from typing import Any, Protocol

from fastapi import APIRouter

from codexmem.services.capture import Intake
from codexmem.services.receipts import Answer, Receipts
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.worker_api import wire_sessions as wire


class Services(Protocol):
    """What these routes need."""

    @property
    def intake(self) -> Intake: ...
    @property
    def receipts(self) -> Receipts: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.post("/api/sessions/init")
    def init(body: wire.InitRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            return Answer(wire.begun(services.intake.init(body.to_report())))

        return services.receipts.once("/api/sessions/init", key, body.model_dump(), effect)

    @door.post("/api/sessions/observations")
    def observe(body: wire.ObservationRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            return Answer(wire.captured(services.intake.observe(body.to_report())))

        return services.receipts.once("/api/sessions/observations", key, body.model_dump(), effect)

    @door.post("/api/sessions/summarize")
    def summarize(body: wire.SummarizeRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            return Answer(wire.captured(services.intake.summarize(body.to_report())))

        return services.receipts.once("/api/sessions/summarize", key, body.model_dump(), effect)

    @door.post("/api/sessions/complete")
    def complete(body: wire.CompleteRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            return Answer(wire.completed(services.intake.complete(body.contentSessionId)))

        return services.receipts.once("/api/sessions/complete", key, body.model_dump(), effect)
