"""The toolset of contract 000: three steps from an index to whole records, and a way to save."""

import json
from typing import Any

from codexmem.http.params import parsed
from codexmem.http.tool import Tool, ToolInvocation, ToolResult, Toolset, schema_of
from codexmem.recall.wire import answers, everything
from codexmem.recall.wire.answers import Rendered, SearchServices
from codexmem.recall.wire.everything import EverythingRequest, ScopedRequest
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
        return _told(everything.search(services, wide, request.passage_tokens), request.format)
    return _told(answers.search(services, request, request.passage_tokens), request.format)


def _timeline(services: SearchServices, call: ToolInvocation) -> ToolResult:
    request = parsed(TimelineRequest, call.arguments)
    return _told(answers.timeline(services, request), request.format)


def _get_observations(services: SearchServices, call: ToolInvocation) -> ToolResult:
    observations = answers.batch(services, parsed(ObservationBatchRequest, call.arguments))
    return ToolResult(_json([each.document() for each in observations]))


def _save_memory(services: SearchServices, call: ToolInvocation) -> ToolResult:
    saved = answers.save(services, parsed(SaveRequest, call.arguments), call.actor, call.project)
    already = " (the same text was already saved there)" if saved.duplicate else ""
    return ToolResult(f"{saved.message} in project {saved.project}{already}", saved.document())


def _told(answer: Rendered, wanted: str | None) -> ToolResult:
    if wanted != "json":
        return ToolResult(answer.text)
    rows = answer.rows.document()
    return ToolResult(_json(rows), rows)


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
        ),
        Tool(
            "timeline",
            "What happened around it",
            "Step 2: what happened before and after an anchor, in order: observations, summaries and prompts. Give a "
            "number from the index as anchor, or a query to take its best match.",
            schema_of(TimelineRequest),
            _timeline,
        ),
        Tool(
            "get_observations",
            "Read observations",
            "Step 3: the whole records of the observations and turns with these numbers. Choose the numbers by search "
            "and timeline first, and ask for all of them in one call.",
            schema_of(ObservationBatchRequest, "ids"),
            _get_observations,
        ),
        Tool(
            "save_memory",
            "Save a memory",
            "Keep something for later sessions: a decision, a fact that was hard to find, a person's preference. "
            "Write it so that it makes sense without this conversation. The same text is saved once.",
            schema_of(SaveRequest, "text"),
            _save_memory,
            reads_only=False,
        ),
    ),
    _STEPS,
)
