"""The job that looks at what was written lately: merges exact duplicates, and notes near ones and contradictions.

Each claim that is new is compared with the few of its project that the index of words finds nearest, so a run costs the
new memories times a search each, whatever the store holds. What happened twice is no duplicate: of observations only
those are compared that say what holds (statements, what an author found) or were saved by hand. Only an observation is
merged without asking, because nobody holds its address; the delta can be undone, and what was undone stays undone.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.embed.passages import SIZE
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model import ids
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import PATIENT, Job, NewJob
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, Origin, Status, is_manual_session, manual_session
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.statement import LASTING, SUPERSEDES
from codexmem.kernel.search.evidence import rarity
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.index import TextIndex, VectorIndex
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.tallies import Tallies
from codexmem.recall import pairs
from codexmem.recall.pairs import ComparedText, FindingReason
from codexmem.recall.review_model import FindingKey, StoredFinding
from codexmem.recall.review_store import FindingTable

_log = logging.getLogger(__name__)

REVIEW = "memory.review"
TIMEOUT_S = 600.0
ACTOR = "review"
CAUSE = "duplicate"
REVIEWED = frozenset({Kind.OBSERVATION, Kind.NOTE, Kind.QA, Kind.KNOWLEDGE, Kind.LESSON})
MERGED = "merged"
_POSITION = "review.seq"  # the tally that says up to which number memories were looked at
_DELAY_MS = 600_000  # after a write, so that a session's memories are looked at together and a slow writer has ended
_OVERLAP = 50  # numbers that are looked at again: a transaction may commit after one with a higher number
_STEP = 1_000  # numbers of a run, most of them prompts and reports of what was done
_NEAREST = 12  # claims of a search with which a new one is compared
_TERMS = 12  # of a claim, the rarest, that it is searched by
_WOKEN_S = 60.0  # between two looks whether a tenant has something new
_SETTLED_MS = 30 * 86_400_000  # so long an undo opens a pair again
_SETTLED = 500
_LASTING = dict(LASTING)["concept"]
_ELSE = REVIEWED - {Kind.OBSERVATION}
_NOTES = frozenset({Kind.NOTE})
_OBSERVATIONS = frozenset({Kind.OBSERVATION})

Nearness = Callable[[str, Sequence[int]], Mapping[int, float]]  # cosines of a text to memories that have vectors


class VectorNearness:
    """How near the meaning of a text is to that of memories, where there are vectors; silent where there are none."""

    def __init__(self, embedder: Embedder | None, vectors: VectorIndex) -> None:
        self._embedder = embedder
        self._vectors = vectors

    def of(self, text: str, seqs: Sequence[int]) -> Mapping[int, float]:
        """The cosine of each of these memories that has vectors; costs one call of the encoder."""
        if self._embedder is None:
            return {}
        try:
            (vector,) = self._embedder.passages([text[:SIZE]])
            return self._vectors.near(self._embedder.model, vector, seqs)
        except CodexmemError as error:
            _log.warning("memories are compared by words only: %s", error.message)
            return {}


@dataclass(slots=True)
class ScanResult:
    """What a run found: pairs for people, and pairs of which the second is to go for the first."""

    findings: list[StoredFinding] = field(default_factory=list)
    equal: list[tuple[Memory, Memory]] = field(default_factory=list)  # (kept, dropped)
    claims: int = 0
    position: int = 0
    more: bool = False


class ReviewScan:
    """Looks through the acting tenant's new memories."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History, findings: FindingTable,
                 text: TextIndex, tallies: Tallies, queue: Queue, clock: Clock,
                 nearness: Nearness = lambda *_: {}) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._findings = findings
        self._text = text
        self._tallies = tallies
        self._queue = queue
        self._clock = clock
        self._nearness = nearness
        self._woken: dict[str, float] = {}
        self._lock = threading.Lock()

    def wake(self, tenant: str) -> None:
        """Plan a run if something was written; called after every burst of writes, it looks at most once a minute."""
        now = ids.monotonic()
        with self._lock:
            if now - self._woken.get(tenant, -_WOKEN_S) < _WOKEN_S:
                return
            self._woken[tenant] = now
        with acting_as(tenant):
            self.plan()

    def plan(self) -> None:
        """Enqueue a run some time from now, unless nothing is new or one waits."""
        position = self.position()
        if self._findings.newest_number() > position:
            self._enqueue(position, _DELAY_MS)

    def position(self) -> int:
        """The number up to which memories were looked at."""
        return self._tallies.get(_POSITION)

    def run(self, job: Job, context: JobContext) -> Done:
        """Look at the next memories; what comes of it is written when the job ends."""
        seen = self.look(self.position(), context.check)
        result = {"claims": seen.claims, "found": len(seen.findings), "duplicates": len(seen.equal)}
        return Done(result, lambda: self.write(seen))

    def look(self, position: int, proceed: Callable[[], object] = lambda: None) -> ScanResult:
        """Compare the memories above this number, at most `_STEP` of them; nothing is written."""
        numbers = self._findings.written_after(max(0, position - _OVERLAP), _STEP)
        seen = ScanResult(position=max(position, numbers[-1][0] if numbers else 0), more=len(numbers) == _STEP)
        new = self._table.many((seq for seq, kind in numbers if kind in REVIEWED), REVIEWED)
        known: dict[int, ComparedText] = {}
        gone: set[int] = set()
        for memory in sorted(filter(is_claim, new.values()), key=lambda each: each.seq):
            proceed()
            seen.claims += 1
            self._compare(memory, known, gone, seen)
        return seen

    def write(self, seen: ScanResult) -> str | None:
        """Keep what was found and merge what is equal, in one delta; its name, if something was merged."""
        now = self._clock.now_ms()
        with self._db.transaction():
            self._table.hold(REVIEW)
            self._advance(seen.position)
            for finding in seen.findings:
                self._findings.add(replace(finding, found_ms=now))
            self._findings.settle(now - _SETTLED_MS, _SETTLED)
            delta = self._merge(seen.equal, now)
            if seen.more:
                self._enqueue(seen.position, 0)
            return delta

    def _advance(self, position: int) -> None:
        further = position - self.position()
        if further > 0:
            self._tallies.add({_POSITION: further})

    def _enqueue(self, position: int, delay_ms: int) -> None:
        # Named after where it begins: the job that runs now must not stand in the way of the next one.
        self._queue.enqueue(
            NewJob(REVIEW, {}, subject="store", dedupe_key=f"{REVIEW}:{position}", priority=PATIENT, delay_ms=delay_ms)
        )

    def _compare(self, memory: Memory, known: dict[int, ComparedText], gone: set[int], seen: ScanResult) -> None:
        if memory.seq in gone:
            return
        text = known.setdefault(memory.seq, pairs.compared_text(memory))
        if not text.terms:
            return
        close: list[Memory] = []
        for other in self._nearest(memory, text):
            if other.seq in gone or not _comparable(memory, other):
                continue
            newer, older = _by_age(memory, other)
            theirs = known.setdefault(other.seq, pairs.compared_text(other))
            ours, before = (text, theirs) if newer is memory else (theirs, text)
            if _may_merge(newer, older) and pairs.are_equal(ours, before):
                kept, dropped = _kept(newer, older)
                seen.equal.append((kept, dropped))
                gone.add(dropped.seq)
                if dropped is memory:
                    return
                continue
            found = pairs.contradiction(ours, before)
            if found is None and newer.kind is older.kind:
                found = pairs.duplicate(ours, before)
                if found is None and pairs.shared(ours, before) >= pairs.CLOSE:
                    close.append(other)
            if found is not None:
                seen.findings.append(_stored(found.reason, found.score, newer, older))
        self._compare_meaning(memory, text, close, known, seen)

    def _compare_meaning(self, memory: Memory, text: ComparedText, close: Sequence[Memory],
                         known: Mapping[int, ComparedText], seen: ScanResult) -> None:  # fmt: skip
        """What words leave open, vectors may tell: asked only for these, because an encoder takes its time."""
        if not close:
            return
        cosines = self._nearness(text.text, [each.seq for each in close])
        for other in close:
            found = pairs.duplicate(text, known[other.seq], cosines.get(other.seq))
            if found is not None:
                seen.findings.append(_stored(found.reason, found.score, *_by_age(memory, other)))

    def _nearest(self, memory: Memory, text: ComparedText) -> list[Memory]:
        """The claims that have most of its rarest words: of its project, and notes that are for every project."""
        terms = sorted(text.terms, key=lambda term: (-rarity(term), term))[:_TERMS]
        with self._db.reading():
            hits = [
                hit.seq
                for wanted in _scopes(memory.state.project)
                for hit in self._text.find(terms, wanted, limit=_NEAREST)
                if hit.seq < memory.seq  # so that of two new ones the second is compared with the first
            ]
            found = self._table.many(dict.fromkeys(hits), REVIEWED)
        return [found[seq] for seq in dict.fromkeys(hits) if seq in found and is_claim(found[seq])]

    def _merge(self, equal: Sequence[tuple[Memory, Memory]], now_ms: int) -> str | None:
        """Deprecate what says the same as another, which from now on points to it; once for each pair, for ever."""
        delta: str | None = None
        for kept, dropped in equal:
            there = self._table.many((kept.seq, dropped.seq), REVIEWED)
            if not _unchanged(kept, dropped, there):
                continue
            finding = _stored(FindingReason.DUPLICATE, 1.0, *_by_age(kept, dropped))
            if not self._findings.add(replace(finding, found_ms=now_ms, decided=MERGED)):
                continue
            if delta is None:
                delta = self._history.open_delta("store", CAUSE, WriteContext(ACTOR, origin=Origin.TOOL)).id
            by = WriteContext(ACTOR, delta=delta, origin=Origin.TOOL)
            now_kept, now_dropped = there[kept.seq], there[dropped.seq]
            links = tuple(dict.fromkeys((*now_kept.state.links, (SUPERSEDES, dropped.seq))))
            self._memories.write(now_kept, replace(now_kept.state, links=links), Op.UPDATE,
                                 replace(by, note=_noted(now_dropped)))  # fmt: skip
            self._memories.write(now_dropped, replace(now_dropped.state, status=Status.DEPRECATED), Op.UPDATE,
                                 replace(by, note=f"the same as #{kept.seq}"))  # fmt: skip
        return delta


