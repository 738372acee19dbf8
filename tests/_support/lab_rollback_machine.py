"""Random lives of a ReasoningBank: hand edits, archives, additions, learnings and rollbacks, beside plain snapshots.

The model keeps no versions. Before each learning it copies what every lesson says; a strict rollback must leave every
lesson that the learning touched as it stands in that copy, byte for byte, and every other lesson as it stands now. A
lesson that was not there is as one that is hidden.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from codexmem.kernel.model.history import Mode, Op, WriteContext
from codexmem.kernel.model.memory import Memory, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.store.database import Database, acting_as
from codexmem.lab.lesson_model import Add, Archive, Change, LessonEdit, LessonPlan, NewLesson, Proposal, Update
from codexmem.lab.model import BatchOrder, run_subject
from codexmem.lab.service.bank import KINDS
from codexmem.lab.service.learning import consolidating
from codexmem.lab.service.learning.consolidating import PlanWriter
from tests._support import lab as labs
from tests._support.clock import StepClock

TEXTS = st.sampled_from([
    "benzoic acid helps", "苯甲酸提高选择性", "avoid benzoic acid", "不要用苯甲酸", "Cu–Mo 1:1", "x", "🙂 a\nb",
])  # fmt: skip
ROLES = st.sampled_from(["global", "mof_expert", "tio2_expert"])
EXTRAS = st.sampled_from([None, {}, {"来源": 1}, {"a": [1.5, {"b": None}]}])
PICK = st.integers(0, 40)
PICKS = st.lists(st.tuples(PICK, st.sampled_from(["update", "archive"]), TEXTS), max_size=4)
BY = WriteContext("lab")
_tenants = itertools.count(1)


@dataclass
class Kept:
    """A delta as the model knows it: who it belongs to, and what every lesson said before it."""

    run: int
    before: dict[str, str | None]
    touched: frozenset[str]
    learned: bool = True
    reverts: str | None = None
    reverted: bool = False


@dataclass
class Bank:
    """What the model expects: each lesson's state as text, None if it is hidden."""

    states: dict[str, str | None] = field(default_factory=dict)
    deltas: dict[str, Kept] = field(default_factory=dict)
    writers: dict[str, list[str | None]] = field(default_factory=dict)  # of each lesson: the delta of every write


def spelled(state: State) -> str | None:
    """A state byte for byte; None for what nobody sees."""
    if state.status is Status.DELETED:
        return None
    return json.dumps(state.to_json(), ensure_ascii=False, sort_keys=True)


