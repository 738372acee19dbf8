"""What an agent is handed at the start of a session and at a prompt, and forgetting."""

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.history import By
from codexmem.services.context import MAX_TOKENS, Context, Wish
from codexmem.services.forgetting import MAX_IDS, Forgetting
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.params import Int64
from codexmem.surfaces._kit.recall.described import answers
from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.memory_api import importing, provenance, reading, search_all, sessions, timeline, undoing
from codexmem.surfaces.memory_api.rows import Short, short


class Services(
    importing.Services, provenance.Services, reading.Services, search_all.Services, undoing.Services,
    sessions.Services, timeline.Services, Protocol,
):  # fmt: skip
    """What these routes need."""

    @property
    def context(self) -> Context: ...
    @property
    def forgetting(self) -> Forgetting: ...


class ForgetRequest(BaseModel):
    """`POST /api/forget`: exactly one of its fields says what; with `preview` it is counted and nothing is erased."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ids: Annotated[list[Int64], Field(min_length=1, max_length=MAX_IDS)] | None = None
    session: str | None = None  # the agent's name for it
    sessionDbId: Int64 | None = None  # noqa: N815  the contract's spelling
    project: str | None = None
    source: str | None = None
    preview: bool = False


class ContextPreview(BaseModel):
    """What the next session would be given; nothing is counted as shown and no session begins."""

    project: str
    prompt: str
    text: str = Field(description="to the letter; empty if there is nothing to say")
    tokens: int = Field(description="about what reading it costs")
    memories: list[int] = Field(description="numbers of the memories it tells")


class Forgotten(Short):
    """A memory that would go."""

    project: str


class ForgetAnswer(BaseModel):
    """What was erased, or with `preview` what would be."""

    success: bool
    erased: int
    found: int | None = Field(None, description="only with preview: how many memories would go")
    more: bool | None = Field(None, description="only with preview: so many that only these were counted")
    first: list[Forgotten] | None = Field(None, description="only with preview: some of them")


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()

    @door.get("/api/context")
    def context(
        project: str = "", prompt: str = "", session: str = "", cwd: str = "",
        tokens: Annotated[int, Query(ge=100, le=MAX_TOKENS)] = 2_000,
    ) -> Response:  # fmt: skip
        given = services.context.give(Wish(project, prompt, session, cwd, tokens))
        return Response(given.text, media_type="text/plain; charset=utf-8")

    @door.get("/api/context/preview", responses=answers(ContextPreview))
    def preview(
        project: str = "", prompt: str = "", cwd: str = "",
        tokens: Annotated[int, Query(ge=100, le=MAX_TOKENS)] = 2_000,
    ) -> dict[str, Any]:  # fmt: skip
        given = services.context.preview(Wish(project, prompt, "", cwd, tokens))
        return {"project": project, "prompt": prompt, "text": given.text, "tokens": given.tokens,
                "memories": list(given.seqs)}  # fmt: skip

    @door.post("/api/forget", responses=answers(ForgetAnswer))
    def forget(request: Request, body: ForgetRequest) -> dict[str, Any]:
        _require_one(body)
        if body.preview:
            return {"success": True, "erased": 0, **_outlined(services.forgetting, body)}
        return {"success": True, "erased": _forget(services.forgetting, body, By(actor_of(request.scope)))}

    importing.add(door, services)
    undoing.add(door, services)
    search_all.add(door, services)
    provenance.add(door, services)
    reading.add(door, services)
    sessions.add(door, services)
    timeline.add(door, services)
    return door


def _require_one(body: ForgetRequest) -> None:
    named = [name for name, value in body if name != "preview" and value is not None]
    if len(named) != 1:
        raise InvalidArgument(
            "name exactly one of ids, session, sessionDbId, project and source",
            hint='for example {"session": "the agent\'s session id"}',
        )


def _outlined(forgetting: Forgetting, body: ForgetRequest) -> dict[str, Any]:
    session = body.session if body.session is not None else body.sessionDbId
    outline = forgetting.outline(ids=body.ids, session=session, project=body.project, source=body.source)
    first = [{**short(each), "project": each.state.project} for each in outline.first]
    return {"found": outline.found, "more": outline.more, "first": first}


def _forget(forgetting: Forgetting, body: ForgetRequest, by: By) -> int:
    if body.ids is not None:
        return forgetting.ids(body.ids, by)
    if body.session is not None or body.sessionDbId is not None:
        return forgetting.session(body.session if body.session is not None else body.sessionDbId or 0, by)
    if body.project is not None:
        return forgetting.project(body.project, by)
    return forgetting.source(body.source or "", by)
