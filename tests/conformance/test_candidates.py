"""What ranking is told of memories is the same on every engine, read from rows or from a memory at hand."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.memory import Kind, Origin, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.candidates import OPENING, SearchCandidate, SearchCandidates
from codexmem.kernel.store.database import Database
from tests._support.searching import ALL, Searched

CONTENTS = [
    "",
    "?",
    "a?",
    "ab?",
    "abc?",
    "？",
    "为什么？",
    "Why? \n",
    "no",
    "x" * 2_000 + "?",
    "😀" * 2_000,
    "why?  \n\t x",
]


@pytest.fixture
def store(database: Database) -> Searched:
    return Searched(database)


@pytest.fixture
def candidates(database: Database) -> SearchCandidates:
    return SearchCandidates(database)


def test_a_row_and_a_memory_make_the_same_candidate(store: Searched, candidates: SearchCandidates) -> None:
    made = [store.write(content, title="t", priority=3, session="s", origin=Origin.HUMAN) for content in CONTENTS]
    made.append(store.write("x", kind=Kind.PROMPT, speaker="Ada"))
    made.append(store.write("x", kind=Kind.QA, author="Bo", status=Status.VALIDATED))
    found = candidates.read([memory.seq for memory in made])
    assert found == {memory.seq: SearchCandidate.of(memory) for memory in made}
    asks = [content for content, memory in zip(CONTENTS, made, strict=False) if found[memory.seq].asks]
    assert asks == ["?", "a?", "ab?", "abc?", "？", "为什么？", "Why? \n", "x" * 2_000 + "?"]
    assert [found[memory.seq].speaker for memory in made[-2:]] == ["Ada", "Bo"]
    assert [found[memory.seq].turn for memory in made[-2:]] == [1, None]
    assert max(len(each.opening) for each in found.values()) == OPENING


def test_counters_are_read(store: Searched, candidates: SearchCandidates) -> None:
    made = store.write("x")
    store.real.memories.count([made.seq], valid=3, invalid=1)
    (found,) = candidates.read([made.seq]).values()
    assert (found.valid, found.invalid) == (3, 1)


def test_more_than_one_statement_can_take_are_read(store: Searched, candidates: SearchCandidates) -> None:
    made = store.write("x")
    assert list(candidates.read([*range(10**6, 10**6 + 1_200), made.seq])) == [made.seq]
    assert candidates.read([]) == {}


def test_neighbours_are_of_the_same_session_and_kind_in_their_order(
    store: Searched, candidates: SearchCandidates
) -> None:
    times = [1_000, 3_000, 2_000, 2_000]  # not the order of writing, and one moment twice
    first, last, third, fourth = (
        store.write(f"said {ms}", kind=Kind.PROMPT, session="s", created_ms=ms).seq for ms in times
    )
    store.write("noted", session="s", created_ms=2_500)
    store.write("elsewhere", kind=Kind.PROMPT, session="t", created_ms=2_500)
    alone = store.write("alone", kind=Kind.PROMPT).seq
    assert candidates.beside([first, last, third, fourth, alone]) == {
        first: (None, third), third: (first, fourth), fourth: (third, last), last: (fourth, None),
    }  # fmt: skip
    assert candidates.beside([]) == {}


def test_speakers_are_those_who_spoke_in_the_project(store: Searched, candidates: SearchCandidates) -> None:
    store.write("x", kind=Kind.PROMPT, speaker="Ada", project="p")
    store.write("x", kind=Kind.PROMPT, speaker="Ada", project="q")
    store.write("x", kind=Kind.QA, author="小明", project="q")
    store.write("x", kind=Kind.QA, tags=("Tag",))
    asked = ["Ada", "Bo", "小明", "Tag", "ada"]
    assert candidates.speakers(asked, None) == {"Ada", "小明"}
    assert candidates.speakers(asked, "p") == {"Ada"}
    assert candidates.speakers(asked, "none") == set()
    assert candidates.speakers([], None) == set()


def test_those_that_pass_a_filter(store: Searched, candidates: SearchCandidates) -> None:
    one, two = store.write("x", project="p"), store.write("x", status=Status.DELETED)
    assert candidates.passing([one.seq, two.seq, 10**6], Filter(ALL)) == {one.seq}
    assert candidates.passing([one.seq], Filter(ALL, project="q")) == set()
