"""Memories of any kind as programs of ours read them: found by a search with every filter there is, or named.

`/api/search` and its kin speak the words of their contract; here nothing is left out and nothing renamed.
"""

from typing import Any, Protocol

from fastapi import APIRouter

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.search import MAX_RESULTS, NO_VECTORS, SearchAnswer, SearchMode
from codexmem.kernel.services.recall import Recall
from codexmem.recall.http.described import answers
from codexmem.recall.provenance import Explaining
from codexmem.recall.wire.memories import FullMemory, FullResults, FullSearch


class FullSearchServices(Protocol):
    """What these routes need."""

    @property
    def recall(self) -> Recall: ...
    @property
    def explaining(self) -> Explaining: ...


def add(api: APIRouter, services: FullSearchServices) -> None:
    """Add the routes."""

    @api.post("/api/memories/search", responses=answers(FullResults))
    def search(body: FullSearch) -> dict[str, Any]:
        return FullResults.of(body, _found(services.recall, body)).document()

    @api.get("/api/memories/named/{ref:path}", responses=answers(FullMemory))
    def named(ref: str) -> dict[str, Any]:
        return FullMemory.of(services.explaining.named(ref)).document()


def _found(recall: Recall, body: FullSearch) -> SearchAnswer:
    if len(body.projects) < 2:
        project = body.projects[0] if body.projects else None
        return recall.search(body.search(project, limit=body.limit, offset=body.offset))
    last = body.offset + body.limit
    if body.limit >= 1 and body.offset >= 0 and last > MAX_RESULTS:
        raise InvalidArgument(
            f"offset {body.offset} reaches beyond the first {MAX_RESULTS} results of several projects",
            hint="search one project, or all",
        )
    body.search(None, limit=body.limit, offset=body.offset)  # refuses what is out of bounds
    found = [recall.search(body.search(each, limit=last, offset=0)) for each in dict.fromkeys(body.projects)]
    # Scores are probabilities, so those of several searches stand side by side.
    ranked = sorted((each for answer in found for each in answer.results), key=lambda each: -each.score)
    names = {name for answer in found for name in answer.sources}
    steps = {name for answer in found for name in answer.timings_ms}
    by_both = any(answer.mode is SearchMode.HYBRID for answer in found)
    notes = dict.fromkeys(note for answer in found for note in answer.notes)
    if by_both:
        notes.pop(NO_VECTORS, None)  # one of the projects is empty or new; the others were searched by meaning
    return SearchAnswer(
        results=tuple(ranked[body.offset : last]),
        mode=SearchMode.HYBRID if by_both else SearchMode.LEXICAL,
        sources={name: sum(answer.sources.get(name, 0) for answer in found) for name in sorted(names)},
        timings_ms={name: sum(answer.timings_ms.get(name, 0.0) for answer in found) for name in sorted(steps)},
        more=len(ranked) > last or any(answer.more for answer in found),
        notes=tuple(notes),
    )
