"""Pages: every filter, both orders, no gap and no overlap, on every engine."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from codexmem.kernel.model.attrs import NoteAttrs, ObservationAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest, RowOrder, Seq
from codexmem.kernel.store.database import Database
from tests._support import services
from tests._support.services import Services

BOTH = frozenset({Kind.OBSERVATION, Kind.NOTE})
OBSERVATIONS = frozenset({Kind.OBSERVATION})
ME = WriteContext("test")


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


@pytest.fixture
def filled(real: Services) -> list[Memory]:
    """Sixty memories whose creation times do not follow their numbers, some of them equal."""
    made = []
    for number in range(60):
        concepts = tuple(c for c, every in (("gotcha", 2), ("pattern", 3)) if number % every == 0)
        if number % 5 == 0:
            attrs: NoteAttrs | ObservationAttrs = NoteAttrs()
        else:
            attrs = ObservationAttrs(concepts=concepts, files_read=(f"src/{number % 4}.py",))
        kind = Kind.NOTE if number % 5 == 0 else Kind.OBSERVATION
        state = State(
            content=f"m{number}", attrs=attrs, project=f"p{number % 3}", priority=number % 11,
            type="bugfix" if number % 2 else "", status=Status.DELETED if number % 7 == 0 else Status.ACTIVE,
        )  # fmt: skip
        created = 1_000_000 + (number * 37 % 50) * 1000
        session = f"s{number % 4}"
        made.append(
            real.memories.remember(MemoryDraft(kind, state, Origin.AGENT, session=session, created_ms=created), ME)
        )
    return made


def expected(filled: list[Memory], wanted: Filter, order: RowOrder) -> list[int]:
    def fits(memory: Memory) -> bool:
        state, facets = memory.state, memory.state.facets()
        return (
            memory.kind in wanted.kinds
            and state.status in wanted.statuses
            and wanted.project in (None, state.project)
            and wanted.session in (None, memory.session)
            and (wanted.created_from_ms is None or memory.created_ms >= wanted.created_from_ms)
            and (wanted.created_to_ms is None or memory.created_ms <= wanted.created_to_ms)
            and (wanted.priority_min is None or state.priority >= wanted.priority_min)
            and (wanted.priority_max is None or state.priority <= wanted.priority_max)
            and all(any((facet, value) in facets for value in values) for facet, values in wanted.facets)
        )

    chosen = sorted(filter(fits, filled), key=lambda m: (m.created_ms, m.seq), reverse=order is RowOrder.NEWEST)
    return [memory.seq for memory in chosen]


FILTERS = [
    Filter(BOTH),
    Filter(OBSERVATIONS, statuses=frozenset(Status)),
    Filter(BOTH, statuses=frozenset({Status.DELETED})),
    Filter(BOTH, project="p1"),
    Filter(BOTH, session="s2"),
    Filter(BOTH, project="p0", session="s0"),
    Filter(BOTH, session="s1", facets=(("concept", frozenset({"gotcha", "pattern"})),)),
    Filter(BOTH, created_from_ms=1_010_000, created_to_ms=1_030_000),
    Filter(BOTH, priority_min=2, priority_max=6),
    Filter(BOTH, facets=(("concept", frozenset({"gotcha"})),)),
    Filter(BOTH, facets=(("concept", frozenset({"gotcha", "pattern"})),)),
    Filter(BOTH, project="p1", facets=(("concept", frozenset({"gotcha", "pattern"})),)),
    Filter(BOTH, facets=(("concept", frozenset({"pattern"})), ("file", frozenset({"src/1.py", "src/3.py"})))),
    Filter(BOTH, project="p2", facets=(("type", frozenset({"bugfix"})), ("concept", frozenset({"pattern"})))),
    Filter(BOTH, project="none"),
]


@pytest.mark.slow
def test_every_filter_pages_through_exactly_what_fits(real: Services, filled: list[Memory]) -> None:
    for wanted, order, limit in itertools.product(FILTERS, RowOrder, (1, 7, 100)):
        seen: list[int] = []
        page: PageRequest | None = PageRequest(limit, order=order)
        while page is not None:
            listing = real.memories.page(wanted, page)
            assert len(listing.items) <= limit
            seen.extend(memory.seq for memory in listing.items)
            page = PageRequest(limit, listing.after, order) if listing.after is not None else None
        assert seen == expected(filled, wanted, order), (wanted, order, limit)


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize(
    "wanted", [Filter(BOTH), Filter(OBSERVATIONS, project="p1"), Filter(BOTH, created_to_ms=1_020_000)]
)
def test_sessions_read_together_are_as_each_by_itself(
    real: Services, filled: list[Memory], wanted: Filter, limit: int
) -> None:
    names = [*(f"none{number}" for number in range(15)), "s3", "s0", "s2", "s1"]  # more than one statement reads
    found = real.memories.of_sessions(names, wanted, limit)
    assert list(found) == names
    for name, said in found.items():
        alone = expected(filled, replace(wanted, session=name), RowOrder.NEWEST)
        assert [memory.seq for memory in said] == alone[:limit]
    assert real.memories.of_sessions([], wanted, limit) == {}


def test_a_page_is_stable_while_memories_are_added(real: Services, filled: list[Memory]) -> None:
    first = real.memories.page(Filter(BOTH), PageRequest(10))
    real.memories.remember(MemoryDraft(Kind.NOTE, State(content="new", attrs=NoteAttrs()), Origin.AGENT), ME)
    second = real.memories.page(Filter(BOTH), PageRequest(10, first.after))
    both = [m.seq for m in (*first.items, *second.items)]
    assert both == expected(filled, Filter(BOTH), RowOrder.NEWEST)[:20]


def test_moving_to_another_project_moves_the_labels(real: Services) -> None:
    attrs = ObservationAttrs(concepts=("gotcha",))
    made = real.memories.remember(
        MemoryDraft(Kind.OBSERVATION, State(content="x", attrs=attrs, project="old"), Origin.AGENT), ME
    )
    moved = State(content="x", attrs=attrs, project="new")
    real.memories.change(Seq(made.seq), OBSERVATIONS, lambda _: moved, ME)
    label = (("concept", frozenset({"gotcha"})),)
    assert real.memories.page(Filter(OBSERVATIONS, project="old", facets=label), PageRequest()).items == ()
    assert len(real.memories.page(Filter(OBSERVATIONS, project="new", facets=label), PageRequest()).items) == 1


def test_a_filter_without_kinds_and_an_unbounded_page_are_mistakes() -> None:
    with pytest.raises(InvalidArgument):
        Filter(frozenset())
    with pytest.raises(InvalidArgument):
        PageRequest(limit=501)


def test_a_page_may_be_counted_off_within_bounds(real: Services, filled: list[Memory]) -> None:
    for wanted in (
        Filter(BOTH),
        Filter(BOTH, project="p1"),
        Filter(OBSERVATIONS, facets=(("type", frozenset({"bugfix"})),)),
    ):
        whole = expected(filled, wanted, RowOrder.NEWEST)
        for offset in (0, 1, 7, len(whole) - 1, len(whole), 5_000):
            page = real.memories.page(wanted, PageRequest(5, offset=offset))
            assert [memory.seq for memory in page.items] == whole[offset : offset + 5]
            assert (page.after is not None) == (offset + 5 < len(whole))
    for offset in (-1, 10_001):
        with pytest.raises(InvalidArgument, match="offset"):
            PageRequest(5, offset=offset)
