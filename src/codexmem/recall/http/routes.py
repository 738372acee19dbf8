"""What an agent is handed at the start of a session and at a prompt, and forgetting."""

from dataclasses import asdict
from typing import Annotated, Protocol

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.guard import written_by
from codexmem.http.params import Int64, asked, described
from codexmem.http.surface import router
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.recall.context import MAX_TOKENS, ContextBuilder, ContextRequest
from codexmem.recall.forgetting import MAX_IDS, Erasure, ForgetSelection, Forgetting
from codexmem.recall.http import brief, history, importing, lifecycle, reading, review, sessions, timeline
from codexmem.recall.http.described import answers
from codexmem.recall.lineage import MAX_SHOWN, Lineage
from codexmem.recall.provenance import (
    EVENTS,
    MAX_EVENTS,
    MAX_TOLD,
    MAX_VERSIONS,
    TOLD,
    VERSIONS,
    Explaining,
    Provenance,
)
from codexmem.recall.wire import everything
from codexmem.recall.wire.everything import EverythingRequest, EverythingRows
from codexmem.recall.wire.memories import (
    ContextPreview,
    ForgetAnswer,
    ForgetTrail,
    LineageAnswer,
    SessionCountsAnswer,
)
from codexmem.recall.wire.rows import TextAnswer


def _add_lookups(api: APIRouter, services: "RecallRouteServices") -> None:
    @api.get("/api/provenance/{ref:path}", responses=answers(Provenance))
    def provenance(
        ref: str, versions: Annotated[int, Query(ge=1, le=MAX_VERSIONS)] = VERSIONS,
        events: Annotated[int, Query(ge=1, le=MAX_EVENTS)] = EVENTS,
        told: Annotated[int, Query(ge=1, le=MAX_TOLD, description="sessions that were told it")] = TOLD,
    ) -> dict[str, object]:  # fmt: skip
        return asdict(services.explaining.why(ref, versions=versions, events=events, told=told))

    @api.get("/api/lineage", responses=answers(LineageAnswer))
    def lineage(
        session: Annotated[str, Query(min_length=1, description="the agent's name for it")],
        limit: Annotated[int, Query(ge=1, le=MAX_SHOWN)] = MAX_SHOWN,
    ) -> dict[str, object]:
        """What a session was told, and what it wrote from then on."""
        told = services.lineage.told(session, limit=limit)
        since_ms = min((each.at_ms for each in told), default=0)
        written = services.lineage.written_after(session, since_ms, limit=limit) if told else []
        return LineageAnswer.of(session, told, written).document()

    @api.get("/api/lineage/counts", responses=answers(SessionCountsAnswer))
    def session_counts(
        session: Annotated[str, Query(min_length=1, description="the agent's name for it")],
    ) -> dict[str, object]:
        """How many memories a session was told, opened and left, for a status line."""
        return SessionCountsAnswer.of(session, services.lineage.counts(session)).document()

    @api.get(
        "/api/search/all", openapi_extra=described(EverythingRequest), responses=answers(EverythingRows | TextAnswer)
    )  # fmt: skip
    def search_all(request: Request) -> dict[str, object]:
        wanted = asked(EverythingRequest, request)
        rendered = everything.search(services, wanted)
        answer = TextAnswer.of(rendered.text) if wanted.format in {"markdown", "index"} else rendered.rows
        return answer.document()


class RecallRouteServices(
    importing.AgentFileServices, brief.BriefServices, history.HistoryServices, importing.ImportServices,
    lifecycle.LifecycleServices,
    review.ReviewServices, reading.FullSearchServices, everything.EverythingServices, history.UndoServices,
    sessions.SessionServices, reading.StampedServices, timeline.TimelineServices, Protocol,
):  # fmt: skip
    """What these routes need."""

    @property
    def context(self) -> ContextBuilder: ...
    @property
    def explaining(self) -> Explaining: ...
    @property
    def forgetting(self) -> Forgetting: ...
    @property
    def erasure(self) -> Erasure: ...
    @property
    def lineage(self) -> Lineage: ...


class ForgetRequest(BaseModel):
    """`POST /api/forget`: exactly one of its fields says what; with `preview` it is counted and nothing is erased."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ids: Annotated[list[Int64], Field(min_length=1, max_length=MAX_IDS)] | None = None
    session: str | None = None  # the agent's name for it
    sessionDbId: Int64 | None = None  # noqa: N815  the contract's spelling
    project: str | None = None
    source: str | None = None
    preview: bool = False
    follow: bool = False  # also what carries its words: later memories, traces of searches, captured events, the spool
    all_after: bool = False  # with follow: also what sessions wrote after they were told it
    include_mine: bool = False  # of a session: also what persons wrote


_HOW = frozenset({"preview", "follow", "all_after", "include_mine"})


def routes(services: RecallRouteServices) -> APIRouter:
    """The interface's routes on these services."""
    api = router()

    @api.get("/api/context")
    def context(
        project: str = "", prompt: str = "", session: str = "", cwd: str = "", platform: str = "",
        tokens: Annotated[int, Query(ge=100, le=MAX_TOKENS)] = 2_000,
    ) -> Response:  # fmt: skip
        given = services.context.give(ContextRequest(project, prompt, session, cwd, tokens, platform))
        return Response(given.text, media_type="text/plain; charset=utf-8")

    @api.get("/api/context/preview", responses=answers(ContextPreview))
    def preview(
        project: str = "", prompt: str = "", cwd: str = "", platform: str = "",
        tokens: Annotated[int, Query(ge=100, le=MAX_TOKENS)] = 2_000,
    ) -> dict[str, object]:  # fmt: skip
        wanted = ContextRequest(project, prompt, "", cwd, tokens, platform)
        return ContextPreview.of(wanted, services.context.preview(wanted)).document()

    @api.post("/api/forget", responses=answers(ForgetAnswer))
    def forget(request: Request, body: ForgetRequest) -> dict[str, object]:
        _require_one(body)
        session = body.session if body.session is not None else body.sessionDbId
        named = ForgetSelection(body.ids, session, body.project, body.source, body.include_mine)
        if body.preview:
            trail = services.erasure.follow(named) if body.follow else None
            return ForgetAnswer.of_preview(services.forgetting.outline(named), trail).document()
        if body.follow:
            count, gone = services.erasure.erase(named, written_by(request.scope), all_after=body.all_after)
            return ForgetAnswer(success=True, erased=count, trail=ForgetTrail.of(gone)).document()
        erased = services.forgetting.one_of(named, written_by(request.scope))
        return ForgetAnswer(success=True, erased=erased).document()

    importing.add(api, services)
    brief.add(api, services)
    history.add_history(api, services)
    importing.add_importing(api, services)
    lifecycle.add(api, services)
    review.add(api, services)
    history.add(api, services)
    _add_lookups(api, services)
    reading.add_reading(api, services)
    sessions.add(api, services)
    reading.add(api, services)
    timeline.add(api, services)
    return api


def _require_one(body: ForgetRequest) -> None:
    named = [name for name, value in body if name not in _HOW and value is not None]
    if len(named) != 1:
        raise InvalidArgument(
            "name exactly one of ids, session, sessionDbId, project and source",
            hint='for example {"session": "the agent\'s session id"}',
        )
