"""The page of a project: what was learned day by day, what needs care, what it cost and what it gave.

Everything is counted when it is asked for, in a stretch of time or up to a bound, and says where a bound was reached.
What the store has no record of is None.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from codexmem.kernel.llm.asking import failed
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.file_labels import ENDS
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from codexmem.recall import decay
from codexmem.recall.brief_model import (
    DAY_MS,
    LEARNED,
    MAX_VALUES,
    DaySpan,
    HandedOver,
    LabelCounts,
    LearnedDay,
    MemoryConcern,
    ModelUse,
    ProjectCost,
    ProjectHealth,
    StaleCounts,
    day_name,
)
from codexmem.recall.brief_store import BriefTable
from codexmem.recall.earlier_sessions import is_commit
from codexmem.recall.review import MemoryReview
from codexmem.recall.staleness import Comparison, FileFreshness, Staleness
from codexmem.recall.stamped_memories import MAX_ROWS, StampedMemories

_PAGES = 4  # of memories that are compared with a checkout
_STALE = {
    MemoryConcern.CHANGED: frozenset({FileFreshness.CHANGED}),
    MemoryConcern.GONE: frozenset({FileFreshness.GONE}),
}


class MemoryConcerns:
    """Says which memories of a project need care, and compares with the checkout that was last worked in."""

    def __init__(self, sessions: Sessions, staleness: Staleness) -> None:
        self._sessions = sessions
        self._staleness = staleness

    def checkout(self, project: str) -> Comparison | None:
        """The checkout of the project's last session; None if there is none on this machine."""
        newest = self._sessions.newest(project=project, limit=1)
        compared = self._staleness.of(newest[0].cwd, project) if newest else Comparison()
        return compared if compared.knows else None

    def judge(self, concern: MemoryConcern, project: str | None) -> Callable[[Memory], bool]:
        """Whether a memory gives this concern; without a checkout no file is known to have changed."""
        if concern in _STALE:
            compared = self.checkout(project) if project else None
            if compared is None:
                return lambda _: False
            wanted, verdict = _STALE[concern], compared.verdict
            return lambda memory: not is_commit(memory) and verdict(memory).freshness in wanted
        return _is_never_told if concern is MemoryConcern.NEVER_TOLD else _is_unused

    def agents(self, keys: list[str]) -> Mapping[str, str]:
        """Which agent had which of these sessions."""
        return {key: session.platform for key, session in self._sessions.known(keys).items()}


def _is_never_told(memory: Memory) -> bool:
    return memory.kind in LEARNED and not memory.counters.shown and not memory.counters.used


def _is_unused(memory: Memory) -> bool:
    counts = memory.counters
    return memory.kind in LEARNED and counts.shown >= decay.TOLD and not counts.used and not counts.valid


