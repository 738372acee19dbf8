"""What a search promises on every engine: what it finds, what it keeps back, in which order, and how it was found."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest

from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Origin, Status, manual_session
from codexmem.kernel.model.query import Seq
from codexmem.kernel.model.search import MAX_QUERY, Floor, SearchMode, Unit
from codexmem.kernel.search import recipes
from codexmem.kernel.search.recipes import Recipe
from codexmem.kernel.store.database import Database, acting_as
from tests._support.searching import ALL, ME, Searched, searched, seqs
from tests._support.toy_embedder import ToyEmbedder

DAY_MS = 86_400_000


@pytest.fixture
def store(database: Database) -> Iterator[Searched]:
    """Nothing configured."""
    with searched(database) as made:
        yield made


@pytest.fixture
def embedder() -> ToyEmbedder:
    return ToyEmbedder()


@pytest.fixture
def hybrid(database: Database, embedder: ToyEmbedder) -> Iterator[Searched]:
    """With vectors."""
    with searched(database, embedder=embedder) as made:
        yield made


def weigh(monkeypatch: pytest.MonkeyPatch, **weights: float) -> str:
    """A recipe of these weights alone; returns its name."""
    monkeypatch.setitem(recipes.RECIPES, "test", Recipe("test", weights, weights))
    return "test"


# What is found


def test_what_was_just_written_is_found_at_once(store: Searched) -> None:
    made = [store.write(f"The gateway {name} was moved") for name in ("alpha", "beta", "gamma")]
    assert [store.found(name) for name in ("alpha", "beta", "gamma")] == [[memory.seq] for memory in made]
    changed = store.change(made[2], content="It was moved to Lisbon")
    assert store.found("Lisbon") == [changed.seq]
    assert store.search("Lisbon").results[0].memory == changed
    assert store.found("gamma") == []


@pytest.mark.parametrize(
    "query, reached",
    [
        ("what did we decide about the retry limit of the upload gateway", Floor.UNASKED),
        ("the upload is slow again today and I do not know where to look first", Floor.AHEAD),
        ("a recipe for bread with rye flour and a long rest overnight please", Floor.AHEAD),
    ],
)
def test_two_levels_at_once_answer_as_two_searches(store: Searched, query: str, reached: Floor) -> None:
    for number in range(40):
        store.write(f"Note {number}: the harbour has a lighthouse, and its keeper number {number} counts the ships")
    store.write("The retry limit of the upload gateway is five, decided after the outage in March")
    both = store.search(query, floor=Floor.UNASKED, or_else=Floor.AHEAD)
    first, second = (store.search(query, floor=each) for each in (Floor.UNASKED, Floor.AHEAD))
    alone = first if first.results else second
    assert both.floor is alone.floor is reached
    told, expected = ([(each.memory.seq, each.relevance) for each in answer.results] for answer in (both, alone))
    assert told == expected


def test_what_has_no_vectors_yet_is_found_by_its_words(hybrid: Searched) -> None:
    hybrid.write("Something about lighthouses")
    hybrid.real.catch_up()
    late = hybrid.write("Something about needles")
    answer = hybrid.search("needles")
    assert (seqs(answer)[0], answer.mode) == (late.seq, SearchMode.HYBRID)


def test_what_has_no_vectors_yet_stands_where_its_words_put_it(hybrid: Searched) -> None:
    for number in range(12):
        hybrid.write(f"The harbour has lighthouse number {number} and nothing else")
    hybrid.real.catch_up()
    late = hybrid.write("The lighthouse keeper changed the lamp of the harbour 灯塔")
    assert seqs(hybrid.search("who changed the lamp of the lighthouse in the harbour"))[0] == late.seq


@pytest.mark.parametrize(
    "query",
    ["retry connection", "retries", "fetchWithBackoff", "fetch_with_backoff backoff", "src/net/client.py", "client.py",
     "ERR_CONNECTION_RESET", "E0599", "0x80070005", "v1.2.3", "1.2.3", "数据库连接失败", "重试", "连接 retry", "C++17"],
)  # fmt: skip
def test_words_identifiers_and_error_codes_of_both_languages_are_found(store: Searched, query: str) -> None:
    store.write("The weather in Lisbon was fine. 天气很好。")
    wanted = store.write(
        "Connections are retried by fetchWithBackoff in src/net/client.py after ERR_CONNECTION_RESET or E0599, "
        "which is 0x80070005 on Windows since v1.2.3 with C++17. 数据库连接失败以后重试三次。"
    )
    assert store.found(query) == [wanted.seq]


def test_meaning_finds_what_words_do_not(hybrid: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    # To the toy embedder a word with a comma is another word, to the index it is not; and a stop word is one to it.
    near, far = hybrid.write("which which which"), hybrid.write("elsewhere entirely")
    hybrid.real.catch_up()
    answer = hybrid.search("which")
    assert answer.mode is SearchMode.HYBRID
    assert answer.sources["lexical"] == 0
    assert seqs(answer)[0] == near.seq
    assert far.seq in seqs(answer)


@pytest.mark.parametrize("query", ["", " ", "?!", "the of and", "\0", "'\" OR *", "\ud800", "a" * MAX_QUERY, "的"])
def test_any_text_is_legal(hybrid: Searched, query: str) -> None:
    hybrid.write("A needle")
    hybrid.real.catch_up()
    answer = hybrid.search(query)
    assert answer.timings_ms["total"] >= 0.0
    with pytest.raises(InvalidArgument):
        hybrid.search("x" * (MAX_QUERY + 1))


def test_an_embedder_is_given_no_more_than_a_passage_and_nothing_that_cannot_be_encoded(database: Database) -> None:
    given: list[str] = []

    class Recording(ToyEmbedder):
        def query(self, text: str) -> bytes:
            given.append(text)
            return super().query(text)

    with searched(database, embedder=Recording()) as store:
        store.search("needle \ud800 " + "hay " * 20_000)
    assert len(given[0]) <= 2_000
    assert given[0].startswith("needle ? hay")


# What is kept back


def test_every_filter_is_kept(hybrid: Searched) -> None:
    plain = hybrid.write("needle plain")
    observed = hybrid.write(
        "needle seen", kind=Kind.OBSERVATION, project="app", type="bugfix", session="s1", concepts=("gotcha", "wal"),
        files_read=("src/a.py",), files_modified=("src/b.py",),
    )  # fmt: skip
    other = hybrid.write("needle other", kind=Kind.OBSERVATION, project="web", type="feature", concepts=("wal",))
    lesson = hybrid.write("needle lesson", kind=Kind.LESSON, role="reviewer", priority=1)
    tagged = hybrid.write("needle tagged", kind=Kind.KNOWLEDGE, tags=("redis", "缓存"), status=Status.CANDIDATE)
    answered = hybrid.write("needle answer", kind=Kind.QA, question="Where?", tags=("redis",), author="Ada", priority=9)
    old = hybrid.write("needle old", kind=Kind.PROMPT, speaker="Bo", session="s1", created_ms=1_000_000)
    hidden = hybrid.write("needle hidden", status=Status.ARCHIVED)
    hybrid.real.catch_up()
    visible = {plain, observed, other, lesson, tagged, answered, old}
    recent = visible - {old}

    def which(**fields: Any) -> set[int]:
        return set(hybrid.found("needle", **fields))

    def numbers(*memories: Any) -> set[int]:
        return {memory.seq for memory in memories}

    def facet(name: str, *values: str) -> tuple[tuple[str, frozenset[str]], ...]:
        return ((name, frozenset(values)),)

    assert which() == numbers(*visible)
    assert which(kinds=frozenset({Kind.OBSERVATION})) == numbers(observed, other)
    assert which(kinds=frozenset({Kind.QA, Kind.PROMPT})) == numbers(answered, old)
    assert which(project="app") == numbers(observed)
    assert which(project="nowhere") == set()
    assert which(facets=facet("type", "bugfix", "feature")) == numbers(observed, other)
    assert which(facets=facet("concept", "gotcha")) == numbers(observed)
    assert which(facets=facet("concept", "gotcha") + facet("type", "feature")) == set()
    assert which(facets=facet("file", "src/b.py")) == numbers(observed)
    assert which(facets=facet("tag", "缓存")) == numbers(tagged)
    assert which(facets=facet("tag", "redis")) == numbers(tagged, answered)
    assert which(facets=facet("role", "reviewer")) == numbers(lesson)
    assert which(facets=facet("who", "Ada", "Bo")) == numbers(answered, old)
    assert which(session="s1") == numbers(observed, old)
    assert which(session="s1", project="app") == numbers(observed)
    assert which(created_to_ms=1_000_000) == numbers(old)
    assert which(created_from_ms=1_000_001) == numbers(*recent)
    assert which(created_from_ms=1_000_000, created_to_ms=999_999) == set()
    assert which(statuses=frozenset({Status.CANDIDATE})) == numbers(tagged)
    assert which(statuses=frozenset({Status.ARCHIVED})) == numbers(hidden)
    assert which(priority_max=1) == numbers(lesson)
    assert which(priority_min=6) == numbers(answered)
    assert which(priority_min=2, priority_max=8) == numbers(*visible - {lesson, answered})


@pytest.mark.parametrize(
    "status", [Status.DELETED, Status.QUARANTINED, Status.ARCHIVED, Status.EXPIRED, Status.DEPRECATED]
)
def test_what_is_hidden_is_not_found_and_comes_back_with_its_status(hybrid: Searched, status: Status) -> None:
    made = hybrid.write("a needle")
    hybrid.real.catch_up()
    hybrid.change(made, status=status)
    assert hybrid.found("a needle") == []
    hybrid.change(made, status=Status.ACTIVE)
    assert hybrid.found("a needle") == [made.seq]


def test_what_is_forgotten_is_not_found(hybrid: Searched) -> None:
    kept, gone = hybrid.write("a needle kept"), hybrid.write("a needle gone")
    hybrid.real.catch_up()
    hybrid.real.history.forget([gone.seq], ME)
    assert hybrid.found("a needle gone") == [kept.seq]


@pytest.mark.postgresql
def test_one_tenant_never_finds_what_is_anothers(postgres_database: Database) -> None:
    with searched(postgres_database, embedder=ToyEmbedder()) as store:
        for tenant in ("search-alice", "search-bob"):
            with acting_as(tenant):
                store.write(f"the needle of {tenant}", kind=Kind.PROMPT, session="s", speaker=tenant.title())
                store.write(f"beside it {tenant}", kind=Kind.PROMPT, session="s")
                store.real.catch_up()
        for tenant, other in itertools.permutations(("search-alice", "search-bob")):
            with acting_as(tenant):
                for fields in ({}, {"session": "s"}, {"as_of_ms": store.now()}, {"unit": Unit.SESSION}):
                    answer = store.search(f"the needle of {other}", **fields)
                    contents = [found.memory.state.content for found in answer.results]
                    assert contents
                    assert all(tenant in content for content in contents), fields


# Order and pages


def test_the_best_come_first_with_falling_probabilities(hybrid: Searched) -> None:
    for number in range(30):
        hybrid.write(f"hay {'needle ' * (number % 3)} straw number{number}")
    hybrid.real.catch_up()
    answer = hybrid.search("needle straw")
    scores = [found.score for found in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


@pytest.mark.parametrize("with_vectors", [False, True], ids=["words", "hybrid"])
def test_pages_fit_together_and_say_whether_more_follow(database: Database, with_vectors: bool) -> None:
    with searched(database, embedder=ToyEmbedder() if with_vectors else None) as store:
        for number in range(90):
            # Many that nearly repeat each other: these step behind, on whichever page that is.
            tail = "and nothing else of any interest to anybody here" if number % 3 else f"thing{number} other{number}"
            store.write(f"the needle lies in the haystack {tail}", session=f"s{number % 5}")
        store.real.catch_up()
        whole = store.search("needle haystack", limit=60)
        pages = [store.search("needle haystack", limit=10, offset=offset) for offset in range(0, 60, 10)]
        assert [seq for page in pages for seq in seqs(page)] == seqs(whole)
        scores = [found.score for page in pages for found in page.results]
        assert scores == pytest.approx([found.score for found in whole.results], abs=1e-6)  # all are a little older
        assert len(set(seqs(whole))) == 60
        assert all(page.more for page in pages)
        last = store.search("needle haystack", limit=100)
        assert (len(last.results), last.more) == (90, False)
        assert store.search("needle haystack", limit=10, offset=80).more is False
        beyond = store.search("needle haystack", limit=10, offset=90)
        assert (beyond.results, beyond.more) == ((), False)
        deep = [store.search("needle haystack", limit=15, offset=offset) for offset in (60, 75)]
        assert [seq for page in deep for seq in seqs(page)] == seqs(last)[60:]


def test_near_duplicates_step_behind_what_differs(store: Searched) -> None:
    said = "the needle lies under the third bale of hay behind the old barn near the river"
    twins = {store.write(said).seq for _ in range(3)}
    other = store.write("a needle and some hay, and much besides that has little to do with either of them")
    first, second, *rest = store.found("needle bale of hay")
    assert (first in twins, second) == (True, other.seq)
    assert set(rest) == twins - {first}


def test_nothing_relevant_is_an_answer(hybrid: Searched) -> None:
    hybrid.write("the needle lies in the haystack")
    hybrid.write("some hay")
    hybrid.real.catch_up()
    whole = hybrid.search("needle hay")
    least = whole.results[0].score
    assert seqs(hybrid.search("needle hay", min_score=least - 1e-6)) == seqs(whole)[:1]
    nothing = hybrid.search("needle hay", min_score=min(1.0, least + 0.01))
    assert (nothing.results, nothing.more) == ((), False)
    empty = hybrid.search("zeppelin", project="empty")
    assert (empty.results, empty.more) == ((), False)


def test_a_session_is_one_result(hybrid: Searched) -> None:
    for number in range(12):
        hybrid.write(f"the needle number{number}", kind=Kind.PROMPT, session=f"s{number % 3}")
    alone = [hybrid.write("a needle alone"), hybrid.write("a needle apart")]
    hybrid.real.catch_up()
    answer = hybrid.search("needle", unit=Unit.SESSION)
    sessions = [found.memory.session or found.memory.seq for found in answer.results]
    assert sorted(map(str, sessions)) == sorted(["s0", "s1", "s2", *(str(memory.seq) for memory in alone)])
    pages = [hybrid.search("needle", unit=Unit.SESSION, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [seq for page in pages for seq in seqs(page)] == seqs(answer)
    assert [page.more for page in pages] == [True, True, False]


def test_the_company_of_the_best_is_found_with_them(store: Searched) -> None:
    fields: dict[str, Any] = {"kind": Kind.PROMPT, "session": "s"}
    before = store.write("We spoke of other things", **fields)
    asked = store.write("Which port does the needle service use?", **fields)
    reply = store.write("37877", **fields)
    store.write("Much later", **fields)
    elsewhere = store.write("37877", kind=Kind.PROMPT, session="t")
    answer = store.search("port of the needle service")
    assert set(seqs(answer)) == {before.seq, asked.seq, reply.seq}
    assert answer.sources == {"lexical": 1, "neighbours": 2}
    assert elsewhere.seq not in seqs(answer)
    # A neighbour must pass the filter like everything else.
    store.change(reply, status=Status.DELETED)
    store.change(before, project="other")
    assert store.found("port of the needle service", project="") == [asked.seq]


def test_what_was_saved_by_hand_is_no_company(store: Searched) -> None:
    fields: dict[str, Any] = {"session": manual_session("shop"), "project": "shop"}
    store.write("发布前必须先运行 make migrate", **fields)
    payments = store.write("The payment retries use exponential backoff with at most 5 attempts", **fields)
    store.write("The logo is drawn in the colour of the season", **fields)
    answer = store.search("how often do we retry payments", project="shop")
    assert seqs(answer) == [payments.seq]
    assert answer.sources == {"lexical": 1, "neighbours": 0}


def test_a_person_counts_before_an_agent(store: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    human = store.write("a needle", origin=Origin.HUMAN)
    agent = store.write("a needle", origin=Origin.AGENT)
    assert store.found("needle", recipe=weigh(monkeypatch, words=1.0)) == [agent.seq, human.seq]  # the newest
    assert store.found("needle", recipe=weigh(monkeypatch, words=1.0, person=0.1)) == [human.seq, agent.seq]
    assert store.found("my needle", recipe=weigh(monkeypatch, own=1.0))[0] == human.seq
    assert store.found("which needle did you suggest", recipe=weigh(monkeypatch, assistant=1.0))[0] == agent.seq


def test_who_is_named_counts_before_others(store: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = store.write("the needle is lost", kind=Kind.PROMPT, speaker="Ada")
    bo = store.write("the needle is lost", kind=Kind.PROMPT, speaker="Bo")
    weigh(monkeypatch, words=1.0, who=1.0)
    for query in ("What did Ada say about the needle?", "Ada's needle", "Ada的needle在哪里"):
        assert store.found(query, recipe="test") == [ada.seq, bo.seq], query
    assert store.found("What did Bo say about the needle?", recipe="test") == [bo.seq, ada.seq]
    # Nobody of that name has spoken in that project, so it is a word like any other.
    assert store.found("Ada needle", recipe="test", project="p") == []


def test_the_time_that_is_named_counts(store: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    now = store.now()
    days = {ago: store.write("a needle", created_ms=now - ago * DAY_MS).seq for ago in (0, 1, 8, 400)}
    weigh(monkeypatch, words=1.0, when=1.0)
    for query in ("the needle of yesterday", "昨天的 needle"):
        assert store.found(query, recipe="test")[0] == days[1], query
    assert store.found("the needle of yesterday", recipe="test", asked_ms=now - 7 * DAY_MS)[0] == days[8]


def test_the_explanation_adds_up_to_the_score(hybrid: Searched) -> None:
    for number in range(12):
        hybrid.write(f"the needle {'lies ' * (number % 4)}number{number}?", kind=Kind.PROMPT, session=f"s{number % 3}",
                     origin=Origin.HUMAN if number % 2 else Origin.AGENT)  # fmt: skip
    for embedded, curve in ((False, recipes.DEFAULT.calibration), (True, recipes.DEFAULT.calibration_hybrid)):
        if embedded:
            hybrid.real.catch_up()
        answer = hybrid.search("how many needle lies", explain=True)
        assert answer.mode is (SearchMode.HYBRID if embedded else SearchMode.LEXICAL)
        # A logistic curve: its inverse is the sum, but for what all results of one search share.
        sums = [sum(found.signals.values()) for found in answer.results]
        logits = [math.log(found.score / (1.0 - found.score)) for found in answer.results]
        newest_first = sorted(answer.results, key=lambda found: -found.memory.seq)
        ranked = sorted(newest_first, key=lambda found: -sum(found.signals.values()))
        place = {found.memory.seq: math.log1p(rank) for rank, found in enumerate(ranked)}
        for found, total, logit in zip(answer.results, sums, logits, strict=True):
            expected = curve.score * (total - sums[0]) + curve.place * (
                place[found.memory.seq] - place[answer.results[0].memory.seq]
            )
            assert logit - logits[0] == pytest.approx(expected, abs=curve.score * 3e-3)
        assert all(found.signals["words"] for found in answer.results)
    assert all(not found.signals for found in hybrid.search("needle").results)


# Only what contains the words


def test_a_search_for_every_word_finds_what_contains_them_and_nothing_else(hybrid: Searched) -> None:
    both = hybrid.write("the retry policy of the gateway 支付网关的重试策略", session="s")
    hybrid.write("the retry button", session="s")
    hybrid.write("重新尝试 支付")
    hybrid.real.catch_up()
    assert hybrid.found("retry policies", every_word=True) == [both.seq]
    assert hybrid.found("策略 重试", every_word=True) == [both.seq]
    assert hybrid.found("网关支付", every_word=True) == [both.seq]
    assert hybrid.found("retry zebra", every_word=True) == []
    assert hybrid.found("支付 zebra", every_word=True) == []
    answer = hybrid.search("retry policy", every_word=True)
    assert (answer.mode, answer.notes) == (SearchMode.LEXICAL, ())
    assert hybrid.found("retry policy", every_word=True, as_of_ms=hybrid.now()) == [both.seq]


def test_a_character_in_common_is_no_word_in_common(store: Searched) -> None:
    turtle = store.write("乌龟在池塘里")
    store.write("怎么吃药：饭后再吃")
    assert store.found("乌龟吃什么") == [turtle.seq]
    assert store.found("吃") != []
    assert store.found("乌龟吃什么", as_of_ms=store.now()) == [turtle.seq]


# What it says of itself


@pytest.mark.parametrize(
    "query, content",
    [("staging", "Deploys go through staging first"), ("run", "It ran for hours"), ("caching", "It is cached here")],
)
def test_one_word_finds_what_has_it_in_another_form(store: Searched, query: str, content: str) -> None:
    known = store.write(content)
    store.write("something else entirely")
    assert store.found(query) == [known.seq]


def test_who_asks_for_a_score_of_0_is_shown_what_does_not_fit_too(store: Searched) -> None:
    known = store.write("会议定在周三下午")
    assert store.found("三文鱼怎么做") == []
    assert store.found("三文鱼怎么做", min_score=0.0) == [known.seq]
    assert store.found("三文鱼怎么做", min_score=0.0, as_of_ms=store.now()) == [known.seq]


def test_with_an_encoder_too_a_score_of_0_shows_what_does_not_fit(
    hybrid: Searched,
) -> None:
    hybrid.write("needle of the haystack")
    hybrid.real.catch_up()
    assert hybrid.found("zebra crossing") == []
    assert len(hybrid.found("zebra crossing", min_score=0.0)) == 1


def test_with_nothing_configured_words_alone_answer_and_it_says_so(store: Searched) -> None:
    store.write("a needle")
    answer = store.search("needle")
    assert answer.mode == "lexical-only"
    assert answer.notes == ("no embedder is configured: words only",)
    assert answer.sources == {"lexical": 1, "neighbours": 0}
    assert {"query", "lexical", "candidates", "rank", "rows", "total"} <= answer.timings_ms.keys()


def test_with_an_embedder_both_answer(hybrid: Searched, database: Database) -> None:
    hybrid.write("a needle")
    before = hybrid.search("needle")
    assert (before.mode, before.notes) == (SearchMode.LEXICAL, ("nothing here has vectors of this model: words only",))
    hybrid.real.catch_up()
    answer = hybrid.search("needle")
    assert (answer.mode, answer.notes) == ("hybrid", ())
    assert answer.sources == {"lexical": 1, "neighbours": 0, database.engine.name: 1}


def test_an_embedder_that_fails_leaves_words_and_a_reason(hybrid: Searched, embedder: ToyEmbedder) -> None:
    made = hybrid.write("a needle")
    hybrid.real.catch_up()
    for error in (Unavailable("the server sleeps"), InvalidArgument("the text is too long")):
        embedder.fails = error
        answer = hybrid.search("needle")
        assert (seqs(answer), answer.mode) == ([made.seq], SearchMode.LEXICAL)
        assert answer.notes == (f"no vectors: {error.message}",)
    embedder.fails = None
    assert hybrid.search("needle").mode is SearchMode.HYBRID


def test_a_model_that_answers_with_another_length_leaves_words_and_a_reason(
    hybrid: Searched, database: Database
) -> None:
    made = hybrid.write("a needle")
    hybrid.real.catch_up()
    with searched(database, embedder=ToyEmbedder(dimension=16)) as store:
        answer = store.search("needle")
    assert (seqs(answer), answer.mode) == ([made.seq], SearchMode.LEXICAL)
    assert answer.notes == ("no vectors: toy now answers with vectors of another length than before",)


def test_a_second_look_reorders_the_best_and_may_fail(database: Database) -> None:
    class Backwards:
        depth = 3
        fails: Unavailable | None = None

        def scores(self, query: str, texts: Any) -> list[float]:
            if self.fails is not None:
                raise self.fails
            return [float(place) for place in range(len(texts))]

    reranker = Backwards()
    with searched(database, reranker=reranker) as store:
        for number in range(5):
            store.write(f"{'needle ' * (number + 1)} number{number}")
        turned = store.found("needle")
        reranker.fails = Unavailable("it sleeps")
        answer = store.search("needle")
        assert answer.notes[-1] == "not reranked: it sleeps"
        plain = seqs(answer)
        assert turned == [*plain[2::-1], *plain[3:]]


def test_an_unknown_recipe_is_a_mistake(store: Searched) -> None:
    with pytest.raises(InvalidArgument, match="there is no recipe 'soup'"):
        store.search("needle", recipe="soup")


@pytest.mark.parametrize(
    "fields", [{"limit": 0}, {"limit": 201}, {"offset": -1}, {"offset": 1_000}, {"min_score": 1.1}, {"min_score": -0.1}]
)
def test_a_list_without_bounds_is_a_mistake(store: Searched, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        store.search("needle", **fields)


def test_what_a_source_wrote_is_not_found_after_it_is_undone(store: Searched) -> None:
    by = WriteContext("agent", source="session:bad")
    mine = store.write("the true needle")
    store.change(mine, by=by, content="the false needle")
    theirs = store.write("another false needle", by=by)
    store.real.history.forget_all(ME, source="session:bad")
    assert store.found("false needle") == [mine.seq]  # by the other word
    assert store.search("true").results[0].memory.state.content == "the true needle"
    assert theirs.seq not in store.real.memories.many([theirs.seq], ALL)
    assert store.real.memories.get(Seq(mine.seq), ALL).state.content == "the true needle"
