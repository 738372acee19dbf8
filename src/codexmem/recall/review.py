"""What a person should look at, of all kinds: memories that agents proposed, and pairs that say the same or contradict
each other. Questions with answers have a queue of their own, which is only counted here.

Nothing is decided by itself. Each decision but keeping both is an act on memories, in one delta that one undo takes
back; keeping both is noted with the pair, and taken back by opening it again. A page costs its length.
"""

from collections.abc import Mapping, Sequence

from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.life import Act, Life
from codexmem.kernel.model.memory import REMEMBERED, VISIBLE, Mark, Memory
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor
from codexmem.kernel.services.lifecycle import ActRequest, ActResult, Lifecycle
from codexmem.kernel.services.memories import Memories
from codexmem.recall import pairs
from codexmem.recall.pairs import FindingReason, PairFinding
from codexmem.recall.review_model import (
    FindingCursor,
    FindingKey,
    ReviewCounts,
    ReviewCursor,
    ReviewDecision,
    ReviewItem,
    ReviewItems,
    ReviewReason,
    ReviewVerdict,
    StoredFinding,
)
from codexmem.recall.review_scan import REVIEWED
from codexmem.recall.review_store import FindingTable

KEPT = "kept"
_PROPOSED = (("mark", frozenset({Mark.PROPOSED.value})),)
_AHEAD = 3  # pages of pairs that are read for one: those that were edited since may be none any more


_OF_PROPOSED = frozenset({ReviewDecision.APPROVE, ReviewDecision.REJECT})


