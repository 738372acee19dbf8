"""The toolset of contract 000: three steps from an index to whole records, and a way to save.

The toolset `curate`: acts on memories of every kind. Not among the usual ones: whoever wants agents to have it asks
for it. What decides what agents are told (pin, withhold, approve …) is not offered, because it takes a person.

The toolset `forget`: erasing for good. Not among the usual ones: whoever wants agents to have it asks for it.
"""

import json
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.params import parsed
from codexmem.http.tool import Tool, ToolInvocation, ToolResult, Toolset, schema_of
from codexmem.kernel.model.life import MAX_PARTS, Act, MemoryEdit
from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.services.lifecycle import MAX_IDS, ActRequest, Lifecycle
from codexmem.kernel.wire import WireRequest
from codexmem.recall import forgetting
from codexmem.recall.forgetting import Forgetting
from codexmem.recall.staleness import Comparison
from codexmem.recall.wire import answers, everything
from codexmem.recall.wire.answers import Rendered, SearchServices
from codexmem.recall.wire.everything import EverythingRequest, ScopedRequest
from codexmem.recall.wire.lifecycle import ActAnswer
from codexmem.recall.wire.requests import ObservationBatchRequest, SaveRequest, TimelineRequest

_STEPS = (
    "Recall memory in three steps, always in this order: "
    "1. search for an index of titles with their numbers and, below it, the passages that bear on the query, "
    "which often are the answer (up to 1,500 tokens); "
    "2. timeline around an interesting number for what happened before and after it; "
    "3. get_observations for the whole records of only those numbers that matter (about 500-1,000 tokens each). "
    "Choosing before reading saves about nine tenths of the tokens."
)

_WORKFLOW = """# Memory Search Workflow

Find first, read in full last: that costs about a tenth of reading everything.

1. `search`: an index of what fits, with numbers and titles, and the passages that bear on the query.
   `search(query="login fails after refresh", project="my-app", limit=20)`
   Costs about 50-100 tokens a result, and up to 1,500 for the passages (`passage_tokens=0` leaves them out).
2. `timeline`: what happened before and after something in the index.
   `timeline(anchor=123, depth_before=5, depth_after=5)` or `timeline(query="login fails after refresh")`
   Costs about 50-100 tokens a record.
3. `get_observations`: whole records, only of the numbers that matter, all of them in one call.
   `get_observations(ids=[123, 128])`
   Costs about 500-1,000 tokens each.

Numbers such as #123 are observations, #S9 what was asked and answered in a turn of a session, #P7 prompts. The first
two are read in step 3, by the number alone; anchors may be any of them, or a time. `save_memory` keeps something.
"""


def _important(_: SearchServices, __: ToolInvocation) -> ToolResult:
    return ToolResult(_WORKFLOW)


def _search(services: SearchServices, call: ToolInvocation) -> ToolResult:
    request = parsed(ScopedRequest, call.arguments)
    if request.scope == "all":
        wide = parsed(EverythingRequest, call.arguments)
        return _told(
            everything.search(services, wide, request.passage_tokens, _compared(services, call)), request.format
        )
    return _told(answers.search(services, request, request.passage_tokens, _compared(services, call)), request.format)


def _timeline(services: SearchServices, call: ToolInvocation) -> ToolResult:
    request = parsed(TimelineRequest, call.arguments)
    return _told(answers.timeline(services, request, _compared(services, call)), request.format)


def _get_observations(services: SearchServices, call: ToolInvocation) -> ToolResult:
    observations = answers.batch(services, parsed(ObservationBatchRequest, call.arguments), _compared(services, call))
    seqs = tuple(each.id for each in observations)
    return ToolResult(_json([each.document() for each in observations]), is_json=True, seqs=seqs, opened=True)


def _save_memory(services: SearchServices, call: ToolInvocation) -> ToolResult:
    saved = answers.save(services, parsed(SaveRequest, call.arguments), call.by(), call.project)
    already = " (the same text was already saved there)" if saved.duplicate else ""
    return ToolResult(f"{saved.message} in project {saved.project}{already}", saved.document())


def _compared(services: SearchServices, call: ToolInvocation) -> Comparison:
    """With the checkout that the caller works in."""
    return services.staleness.of(call.cwd, call.project)


def _told(answer: Rendered, wanted: str | None) -> ToolResult:
    if wanted != "json":
        return ToolResult(answer.text, seqs=answer.seqs)
    rows = answer.rows.document()
    return ToolResult(_json(rows), rows, is_json=True, seqs=answer.seqs)


def _json(rows: Any) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2)


_WORKFLOW_SCHEMA = {"type": "object", "properties": {}, "additionalProperties": True}

