"""What waits for a person's decision, of all kinds, and the decision."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Query, Request

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.http.guard import written_by
from codexmem.kernel.model.query import RowCursor
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.recall.http.described import answers
from codexmem.recall.review import MemoryReview
from codexmem.recall.review_model import MAX_ITEMS, FindingCursor, ReviewCursor, ReviewReason
from codexmem.recall.review_scan import ReviewScan
from codexmem.recall.wire.lifecycle import ActAnswer
from codexmem.recall.wire.review import DecisionBody, ReviewAnswer, ReviewRow, ReviewTotals, ScanAnswer

_LIST = "review"
_MAX_PROJECTS = 20


class ReviewServices(Protocol):
    """What these routes need."""

    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def review(self) -> MemoryReview: ...
    @property
    def review_scan(self) -> ReviewScan: ...


def add(api: APIRouter, services: ReviewServices) -> None:
    """Add the routes."""

    @api.get("/api/review", responses=answers(ReviewAnswer))
    def review(
        project: Annotated[
            list[Annotated[str, Query(max_length=400)]],
            Query(max_length=_MAX_PROJECTS, description="may be repeated; empty: of no project; none: of all"),
        ] = [],  # noqa: B006  the framework copies it
        reason: Annotated[
            list[ReviewReason], Query(max_length=len(ReviewReason), description="may be repeated; none: every reason")
        ] = [],  # noqa: B006
        cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=MAX_ITEMS)] = 20,
    ) -> dict[str, object]:  # fmt: skip
        projects, queue = list(dict.fromkeys(project)) or None, services.review
        found = queue.page(projects, frozenset(reason) or frozenset(ReviewReason), limit, _after(cursor))
        lives = dict(queue.lives(found.items))
        return ReviewAnswer(
            items=tuple(ReviewRow.of(item, lives) for item in found.items),
            counts=ReviewTotals.of(queue.counts(projects)),
            next_cursor=_spelled(found.after) if found.after is not None else None,
            has_more=found.after is not None,
        ).document()

    @api.post("/api/review/decide", responses=answers(ActAnswer))
    def decide(request: Request, body: DecisionBody) -> dict[str, object]:
        done = services.review.decide(body.verdict(), written_by(request.scope))
        return ActAnswer.of(done, services.lifecycle.lives(done.changed)).document()

    _add_scan(api, services)


def _add_scan(api: APIRouter, services: ReviewServices) -> None:
    @api.post("/api/review/scan", responses=answers(ScanAnswer))
    def scan() -> dict[str, object]:
        seen = services.review_scan.look(services.review_scan.position())
        delta = services.review_scan.write(seen)
        return ScanAnswer(
            claims=seen.claims, found=len(seen.findings), merged=len(seen.equal) if delta else 0, delta=delta,
            more=seen.more,
        ).document()  # fmt: skip


def _after(text: str) -> ReviewCursor | None:
    found = place(_LIST, text, int, int, int)
    if found is None:
        return None
    first, seq, other = found
    if other:
        return ReviewCursor(pair=FindingCursor(first, seq, other))
    return ReviewCursor(proposed=RowCursor(first, seq))


def _spelled(after: ReviewCursor) -> str:
    if after.pair is not None:
        return cursor(_LIST, after.pair.found_ms, after.pair.seq, after.pair.other)
    assert after.proposed is not None
    return cursor(_LIST, after.proposed.created_ms, after.proposed.seq, 0)
