"""The text index keeps its promises on every engine: finding, filtering, replacing, leaving nothing, and the past."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import replace

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem.kernel.model.memory import MAX_CONTENT, Kind, Memory, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.search import tokens
from codexmem.kernel.store import bm25, texts
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.index import IndexedTokens
from codexmem.kernel.store.postgres import routines
from codexmem.kernel.store.postgres.engine import migration_engine
from codexmem.kernel.store.schema import memory_terms, memory_texts, text_changes, text_counts
from tests._support.texts import ALL, Texts, sentence, seqs, words_of

KINDS = frozenset(Kind)


@pytest.fixture
def real(database: Database) -> Texts:
    return Texts(database)


def test_words_of_every_script_and_identifiers_are_found(real: Texts) -> None:
    english = real.add("The connections are retried with fetchWithBackoff in src/app.py")
    chinese = real.add("数据库连接失败后重试三次，C++ 与 node.js 都要改")
    accented = real.add("naïve café über हिन्दी 🚀 한국어")
    for query in ("retry connection", "fetchwithbackoff", "backoff", "app.py", "src/app.py"):
        assert real.found(query) == [english.seq], query
    for query in ("数据库", "连接失败", "c++", "Node.js", "重试"):
        assert real.found(query) == [chinese.seq], query
    for query in ("café", "über", "हिन्दी", "🚀", "한국"):
        assert real.found(query) == [accented.seq], query
    for query in ("cafe", "c#", "", "the of and", "\0", "'\" OR *", "!!!", "nothing-of-this"):
        assert real.found(query) == [], query


def test_a_rare_word_a_repeated_word_a_short_text_and_the_title_weigh_more(real: Texts) -> None:
    for number in range(20):
        real.add(f"common filler number{number}")
    rare = real.add("common unique filler")
    assert real.found("common unique")[0] == rare.seq
    once, twice = real.add("alpha beta gamma delta"), real.add("alpha alpha gamma delta")
    assert real.found("alpha") == [twice.seq, once.seq]
    long, short = real.add("omega " + "padding " * 40), real.add("omega padding")
    assert real.found("omega") == [short.seq, long.seq]
    body, head = real.add("sigma tau", "kappa"), real.add("kappa tau", "sigma")
    assert real.found("sigma") == [head.seq, body.seq]


def test_every_filter_is_kept(real: Texts) -> None:
    chance = random.Random(5)
    made = [
        real.add(
            "needle " + sentence(chance, 3), kind=chance.choice([Kind.OBSERVATION, Kind.OBSERVATION]),
            project=f"p{number % 3}", session=f"s{number % 4}" if number % 5 else None,
            concepts=tuple(c for c, every in (("gotcha", 2), ("pattern", 3)) if number % every == 0),
            priority=number % 11, status=Status.DELETED if number % 7 == 0 else Status.ACTIVE,
            created_ms=1_000_000 + number * 1000,
        )
        for number in range(60)
    ]  # fmt: skip

    def fits(memory: Memory, wanted: Filter) -> bool:
        state = memory.state
        return (
            memory.kind in wanted.kinds
            and state.status in wanted.statuses
            and wanted.project in (None, state.project)
            and wanted.session in (None, memory.session)
            and (wanted.created_from_ms is None or memory.created_ms >= wanted.created_from_ms)
            and (wanted.created_to_ms is None or memory.created_ms <= wanted.created_to_ms)
            and (wanted.priority_min is None or state.priority >= wanted.priority_min)
            and (wanted.priority_max is None or state.priority <= wanted.priority_max)
            and all(any((facet, v) in state.facets() for v in values) for facet, values in wanted.facets)
        )

    both = (("concept", frozenset({"gotcha", "pattern"})),)
    for wanted in (
        Filter(KINDS),
        Filter(frozenset({Kind.OBSERVATION})),
        Filter(frozenset({Kind.NOTE})),
        Filter(KINDS, project="p1"),
        Filter(frozenset({Kind.NOTE}), project="p1"),
        Filter(KINDS, project="p'\"\\1"),
        Filter(KINDS, session="s1"),
        Filter(KINDS, project="p2", session="s3"),
        Filter(KINDS, statuses=frozenset({Status.DELETED})),
        Filter(KINDS, statuses=frozenset(Status)),
        Filter(KINDS, facets=both),
        Filter(KINDS, facets=(("concept", frozenset({"gotcha"})), ("concept", frozenset({"pattern"})))),
        Filter(KINDS, project="p0", facets=both),
        Filter(KINDS, created_from_ms=1_010_000, created_to_ms=1_030_000),
        Filter(KINDS, priority_min=3, priority_max=6),
    ):
        assert sorted(real.found("needle", wanted, limit=100)) == [m.seq for m in made if fits(m, wanted)], wanted


def test_a_change_replaces_the_words_and_the_labels(real: Texts) -> None:
    memory = real.add("before", concepts=("gotcha",))
    changed = real.change(memory, content="afterwards", project="q")
    assert (real.found("before"), real.found("afterwards")) == ([], [memory.seq])
    assert real.found("afterwards", replace(ALL, project="p")) == []
    hidden = real.change(changed, status=Status.DELETED)
    assert real.found("afterwards") == []
    assert real.found("afterwards", replace(ALL, statuses=frozenset({Status.DELETED}))) == [hidden.seq]


def test_indexing_a_version_again_changes_nothing_but_its_words(real: Texts) -> None:
    memory = real.add("old spelling")
    other = real.add("something else")
    real.fold()
    real.index.put(memory, IndexedTokens((), tuple(tokens.words("new spelling"))))
    assert (real.found("old"), real.found("new")) == ([], [memory.seq])
    assert real.found_past("spelling", 10_000) == [(memory.seq, 1)]
    _assert_statistics(real, {memory.seq: IndexedTokens((), ("new", "spell")), other.seq: words_of(other)})


def test_the_past_is_searched_as_it_was(real: Texts) -> None:
    first = real.add("alpha", project="p", concepts=("gotcha",), priority=1)  # at 2,000
    second = real.change(first, content="beta", project="q", priority=9)  # at 3,000
    third = real.change(second, status=Status.DELETED)  # at 4,000
    seq = third.seq
    assert real.found_past("alpha", 1_999) == []
    assert real.found_past("alpha", 2_000) == [(seq, 1)]
    assert real.found_past("alpha", 2_999) == [(seq, 1)]
    assert real.found_past("alpha", 3_000) == []
    assert real.found_past("beta", 3_500) == [(seq, 2)]
    assert real.found_past("beta", 4_000) == []
    assert real.found_past("beta", 9_000, replace(ALL, statuses=frozenset(Status))) == [(seq, 3)]
    # Filters mean the state as it was then.
    gotcha = replace(ALL, facets=(("concept", frozenset({"gotcha"})),))
    assert real.found_past("alpha", 2_500, replace(ALL, project="p", priority_max=2)) == [(seq, 1)]
    assert real.found_past("alpha", 2_500, gotcha) == [(seq, 1)]
    assert real.found_past("alpha", 2_500, replace(ALL, project="q")) == []
    assert real.found_past("beta", 3_500, replace(ALL, project="q", priority_min=8)) == [(seq, 2)]
    # Each memory once, present and past ranked on one scale.
    standing = real.add("alpha beta gamma")  # at 5,000
    assert real.found_past("alpha beta gamma", 5_000) == [(standing.seq, 1)]
    fourth = real.change(third, status=Status.ACTIVE, content="alpha")  # at 6,000
    real.change(fourth, content="gone")  # at 7,000
    assert real.found_past("alpha beta gamma", 6_500) == [(standing.seq, 1), (seq, 4)]


def test_a_state_that_held_for_no_time_is_not_in_the_past(real: Texts) -> None:
    memory = real.add("alpha")  # at 2,000
    real.change(memory, after_ms=0, content="beta")
    assert real.found_past("alpha", 2_000) == []
    assert real.found_past("beta", 2_000) == [(memory.seq, 2)]


def test_former_states_can_be_put_and_dropped_one_by_one(real: Texts) -> None:
    memory = real.add("alpha")  # at 2,000
    changed = real.change(memory, content="beta")  # at 3,000
    real.index.drop_past([(memory.seq, 1), (memory.seq, 2), (memory.seq, 7)])
    assert real.found_past("alpha", 2_500) == []
    assert real.found("beta") == [changed.seq]
    for _ in range(2):
        real.index.put_past(memory, words_of(memory), 3_000)
    assert real.found_past("alpha", 2_500) == [(memory.seq, 1)]
    _assert_statistics(real, {changed.seq: words_of(changed)})


def test_erasing_leaves_nothing_behind(real: Texts) -> None:
    kept = real.add("kept words")
    memory = real.add("secretone", "secrettitle", concepts=("secretlabel",))
    real.fold()
    memory = real.change(memory, content="secrettwo")
    memory = real.change(memory, content="secretthree")
    real.erase(memory)
    assert real.found("secretone secrettwo secretthree secrettitle") == []
    assert real.found_past("secretone secrettwo", 3_500) == []
    with real.db.reading() as tx:
        assert [row.seq for row in tx.connection.execute(sa.select(memory_texts.c.seq))] == [kept.seq]
        assert tx.connection.execute(sa.select(text_changes).where(text_changes.c.seq == memory.seq)).all() == []
        assert [row.term for row in tx.connection.execute(sa.select(memory_terms)) if "secret" in row.term] == []
        if real.db.engine.name == "sqlite":
            for table in ("present_words", "past_words"):
                blocks = tx.connection.exec_driver_sql(f"SELECT block FROM {table}_data").scalars()
                assert not any(b"secret" in bytes(block) for block in blocks), table
                assert tx.connection.exec_driver_sql(f"SELECT count(*) FROM {table}_docsize").scalar() == (
                    table == "present_words"
                )
    _assert_statistics(real, {kept.seq: words_of(kept)})


def _assert_statistics(real: Texts, present: dict[int, IndexedTokens]) -> None:
    """How common each word is, exactly, after folding."""
    real.fold(2)
    bags = [bm25.counted(words, []) for words in present.values()]
    having = Counter(word for bag in bags for word in bag.weighted())
    with real.db.reading() as tx:
        if real.db.engine.name == "sqlite":
            rows = tx.connection.exec_driver_sql("SELECT term, doc FROM present_vocab WHERE term < '#' OR term >= '$'")
        else:
            rows = tx.connection.execute(sa.select(memory_terms.c.term, memory_terms.c.texts))
        assert {row[0]: row[1] for row in rows} == having
        number, length = tx.connection.execute(sa.select(text_counts.c.texts, text_counts.c.tokens)).one()
        lengths = sa.select(sa.func.sum(memory_texts.c.length)).where(texts.is_present)
        assert (number, length) == (len(bags), tx.connection.execute(lengths).scalar())


def test_statistics_are_exact_after_any_sequence_of_writes(real: Texts) -> None:
    chance = random.Random(11)
    alive: dict[int, Memory] = {}
    for step in range(150):
        draw = chance.random()
        if draw < 0.5 or not alive:
            memory = real.add(sentence(chance, 6), sentence(chance, 2))
        elif draw < 0.8:
            memory = real.change(chance.choice(list(alive.values())), content=sentence(chance, 6))
        else:
            real.erase(alive.pop(chance.choice(list(alive))))
            continue
        alive[memory.seq] = memory
        if step % 10 == 0:
            real.index.fold(3)
    _assert_statistics(real, {seq: words_of(memory) for seq, memory in alive.items()})


def test_ranking_does_not_wait_for_folding(real: Texts) -> None:
    for number in range(30):
        real.add(f"common word{number}")
    rare = real.add("rare other")
    before = real.index.find(["common", "rare"], ALL, limit=50)
    real.fold()
    after = real.index.find(["common", "rare"], ALL, limit=50)
    assert before[0].seq == rare.seq
    assert [hit.seq for hit in after] == [hit.seq for hit in before]
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before])


def test_scores_are_bm25(real: Texts) -> None:
    chance = random.Random(3)
    made = [real.add(sentence(chance, chance.randint(3, 40)), sentence(chance, 3)) for _ in range(60)]
    real.fold()
    bags = {memory.seq: bm25.counted(words_of(memory), texts.scope_of("t", memory)) for memory in made}
    mean = sum(bag.length for bag in bags.values()) / len(bags)
    terms = tokens.terms("connection 数据库 user_id retry ERR_CONNECTION_RESET")
    having = {term: sum(term in bag.weighted() for bag in bags.values()) for term in terms}
    weights = {term: bm25.idf(len(bags), having[term]) for term in terms}
    expected = {seq: bm25.score(bag.weighted(), bag.length, mean, weights) for seq, bag in bags.items()}
    hits = real.index.find(terms, ALL, limit=100)
    assert {hit.seq: pytest.approx(hit.score, rel=1e-6) for hit in hits} == {s: e for s, e in expected.items() if e}


@pytest.mark.slow
def test_a_large_store_is_searched_by_its_rarest_terms_first(
    real: Texts, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if real.db.engine.name == "sqlite":
        monkeypatch.setattr(bm25, "ENOUGH", 80)
    else:
        small = [statement.replace(f"<= {bm25.ENOUGH} ", "<= 80 ") for statement in routines.functions()]
        assert small != routines.functions()
        _run_as_owner(request.getfixturevalue("postgres_url"), small)
    try:
        chance = random.Random(21)
        made = [real.add(sentence(chance, 12)) for _ in range(300)]
        real.fold()
        everything = {memory.seq: bm25.counted(words_of(memory), texts.scope_of("t", memory)) for memory in made}
        mean = sum(bag.length for bag in everything.values()) / len(everything)
        shares = []
        for _ in range(40):
            terms = tokens.terms(sentence(chance, chance.randint(1, 6)))
            having = {term: sum(term in bag.weighted() for bag in everything.values()) for term in terms}
            weights = {term: bm25.idf(len(everything), having[term]) for term in terms}
            exact = {s: bm25.score(bag.weighted(), bag.length, mean, weights) for s, bag in everything.items()}
            best = sorted((s for s in exact if exact[s]), key=lambda s: (-exact[s], -s))[:5]
            hits = real.index.find(terms, ALL, limit=5)
            # Never fewer, never a wrong score, and nearly always the same.
            assert len(hits) == len(best)
            assert [hit.score for hit in hits] == pytest.approx([exact[hit.seq] for hit in hits], rel=1e-6)
            shares.append(len({hit.seq for hit in hits} & set(best)) / max(len(best), 1))
        assert sum(shares) / len(shares) > 0.9
    finally:
        if real.db.engine.name == "postgresql":
            _run_as_owner(request.getfixturevalue("postgres_url"), routines.functions())


def _run_as_owner(url: str, statements: list[str]) -> None:
    with migration_engine(url).begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@pytest.mark.slow
def test_a_text_of_a_million_characters_can_be_stored_and_found(real: Texts) -> None:
    chance = random.Random(1)
    chinese = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(MAX_CONTENT - 20))
    memory = real.add("开头标记 " + chinese)
    repeated = real.add("loop " * (MAX_CONTENT // 5))
    assert real.found("开头标记")[0] == memory.seq
    assert real.found("loop") == [repeated.seq]
    real.fold()
    real.erase(memory, repeated)
    assert real.found("开头 loop") == []


def test_what_is_missing_can_be_asked_for(real: Texts) -> None:
    first, second = real.add("alpha"), real.add("beta")
    assert real.index.missing(limit=10) == []
    real.index.drop([first.seq, second.seq])
    assert real.index.missing(limit=10) == seqs([first, second])
    assert real.index.missing(limit=1) == [first.seq]
    assert real.index.missing(limit=10, after=first.seq) == [second.seq]
    real.index.put(first, words_of(first))
    assert real.index.missing(limit=10) == [second.seq]


def test_writers_and_folding_do_not_disturb_each_other(real: Texts, tenant: str) -> None:
    errors: list[BaseException] = []
    written: list[dict[int, Memory]] = [{} for _ in range(3)]
    common = [real.add(f"shared words here {number}") for number in range(3)]

    def write(place: int) -> None:
        try:
            with acting_as(tenant):
                mine = Texts(real.db)
                mine._names, mine._now = 1000 * (place + 1), 10_000
                memory = common[place]
                for number in range(25):
                    added = mine.add(f"shared words {place} {number}")
                    memory = mine.change(memory, content=f"shared words again {number}")
                    written[place] |= {memory.seq: memory, added.seq: added}
                    if number % 5 == 0:
                        mine.erase(written[place].pop(added.seq))
        except BaseException as error:
            errors.append(error)

    def fold() -> None:
        try:
            with acting_as(tenant):
                for _ in range(60):
                    real.index.fold(7)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(place,)) for place in range(3)]
    threads += [threading.Thread(target=fold) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    _assert_statistics(real, {seq: words_of(memory) for part in written for seq, memory in part.items()})


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=st.text(max_size=80), query=st.text(max_size=80))
def test_any_text_is_a_document_and_a_query(real: Texts, document: str, query: str) -> None:
    memory = real.add("x")
    words = IndexedTokens(tuple(tokens.words(query)), tuple(tokens.words(document)))
    real.index.put(memory, words)
    assert isinstance(real.found(query), list)
    # Whatever was indexed is found by its own words.
    if found := tokens.words(document):
        hits = real.index.find([found[0]], ALL, limit=1000)
        assert memory.seq in [hit.seq for hit in hits]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(token=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40))
def test_any_token_is_one_token(real: Texts, token: str) -> None:
    memory = real.add("x")
    real.index.put(memory, IndexedTokens((), (token, "other")))
    assert memory.seq in [hit.seq for hit in real.index.find([token], ALL, limit=1000)]
    assert memory.seq not in [hit.seq for hit in real.index.find([token + "z", "z" + token], ALL, limit=1000)]
    real.erase(memory)


@pytest.mark.postgresql
def test_engines_find_the_same(sqlite_database: Database, postgres_database: Database) -> None:
    overlaps = []
    stores = [Texts(sqlite_database), Texts(postgres_database)]
    with acting_as("agreement"):
        numbers: list[dict[int, int]] = [{}, {}]
        for place, store in enumerate(stores):
            chance = random.Random(7)
            with acting_as("local") if place == 0 else acting_as("agreement"):
                for number in range(400):
                    project = f"p{number % 3}"
                    memory = store.add(sentence(chance, chance.randint(3, 60)), sentence(chance, 3), project=project)
                    numbers[place][memory.seq] = number
                store.fold()
        chance = random.Random(8)
        for number in range(100):
            query = sentence(chance, chance.randint(1, 5))
            wanted = replace(ALL, project="p1") if number % 2 else ALL
            found = []
            for place, store in enumerate(stores):
                with acting_as("local") if place == 0 else acting_as("agreement"):
                    found.append({numbers[place][seq] for seq in store.found(query, wanted, limit=10)})
            overlaps.append(len(found[0] & found[1]) / max(len(found[0]), 1) if found[0] or found[1] else 1.0)
    assert sum(overlaps) / len(overlaps) >= 0.95