class ProjectBrief:
    """Counts for one project of the acting tenant."""

    def __init__(self, table: BriefTable, review: MemoryReview, stamped: StampedMemories, concerns: MemoryConcerns,
                 tallies: Tallies, clock: Clock) -> None:  # fmt: skip
        self._table = table
        self._review = review
        self._stamped = stamped
        self._concerns = concerns
        self._tallies = tallies
        self._clock = clock

    def span(self, days: int, offset: int = 0) -> DaySpan:
        """The last so many days of a clock, today included."""
        return DaySpan.until(self._clock.now_ms(), days, offset)

    def days(self, project: str, span: DaySpan) -> list[LearnedDay]:
        """What was learned on each day; costs the project's memories of these days."""
        return self._table.days(project, span)

    def labels(self, project: str, from_ms: int, to_ms: int) -> LabelCounts:
        """What the memories of a time are about, and from whom; costs the labels of the newest ones."""
        counted, whole = self._table.labels(project, from_ms, to_ms)
        counted["file"] = whole_paths(counted["file"])
        return LabelCounts({name: _most(values) for name, values in counted.items()}, whole)

    def health(self, project: str) -> ProjectHealth:
        """What needs care; reads at most 400 files of a checkout, and of these only such as were changed since."""
        return ProjectHealth(
            self._review.counts([project]), self._table.readings(project, decay.TOLD), self._stale(project)
        )

    def cost(self, project: str, days: int) -> ProjectCost:
        """What the last so many days cost and gave, today included; costs what was logged on them."""
        span = self.span(days)
        asked, whole = self._table.logged(EventType.MODEL_RESULT, span.from_ms, span.to_ms)
        by_day: dict[int, ModelUse] = {day: ModelUse() for day in span.numbers}
        by_model: dict[str | None, ModelUse] = defaultdict(ModelUse)
        by_project: dict[str, ModelUse] = defaultdict(ModelUse)
        for at_ms, name, payload in asked:
            use = _use(payload)
            if not use[0]:
                continue
            by_project[name].add(*use)
            if name == project:
                by_day[at_ms // DAY_MS].add(*use)
                by_model[payload.get("model")].add(*use)
        tokens, calls = (self._tallied(name, span) for name in ("tokens", "calls"))
        # Calls are counted since later than tokens are.
        known = None if tokens and not calls else calls
        return ProjectCost(
            span, by_day, dict(by_model), dict(by_project), tokens, known, whole, self._given(project, span)
        )

    def _tallied(self, name: str, span: DaySpan) -> int:
        return sum(self._tallies.many([f"{name}.{day_name(day)}" for day in span.numbers]).values())

    def _given(self, project: str, span: DaySpan) -> HandedOver:
        logged, whole = self._table.logged(EventType.CONTEXT_GIVEN, span.from_ms, span.to_ms)
        given = [payload for _, name, payload in logged if name == project and payload.get("seqs")]
        starts = sum(bool(payload.get("start")) for payload in given)
        told = self._table.told(project, span.from_ms)
        return HandedOver(
            starts, len(given) - starts, sum(int(payload.get("tokens") or 0) for payload in given),
            told if told.told or not given else None, whole,
        )  # fmt: skip

    def _stale(self, project: str) -> StaleCounts | None:
        compared = self._concerns.checkout(project)
        if compared is None:
            return None
        found: Counter[FileFreshness] = Counter()
        after = None
        for _ in range(_PAGES):
            page = self._stamped.page(project, limit=MAX_ROWS, after=after)
            found.update(compared.verdict(each).freshness for each in page.items if not is_commit(each))
            after = page.after
            if after is None:
                break
        known = found.total() - found[FileFreshness.UNKNOWN]
        return StaleCounts(
            found[FileFreshness.CHANGED], found[FileFreshness.GONE], known, after is None and known == found.total()
        )


def whole_paths(labels: Mapping[str, int]) -> Counter[str]:
    """Of the labels of files, whole paths alone: a path is labelled with its ends as well, which count for it."""
    own = Counter(labels)
    for label, count in labels.items():
        names = [name for name in label.replace("\\", "/").split("/") if name not in {"", "."}]
        is_end = label == "/".join(names) and len(names) <= ENDS
        shorter = "/".join(names[1:] if is_end else names[-ENDS:])
        if shorter != label and shorter in own:
            own[shorter] -= count
    return Counter({label: labels[label] for label, count in own.items() if count > 0})


def _most(values: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(values.items(), key=lambda each: (-each[1], each[0]))[:MAX_VALUES]


def _use(payload: Mapping[str, object]) -> tuple[int, int, int]:
    """Calls and tokens of one extraction; none where rules alone answered. Events of before 0.2 do not say how many."""
    tokens = payload.get("tokens")
    prompt, completion = (
        (int(tokens.get("prompt") or 0), int(tokens.get("completion") or 0)) if isinstance(tokens, dict) else (0, 0)
    )
    error = payload.get("error_class")
    asked = payload.get("by") == "model" or prompt + completion > 0 or failed(str(error) if error else None)
    calls = payload.get("calls")
    return (calls if asked and isinstance(calls, int) else int(asked)), prompt, completion
