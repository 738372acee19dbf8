"""A search of the past finds the memory as it was then, by the filter of then, and never what has been forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.model.query import Seq
from codexmem.kernel.model.search import SearchMode, Unit
from codexmem.kernel.store.database import Database
from tests._support.searching import ALL, ME, Searched, searched, seqs
from tests._support.toy_embedder import ToyEmbedder


@pytest.fixture
def store(database: Database) -> Iterator[Searched]:
    with searched(database, embedder=ToyEmbedder()) as made:
        yield made


def test_what_it_said_then_is_found_and_given(store: Searched) -> None:
    made = store.write("The gateway stands in Lisbon", title="Gateway")
    then = store.now()
    changed = store.change(made, content="The gateway stands in Porto")
    later = store.now()
    (found,) = store.search("Lisbon", as_of_ms=then).results
    assert found.memory == made
    assert store.found("Porto", as_of_ms=then) == []
    assert store.found("Lisbon", as_of_ms=later) == []
    assert store.search("Porto", as_of_ms=later).results[0].memory == changed
    assert store.search("gateway", as_of_ms=then).results[0].memory == made


def test_every_version_is_found_in_its_time(store: Searched) -> None:
    memory, times = store.write("version number one"), []
    for word in ("two", "three", "four"):
        times.append(store.now())
        memory = store.change(memory, content=f"version number {word}")
    times.append(store.now())
    told = [store.search("version", as_of_ms=then).results[0].memory for then in times]
    assert [each.state.content.split()[-1] for each in told] == ["one", "two", "three", "four"]
    assert [each.version for each in told] == [1, 2, 3, 4]


def test_order_and_probability_are_those_of_then(store: Searched) -> None:
    made = store.write("needle haystack barn", priority=0)
    other = store.write("needle and other things that fill a text")
    then = store.now()
    before = store.search("needle haystack barn", as_of_ms=then, explain=True).results
    store.change(made, content="nothing of the kind?", priority=10, title="later")
    after = store.search("needle haystack barn", as_of_ms=then, explain=True).results
    assert [found.memory.seq for found in after] == [made.seq, other.seq]
    assert [found.memory for found in after] == [found.memory for found in before]
    for old, new in zip(before, after, strict=True):
        # How rare a word is, is counted in the present; all else is as it was.
        for name in (old.signals.keys() | new.signals.keys()) - {"words", "session", "bridge"}:
            assert new.signals.get(name, 0.0) == pytest.approx(old.signals.get(name, 0.0)), name
    assert before[0].signals["coverage"] > before[1].signals["coverage"]


def test_what_was_deleted_since_is_found_and_what_was_deleted_then_is_not(store: Searched) -> None:
    made = store.write("a needle")
    alive = store.now()
    store.real.memories.delete(Seq(made.seq), ALL, ME)
    dead = store.now()
    store.real.history.rollback(Seq(made.seq), ALL, 1, ME)
    (found,) = store.search("needle", as_of_ms=alive).results
    assert found.memory == made
    assert store.found("needle", as_of_ms=dead) == []
    assert store.found("needle", as_of_ms=dead, statuses=frozenset({Status.DELETED})) == [made.seq]
    assert store.found("needle", as_of_ms=store.now()) == [made.seq]


def test_what_was_created_later_is_not_found(store: Searched) -> None:
    then = store.now()
    made = store.write("a needle", created_ms=1_000)  # of an old time, but only known since now
    assert store.found("needle", as_of_ms=then) == []
    assert store.found("needle", as_of_ms=store.now()) == [made.seq]
    assert store.found("needle", as_of_ms=0) == []


def test_the_filter_is_of_then(store: Searched) -> None:
    made = store.write("a needle", kind=Kind.OBSERVATION, project="old", type="bugfix", concepts=("gotcha",),
                       priority=2, session="s")  # fmt: skip
    then = store.now()
    moved = store.change(made, project="new", type="feature", priority=8, status=Status.ARCHIVED)
    assert store.search("needle", project="old", as_of_ms=then).results[0].memory == made
    assert store.found("needle", project="new", as_of_ms=then) == []
    for fields in (
        {"facets": (("type", frozenset({"bugfix"})),)}, {"facets": (("concept", frozenset({"gotcha"})),)},
        {"priority_max": 2}, {"session": "s"}, {"statuses": frozenset({Status.ACTIVE})},
        {"kinds": frozenset({Kind.OBSERVATION})}, {"created_from_ms": made.created_ms},
    ):  # fmt: skip
        assert store.found("needle", as_of_ms=then, **fields) == [made.seq], fields
    for fields in (
        {"facets": (("type", frozenset({"feature"})),)}, {"priority_min": 3}, {"session": "t"},
        {"statuses": frozenset({Status.ARCHIVED})}, {"kinds": ALL - {Kind.OBSERVATION}},
        {"created_to_ms": made.created_ms - 1},
    ):  # fmt: skip
        assert store.found("needle", as_of_ms=then, **fields) == [], fields
    now: dict[str, Any] = {"as_of_ms": store.now(), "statuses": frozenset({Status.ARCHIVED})}
    assert store.search("needle", project="new", **now).results[0].memory == moved
    assert store.found("needle", project="old", **now) == []


def test_a_prompt_is_found_though_its_first_version_is_only_its_row(store: Searched) -> None:
    made = store.write("where is the needle", kind=Kind.PROMPT, session="s", speaker="Ada")
    then = store.now()
    assert store.search("needle", as_of_ms=then).results[0].memory == made
    store.change(made, content="where is the thread")
    (found,) = store.search("needle", as_of_ms=then).results
    assert (found.memory.state, found.memory.version) == (made.state, 1)
    assert store.found("needle", as_of_ms=store.now()) == []


def test_a_rollback_is_part_of_the_past_too(store: Searched) -> None:
    delta = store.real.history.open_delta("run:1", "learn", ME)
    made = store.write("the true needle")
    store.change(made, by=WriteContext("test", delta=delta.id), content="the false needle")
    wrong = store.now()
    store.real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    assert store.found("false", as_of_ms=wrong) == [made.seq]
    assert store.found("true", as_of_ms=wrong) == []
    assert store.found("true", as_of_ms=store.now()) == [made.seq]


def test_sessions_and_pages_of_the_past(store: Searched) -> None:
    for number in range(9):
        store.write(f"the needle part {number}", kind=Kind.PROMPT, session=f"s{number % 3}")
    then = store.now()
    store.write("a new needle", kind=Kind.PROMPT, session="s9")
    answer = store.search("needle", as_of_ms=then, unit=Unit.SESSION)
    assert sorted(str(found.memory.session) for found in answer.results) == ["s0", "s1", "s2"]
    pages = [store.search("needle", as_of_ms=then, limit=4, offset=offset) for offset in (0, 4, 8)]
    assert [page.more for page in pages] == [True, True, False]
    assert [seq for page in pages for seq in seqs(page)] == store.found("needle", as_of_ms=then)


def test_the_past_is_searched_by_words_and_says_so(store: Searched) -> None:
    store.write("a needle")
    store.real.catch_up()
    answer = store.search("needle", as_of_ms=store.now())
    assert (answer.mode, answer.notes) == (SearchMode.LEXICAL, ("the past is searched by words only",))
    assert answer.sources == {"past": 1}


def test_yesterday_is_counted_from_then(store: Searched) -> None:
    store.write("a needle")
    then = store.now()
    store.real.clock.advance(30 * 86_400_000)
    (found,) = store.search("the needle of today", as_of_ms=then, explain=True).results
    assert found.signals["when"] > 0.0


def test_forgetting_leaves_nothing_to_be_found_now_or_as_of_any_time(store: Searched) -> None:
    times = [store.now()]
    made = store.write("a secret needle", kind=Kind.OBSERVATION, session="s", project="p", concepts=("gotcha",))
    times.append(store.now())
    changed = store.change(made, content="another secret needle")
    times.append(store.now())
    store.real.memories.delete(Seq(changed.seq), ALL, ME)
    kept = store.write("a thread")
    store.real.catch_up()
    times.append(store.now())
    store.real.history.forget([made.seq], ME)
    times.append(store.now())
    everything = frozenset(Status)
    for word in ("secret", "needle", "another"):
        assert store.found(f"{word} thread", statuses=everything) == [kept.seq]
        for then in times:
            assert made.seq not in store.found(f"{word} thread", as_of_ms=then, statuses=everything), (word, then)


def test_forgetting_a_source_takes_back_what_it_wrote_into_others(store: Searched) -> None:
    bad = WriteContext("agent", source="session:bad")
    made = store.write("the true needle")
    store.change(made, by=bad, content="the secret needle")
    spoilt = store.now()
    store.write("a secret of its own", by=bad)
    both = store.now()
    store.real.history.forget_all(ME, source="session:bad")
    everything = frozenset(Status)
    for then in (spoilt, both, store.now()):
        assert store.found("secret", as_of_ms=then, statuses=everything) == []
    assert store.found("secret", statuses=everything) == []
    assert store.found("true needle") == [made.seq]


def test_forgetting_a_project_leaves_nothing(store: Searched) -> None:
    for number in range(3):
        store.change(store.write(f"needle {number}", project="p"), content=f"needle again {number}")
    kept = store.write("needle elsewhere", project="q")
    then = store.now()
    store.real.history.forget_all(ME, project="p")
    assert store.found("needle") == [kept.seq]
    assert store.found("needle", as_of_ms=then) == [kept.seq]
    assert store.found("needle", as_of_ms=then, project="p") == []
