"""What hooks report (contract 000 §3.2), what agents wrote down before there were hooks, and what bridges ask of the
models of their clients.

Each report may be sent again with its Idempotency-Key, or with its `event_id`; a part of a transcript may be sent again
as it is.
"""

from typing import Protocol

from fastapi import APIRouter, Request

from codexmem.capture import wire
from codexmem.capture.sampling import SampledModel
from codexmem.capture.service import CaptureService
from codexmem.capture.transcripts import TranscriptImport
from codexmem.http.guard import written_by
from codexmem.http.params import IdempotencyKey
from codexmem.kernel.services.receipts import Receipts


class CaptureServices(Protocol):
    """What these routes need."""

    @property
    def intake(self) -> CaptureService: ...
    @property
    def transcripts(self) -> TranscriptImport: ...
    @property
    def sampling(self) -> SampledModel | None: ...
    @property
    def receipts(self) -> Receipts: ...


def add(api: APIRouter, services: CaptureServices) -> None:
    """Add the routes."""

    @api.post("/api/sessions/init", response_model_exclude_unset=True)
    def init(body: wire.InitRequest, key: IdempotencyKey) -> wire.TurnAnswer:
        def effect() -> tuple[wire.TurnAnswer, None]:
            return wire.TurnAnswer.of(services.intake.init(body.to_report())), None

        return services.receipts.once_as(wire.TurnAnswer, "/api/sessions/init", key, body, effect)

    @api.post("/api/sessions/observations", response_model_exclude_unset=True)
    def observe(body: wire.ObservationRequest, key: IdempotencyKey) -> wire.CaptureAnswer:
        def effect() -> tuple[wire.CaptureAnswer, None]:
            return wire.CaptureAnswer.of(services.intake.observe(body.to_report())), None

        return services.receipts.once_as(wire.CaptureAnswer, "/api/sessions/observations", key, body, effect)

    @api.post("/api/sessions/summarize", response_model_exclude_unset=True)
    def summarize(body: wire.SummarizeRequest, key: IdempotencyKey) -> wire.CaptureAnswer:
        def effect() -> tuple[wire.CaptureAnswer, None]:
            return wire.CaptureAnswer.of(services.intake.summarize(body.to_report())), None

        return services.receipts.once_as(wire.CaptureAnswer, "/api/sessions/summarize", key, body, effect)

    @api.post("/api/sessions/complete", response_model_exclude_unset=True)
    def complete(body: wire.CompleteRequest, key: IdempotencyKey) -> wire.CompleteAnswer:
        def effect() -> tuple[wire.CompleteAnswer, None]:
            return wire.CompleteAnswer.of(services.intake.complete(body.contentSessionId)), None

        return services.receipts.once_as(wire.CompleteAnswer, "/api/sessions/complete", key, body, effect)

    @api.post("/api/transcripts")
    def take_in(request: Request, body: wire.TranscriptRequest) -> wire.TranscriptAnswer:
        by = written_by(request.scope)
        return wire.TranscriptAnswer.of(services.transcripts.take_in(body.to_part(), by, delta=body.delta))

    @api.post("/api/transcripts/known")
    def known(body: wire.KnownSessionsRequest) -> wire.KnownSessionsAnswer:
        transcripts = services.transcripts
        return wire.KnownSessionsAnswer.of(
            transcripts.known(body.sessions), asks_writer=transcripts.asks_writer, undone=transcripts.undone
        )

    @api.get("/api/transcripts/found")
    def found() -> wire.KeptTranscriptsAnswer:
        return wire.KeptTranscriptsAnswer.of(services.transcripts.look())

    @api.post("/api/sampling/next")
    def next_question(body: wire.NextQuestionRequest) -> wire.NextQuestionAnswer:
        sampling = services.sampling
        question = sampling.take(body.bridge, body.holding) if sampling is not None else None
        return wire.NextQuestionAnswer.of(question, asks=sampling is not None)

    @api.post("/api/sampling/answer")
    def answer(body: wire.SampledAnswerRequest) -> wire.SampledAnswerTaken:
        sampling = services.sampling
        return wire.SampledAnswerTaken(
            accepted=sampling is not None and sampling.settle(body.bridge, body.id, body.text)
        )