def machine_for(db: Database, tenant_prefix: str) -> type[RuleBasedStateMachine]:
    """The state machine on this store; every example is a fresh tenant of it."""
    made = labs.bench(db, labs.StepAgent(), tmp_path=Path(tempfile.gettempdir()), clock=StepClock())
    # Nobody waits for a notification here, and PostgreSQL's would keep a connection.
    made.notifier.close()
    banking, memories = made.lab.banking, made.memories
    applying = PlanWriter(memories, banking.rollbacks._history, banking.bank)

    class RollbackMachine(RuleBasedStateMachine):
        @initialize(texts=st.lists(TEXTS, min_size=1, max_size=2), adds=st.lists(TEXTS, max_size=2), picks=PICKS)
        def start(self, texts: list[str], adds: list[str], picks: list[tuple[int, str, str]]) -> None:
            """Every life begins with something in it, and a learning."""
            self.tenant = f"{tenant_prefix}-{next(_tenants)}"
            self.model = Bank()
            self.seen: dict[str, Memory] = {}
            with acting_as(self.tenant):
                self.runs = [run.id for run in made.lab.runs.create(BatchOrder("Cu–Mo", 2))[1]]
            for text in texts:
                self.add(text=text, role="global", extra=None)
            self._look()
            self.learn(run=0, adds=adds, picks=picks)

        def _look(self) -> dict[str, Memory]:
            with acting_as(self.tenant):
                self.seen = {each.id: each for each in memories.page(_ALL, PageRequest(500)).items}
            return self.seen

        def _shown(self) -> list[Memory]:
            """As they were read last, or written since."""
            found = sorted(self.seen.values(), key=lambda each: each.seq)
            return [each for each in found if each.state.status is not Status.DELETED]

        def _wrote(self, memory: Memory, delta: str | None = None) -> None:
            self.seen[memory.id] = memory
            self.model.states[memory.id] = spelled(memory.state)
            self.model.writers.setdefault(memory.id, []).append(delta)

        def _by_hand(self, pick: int, act: Callable[[Memory], Memory]) -> None:
            shown = self._shown()
            if shown:
                before = shown[pick % len(shown)]
                with acting_as(self.tenant):
                    after = act(before)
                if after.version != before.version:
                    self._wrote(after)

        @rule(text=TEXTS, role=ROLES, extra=EXTRAS)
        def add(self, text: str, role: str, extra: dict[str, Any] | None) -> None:
            with acting_as(self.tenant):
                self._wrote(banking.bank.add(NewLesson(text, role, extra=extra or {}), BY))

        @rule(
            pick=PICK, text=st.none() | TEXTS, role=st.none() | ROLES, extra=EXTRAS, away=st.sampled_from([None, 0, 1])
        )
        def edit(self, pick: int, text: str | None, role: str | None, extra: Any, away: int | None) -> None:
            status = None if away is None else Status.ARCHIVED if away else Status.ACTIVE
            self._by_hand(
                pick, lambda each: banking.bank.edit(each.id, LessonEdit(text, role, status, None, extra), BY)
            )

        @rule(pick=PICK)
        def archive(self, pick: int) -> None:
            self._by_hand(pick, lambda each: banking.bank.archive(each.id, BY))

        @rule(pick=PICK, priority=st.integers(0, 10), confidence=st.sampled_from([0.0, 0.1, 0.7, 1.0]), other=PICK)
        def rewrite(self, pick: int, priority: int, confidence: float, other: int) -> None:
            """What no endpoint of the lab changes, and another may: all of a state comes back."""

            def act(memory: Memory) -> Memory:
                shown = self._shown()
                state = replace(
                    memory.state, priority=priority, confidence=confidence, title="标题" * (priority % 3),
                    uris=(f"project://lesson-{memory.seq}", f"project://lesson-{memory.seq}/{priority}"),
                    links=(("相关", shown[other % len(shown)].seq),),
                )  # fmt: skip
                return memories.write(memory, state, Op.UPDATE, BY)

            self._by_hand(pick, act)

        @rule(run=st.integers(0, 1), adds=st.lists(TEXTS, max_size=2), picks=PICKS)
        def learn(self, run: int, adds: list[str], picks: list[tuple[int, str, str]]) -> None:
            """Any plan, also one that consolidation would not make."""
            shown = self._shown()
            chosen = {shown[pick % len(shown)].id: (pick, what, text) for pick, what, text in picks} if shown else {}
            changes: list[Change] = [Add(Proposal(text, text)) for text in adds]
            for pick, what, text in chosen.values():
                target = shown[pick % len(shown)]
                changes.append(Update(target, Proposal(text, text)) if what == "update" else Archive(target, text))
            self._write(run, LessonPlan(tuple(changes)))

        @rule(run=st.integers(0, 1), texts=st.lists(TEXTS, min_size=1, max_size=3))
        def consolidate(self, run: int, texts: list[str]) -> None:
            """A plan as the rules make it."""
            proposals = [Proposal(text, text) for text in dict.fromkeys(texts)]
            self._write(run, consolidating.by_rules(proposals, self._shown(), self.runs[run]))

        def _write(self, run: int, plan: LessonPlan) -> None:
            before = dict(self.model.states)
            with acting_as(self.tenant), db.transaction():
                banking.bank.hold()
                delta, done = applying.write(plan, self.runs[run], run_subject(self.runs[run]))
            touched = frozenset(each["mem_id"] for each in done)
            self.model.deltas[delta.id] = Kept(run, before, touched)
            for mem_id, memory in list(self._look().items()):
                if mem_id in touched:
                    self._wrote(memory, delta.id)
            self._agree()

        @rule(pick=PICK, last=st.booleans(), mode=st.sampled_from([Mode.STRICT, Mode.STRICT, Mode.SAFE]))
        def roll_back(self, pick: int, last: bool, mode: Mode) -> None:
            names = list(self.model.deltas)
            name = names[pick % len(names)]
            run = self.model.deltas[name].run
            if last:
                standing = [
                    each for each in names
                    if (kept := self.model.deltas[each]).run == run and kept.learned and not kept.reverted
                ]  # fmt: skip
                if not standing:
                    return
                name = standing[-1]
            kept = self.model.deltas[name]
            expected, left = self._expected(name, kept, mode)
            before = dict(self.model.states)
            with acting_as(self.tenant):
                foreseen = banking.rollbacks.preview(self.runs[run], None if last else name, mode)
                done = banking.rollbacks.roll_back(
                    self.runs[run], BY, delta_id=None if last else name, mode=mode, reason="soak"
                )  # fmt: skip
            assert done.delta.id == name
            found = {mem_id: spelled(memory.state) for mem_id, memory in self._look().items()}
            assert found == expected
            assert {each.memory.id for each in foreseen.prospects if not each.stays} == set(done.restored)
            if done.undone_by is None:
                assert kept.reverted
                return
            for mem_id, memory in list(self.seen.items()):
                if mem_id in done.restored:
                    self._wrote(memory, done.undone_by)
            self.model.deltas[done.undone_by] = Kept(run, before, frozenset(done.restored), False, name)
            # Hidden lessons may be left as well; what counts is that something was.
            kept.reverted = not done.left
            assert left <= set(done.left)
            if not done.left and kept.reverts is not None:
                self.model.deltas[kept.reverts].reverted = False

        def _expected(self, name: str, kept: Kept, mode: Mode) -> tuple[dict[str, str | None], set[str]]:
            """What every lesson should say afterwards, and which are left because they were written since."""
            expected = dict(self.model.states)
            left: set[str] = set()
            if kept.reverted:
                return expected, left
            for mem_id in kept.touched:
                target = kept.before.get(mem_id)
                since = self.model.writers[mem_id][-1] != name
                if mode is Mode.SAFE and since:
                    left |= {mem_id} if target != expected[mem_id] else set()
                else:
                    expected[mem_id] = target
            return expected, left

        def teardown(self) -> None:
            """And ends with a rollback of the first learning that stands."""
            if hasattr(self, "model"):
                standing = [not kept.reverted and kept.learned for kept in self.model.deltas.values()]
                if any(standing):
                    self.roll_back(pick=standing.index(True), last=False, mode=Mode.STRICT)

        def _agree(self) -> None:
            """Every lesson that was read says what the model expects."""
            assert {mem_id: spelled(memory.state) for mem_id, memory in self.seen.items()} == self.model.states

    return RollbackMachine


_ALL = Filter(KINDS, statuses=frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}))
