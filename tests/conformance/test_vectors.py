"""What every vector index promises: in the store on both engines, in a Chroma server, and in both at once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from codexmem.kernel.embed.model import unit
from codexmem.kernel.model.attrs import NoteAttrs, ObservationAttrs
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.ids import mint
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.index import Vectors
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.vector_table import TableVectors
from codexmem.kernel.store.writable_index import WritableVectorIndex
from tests._support import vectors as support
from tests._support.chroma import ChromaServer

M = "toy"
EXACT = 2e-3  # what half precision may cost a cosine
ALL = frozenset(Kind)


@pytest.fixture(params=["table", "chroma", "hybrid"])
def index(request: pytest.FixtureRequest, database: Database, chroma_server: ChromaServer) -> WritableVectorIndex:
    return support.build(request.param, database, chroma_server.url)


@pytest.fixture
def in_table(database: Database) -> TableVectors:
    return support.table(database)


Remember = Callable[..., Memory]


@pytest.fixture
def remember(database: Database) -> Remember:
    table = MemoryTable(database)

    def insert(*, kind: Kind = Kind.NOTE, created_ms: int = 1_000, session: str | None = None,
               concepts: tuple[str, ...] = (), **state: Any) -> Memory:  # fmt: skip
        attrs = ObservationAttrs(concepts=concepts) if concepts else NoteAttrs()
        kind = Kind.OBSERVATION if concepts else kind
        draft = MemoryDraft(kind, State(content="x", attrs=attrs, **state), Origin.AGENT, session=session,
                      created_ms=created_ms)  # fmt: skip
        return table.insert(draft, id=mint(kind), source=None, now_ms=created_ms)

    return insert


def at(angle: float) -> bytes:
    """A direction in a plane, so that the cosine of two is that of their difference."""
    return unit([math.cos(angle), math.sin(angle), *[0.0] * 14])


def vectors(memory: Memory, *parts: bytes, version: int | None = None) -> Vectors:
    state = memory.state
    return Vectors(memory.seq, state.project, memory.kind.value, version or memory.version, parts)


def found(index: WritableVectorIndex, vector: bytes, wanted: Filter, limit: int = 10) -> list[int]:
    return [hit.seq for hit in index.find(M, vector, wanted, limit=limit)]


def test_the_nearest_come_first_each_memory_once_by_its_best_part(
    index: WritableVectorIndex, remember: Remember
) -> None:
    one, two, three = remember(), remember(), remember()
    index.put(M, [vectors(one, at(2.0), at(0.2)), vectors(two, at(0.1), at(3.0), at(0.5)), vectors(three, at(1.0))])
    hits = index.find(M, at(0.0), Filter(ALL), limit=10)
    assert [hit.seq for hit in hits] == [two.seq, one.seq, three.seq]
    assert [hit.score for hit in hits] == pytest.approx([math.cos(0.1), math.cos(0.2), math.cos(1.0)], abs=EXACT)
    assert found(index, at(0.0), Filter(ALL), limit=1) == [two.seq]


def test_models_never_mix(index: WritableVectorIndex, remember: Remember) -> None:
    one, two = remember(), remember()
    index.put(M, [vectors(one, at(0.0))])
    index.put("another", [vectors(two, unit([1.0] * 24))])
    assert found(index, at(0.0), Filter(ALL)) == [one.seq]
    assert [hit.seq for hit in index.find("another", unit([1.0] * 24), Filter(ALL), limit=5)] == [two.seq]
    assert (index.count(M), index.count("another"), index.count("none")) == (1, 1, 0)
    assert index.find("none", at(0.0), Filter(ALL), limit=5) == []


def test_every_field_of_a_filter_is_honoured(index: WritableVectorIndex, remember: Remember) -> None:
    plain = remember()
    kind = remember(concepts=("wal",))
    project = remember(project="app")
    hidden = remember(status=Status.DELETED)
    session = remember(session="s1")
    later = remember(created_ms=5_000)
    core = remember(priority=1)
    everything = [plain, kind, project, hidden, session, later, core]
    index.put(M, [vectors(memory, at(0.01 * number)) for number, memory in enumerate(everything)])

    def which(**fields: Any) -> set[int]:
        return set(found(index, at(0.0), Filter(fields.pop("kinds", ALL), **fields), limit=20))

    visible = {memory.seq for memory in everything} - {hidden.seq}
    assert which() == visible
    assert which(kinds=frozenset({Kind.OBSERVATION})) == {kind.seq}
    assert which(project="app") == {project.seq}
    assert which(project="nowhere") == set()
    assert which(statuses=frozenset({Status.DELETED})) == {hidden.seq}
    assert which(session="s1") == {session.seq}
    assert which(facets=(("concept", frozenset({"wal", "other"})),)) == {kind.seq}
    assert which(facets=(("concept", frozenset({"other"})),)) == set()
    assert which(created_from_ms=5_000) == {later.seq}
    assert which(created_to_ms=4_999) == visible - {later.seq}
    assert which(created_from_ms=5_001) == set()
    assert which(priority_max=1) == {core.seq}
    assert which(priority_min=2) == visible - {core.seq}


def test_what_passes_is_found_behind_hundreds_that_do_not(index: WritableVectorIndex, remember: Remember) -> None:
    hidden = [remember(status=Status.ARCHIVED) for _ in range(400)]
    index.put(M, [vectors(memory, at(0.001 * number)) for number, memory in enumerate(hidden)])
    shown = [remember() for _ in range(5)]
    index.put(M, [vectors(memory, at(1.0 + 0.1 * number)) for number, memory in enumerate(shown)])
    assert found(index, at(0.0), Filter(ALL), limit=5) == [memory.seq for memory in shown]


def test_putting_again_replaces_and_leaves_no_part_of_before(index: WritableVectorIndex, remember: Remember) -> None:
    memory = remember()
    index.put(M, [vectors(memory, at(0.0), at(0.1), at(0.2))])
    assert index.versions(M, [memory.seq]) == {memory.seq: 1}
    index.put(M, [vectors(memory, at(2.0), version=2)])
    (hit,) = index.find(M, at(0.0), Filter(ALL), limit=5)
    assert hit.score == pytest.approx(math.cos(2.0), abs=EXACT)
    assert index.versions(M, [memory.seq]) == {memory.seq: 2}
    assert index.count(M) == 1
    index.put(M, [vectors(memory, version=3)])
    assert found(index, at(0.0), Filter(ALL)) == []
    assert index.versions(M, [memory.seq]) == {}


def test_near_ranks_exactly_what_it_is_asked_about(index: WritableVectorIndex, remember: Remember) -> None:
    memories = [remember() for _ in range(30)]
    index.put(M, [vectors(memory, at(0.1 * n), at(0.1 * n + 0.05)) for n, memory in enumerate(memories)])
    asked = [memory.seq for memory in memories[::3]]
    near = index.near(M, at(0.0), [*asked, 10**9])
    assert near == pytest.approx({memory.seq: math.cos(0.1 * n) for n, memory in
                                  enumerate(memories) if memory.seq in asked}, abs=EXACT)  # fmt: skip
    assert index.near(M, at(0.0), []) == {}
    assert index.near("none", at(0.0), asked) == {}


def test_dropping_leaves_nothing_behind_whatever_the_model(
    index: WritableVectorIndex, remember: Remember, database: Database
) -> None:
    gone, kept = remember(), remember()
    for model in (M, "former"):
        index.put(model, [vectors(gone, at(0.0), at(0.1)), vectors(kept, at(0.2))])
    index.drop([gone.seq])
    while index.pay(limit=1):
        pass
    for model in (M, "former"):
        assert [hit.seq for hit in index.find(model, at(0.0), Filter(ALL), limit=5)] == [kept.seq]
        assert index.near(model, at(0.0), [gone.seq]) == {}
        assert index.count(model) == 1


def test_a_model_is_forgotten_step_by_step(index: WritableVectorIndex, remember: Remember) -> None:
    memories = [remember() for _ in range(7)]
    index.put("former", [vectors(memory, at(0.0), at(0.1)) for memory in memories])
    index.put(M, [vectors(memory, at(0.0)) for memory in memories])
    steps = 0
    while index.forget_model("former", limit=3):
        steps += 1
    assert 2 <= steps <= 10
    assert (index.count("former"), index.count(M)) == (0, 7)
    assert index.forget_model("never", limit=3) == 0


def test_tenants_never_meet(index: WritableVectorIndex, remember: Remember) -> None:
    mine = remember()
    index.put(M, [vectors(mine, at(0.0))])
    with acting_as("vectors-stranger"):
        assert index.find(M, at(0.0), Filter(ALL), limit=5) == []
        assert index.near(M, at(0.0), [mine.seq]) == {}
        assert index.count(M) == 0
        index.drop([mine.seq])
        while index.pay(limit=10):
            pass
        assert index.forget_model(M, limit=10) == 0
    assert found(index, at(0.0), Filter(ALL)) == [mine.seq]


def test_what_was_erased_meanwhile_stays_erased(in_table: TableVectors, remember: Remember, database: Database) -> None:
    gone, kept = remember(), remember()
    MemoryTable(database).erase([gone.seq])
    in_table.put(M, [vectors(gone, at(0.0)), vectors(kept, at(0.1))])
    assert found(in_table, at(0.0), Filter(ALL)) == [kept.seq]
    MemoryTable(database).erase([kept.seq])
    assert in_table.count(M) == 0


def test_a_model_that_changes_its_length_is_refused(in_table: TableVectors, remember: Remember) -> None:
    in_table.put(M, [vectors(remember(), at(0.0))])
    with pytest.raises(Unavailable, match="another length"):
        in_table.put(M, [vectors(remember(), unit([1.0] * 8))])


@pytest.mark.parametrize("dimension", [16, 24, 30])
def test_ranking_is_exact_inside_a_scope(in_table: TableVectors, remember: Remember, dimension: int) -> None:
    chance = random.Random(dimension)
    memories = [remember(project=f"p{number % 2}") for number in range(120)]
    made = {memory.seq: [chance.gauss(0, 1) for _ in range(dimension)] for memory in memories}
    in_table.put(M, [vectors(memory, unit(made[memory.seq])) for memory in memories])
    for _ in range(5):
        asked = [chance.gauss(0, 1) for _ in range(dimension)]
        best = sorted((m.seq for m in memories if m.state.project == "p1"), key=lambda seq: -cosine(asked, made[seq]))
        assert (
            overlap(found(in_table, unit(asked), Filter(ALL, project="p1")), best[:10]) >= 9
        )  # ties in half precision


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


def overlap(one: Sequence[int], other: Sequence[int]) -> int:
    return len(set(one) & set(other))
