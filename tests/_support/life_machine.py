"""Random lives of memories of every kind, played on the real service and on the plain model at once.

Every act by a person or an agent, on one memory or several, with words that are sometimes refused; and undo, redo and
rollback between them. After each step both must agree on its outcome: what it says it wrote, what it left, where those
memories are in their lives. At the end on everything in the store: every memory, every state that each one ever had (so
nothing is missed by not reading all of them after every step), on the word for where it is, and on the lists by that
word.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from codexmem.kernel.model import life
from codexmem.kernel.model.attrs import (
    KnowledgeAttrs,
    LessonAttrs,
    NoteAttrs,
    ObservationAttrs,
    QaAttrs,
    SummaryAttrs,
)
from codexmem.kernel.model.errors import CodexmemError, Conflict, NotFound
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.life import Life, MemoryEdit
from codexmem.kernel.model.memory import ATTRS, REMEMBERED, Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Seq
from codexmem.kernel.services.lifecycle import ActRequest, Lifecycle
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall.lookup import Lookup
from codexmem.recall.memory_list import ListRequirements, MemoryLists
from tests._support import services
from tests._support.life_model import Act, LifeModel, Lived, Plain, RefusedError, UndoState

ALL = frozenset(Kind)
KINDS = st.sampled_from(sorted(REMEMBERED))
# As it is given, and as it is kept; None: nothing is left of it.
TEXTS = [("port 8080", "port 8080"), ("端口 9090", "端口 9090"), ("see core://x", "see core://x"),
         ("a<private>b</private>c", "ac"), ("<private>all</private>", ""), ("🙂", "🙂")]  # fmt: skip
TEXT = st.sampled_from(TEXTS)
TITLE = st.sampled_from([None, None, "New", "其他"])
PICK = st.integers(0, 50)
PERSON = st.sampled_from([True, True, False])  # an agent may do little
SIMPLE = ["hide", "hide", "unhide", "unhide", "pin", "unpin", "withhold", "release", "approve", "deprecate"]
_tenants = itertools.count(1)
_told = {
    Kind.OBSERVATION: ObservationAttrs(facts=("f",), concepts=("c",), files_modified=("src/a.py",)),
    Kind.SUMMARY: SummaryAttrs(request="T", learned="l", completed="d"),
    Kind.QA: QaAttrs("T", ("P",), summary="s", alternatives=("A",)),
    Kind.KNOWLEDGE: KnowledgeAttrs(summary="T"),
}


def plain(memory: Memory) -> Plain:
    """A memory as the model has it."""
    return plain_state(memory.state)


def plain_state(state: State) -> Plain:
    """What a memory says, or said, as the model has it."""
    attrs = state.attrs
    told: Plain = {}
    match attrs:
        case ObservationAttrs():
            told = {
                "facts": list(attrs.facts),
                "concepts": list(attrs.concepts),
                "files": list(attrs.files_modified),
            }
        case SummaryAttrs():
            told = {"request": attrs.request, "learned": attrs.learned, "completed": attrs.completed}
        case QaAttrs():
            told = {"question": attrs.question, "phrasings": list(attrs.phrasings), "summary": attrs.summary,
                    "alternatives": list(attrs.alternatives)}  # fmt: skip
        case KnowledgeAttrs():
            told = {"summary": attrs.summary}
        case NoteAttrs():
            told = {"mentions": list(attrs.mentions)}
        case LessonAttrs():
            told = {"by_hand": attrs.by_hand}
    return {
        "status": state.status.value, "content": state.content, "title": state.title, "type": state.type,
        "marks": sorted(mark.value for mark in state.marks), "links": [list(link) for link in state.links],
        "uris": list(state.uris), "project": state.project, "priority": state.priority, "told": told,
    }  # fmt: skip


def machine_for(db: Database, tenant_prefix: str) -> type[RuleBasedStateMachine]:
    """The state machine on this store; every example is a fresh tenant of it."""

    class LifeMachine(RuleBasedStateMachine):
        @initialize(seeds=st.lists(st.tuples(KINDS, st.booleans(), st.booleans()), min_size=2, max_size=5))
        def start(self, seeds: list[tuple[Kind, bool, bool]]) -> None:
            self.tenant = f"{tenant_prefix}-{next(_tenants)}"
            self.real = services.build(db)
            self.acts = Lifecycle(db, MemoryTable(db), self.real.memories, self.real.history)
            lookup = Lookup(self.real.memories, Labels(db), self.real.search)
            self.lists = MemoryLists(self.real.memories, lookup, self.acts)
            self.model = LifeModel()
            for number, (kind, odd, shared) in enumerate((*seeds, seeds[0])):  # two of one kind, so that some merge
                status = Status.CANDIDATE if kind is Kind.QA and odd else Status.ACTIVE
                state = State(
                    f"seed {number}", _told.get(kind, ATTRS[kind]()), project="" if shared else "p", status=status,
                    title=f"seed {number}" if odd and kind is not Kind.SUMMARY else "T",
                    priority=1 if odd else 5, uris=(f"project://n{number}",) if kind is Kind.NOTE else (),
                )  # fmt: skip
                with acting_as(self.tenant):
                    made = self.real.memories.remember(MemoryDraft(kind, state, Origin.AGENT), WriteContext("test"))
                self.model.memories[made.seq] = Lived(kind.value, [plain(made)], [None])

        def _seq(self, pick: int) -> int:
            return sorted(self.model.memories)[pick % len(self.model.memories)]

        def _expected(self, act: Act) -> tuple[dict[int, Plain], list[Plain], bool]:
            try:
                return (*self.model.act(act), False)
            except RefusedError:
                return {}, [], True

        def _do(self, act: Act, request: ActRequest) -> None:
            by = WriteContext("test", origin=Origin.HUMAN if act.person else Origin.AGENT)
            expected, new, refused = self._expected(act)
            with acting_as(self.tenant):
                try:
                    done = self.acts.act(request, by)
                except CodexmemError:
                    assert refused, act
                    return
            assert not refused, act
            changed, made = list(done.changed), []
            if new:
                changed, made = changed[: -len(new)], changed[-len(new) :]
            assert {each.seq: plain(each) for each in changed} == expected
            assert [plain(each) for each in made] == new
            named = {*act.seqs, *([act.into] if act.into is not None else [])}
            assert set(done.unchanged) == named - expected.keys()
            assert (done.delta is None) is not (bool(expected) or bool(new))
            for seq, state in expected.items():
                self.model.memories[seq].write(copy.deepcopy(state), done.delta)
            for each, state in zip(made, new, strict=True):
                self.model.memories[each.seq] = Lived(
                    each.kind.value, [copy.deepcopy(state)], [done.delta], by_person=act.person
                )  # fmt: skip
            if done.delta is not None:
                self.model.deltas[done.delta] = UndoState()
            self._same_lives(done.changed)

        def _same_lives(self, memories: Sequence[Memory]) -> None:
            with acting_as(self.tenant):
                lives = self.acts.lives(memories)
            assert lives == {each.seq: self.model.life(each.seq) for each in memories}

        @rule(name=st.sampled_from(SIMPLE), picks=st.lists(PICK, min_size=1, max_size=3), person=PERSON)
        def simple(self, name: str, picks: list[int], person: bool) -> None:
            seqs = list(dict.fromkeys(map(self._seq, picks)))
            self._do(Act(name, seqs, person), ActRequest(life.Act(name), tuple(seqs)))

        # Chance seldom picks acts that follow on one another, so some do by rule.
        @rule(name=st.sampled_from(["hide", "deprecate"]), picks=st.lists(PICK, min_size=1, max_size=3))
        def there_and_back(self, name: str, picks: list[int]) -> None:
            self.simple(name, picks, person=True)
            self.simple("unhide", picks, person=True)

        @rule(pick=PICK, merge=st.booleans())
        def turn_round(self, pick: int, merge: bool) -> None:
            """What took another's place is itself replaced by it."""
            after = [(seq, other) for seq, memory in sorted(self.model.memories.items())
                     for link, other in memory.now["links"] if link == "supersedes"]  # fmt: skip
            if not after:
                return
            newer, older = after[pick % len(after)]
            places = sorted(self.model.memories)
            self.simple("unhide", [places.index(older)], person=True)
            self.take_the_place([places.index(newer)], places.index(older), merge, None, person=True)

        @rule(pick=PICK, text=TEXT | st.none(), title=TITLE, type=st.sampled_from([None, None, None, "bugfix"]),
              person=PERSON)  # fmt: skip
        def edit(self, pick: int, text: tuple[str, str] | None, title: str | None, type: str | None,
                 person: bool) -> None:  # fmt: skip
            seq = self._seq(pick)
            given, kept = text if text is not None else (None, None)
            if (given, title, type) == (None, None, None):
                return
            act = Act("edit", [seq], person, text=kept, title=title, type=type)
            self._do(act, ActRequest(life.Act.EDIT, (seq,), MemoryEdit(given, title, type)))

        @rule(picks=st.lists(PICK, min_size=1, max_size=3), into=PICK, merge=st.booleans(), text=TEXT | st.none(),
              person=PERSON)  # fmt: skip
        def take_the_place(self, picks: list[int], into: int, merge: bool, text: tuple[str, str] | None,
                           person: bool) -> None:  # fmt: skip
            seqs, stays = list(dict.fromkeys(map(self._seq, picks))), self._seq(into)
            given, kept = text if merge and text is not None else (None, None)
            name = "merge" if merge else "supersede"
            self._do(
                Act(name, seqs, person, text=kept, into=stays),
                ActRequest(life.Act(name), tuple(seqs), MemoryEdit(given), into=stays),
            )

        @rule(pick=PICK, texts=st.lists(TEXT, min_size=2, max_size=3), title=TITLE, person=PERSON)
        def split(self, pick: int, texts: list[tuple[str, str]], title: str | None, person: bool) -> None:
            seq = self._seq(pick)
            if len(self.model.memories) > 12:
                return
            parts = [(kept, title) for _, kept in texts]
            edits = tuple(MemoryEdit(given, title) for given, _ in texts)
            self._do(Act("split", [seq], person, parts=parts), ActRequest(life.Act.SPLIT, (seq,), parts=edits))

        @rule(pick=PICK, number=PICK, person=PERSON, as_act=st.booleans())
        def roll_back(self, pick: int, number: int, person: bool, as_act: bool) -> None:
            """By the tool for notes, or by the act that is there for every kind and can be taken back."""
            seq = self._seq(pick)
            memory = self.model.memories[seq]
            version = 1 + number % len(memory.states)
            by = WriteContext("test", origin=Origin.HUMAN if person else Origin.AGENT)

            def done() -> tuple[Memory, str | None]:
                with acting_as(self.tenant):
                    if not as_act:
                        return self.real.history.rollback(Seq(seq), ALL, version, by), None
                    result = self.acts.roll_back(f"#{seq}", version, by)
                assert result.unchanged == ()
                return result.changed[0], result.delta

            try:
                expected = self.model.roll_back(seq, version, person=person, as_act=as_act)
            except RefusedError:
                with pytest.raises((Conflict, NotFound)):
                    done()
                return
            after, delta = done()
            assert plain(after) == expected
            memory.write(expected, delta)
            if delta is not None:
                self.model.deltas[delta] = UndoState()

        @rule(pick=PICK, strict=st.booleans(), person=PERSON)
        def undo(self, pick: int, strict: bool, person: bool) -> None:
            if not self.model.deltas:
                return
            delta = list(self.model.deltas)[pick % len(self.model.deltas)]
            known = self.model.deltas[delta]
            mode = Mode.STRICT if strict else Mode.SAFE
            by = WriteContext("test", origin=Origin.HUMAN if person else Origin.AGENT)
            try:
                restored, left = self.model.undo(delta, strict=strict, person=person)
            except RefusedError:
                if not known.reverted:
                    with acting_as(self.tenant), pytest.raises(Conflict):
                        self.real.history.rollback_delta(delta, mode, by)
                return
            with acting_as(self.tenant):
                done = self.real.history.rollback_delta(delta, mode, by)
            if known.reverted:
                assert (done.restored, done.left) == ((), ())
                return
            self.model.deltas[done.delta.id] = UndoState(reverts=delta)
            assert (list(done.restored), list(done.left)) == (list(restored), left)
            for seq, state in restored.items():
                self.model.memories[seq].write(state, done.delta.id)
            known.reverted = not left
            if not left and known.reverts in self.model.deltas:
                self.model.deltas[known.reverts].reverted = False

        def teardown(self) -> None:
            if not hasattr(self, "model"):
                return
            with acting_as(self.tenant), db.reading():
                found = self.real.memories.many(self.model.memories, ALL)
                for seq, memory in self.model.memories.items():
                    assert (plain(found[seq]), found[seq].version) == (memory.now, len(memory.states))
                    versions = self.real.history.versions(Seq(seq), ALL, limit=500)[::-1]
                    assert [each.delta for each in versions] == memory.deltas
                    assert [plain_state(each.state) for each in versions] == memory.states
            self._same_lives(list(found.values()))
            project = None if len(self.model.deltas) % 2 else "p"  # one of both: lists cost more than the acts
            with acting_as(self.tenant), db.reading():
                for word in Life:
                    wanted = ListRequirements(lives=frozenset({word}), project=project)
                    listed = {each.memory.seq for each in self.lists.page(wanted, limit=200).items}
                    here = {seq for seq, memory in self.model.memories.items() if self.model.life(seq) == word.value}
                    inside = {seq for seq in here if project in (None, self.model.memories[seq].now["project"])}
                    assert listed == inside, (word, project)

    return LifeMachine
