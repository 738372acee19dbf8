"""Acts on memories of every kind, and the list of them that also shows what is hidden."""

from typing import Annotated, Literal, Protocol

from fastapi import APIRouter, Query, Request

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.http.guard import acting, written_by
from codexmem.kernel.model.life import FOR_AGENTS, Life
from codexmem.kernel.model.memory import REMEMBERED, Kind, Mark, Origin
from codexmem.kernel.model.query import RowCursor
from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.recall.brief_model import MemoryConcern
from codexmem.recall.http.described import answers
from codexmem.recall.http.timeline import TimeText, time_range
from codexmem.recall.memory_list import IN_USE, ListRequirements, MemoryListPage, MemoryLists
from codexmem.recall.sessions import SessionLists
from codexmem.recall.wire.lifecycle import ActAnswer, ActBody, MemoryPage, MemoryRow

_MAX = 200
_LIST = "memories"
_Kinds = Annotated[
    list[Literal["observation", "summary", "prompt", "note", "qa", "knowledge", "lesson"]],
    Query(max_length=len(REMEMBERED), description="may be repeated; without one, every kind"),
]
_Lives = Annotated[
    list[Life], Query(max_length=len(Life), description="may be repeated; without one, active and proposed")
]
TextList = Annotated[list[Annotated[str, Query(max_length=600)]], Query(max_length=20, description="may be repeated")]


class LifecycleServices(Protocol):
    """What these routes need."""

    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def memory_lists(self) -> MemoryLists: ...
    @property
    def sessions(self) -> SessionLists: ...


def add(api: APIRouter, services: LifecycleServices) -> None:
    """Add the routes."""

    @api.post("/api/memories/act", responses=answers(ActAnswer))
    def act(request: Request, body: ActBody) -> dict[str, object]:
        # What is not for agents decides what is told.
        with acting(request.scope, TenantRole.WRITER if body.act in FOR_AGENTS else TenantRole.REVIEWER):
            done = services.lifecycle.act(body.request(), written_by(request.scope))
            return ActAnswer.of(done, services.lifecycle.lives(done.changed)).document()

    @api.get("/api/memories", responses=answers(MemoryPage))
    def memories(
        project: Annotated[str | None, Query(max_length=400)] = None,
        shared: Annotated[bool, Query(description="only what belongs to no project")] = False,
        kind: _Kinds = [], life: _Lives = [],  # noqa: B006  the framework copies them
        mark: Annotated[list[Mark], Query(max_length=len(Mark))] = [],  # noqa: B006
        origin: Annotated[list[Origin], Query(max_length=len(Origin))] = [],  # noqa: B006
        file: TextList = [], concept: TextList = [], type: TextList = [],  # noqa: B006
        agent: TextList = [],  # noqa: B006
        from_: Annotated[TimeText, Query(alias="from")] = "", to: TimeText = "",
        health: Annotated[
            MemoryConcern | None,
            Query(description="only what needs care; changed and gone need a project, and its checkout here"),
        ] = None,
        cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=_MAX)] = 50,
    ) -> dict[str, object]:  # fmt: skip
        wanted = ListRequirements(
            frozenset(map(Kind, kind)) or REMEMBERED, "" if shared else project or None, frozenset(life) or IN_USE,
            frozenset(mark), frozenset(origin), tuple(file), frozenset(concept), frozenset(type), frozenset(agent),
            time_range("from", from_).first_ms if from_ else None, time_range("to", to).last_ms if to else None, health,
        )  # fmt: skip
        begin = place(_LIST, cursor, int, int)
        found = services.memory_lists.page(wanted, limit=limit, after=RowCursor(*begin) if begin else None)
        return memory_page(services, found, _LIST).document()


def memory_page(services: LifecycleServices, found: MemoryListPage, name: str) -> MemoryPage:
    """A page of the list of this name on the wire."""
    numbers = services.sessions.numbers([key for each in found.items if (key := each.memory.session) is not None])
    after = found.after
    return MemoryPage(
        items=tuple(
            MemoryRow.of_listed(each, numbers.get(key) if (key := each.memory.session) is not None else None)
            for each in found.items
        ),
        next_cursor=cursor(name, after.created_ms, after.seq) if after is not None else None,
        has_more=after is not None,
    )
