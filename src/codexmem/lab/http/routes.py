"""The paths of contract 002: batches, runs, their traces and evidence here, the larger groups in files of their own."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Body, Query

from codexmem.http.params import IdempotencyKey
from codexmem.http.surface import router
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.event import TRACED, EventType
from codexmem.lab.http import bank, catalog, kb
from codexmem.lab.http.pages import DEFAULT_LIMIT, CursorText, LabRouteServices, Limit, cursor, place
from codexmem.lab.model import BatchStatus, Run, RunStatus
from codexmem.lab.service.lab import Lab
from codexmem.lab.service.runs import MAX_QUERY, RunCursor
from codexmem.lab.service.trace import Moment
from codexmem.lab.wire import runs as wire
from codexmem.lab.wire.feedback import FeedbackRequest, FeedbackSaved, OneFeedback, RunFeedback
from codexmem.lab.wire.fields import LabError, LabPage, Seconds, milliseconds
from codexmem.lab.wire.library import EvidencePiece


def _add_system(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/api/v1/system/worker")
    def worker() -> wire.LabSystem:
        return wire.LabSystem.of(services.room(Lab).system.view())


_Learn = Annotated[bool, Query(description="false: save it without learning from it")]


def _add_feedback(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/api/v1/runs/{run_id}/feedback")
    def shown(run_id: str) -> OneFeedback:
        return OneFeedback(feedback=RunFeedback.of(services.room(Lab).judging.of_run(run_id)))

    @api.put("/api/v1/runs/{run_id}/feedback")
    def save(run_id: str, body: FeedbackRequest, key: IdempotencyKey, learn: _Learn = True) -> FeedbackSaved:
        def effect() -> tuple[FeedbackSaved, str]:
            saved = services.room(Lab).judging.save(run_id, body.to_opinion(), learn=learn)
            return FeedbackSaved.of(saved), f"run:{run_id}"

        given = {"run_id": run_id, "learn": learn, **body.model_dump()}
        return services.receipts.once_as(FeedbackSaved, "PUT /api/v1/runs/feedback", key, given, effect)


def _add_evidence(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/api/v1/runs/{run_id}/evidence")
    def listed(
        run_id: str,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        include_content: bool = False,
    ) -> LabPage[EvidencePiece]:
        name = f"evidence {run_id}"
        reached = place(name, cursor_text, int)
        found, last = services.room(Lab).shelving.evidence.page(
            run_id, after=reached[0] if reached else 0, limit=limit, content=include_content
        )
        items = (EvidencePiece.of(each, content=include_content) for each in found)
        return LabPage[EvidencePiece].of(items, cursor(name, last) if last is not None else None)

    @api.get("/api/v1/runs/{run_id}/evidence/{alias}")
    def one(run_id: str, alias: str) -> EvidencePiece:
        return EvidencePiece.of(services.room(Lab).shelving.evidence.one(run_id, alias), content=True)


def _add_events(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/api/v1/runs/{run_id}/events")
    def listed(
        run_id: str,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        event_type: Annotated[list[str], Query(max_length=60, description="may be repeated; all if left out")] = [],  # noqa: B006
        since: Annotated[Seconds | None, Query(description="epoch seconds, included")] = None,
        until: Annotated[Seconds | None, Query(description="epoch seconds, included")] = None,
        include_payload: bool = False,
    ) -> wire.EventsPage:
        name = f"events {run_id}"  # the same place under any filter: a reader may widen it on the way
        seen = place(name, cursor_text, int, int)
        found = services.room(Lab).trace.page(
            run_id, types=_types(event_type), since_ms=milliseconds(since), until_ms=milliseconds(until),
            after=Moment(*seen) if seen else None, limit=limit, payloads=include_payload,
        )  # fmt: skip
        last = Moment(found.items[-1].at_ms, found.items[-1].seq) if found.items else None
        tail = cursor(name, last.at_ms, last.seq) if last else cursor_text
        return wire.EventsPage(
            items=tuple(wire.LabEvent.of(event, run_id) for event in found.items),
            next_cursor=tail if found.more else None,
            has_more=found.more,
            tail_cursor=tail or None,
        )

    @api.get("/api/v1/runs/{run_id}/events/{event_id}")
    def one(run_id: str, event_id: str) -> wire.LabEvent:
        return wire.LabEvent.of(services.room(Lab).trace.event(run_id, event_id), run_id)


def _types(given: list[str]) -> list[EventType]:
    known = {each.value: each for each in TRACED}
    unknown = [each for each in given if each not in known]
    if unknown:
        raise InvalidArgument(f"event_type {unknown[0][:40]!r} is not known", hint=f"one of {', '.join(sorted(known))}")
    return [known[each] for each in given]


def _add_runs(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/api/v1/runs")
    def listed(
        batch_id: Annotated[str, Query(max_length=200)] = "",
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: Annotated[list[RunStatus], Query(max_length=10, description="may be repeated")] = [],  # noqa: B006
    ) -> LabPage[wire.LabRun]:
        name = f"runs {' '.join(sorted(status))} {batch_id}"
        if batch_id:
            reached = place(name, cursor_text, int)
            found, last = services.room(Lab).runs.runs_of(
                batch_id, statuses=status, after=reached[0] if reached else 0, limit=limit
            )
            return LabPage[wire.LabRun].of(_shown(services, found), cursor(name, last) if last is not None else None)
        seen = place(name, cursor_text, int, str)
        found, after = services.room(Lab).runs.runs(
            statuses=status, below=RunCursor(*seen) if seen else None, limit=limit
        )
        return LabPage[wire.LabRun].of(
            _shown(services, found), cursor(name, after.created_ms, after.id) if after else None
        )

    @api.get("/api/v1/runs/{run_id}")
    def one(run_id: str) -> wire.OneRun:
        return wire.OneRun(run=_shown(services, [services.room(Lab).runs.run(run_id)])[0])

    @api.get("/api/v1/runs/{run_id}/output")
    def output(run_id: str) -> wire.OutputAnswer:
        return wire.OutputAnswer.model_validate(services.room(Lab).runs.output(run_id))

    @api.post("/api/v1/runs/{run_id}/cancel")
    def cancel(run_id: str, body: Annotated[wire.CancelRequest | None, Body()] = None) -> wire.CancelRequested:
        asked = body or wire.CancelRequest()
        return wire.CancelRequested.of(services.room(Lab).runs.cancel_run(run_id, asked.reason).id)


def _shown(services: LabRouteServices, runs: Sequence[Run]) -> list[wire.LabRun]:
    """Runs with what was said about each, looked up for all of them at once."""
    verdicts = services.room(Lab).runs.verdicts(runs)
    return [wire.LabRun.of(run, verdicts.get(run.id)) for run in runs]


def _add_batches(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.post("/api/v1/batches")
    def create(body: wire.BatchRequest, key: IdempotencyKey) -> wire.BatchCreated:
        runs = services.room(Lab).runs
        turn = runs.turn()  # before the transaction that a key's receipt opens

        def effect() -> tuple[wire.BatchCreated, str]:
            batch, made = runs.create(body.to_order(), turn=turn)
            return wire.BatchCreated.of(batch, made), f"batch:{batch.id}"

        return services.receipts.once_as(wire.BatchCreated, "POST /api/v1/batches", key, body, effect)

    @api.get("/api/v1/batches")
    def listed(
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: Annotated[list[BatchStatus], Query(max_length=10, description="may be repeated")] = [],  # noqa: B006
        q: Annotated[str, Query(max_length=MAX_QUERY, description="part of a request, in any case")] = "",
    ) -> LabPage[wire.LabBatch]:
        name = f"batches {' '.join(sorted(status))} {q}"
        seen = place(name, cursor_text, int, str)
        found, after = services.room(Lab).runs.batches(
            statuses=status, text=q.strip(), below=RunCursor(*seen) if seen else None, limit=limit
        )
        running = services.room(Lab).runs.running(found)
        items = (wire.LabBatch.of(batch, running.get(batch.id, 0)) for batch in found)
        return LabPage[wire.LabBatch].of(items, cursor(name, after.created_ms, after.id) if after else None)

    @api.get("/api/v1/batches/{batch_id}")
    def one(batch_id: str) -> wire.OneBatch:
        found = services.room(Lab).runs.batch(batch_id)
        return wire.OneBatch(batch=wire.LabBatch.of(found, services.room(Lab).runs.running([found]).get(found.id, 0)))

    @api.post("/api/v1/batches/{batch_id}/cancel")
    def cancel(batch_id: str, body: Annotated[wire.CancelRequest | None, Body()] = None) -> wire.CancelRequested:
        asked = body or wire.CancelRequest()
        return wire.CancelRequested.of(services.room(Lab).runs.cancel_batch(batch_id, asked.reason).id)


def _add_debug(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/api/v1/_debug/state", include_in_schema=False)
    def state() -> wire.LabDebug:
        settings = services.room(Lab).debug
        if settings is None:
            raise NotFound("no such path", hint="C2XC_ENABLE_DEBUG_ENDPOINTS=1 enables the debug paths")
        return wire.LabDebug.of(settings, services.room(Lab).system.view())


def _add_health(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/healthz")
    @api.get("/api/v1/healthz")
    async def healthz() -> wire.LabHealth:
        return wire.LabHealth.of(services.status.health())


def routes(services: LabRouteServices) -> APIRouter:
    """The interface's routes on these services."""
    api = router()
    api.responses["default"] = {"model": LabError, "description": "An error"}
    _add_health(api, services)
    _add_batches(api, services)
    _add_runs(api, services)
    _add_events(api, services)
    _add_evidence(api, services)
    kb.add(api, services)
    bank.add_lessons(api, services)
    bank.add(api, services)
    catalog.add(api, services)
    _add_feedback(api, services)
    _add_system(api, services)
    _add_debug(api, services)
    return api
