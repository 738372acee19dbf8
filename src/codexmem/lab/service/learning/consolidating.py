"""From proposals to a plan: what is added, updated and archived beside the lessons that are there.

A model may decide, or rules; either way the plan keeps these: what a person wrote, edited or archived is not changed,
only lessons that were looked at can be, each at most once, and a lesson is archived only for one that replaces it, or
because the same run taught it and no longer does. What was refused is told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codexmem.kernel.model.memory import Memory, Status
from codexmem.lab.lesson_extractor import Merging
from codexmem.lab.lesson_model import (
    Add,
    Archive,
    Change,
    LessonPlan,
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