RECALL: Toolset[SearchServices] = Toolset(
    "recall",
    (
        Tool(
            "__IMPORTANT",
            "How to search memory",
            f"Read this before searching memory. {_STEPS} Never ask for whole records before you have chosen.",
            _WORKFLOW_SCHEMA,
            _important,
            other_names=("important_workflow",),
        ),
        Tool(
            "search",
            "Search memory",
            "Step 1: search what earlier sessions learned, did and were asked. Returns an index with numbers, times "
            "and titles, and the passages that bear on the query. Without a query it lists the newest. Filter by "
            "project, type, concepts, files and dates. Call it before you work on what may have been tried, decided or "
            "fixed before, when an error looks familiar, and when the person refers to earlier work.",
            schema_of(ScopedRequest),
            _search,
            recalls=True,
        ),
        Tool(
            "timeline",
            "What happened around it",
            "Step 2: what happened before and after an anchor, in order: observations, summaries and prompts. Give a "
            "number from the index as anchor, or a query to take its best match.",
            schema_of(TimelineRequest),
            _timeline,
            recalls=True,
        ),
        Tool(
            "get_observations",
            "Read observations",
            "Step 3: the whole records of the observations and turns with these numbers. Choose the numbers by search "
            "and timeline first, and ask for all of them in one call.",
            schema_of(ObservationBatchRequest, "ids"),
            _get_observations,
            recalls=True,
        ),
        Tool(
            "save_memory",
            "Save a memory",
            "Keep something for later sessions: a decision, a fact that was hard to find, a person's preference. "
            "Write it so that it makes sense without this conversation. The same text is saved once.",
            schema_of(SaveRequest, "text", unlisted=["visibility"]),
            _save_memory,
            reads_only=False,
        ),
    ),
    _STEPS,
)


class CurateServices(Protocol):
    """What changing memories needs."""

    @property
    def lifecycle(self) -> Lifecycle: ...


class ChangeMemoryRequest(WireRequest):
    """What to do to which memories."""

    act: Literal["edit", "hide", "deprecate", "supersede", "merge", "split"] = Field(
        description="edit: other words for one memory; hide: leave out of everything; deprecate: no longer holds; "
        "supersede: `into` takes the place of the others; merge: `into` takes the others over; split: one into parts"
    )
    ids: Annotated[list[int | str], Field(min_length=1, max_length=MAX_IDS)] = Field(
        description="Numbers of memories, or names such as S9, project://config or qa-..."
    )
    text: str | None = Field(None, description="edit: the new text; merge: what the memory that stays is to say")
    title: str | None = Field(None, description="edit: the new title, or the new question")
    type: str | None = Field(None, description="edit: the new type of an observation")
    into: int | str | None = Field(None, description="supersede, merge: the memory that stays")
    parts: Annotated[list[str], Field(max_length=MAX_PARTS)] = Field([], description="split: the texts of the parts")
    reason: str = Field("", description="Why, in a few words; kept in the history")


def _change(services: CurateServices, call: ToolInvocation) -> ToolResult:
    request = parsed(ChangeMemoryRequest, call.arguments)
    wanted = ActRequest(
        Act(request.act),
        tuple(request.ids),
        MemoryEdit(request.text, request.title, request.type),
        request.into,
        tuple(MemoryEdit(part) for part in request.parts),
        reason=request.reason,
    )
    done = services.lifecycle.act(wanted, call.by())
    answer = ActAnswer.of(done, services.lifecycle.lives(done.changed))
    lines = [f"{each.ref} is now {each.life.value}, version {each.version}" for each in answer.changed]
    lines += [f"#{seq}: nothing to do" for seq in answer.unchanged]
    if done.delta is not None:
        lines.append(f"A person can take this back with: codexmem undo {done.delta}")
    return ToolResult("\n".join(lines), answer.document())


CURATE: Toolset[CurateServices] = Toolset(
    "curate",
    (
        Tool(
            "change_memory",
            "Change memories",
            "Correct, hide, deprecate, supersede, merge or split memories of any kind. Every change is a version and "
            "can be taken back. Use it when the person says that a memory is wrong, out of date or there twice.",
            schema_of(ChangeMemoryRequest, "act", "ids"),
            _change,
            reads_only=False,
            repeatable=False,
        ),
    ),
    "change_memory corrects what is remembered; nothing is lost by it.",
)


class ForgetServices(Protocol):
    """What forgetting needs."""

    @property
    def forgetting(self) -> Forgetting: ...


class ForgetToolRequest(BaseModel):
    """What to erase: exactly one of these."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ids: Annotated[list[int], Field(min_length=1, max_length=forgetting.MAX_IDS)] | None = Field(
        default=None, description="Numbers of memories"
    )
    session: str | None = Field(default=None, description="The agent's id of a session")
    project: str | None = Field(default=None, description="A whole project")
    source: str | None = Field(default=None, description="What wrote it, such as session:12 or import:...")


def _forget(services: ForgetServices, call: ToolInvocation) -> ToolResult:
    request = parsed(ForgetToolRequest, call.arguments)
    named = forgetting.ForgetSelection(request.ids, request.session, request.project, request.source)
    erased = services.forgetting.one_of(named, call.by())
    return ToolResult(f"Erased {erased} memories for good.", {"erased": erased})


FORGET: Toolset[ForgetServices] = Toolset(
    "forget",
    (
        Tool(
            "forget",
            "Forget for good",
            "Erase memories with all their versions and everything captured for them: by numbers, by session, by "
            "project or by source, exactly one of these; what persons wrote in a session stays. This cannot be undone; "
            "do it only when a person asks for it.",
            schema_of(ForgetToolRequest),
            _forget,
            reads_only=False,
            destroys=True,
            needs=TenantRole.ADMIN,
        ),
    ),
    "forget erases memories for good, and only when a person asks for it.",
)
