"""From proposals to a plan: what is added, updated and archived beside the lessons that are there.

A model may decide, or rules; either way the plan keeps these: what a person wrote, edited or archived is not changed,
only lessons that were looked at can be, each at most once, and a lesson is archived only for one that replaces it, or
because the same run taught it and no longer does. What was refused is told.

Writing a plan: all of it as one delta, inside the caller's transaction, or nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codexmem.kernel.model.attrs import LessonAttrs
from codexmem.kernel.model.history import Delta, Op, WriteContext
from codexmem.kernel.model.job import RetryLater
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.lab.lesson_extractor import Merging
from codexmem.lab.lesson_model import (
    MAX_RUNS,
    STEP,
    SURE,
    Add,
    Archive,
    Change,
    LessonPlan,
    LessonType,
    Proposal,
    RefusedChange,
    Update,
    attrs_of,
    is_a_persons,
    nearest,
    nearness,
    opposed,
    same,
)
from codexmem.lab.service.bank import KINDS, Bank, LessonFilter

PERSONS = "a person wrote it"
PUT_AWAY = "a person archived it"
STALE = "the run no longer teaches this"
DISPROVED = "a newer lesson says otherwise"
_RELATED = 0.3  # likeness from which a lesson of the run counts as what a model meant by "known already"


def by_rules(proposals: Sequence[Proposal], known: Sequence[Memory], run_id: str) -> LessonPlan:
    """The plan without a model."""
    draft = _Draft(known, run_id)
    for proposal in proposals:
        draft.weigh(proposal)
    return draft.finished(stale=True)


def by_model(proposals: Sequence[Proposal], known: Sequence[Memory], run_id: str, merging: Merging) -> LessonPlan:
    """The plan that a model's decisions come to, as far as they are allowed."""
    draft = _Draft(known, run_id)
    disproved: dict[int, list[tuple[Memory, str]]] = {}
    for each in merging.disproofs:
        disproved.setdefault(each.proposal, []).append((known[each.target], each.reason))
    for decision in merging.decisions:
        proposal = proposals[decision.proposal]
        gone = disproved.get(decision.proposal, [])
        target = known[decision.target] if decision.target is not None else None
        if decision.action == "skip":
            draft.keep_related(proposal)
        elif target is not None:
            draft.update(target, replace(proposal, content=decision.content or proposal.content), gone)
        elif not gone and draft.repeats(proposal):
            draft.weigh(proposal)
        else:
            draft.add(proposal, gone)
    return draft.finished(stale=bool(proposals))


class _Draft:
    """A plan being made."""

    def __init__(self, known: Sequence[Memory], run_id: str) -> None:
        self._known = tuple(known)
        self._run = run_id
        self._changes: list[Change] = []
        self._refused: list[RefusedChange] = []
        self._settled: set[int] = set()  # numbers of lessons that nothing more happens to

    def weigh(self, proposal: Proposal) -> None:
        """Add, confirm or replace, as the nearest lessons say."""
        ordered = nearest(proposal, self._known)
        twin = next((each for each in ordered if same(proposal, each) and self._counts(each)), None)
        if twin is None:
            against = [each for each in ordered if opposed(proposal, each) and each.state.status is Status.ACTIVE]
            self.add(proposal, [(each, DISPROVED) for each in against if self._outweighed(each)])
        elif twin.state.status is Status.ARCHIVED:
            self._refuse("add", twin, PUT_AWAY)
        elif is_a_persons(twin):
            self._settled.add(twin.seq)  # it says so already, in a person's words
        else:
            # Where others taught it as well their words stay, and this run only confirms them.
            mine = set(attrs_of(twin.state).runs) <= {self._run}
            kept = proposal if mine else Proposal(twin.state.title, twin.state.content, attrs_of(twin.state).role)
            self.update(twin, kept, [])

    def repeats(self, proposal: Proposal) -> bool:
        """Whether a lesson says this already, or said it and a person archived it."""
        return any(same(proposal, each) and self._counts(each) for each in self._known)

    def add(self, proposal: Proposal, gone: Sequence[tuple[Memory, str]]) -> None:
        """A new lesson, and what it disproves."""
        if any(isinstance(each, Add) and each.lesson.title == proposal.title for each in self._changes):
            return
        replaces = tuple(self._archive(gone))
        contradicts = tuple(
            each.seq for each in self._known
            if each.state.status is Status.ACTIVE and each.seq not in replaces
            and (opposed(proposal, each) or any(each is target for target, _ in gone))
        )  # fmt: skip
        self._changes.append(Add(proposal, replaces, contradicts))

    def update(self, target: Memory, lesson: Proposal, gone: Sequence[tuple[Memory, str]]) -> None:
        """Another text for a lesson, if it may be changed; else the proposal stands beside it."""
        if target.seq in self._settled:
            return
        if is_a_persons(target) or target.state.status is not Status.ACTIVE:
            self._refuse("update", target, PERSONS if is_a_persons(target) else "it is archived")
            if not same(lesson, target):
                self.add(lesson, gone)
            return
        self._settled.add(target.seq)
        list(self._archive(gone))
        self._changes.append(Update(target, lesson))

    def keep_related(self, proposal: Proposal) -> None:
        """A model said that this is known: the lesson of the run that it probably meant stays."""
        mine = [each for each in self._own() if nearness(proposal, each) >= _RELATED]
        self._settled.update(each.seq for each in nearest(proposal, mine)[:1])

    def finished(self, *, stale: bool) -> LessonPlan:
        """The plan; with `stale`, what only this run taught and nothing has confirmed is put away."""
        if stale:
            for each in self._own():
                if each.seq not in self._settled:
                    self._settled.add(each.seq)
                    self._changes.append(Archive(each, STALE))
        return LessonPlan(tuple(self._changes), tuple(self._refused), self._known)

    def _archive(self, gone: Sequence[tuple[Memory, str]]) -> Iterator[int]:
        for target, reason in gone:
            if is_a_persons(target):
                self._refuse("archive", target, PERSONS)
            elif target.state.status is Status.ACTIVE and target.seq not in self._settled:
                self._settled.add(target.seq)
                self._changes.append(Archive(target, reason or DISPROVED))
                yield target.seq

    def _own(self) -> list[Memory]:
        """Lessons in use that this run alone taught."""
        return [
            each for each in self._known
            if each.state.status is Status.ACTIVE and attrs_of(each.state).runs == (self._run,)
            and not is_a_persons(each)
        ]  # fmt: skip

    def _refuse(self, change: str, target: Memory, reason: str) -> None:
        self._settled.add(target.seq)
        self._refused.append(RefusedChange(change, target.id, reason))

    def _counts(self, memory: Memory) -> bool:
        """Whether a lesson speaks for or against a proposal: what learning itself put away does not."""
        return memory.state.status is Status.ACTIVE or is_a_persons(memory)

    def _outweighed(self, memory: Memory) -> bool:
        """Whether one run is enough to disprove it: several runs, or a person, are not outweighed by one."""
        return not is_a_persons(memory) and len(attrs_of(memory.state).runs) <= 1