def _unchanged(kept: Memory, dropped: Memory, there: Mapping[int, Memory]) -> bool:
    """Whether both still stand and say what they said; links that this run has added do not count."""
    return all(
        each.seq in there
        and there[each.seq].state.status in VISIBLE
        and there[each.seq].state.marks == each.state.marks
        and pairs.compared_text(there[each.seq]).same_as == pairs.compared_text(each).same_as
        for each in (kept, dropped)
    )


def is_claim(memory: Memory) -> bool:
    """Whether a memory says what holds, so that another can say the same or contradict it."""
    if memory.kind not in REVIEWED or memory.state.status not in VISIBLE:
        return False
    attrs = memory.state.attrs
    if not isinstance(attrs, ObservationAttrs):
        return True
    by_hand = memory.session is not None and is_manual_session(memory.session)
    return by_hand or not _LASTING.isdisjoint(attrs.concepts)


def _scopes(project: str) -> Iterator[Filter]:
    yield Filter(_OBSERVATIONS, project=project, facets=LASTING)
    yield Filter(_OBSERVATIONS, project=project, session=manual_session(project))
    yield Filter(_ELSE, project=project)
    if project:
        yield Filter(_NOTES, project="")


def _comparable(one: Memory, other: Memory) -> bool:
    """Whether a person has not related the two already, and no other queue looks after them."""
    linked = any(seq == other.seq for _, seq in one.state.links) or any(seq == one.seq for _, seq in other.state.links)
    return not linked and not (one.kind is other.kind is Kind.QA)


def _may_merge(newer: Memory, older: Memory) -> bool:
    """Whether they may become one without asking: observations of one project that nobody has marked."""
    return (
        newer.kind is older.kind is Kind.OBSERVATION
        and newer.state.project == older.state.project
        and newer.state.type == older.state.type
        and not newer.state.marks
        and not older.state.marks
    )


def _kept(newer: Memory, older: Memory) -> tuple[Memory, Memory]:
    """The older stays, unless only the newer was said by a person."""
    if newer.author is Origin.HUMAN and older.author is not Origin.HUMAN:
        return newer, older
    return older, newer


def _by_age(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    newer, older = sorted((one, other), key=lambda each: (each.created_ms, each.seq), reverse=True)
    return newer, older


def _noted(dropped: Memory) -> str:
    """What of the other memory's counters a reader of the history may want to know: counts are never taken back."""
    counts = dropped.counters
    return (
        f"#{dropped.seq} said the same (shown {counts.shown}, used {counts.used}, confirmed {counts.valid}, "
        f"refuted {counts.invalid})"
    )


def _stored(reason: FindingReason, score: float, newer: Memory, older: Memory) -> StoredFinding:
    return StoredFinding(FindingKey(reason.value, newer.seq, older.seq), newer.state.project, score, 0)
