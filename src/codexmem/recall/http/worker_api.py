"""Search, timeline, lists, saving and figures as contract 000 has them (§3.3, §3.4): an index in text, or rows."""

from typing import Protocol, TypeVar

from fastapi import APIRouter, Request

from codexmem.http.guard import written_by
from codexmem.http.params import IdempotencyKey, Int64, asked, described
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.model.query import Filter, PageRequest, Seq
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.services.status import ServerStatus
from codexmem.recall.http.described import answers as described_as
from codexmem.recall.overview import Overview
from codexmem.recall.wire import answers
from codexmem.recall.wire.answers import Rendered
from codexmem.recall.wire.overview import Processing, Projects, Stats
from codexmem.recall.wire.requests import (
    ListRequest,
    ObservationBatchRequest,
    SaveRequest,
    SearchRequest,
    TimelineRequest,
)
from codexmem.recall.wire.rows import (
    Observation,
    ObservationPage,
    Prompt,
    PromptPage,
    Saved,
    SearchRows,
    Summary,
    SummaryPage,
    TextAnswer,
    TimelineRows,
)

P = TypeVar("P", ObservationPage, SummaryPage, PromptPage)
_NAMES = {Kind.OBSERVATION: "Observation", Kind.SUMMARY: "Session", Kind.PROMPT: "Prompt"}


class LookupServices(answers.SearchServices, Protocol):
    """What these routes need."""

    @property
    def overview(self) -> Overview: ...
    @property
    def receipts(self) -> Receipts: ...
    @property
    def status(self) -> ServerStatus: ...


def add(api: APIRouter, services: LookupServices) -> None:
    """Add the routes."""
    _add_writing(api, services)
    _add_finding(api, services)
    _add_lists(api, services)
    _add_figures(api, services)


def _add_writing(api: APIRouter, services: LookupServices) -> None:
    @api.post("/api/memory/save", response_model_exclude_unset=True)
    def save(request: Request, body: SaveRequest, key: IdempotencyKey) -> Saved:
        def effect() -> tuple[Saved, str]:
            saved = answers.save(services, body, written_by(request.scope))
            return saved, f"memory:{saved.id}"

        return services.receipts.once_as(Saved, "/api/memory/save", key, body, effect)

    @api.post("/api/observations/batch")
    def batch(body: ObservationBatchRequest) -> list[Observation]:
        return answers.batch(services, body)


def _add_finding(api: APIRouter, services: LookupServices) -> None:
    @api.get("/api/search", openapi_extra=described(SearchRequest), responses=described_as(SearchRows | TextAnswer))
    def search(request: Request) -> dict[str, object]:
        wanted = asked(SearchRequest, request)
        return _told(answers.search(services, wanted), wanted.format)

    @api.get(
        "/api/timeline", openapi_extra=described(TimelineRequest), responses=described_as(TimelineRows | TextAnswer)
    )
    def timeline(request: Request) -> dict[str, object]:
        wanted = asked(TimelineRequest, request)
        return _told(answers.timeline(services, wanted), wanted.format)


def _add_lists(api: APIRouter, services: LookupServices) -> None:
    listed = described(ListRequest)

    @api.get("/api/observation/{number}")
    def observation(number: Int64) -> Observation:
        return Observation.of(_one(services, Kind.OBSERVATION, number))

    @api.get("/api/session/{number}")
    def session(number: Int64) -> Summary:
        return Summary.of(_one(services, Kind.SUMMARY, number))

    @api.get("/api/prompt/{number}")
    def prompt(number: Int64) -> Prompt:
        return Prompt.of(_one(services, Kind.PROMPT, number))

    @api.get("/api/observations", openapi_extra=listed, responses=described_as(ObservationPage))
    def observations(request: Request) -> dict[str, object]:
        return _page(ObservationPage, services, Kind.OBSERVATION, asked(ListRequest, request)).document()

    @api.get("/api/summaries", openapi_extra=listed, responses=described_as(SummaryPage))
    def summaries(request: Request) -> dict[str, object]:
        return _page(SummaryPage, services, Kind.SUMMARY, asked(ListRequest, request)).document()

    @api.get("/api/prompts", openapi_extra=listed, responses=described_as(PromptPage))
    def prompts(request: Request) -> dict[str, object]:
        return _page(PromptPage, services, Kind.PROMPT, asked(ListRequest, request)).document()


def _add_figures(api: APIRouter, services: LookupServices) -> None:
    @api.get("/api/projects", responses=described_as(Projects))
    def projects() -> dict[str, object]:
        return Projects(projects=tuple(services.overview.projects())).document()

    @api.get("/api/stats", responses=described_as(Stats))
    def stats(request: Request) -> dict[str, object]:
        look = services.overview
        server = request.scope.get("server") or (None, None)
        return Stats.of(
            services.status.health(), look.counted(), followers=look.followers(), port=server[1], path=look.path
        ).document()

    @api.get("/api/processing-status", responses=described_as(Processing))
    def processing() -> dict[str, object]:
        return Processing.of(services.overview.waiting()).document()


def _told(answer: Rendered, wanted: str | None) -> dict[str, object]:
    return (answer.rows if wanted == "json" else TextAnswer.of(answer.text)).document()


def _one(services: LookupServices, kind: Kind, number: int) -> Memory:
    missing = NotFound(f"{_NAMES[kind]} #{number} not found")
    try:
        memory = services.memories.get(Seq(number), frozenset({kind}))
    except NotFound:
        raise missing from None
    if memory.state.status is Status.DELETED:
        raise missing
    return memory


def _page(page: type[P], services: LookupServices, kind: Kind, wanted: ListRequest) -> P:
    listing = services.memories.page(
        Filter(frozenset({kind}), project=wanted.project or None), PageRequest(wanted.limit, offset=wanted.offset)
    )
    return page.of(listing.items, wanted, more=listing.after is not None)