PREFIX = "rbd"  # of the ids of deltas that learning and rollbacks of learning make
LEARN_CAUSE = "learn"
LEARNER = "lab.learn"  # actor of what learning writes
_NEWEST = 50  # lessons made meanwhile that are looked at
_FIRST = 0.5  # confidence of what one run taught


class PlanWriter:
    """Writes plans."""

    def __init__(self, memories: Memories, history: History, bank: Bank) -> None:
        self._memories = memories
        self._history = history
        self._bank = bank

    def require_current(self, plan: LessonPlan, since_ms: int) -> None:
        """Raise RetryLater unless what the plan was decided on still stands; the caller holds the bank."""
        now = self._memories.many((each.seq for each in plan.seen), KINDS)
        if any(each.seq not in now or now[each.seq].version != each.version for each in plan.seen):
            raise RetryLater("a lesson was changed while this was learned", error_class="changed", delay_ms=0)
        seen = {each.seq for each in plan.seen}
        newer = [
            each for each in self._bank.page(LessonFilter(), limit=_NEWEST).items
            if each.created_ms >= since_ms and each.seq not in seen
        ]  # fmt: skip
        added = [each.lesson for each in plan.changes if isinstance(each, Add)]
        if any(same(lesson, each) for lesson in added for each in newer):
            raise RetryLater("the same was learned from another run meanwhile", error_class="changed", delay_ms=0)

    def write(self, plan: LessonPlan, run_id: str, subject: str) -> tuple[Delta, list[dict[str, str]]]:
        """Write the plan; returns its delta, which there is one of even if nothing changes, and what was done."""
        by = WriteContext(LEARNER, source=subject)
        delta = self._history.open_delta(subject, LEARN_CAUSE, by, prefix=PREFIX)
        by = replace(by, delta=delta.id)
        done: list[dict[str, str]] = []
        for change in plan.changes:
            match change:
                case Add():
                    memory = self._memories.remember(_draft(change, run_id), by)
                case Update(target=target):
                    state = _confirmed(change, run_id)
                    if state == target.state:
                        continue  # it says so, and this run is known to have taught it
                    memory = self._memories.write(target, state, Op.UPDATE, by)
                case _:
                    if self._memories.is_kept(change.target, by):
                        continue  # pinned: a person decides when it is told no longer
                    away = replace(change.target.state, status=Status.ARCHIVED)
                    memory = self._memories.write(change.target, away, Op.ARCHIVE, replace(by, note=change.reason))
            done.append({"op": _name(change), "mem_id": memory.id})
        return delta, done


def _draft(change: Add, run_id: str) -> MemoryDraft:
    links = [("replaces", seq) for seq in change.replaces] + [("contradicts", seq) for seq in change.contradicts]
    state = State(
        change.lesson.content, LessonAttrs(change.lesson.role, (run_id,)), type=LessonType.LEARNED.value,
        title=change.lesson.title, confidence=_FIRST, links=tuple(links),
    )  # fmt: skip
    return MemoryDraft(Kind.LESSON, state, Origin.MODEL)


def _confirmed(change: Update, run_id: str) -> State:
    state, attrs = change.target.state, attrs_of(change.target.state)
    known = run_id in attrs.runs
    return replace(
        state,
        content=change.lesson.content,
        title=change.lesson.title,
        confidence=state.confidence if known else max(state.confidence, min(SURE, round(state.confidence + STEP, 4))),
        attrs=attrs if known else replace(attrs, runs=(*attrs.runs, run_id)[:MAX_RUNS]),
    )


def _name(change: Add | Update | Archive) -> str:
    return type(change).__name__.lower()
