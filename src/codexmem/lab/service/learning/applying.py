"""Writing a plan: all of it as one delta, inside the caller's transaction, or nothing."""

from dataclasses import replace

from codexmem.kernel.model.attrs import LessonAttrs
from codexmem.kernel.model.history import Delta, Op, WriteContext
from codexmem.kernel.model.job import RetryLater
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State, Status
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.lab.lesson_model import MAX_RUNS, STEP, SURE, Add, Archive, LessonPlan, LessonType, Update, attrs_of, same
from codexmem.lab.service.bank import KINDS, Bank, LessonFilter

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
