"""Random lives of a memory, played on the real service and on the plain model at once.

Every rule is one verb of the service with arguments that are often wrong; after each step both must agree on the
outcome and on every memory's state and version, and at the end on all versions, names, labels and links as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import CodexmemError, Conflict, NotFound
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import ATTRS, Kind, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest, Seq, Uri
from codexmem.kernel.store.database import Database, acting_as
from tests._support import services
from tests._support.history_model import Model, ModelDelta, ModelMemory, Write

ALL = frozenset(Kind)
KINDS = st.sampled_from([Kind.NOTE, Kind.OBSERVATION, Kind.PROMPT, Kind.LESSON])
TEXTS = st.sampled_from(["", "port 8080", "端口 8080", "a\nb\na", "x", "port 37877\n", "🙂 emoji"])
NAMES = [f"project://{name}" for name in ("config", "deploy", "数据库", "a/b")]
URIS = st.sampled_from(NAMES)
SOURCES = st.sampled_from([None, "session:s1", "session:s2", "import:i1"])
PICK = st.integers(0, 50)
MODES = st.sampled_from([Mode.STRICT, Mode.SAFE])
_tenants = itertools.count(1)


def machine_for(db: Database, tenant_prefix: str) -> type[RuleBasedStateMachine]:
    """The state machine on this store; every example is a fresh tenant of it."""

    class HistoryMachine(RuleBasedStateMachine):
        @initialize(
            kinds=st.lists(KINDS, min_size=1, max_size=4), sources=st.tuples(SOURCES, SOURCES, SOURCES, SOURCES)
        )
        def start(self, kinds: list[Kind], sources: tuple[str | None, ...]) -> None:
            self.tenant = f"{tenant_prefix}-{next(_tenants)}"
            self.real = services.build(db)
            self.model = Model()
            self.delta: str | None = None
            # A life begins with something in it: otherwise most steps would happen to nothing.
            for number, (kind, source) in enumerate(zip(kinds, sources, strict=False)):
                self.remember(kind=kind, text=f"seed {number}", uri=None, source=source, concept="gotcha")

        def _by(self, source: str | None) -> WriteContext:
            return WriteContext("test", source=source, delta=self.delta)

        def _seq(self, pick: int) -> int:
            return sorted(self.model.memories)[pick % len(self.model.memories)]

        def _fails(self, error: type[CodexmemError], act: Callable[[], Any]) -> None:
            with acting_as(self.tenant):
                try:
                    act()
                except error:
                    return
            raise AssertionError(f"expected {error.__name__}")

        def _change(self, seq: int, state: State, source: str | None, act: Callable[[], Any]) -> None:
            with acting_as(self.tenant):
                after = act()
            memory = self.model.memories[seq]
            memory.add(state, source, self.delta)
            assert (after.state, after.version) == (state, memory.version)

        @rule(kind=KINDS, text=TEXTS, uri=st.none() | URIS, source=SOURCES, concept=st.sampled_from(["gotcha", "模式"]))
        def remember(self, kind: Kind, text: str, uri: str | None, source: str | None, concept: str) -> None:
            attrs = ObservationAttrs(concepts=(concept,)) if kind is Kind.OBSERVATION else ATTRS[kind]()
            state = State(content=text, attrs=attrs, project="p", uris=(uri,) if uri else ())
            session = source.removeprefix("session:") if source and source.startswith("session:") else None
            draft = MemoryDraft(kind, state, Origin.AGENT, session=session)
            if uri is not None and self.model.owner(uri) is not None:
                self._fails(Conflict, lambda: self.real.memories.remember(draft, self._by(source)))
                return
            with acting_as(self.tenant):
                memory = self.real.memories.remember(draft, self._by(source))
            first = Write(1, state, source, self.delta)
            self.model.memories[memory.seq] = ModelMemory(kind, source, session, [first])

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, text=TEXTS, source=SOURCES, title=TEXTS, stale=st.booleans())
        def change(self, pick: int, text: str, source: str | None, title: str, stale: bool) -> None:
            seq = self._seq(pick)
            memory = self.model.memories[seq]
            state = replace(memory.state, content=text, title=title)
            seen = memory.version - 1 if stale else memory.version

            def act() -> Any:
                return self.real.memories.change(Seq(seq), ALL, lambda _: state, self._by(source), seen=seen)

            if stale:
                self._fails(Conflict, act)
            else:
                self._change(seq, state, source, act)

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, old=st.sampled_from(["8080", "a", "absent"]), new=TEXTS, source=SOURCES)
        def patch(self, pick: int, old: str, new: str, source: str | None) -> None:
            seq = self._seq(pick)
            state = self.model.memories[seq].state
            found = state.content.count(old)

            def act() -> Any:
                return self.real.memories.patch(Seq(seq), ALL, old, new, self._by(source))

            if found == 1:
                head, _, tail = state.content.partition(old)
                self._change(seq, replace(state, content=head + new + tail), source, act)
            else:
                self._fails(NotFound if found == 0 else Conflict, act)

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, text=TEXTS, source=SOURCES)
        def append(self, pick: int, text: str, source: str | None) -> None:
            seq = self._seq(pick)
            state = self.model.memories[seq].state
            gap = "\n" if state.content and not state.content.endswith("\n") else ""
            expected = replace(state, content=state.content + gap + text)
            self._change(
                seq, expected, source, lambda: self.real.memories.append(Seq(seq), ALL, text, self._by(source))
            )

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, source=SOURCES, archive=st.booleans())
        def hide(self, pick: int, source: str | None, archive: bool) -> None:
            seq = self._seq(pick)
            status = Status.ARCHIVED if archive else Status.DELETED
            verb = self.real.memories.archive if archive else self.real.memories.delete
            expected = replace(self.model.memories[seq].state, status=status)
            self._change(seq, expected, source, lambda: verb(Seq(seq), ALL, self._by(source)))

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, uri=URIS, source=SOURCES)
        def alias(self, pick: int, uri: str, source: str | None) -> None:
            seq = self._seq(pick)
            state = self.model.memories[seq].state

            def act() -> Any:
                return self.real.memories.alias(Seq(seq), ALL, uri, self._by(source))

            if self.model.owner(uri) is not None:
                self._fails(Conflict, act)
            else:
                self._change(seq, replace(state, uris=(*state.uris, uri)), source, act)

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, uri=URIS, source=SOURCES)
        def unalias(self, pick: int, uri: str, source: str | None) -> None:
            seq = self._seq(pick)
            state = self.model.memories[seq].state

            def act() -> Any:
                return self.real.memories.unalias(Seq(seq), ALL, uri, self._by(source))

            if uri in state.uris[1:]:
                self._change(seq, replace(state, uris=tuple(u for u in state.uris if u != uri)), source, act)
            else:
                self._fails(NotFound, act)

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, other=PICK, relation=st.sampled_from(["cites", "相关"]), source=SOURCES, remove=st.booleans())
        def link(self, pick: int, other: int, relation: str, source: str | None, remove: bool) -> None:
            seq, target = self._seq(pick), self._seq(other)
            state = self.model.memories[seq].state
            verb = self.real.memories.unlink if remove else self.real.memories.link
            pair = (relation, target)

            def act() -> Any:
                return verb(Seq(seq), ALL, relation, target, self._by(source))

            if remove and pair not in state.links:
                self._fails(NotFound, act)
                return
            kept = tuple(link for link in state.links if link != pair)
            links = kept if remove else state.links if pair in state.links else (*state.links, pair)
            self._change(seq, replace(state, links=links), source, act)

        @precondition(lambda self: self.model.memories)
        @rule(pick=PICK, number=PICK, source=SOURCES)
        def rollback(self, pick: int, number: int, source: str | None) -> None:
            seq = self._seq(pick)
            memory = self.model.memories[seq]
            numbers = [write.number for write in memory.writes]
            version = numbers[number % len(numbers)]

            def act() -> Any:
                return self.real.history.rollback(Seq(seq), ALL, version, self._by(source))

            self._change(seq, self.model.rollback(seq, version), source, act)

        @rule(use=st.booleans())
        def open_delta(self, use: bool) -> None:
            self.delta = None
            if use:
                with acting_as(self.tenant):
                    self.delta = self.real.history.open_delta("run:r1", "learn", WriteContext("test")).id
                self.model.deltas[self.delta] = ModelDelta()

        @precondition(lambda self: self.model.deltas)
        @rule(pick=PICK, mode=MODES)
        def rollback_delta(self, pick: int, mode: Mode) -> None:
            delta_id = list(self.model.deltas)[pick % len(self.model.deltas)]
            known = self.model.deltas[delta_id]
            with acting_as(self.tenant):
                done = self.real.history.rollback_delta(delta_id, mode, WriteContext("test"))
            if known.reverted:
                assert (done.restored, done.left) == ((), ())
                return
            self.model.deltas[done.delta.id] = ModelDelta(reverts=delta_id)
            restored, left = self.model.undo(
                self.model.written_by_delta(delta_id), strict=mode is Mode.STRICT, delta=done.delta.id
            )
            assert (list(done.restored), list(done.left)) == (restored, left)
            known.reverted = not left
            if not left and known.reverts in self.model.deltas:
                self.model.deltas[known.reverts].reverted = False

        @precondition(lambda self: self.model.memories)
        @rule(source=st.sampled_from(["session:s1", "session:s2", "import:i1"]), mode=MODES)
        def undo_source(self, source: str, mode: Mode) -> None:
            with acting_as(self.tenant):
                done = self.real.history.undo_source(source, mode, WriteContext("test"))
            self.model.deltas[done.delta.id] = ModelDelta(reverts=source)
            expected = self.model.undo(
                self.model.written_by_source(source), strict=mode is Mode.STRICT, delta=done.delta.id
            )
            assert (list(done.restored), list(done.left)) == expected

        @precondition(lambda self: len(self.model.memories) > 2)
        @rule(pick=PICK)
        def forget(self, pick: int) -> None:
            seq = self._seq(pick)
            with acting_as(self.tenant):
                assert self.real.history.forget([seq, seq], WriteContext("test")) == 1
            del self.model.memories[seq]

        @precondition(lambda self: len(self.model.memories) > 2)
        @rule(source=st.sampled_from(["session:s1", "import:i1"]))
        def forget_source(self, source: str) -> None:
            with acting_as(self.tenant):
                erased = self.real.history.forget_all(WriteContext("test"), source=source)
                undo = self.real.history.deltas_of(source, limit=1)[0]
            self.model.deltas[undo.id] = ModelDelta(reverts=source)
            assert erased == self.model.forget_source(source, undo.id)

        @precondition(lambda self: len(self.model.memories) > 2)
        @rule()
        def forget_session(self) -> None:
            with acting_as(self.tenant):
                erased = self.real.history.forget_all(WriteContext("test"), session="s2")
            gone = [seq for seq, memory in self.model.memories.items() if memory.session == "s2"]
            for seq in gone:
                del self.model.memories[seq]
            assert erased == len(gone)

        @invariant()
        def heads_agree(self) -> None:
            if not hasattr(self, "model"):
                return
            with acting_as(self.tenant):
                found = self.real.memories.many(self.model.memories, ALL)
            assert {seq: (m.state, m.version) for seq, m in found.items()} == {
                seq: (m.state, m.version) for seq, m in self.model.memories.items()
            }

        def teardown(self) -> None:
            if not hasattr(self, "model"):
                return
            with acting_as(self.tenant):
                for seq, memory in self.model.memories.items():
                    versions = self.real.history.versions(Seq(seq), ALL, limit=500)
                    kept = [(w.number, w.state, w.source, w.delta) for w in reversed(memory.writes)]
                    assert [(v.version, v.state, v.source, v.delta) for v in versions] == kept
                    pointing = {
                        (relation, other)
                        for other, m in self.model.memories.items()
                        for relation, target in m.state.links
                        if target == seq
                    }
                    assert set(self.real.memories.linked_to(seq)) == pointing
                everything = Filter(ALL, project="p", statuses=frozenset(Status))
                listed = {m.seq for m in self.real.memories.page(everything, PageRequest(limit=500)).items}
                assert listed == set(self.model.memories)
                for uri in NAMES:
                    owner = self.model.owner(uri)
                    if owner is None:
                        self._fails(NotFound, lambda uri=uri: self.real.memories.get(Uri(uri), ALL))  # type: ignore[misc]
                    else:
                        assert self.real.memories.get(Uri(uri), ALL).seq == owner
                labelled = Filter(ALL, statuses=frozenset(Status), facets=(("concept", frozenset({"gotcha"})),))
                expected = {s for s, m in self.model.memories.items() if ("concept", "gotcha") in m.state.facets()}
                assert {m.seq for m in self.real.memories.page(labelled, PageRequest(limit=500)).items} == expected

    return HistoryMachine
