"""The toolset of contract 000: three steps from an index to whole records, and a way to save."""

import json

from codexmem.surfaces._kit.params import parsed
from codexmem.surfaces._kit.recall import answers, everything
from codexmem.surfaces._kit.recall.answers import Services, Told
from codexmem.surfaces._kit.recall.everything import EverythingRequest, ScopedRequest
from codexmem.surfaces._kit.recall.requests import BatchRequest, SaveRequest, TimelineRequest
from codexmem.surfaces.mcp.tool import Call, Said, Tool, Toolset, schema_of

_STEPS = (
    "Recall memory in three steps, always in this order: "
    "1. search for an index of titles with their numbers (about 50-100 tokens a result); "
    "2. timeline around an interesting number for what happened before and after it; "
    "3. get_observations for the whole records of only those numbers that matter (about 500-1,000 tokens each). "
    "Choosing by title before reading saves about nine tenths of the tokens."
)

_WORKFLOW = """# Memory Search Workflow

Find by title first, read in full last: that costs about a tenth of reading everything.

1. `search`: an index of what fits, with numbers and titles.
   `search(query="login fails after refresh", project="my-app", limit=20)`
   Costs about 50-100 tokens a result.
2. `timeline`: what happened before and after something in the index.
   `timeline(anchor=123, depth_before=5, depth_after=5)` or `timeline(query="login fails after refresh")`
   Costs about 50-100 tokens a record.
3. `get_observations`: whole records, only of the numbers that matter, all of them in one call.
   `get_observations(ids=[123, 128])`
   Costs about 500-1,000 tokens each.

Numbers such as #123 are observations, #S9 summaries of a session, #P7 prompts. Only observations are read in step 3;
anchors may be any of them, or a time. `save_memory` keeps something for later sessions.
"""


def _important(_: Services, __: Call) -> Said:
    return Said(_WORKFLOW)


def _search(services: Services, call: Call) -> Said:
    request = parsed(ScopedRequest, call.arguments)
    if request.scope == "all":
        return _told(everything.search(services, parsed(EverythingRequest, call.arguments)), request.format)
    return _told(answers.search(services, request), request.format)


def _timeline(services: Services, call: Call) -> Said:
    request = parsed(TimelineRequest, call.arguments)
    return _told(answers.timeline(services, request), request.format)


def _get_observations(services: Services, call: Call) -> Said:
    return Said(json.dumps(answers.batch(services, parsed(BatchRequest, call.arguments)), ensure_ascii=False, indent=2))


def _save_memory(services: Services, call: Call) -> Said:
    told = answers.save(services, parsed(SaveRequest, call.arguments), call.actor, call.project).body
    already = " (the same text was already saved there)" if told.get("duplicate") else ""
    return Said(f"{told['message']} in project {told['project']}{already}", told)


def _told(answer: Told, wanted: str | None) -> Said:
    return Said(answer.as_json(), answer.rows) if wanted == "json" else Said(answer.text)


_WORKFLOW_SCHEMA = {"type": "object", "properties": {}, "additionalProperties": True}

RECALL: Toolset[Services] = Toolset(
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
            "and titles, not the records. Without a query it lists the newest. Filter by project, type, concepts, "
            "files and dates.",
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
            "Step 3: the whole records of the observations with these numbers. Choose the numbers by search and "
            "timeline first, and ask for all of them in one call.",
            schema_of(BatchRequest, "ids"),
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
