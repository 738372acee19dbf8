"""Learning from a run, what it changed, and taking that back (contract 002 §5.2 and §5.3).

Lessons: listing, searching, looking, writing and archiving them (contract 002 §5.1).
"""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Query, Request

from codexmem.http.guard import written_by
from codexmem.http.params import IdempotencyKey
from codexmem.kernel.model.history import DeltaStatus, Mode, WriteContext
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.query import RowCursor
from codexmem.kernel.model.search import MAX_DEPTH
from codexmem.lab.http.pages import DEFAULT_LIMIT, CursorText, LabRouteServices, Limit, cursor, place
from codexmem.lab.lesson_model import MAX_ROLE, LessonType
from codexmem.lab.service.bank import HAND, MAX_QUERY, SHOWN, LessonFilter
from codexmem.lab.service.lab import Lab
from codexmem.lab.service.learning.learning import MAX_JOBS
from codexmem.lab.service.learnings import MAX_DELTAS
from codexmem.lab.wire import bank as wire
from codexmem.lab.wire.fields import LabPage


def add(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""
    _add_all(api, services)

    @api.post("/api/v1/runs/{run_id}/reasoningbank/learn")
    def learn(run_id: str, key: IdempotencyKey) -> wire.LearningQueued:
        def effect() -> tuple[wire.LearningQueued, None]:
            return wire.LearningQueued.of(services.room(Lab).banking.learning.queue(run_id)), None

        given = {"run_id": run_id}
        return services.receipts.once_as(wire.LearningQueued, "POST /api/v1/runs/learn", key, given, effect)

    @api.get("/api/v1/runs/{run_id}/reasoningbank/jobs")
    def jobs(run_id: str, limit: Annotated[int, Query(ge=1, le=MAX_JOBS)] = 20) -> wire.RunLearnings:
        return wire.RunLearnings.of(run_id, services.room(Lab).banking.learning.jobs(run_id, limit=limit))

    @api.get("/api/v1/runs/{run_id}/reasoningbank/deltas")
    def deltas(
        run_id: str,
        limit: Annotated[int, Query(ge=1, le=MAX_DELTAS)] = 20,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        cause: Annotated[Literal["learn", "rollback", "all"], Query(description="rollbacks are deltas too")] = "learn",
    ) -> wire.RunDeltas:
        name = f"deltas {run_id} {cause}"
        seen = place(name, cursor_text, int, str)
        found, after = services.room(Lab).banking.rollbacks.deltas(
            run_id, limit=limit, before=(seen[0], seen[1]) if seen else None, cause=None if cause == "all" else cause
        )
        return wire.RunDeltas.of(run_id, found, cursor(name, *after) if after else None)

    @api.get("/api/v1/runs/{run_id}/reasoningbank/rollback/preview")
    def preview(
        run_id: str, delta_id: Annotated[str, Query(max_length=200)] = "", mode: Mode = Mode.STRICT
    ) -> wire.RollbackPreview:
        return wire.RollbackPreview.of(
            services.room(Lab).banking.rollbacks.preview(run_id, delta_id or None, mode), run_id
        )

    @api.post("/api/v1/runs/{run_id}/reasoningbank/rollback/preview")
    def preview_of(run_id: str, body: Annotated[wire.RollbackRequest | None, Body()] = None) -> wire.RollbackPreview:
        asked = body or wire.RollbackRequest()
        found = services.room(Lab).banking.rollbacks.preview(run_id, asked.delta_id, asked.mode)
        return wire.RollbackPreview.of(found, run_id)

    @api.post("/api/v1/runs/{run_id}/reasoningbank/rollback")
    def roll_back(
        request: Request, run_id: str, key: IdempotencyKey,
        body: Annotated[wire.RollbackRequest | None, Body()] = None,
    ) -> wire.RollbackDone:  # fmt: skip
        asked = body or wire.RollbackRequest()

        def effect() -> tuple[wire.RollbackDone, None]:
            done = services.room(Lab).banking.rollbacks.roll_back(
                run_id,
                replace(written_by(request.scope), actor=HAND),
                delta_id=asked.delta_id,
                mode=asked.mode,
                reason=asked.reason,
                relearn=asked.relearn,
            )
            return wire.RollbackDone.of(done, run_id), None

        given = {"run_id": run_id, **asked.model_dump(mode="json")}
        return services.receipts.once_as(wire.RollbackDone, "POST /api/v1/runs/rollback", key, given, effect)


def _add_all(api: APIRouter, services: LabRouteServices) -> None:
    """Beyond the contract: the same over all runs."""

    @api.get("/api/v1/reasoningbank/roles")
    def roles() -> wire.LessonRoles:
        return wire.LessonRoles(roles=tuple(services.room(Lab).banking.bank.roles))

    @api.get("/api/v1/reasoningbank/jobs")
    def all_jobs(
        status: Annotated[JobStatus | None, Query(description="all if left out")] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> LabPage[wire.LearningJob]:
        name = f"learnings {status or ''}"
        seen = place(name, cursor_text, int)
        found, after = services.room(Lab).banking.learnings.jobs(
            status=status, below=seen[0] if seen else None, limit=limit
        )  # fmt: skip
        items = (wire.LearningJob.of(each, str(each.payload.get("run_id", ""))) for each in found)
        return LabPage[wire.LearningJob].of(items, cursor(name, after) if after is not None else None)

    @api.get("/api/v1/reasoningbank/deltas")
    def all_deltas(
        run_id: Annotated[str, Query(max_length=200, description="of all runs if left out")] = "",
        status: Annotated[DeltaStatus | None, Query(description="all if left out")] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> LabPage[wire.LabDeltaOutline]:
        name = f"all deltas {run_id} {status or ''}"
        seen = place(name, cursor_text, int, str)
        found, after = services.room(Lab).banking.learnings.deltas(
            run_id=run_id or None, status=status, below=(seen[0], seen[1]) if seen else None, limit=limit
        )
        return LabPage[wire.LabDeltaOutline].of(
            map(wire.LabDeltaOutline.of, found), cursor(name, *after) if after else None
        )

    @api.get("/api/v1/reasoningbank/deltas/{delta_id}")
    def one_delta(delta_id: str) -> wire.OneDelta:
        return wire.OneDelta.of(services.room(Lab).banking.learnings.delta(delta_id))


def add_lessons(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    def by(request: Request) -> WriteContext:
        return replace(written_by(request.scope), actor=HAND)

    @api.get("/api/v1/memories")
    def listed(
        query: Annotated[str, Query(max_length=MAX_QUERY, description="best first; without it, newest first")] = "",
        role: Annotated[str, Query(max_length=MAX_ROLE)] = "",
        status: Annotated[wire.ShownStatus | None, Query(description="both if left out")] = None,
        type: Annotated[LessonType | None, Query()] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> LabPage[wire.LabLesson]:
        bank = services.room(Lab).banking.bank
        wish = LessonFilter(frozenset({role} if role else ()), type, frozenset({Status(status)}) if status else SHOWN)
        name = f"memories {role} {status or ''} {type or ''} {query}"
        seen = place(name, cursor_text, int, int)
        if not query.strip():
            listing = bank.page(wish, limit=limit, after=RowCursor(*seen) if seen else None)
            after = cursor(name, listing.after.created_ms, listing.after.seq) if listing.after else None
            return LabPage[wire.LabLesson].of(map(wire.LabLesson.of, listing.items), after)
        # What is added meanwhile would move the pages that follow, so they leave it out.
        until_ms, offset = seen or (bank.now_ms(), 0)
        limit = min(limit, MAX_DEPTH - offset)
        found, more = bank.find(query, wish, limit=limit, offset=offset, until_ms=until_ms)
        reached = offset + len(found)
        after = cursor(name, until_ms, reached) if more and found and reached < MAX_DEPTH else None
        return LabPage[wire.LabLesson].of(map(wire.LabLesson.of, found), after)

    @api.post("/api/v1/memories")
    def create(request: Request, body: wire.NoteRequest, key: IdempotencyKey) -> wire.OneLesson:
        def effect() -> tuple[wire.OneLesson, str]:
            made = services.room(Lab).banking.bank.add(body.to_note(), by(request))
            return wire.OneLesson(memory=wire.LabLesson.of(made)), f"memory:{made.seq}"

        return services.receipts.once_as(wire.OneLesson, "POST /api/v1/memories", key, body, effect)

    @api.get("/api/v1/memories/{mem_id}")
    def one(mem_id: str) -> wire.OneLesson:
        return wire.OneLesson(memory=wire.LabLesson.of(services.room(Lab).banking.bank.get(mem_id)))

    @api.get("/api/v1/memories/{mem_id}/versions")
    def versions(
        mem_id: str, limit: Limit = DEFAULT_LIMIT, cursor_text: Annotated[CursorText, Query(alias="cursor")] = ""
    ) -> LabPage[wire.LessonVersion]:
        name = f"versions {mem_id}"
        seen = place(name, cursor_text, int)
        found = services.room(Lab).banking.bank.versions(mem_id, below=seen[0] if seen else None, limit=limit + 1)
        after = cursor(name, found[limit - 1].version) if len(found) > limit else None
        return LabPage[wire.LessonVersion].of(map(wire.LessonVersion.of, found[:limit]), after)

    @api.patch("/api/v1/memories/{mem_id}")
    def edit(request: Request, mem_id: str, body: wire.EditRequest, key: IdempotencyKey) -> wire.OneLesson:
        def effect() -> tuple[wire.OneLesson, str]:
            after = services.room(Lab).banking.bank.edit(mem_id, body.to_edit(), by(request), seen=body.version)
            return wire.OneLesson(memory=wire.LabLesson.of(after)), f"memory:{after.seq}"

        given = {"mem_id": mem_id, **body.model_dump(exclude_unset=True)}
        return services.receipts.once_as(wire.OneLesson, "PATCH /api/v1/memories", key, given, effect)

    @api.post("/api/v1/memories/{mem_id}/archive")
    def archive(request: Request, mem_id: str) -> wire.OneLesson:
        archived = services.room(Lab).banking.bank.archive(mem_id, by(request))
        return wire.OneLesson(memory=wire.LabLesson.of(archived))