class MemoryReview:
    """The queue of the acting tenant."""

    def __init__(self, memories: Memories, findings: FindingTable, acts: Lifecycle, clock: Clock) -> None:
        self._memories = memories
        self._findings = findings
        self._acts = acts
        self._clock = clock

    def counts(self, projects: Sequence[str] | None) -> ReviewCounts:
        """How much waits in these projects, or in all."""
        return self._findings.counts(projects)

    def lives(self, items: Sequence[ReviewItem]) -> Mapping[int, Life]:
        """Where the memories of these items are in their life."""
        return self._acts.lives([each for item in items for each in (item.newer, item.older) if each is not None])

    def page(self, projects: Sequence[str] | None, reasons: frozenset[ReviewReason], limit: int,
             after: ReviewCursor | None = None) -> ReviewItems:  # fmt: skip
        """What waits for one of these reasons, newest first; at most so much."""
        items: list[ReviewItem] = []
        if ReviewReason.PROPOSED in reasons and (after is None or after.pair is None):
            items, more = self._proposed(projects, limit, after.proposed if after is not None else None)
            if more:
                last = items[-1].newer
                return ReviewItems(tuple(items), ReviewCursor(proposed=RowCursor(last.created_ms, last.seq)))
        wanted = [reason.value for reason in sorted(reasons) if reason is not ReviewReason.PROPOSED]
        if not wanted:
            return ReviewItems(tuple(items), None)
        pair, more = self._pairs(projects, wanted, limit - len(items), items, after.pair if after is not None else None)
        return ReviewItems(tuple(items), ReviewCursor(pair=pair) if more else None)

    def decide(self, verdict: ReviewVerdict, by: WriteContext) -> ActResult:
        """Do what was decided; what was settled meanwhile is left as it is, and told as unchanged."""
        decision = verdict.decision
        if decision in _OF_PROPOSED:
            if verdict.other is not None:
                raise InvalidArgument(f"{decision} is about one memory", hint="name one memory that was proposed")
            self._require_proposed(verdict.seq)
            if decision is ReviewDecision.REJECT:
                return self._acts.reject(verdict.seq, verdict.reason, by)
            return self._acts.act(ActRequest(Act.APPROVE, (verdict.seq,), reason=verdict.reason), by)
        found = self._found(verdict)
        newer, older = found.key.seq, found.key.other
        unchanged = ActResult(None, (), (newer, older))
        if decision in {ReviewDecision.KEEP, ReviewDecision.REOPEN}:
            self._findings.decide(
                found.key, KEPT if decision is ReviewDecision.KEEP else None, self._clock.now_ms()
            )  # fmt: skip
            return unchanged
        standing = self._memories.many((newer, older), REVIEWED)
        if any(standing[seq].state.status not in VISIBLE for seq in (newer, older)):
            return unchanged
        return self._acts.act(_act(verdict, newer, older), by)

    def _proposed(
        self, projects: Sequence[str] | None, limit: int, after: RowCursor | None
    ) -> tuple[list[ReviewItem], bool]:
        """The next that were proposed, and whether there are more."""
        found: list[Memory] = []
        for project in dict.fromkeys(projects) if projects is not None else (None,):
            wanted = Filter(REMEMBERED, project=project, facets=_PROPOSED)
            found += self._memories.page(wanted, PageRequest(limit + 1, after)).items
        found.sort(key=lambda each: (each.created_ms, each.seq), reverse=True)
        agreed = self._memories.agreed(found[:limit])
        return [
            ReviewItem(ReviewReason.PROPOSED, each, found_ms=each.updated_ms, agreed=agreed.get(each.seq))
            for each in found[:limit]
        ], len(found) > limit

    def _pairs(self, projects: Sequence[str] | None, reasons: Sequence[str], limit: int, items: list[ReviewItem],
               after: FindingCursor | None) -> tuple[FindingCursor, bool]:  # fmt: skip
        """Add open pairs to the items; where they ended, and whether there are more."""
        place = after or FindingCursor(2**62, 2**62, 2**62)
        for _ in range(_AHEAD):
            rows = self._findings.open_pairs(projects, reasons, limit + 1, place)
            there = self._memories.many({seq for row in rows for seq in (row.key.seq, row.key.other)}, REVIEWED)
            read, more = rows[:limit], len(rows) > limit
            for row in read:
                place = FindingCursor(row.found_ms, row.key.seq, row.key.other)
                item = _item(row, there[row.key.seq], there[row.key.other])
                if item is not None:
                    items.append(item)
                    limit -= 1
            if not more or not limit:
                return place, more
        return place, True

    def _require_proposed(self, seq: int) -> None:
        memory = self._memories.many((seq,), REMEMBERED).get(seq)
        if memory is None:
            raise NotFound(
                f"#{seq} is not remembered", hint="codexmem review lists what waits",
                details={"reason": "not_remembered", "name": f"#{seq}"},
            )  # fmt: skip
        if Mark.PROPOSED not in memory.state.marks:
            raise Conflict(
                f"#{seq} is not proposed: it was decided about, or never had to be",
                hint="codexmem review lists what waits",
                details={"reason": "not_proposed"},
            )

    def _found(self, verdict: ReviewVerdict) -> StoredFinding:
        if verdict.other is None:
            raise InvalidArgument(
                f"{verdict.decision} is about two memories", hint="name the newer and the older one, such as 12:7"
            )
        for reason in FindingReason:
            for seq, other in ((verdict.seq, verdict.other), (verdict.other, verdict.seq)):
                found = self._findings.get(FindingKey(reason.value, seq, other))
                if found is not None:
                    return found
        raise NotFound(
            f"#{verdict.seq} and #{verdict.other} were not found to belong together",
            hint="codexmem review lists the pairs",
        )


def _act(verdict: ReviewVerdict, newer: int, older: int) -> ActRequest:
    if verdict.target is not None and verdict.target not in {newer, older}:
        raise InvalidArgument(f"#{verdict.target} is neither of the two", hint=f"name #{newer} or #{older}")
    match verdict.decision:
        case ReviewDecision.MERGE:
            stays = verdict.target or older
            return ActRequest(Act.MERGE, (older if stays == newer else newer,), into=stays, reason=verdict.reason)
        case ReviewDecision.SUPERSEDE:
            return ActRequest(Act.SUPERSEDE, (older,), into=newer, reason=verdict.reason)
        case _:
            return ActRequest(Act.HIDE, (verdict.target or newer,), reason=verdict.reason)


def _item(row: StoredFinding, newer: Memory, older: Memory) -> ReviewItem | None:
    """The pair with what shows why; None if one of them was edited since and it holds no longer."""
    reason = ReviewReason(row.key.reason)
    now: PairFinding | None = None
    edited = max(newer.updated_ms, older.updated_ms) > row.found_ms
    if reason is ReviewReason.CONTRADICTION:
        now = pairs.contradiction(pairs.compared_text(newer), pairs.compared_text(older))
    elif edited:
        now = pairs.duplicate(pairs.compared_text(newer), pairs.compared_text(older))
    if edited and now is None:
        return None
    sentences = (now.newer, now.older) if now is not None and now.newer else None
    return ReviewItem(reason, newer, older, row.score, row.found_ms, sentences)
