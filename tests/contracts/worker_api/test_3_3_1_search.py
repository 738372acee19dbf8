"""Contract 000 §3.3.1 and §2.3: GET /api/search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.store.database import Database
from tests._support.golden import same_as_golden
from tests._support.recall_endpoint import NOON, Endpoint, recall_endpoint
from tests._support.toy_embedder import ToyEmbedder

GOLDEN = Path(__file__).parent / "golden"


def ids(rows: Any, group: str = "observations") -> list[int]:
    return [row["id"] for row in rows[group]]


@pytest.mark.clause("000 §2.3", "the markdown index: days, files, ditto times, icons, what reading costs")
def test_2_3_the_index_is_laid_out_as_clients_know_it(endpoint_without_encoder: Endpoint) -> None:
    endpoint = endpoint_without_encoder
    made = [
        endpoint.observe("Token refresh fixed", "The refresh token was sent twice.", type="bugfix", minute=-8,
                     files_modified=("src/auth/token.ts",), files_read=("README.md",), facts=("retry once",),
                     subtitle="Auth"),
        endpoint.observe("登录令牌轮换", "刷新令牌只能使用一次。", type="decision", minute=-8,
                     files_modified=("src/auth/token.ts",)),
        endpoint.observe("Token | pipe\nand line", "token", type="odd", minute=5, files_read=("docs/token.md",)),
        endpoint.summarize("Fix the token refresh", minute=10),
        endpoint.summarize("", learned="token lives an hour", minute=10, session="abcdefghij"),
        endpoint.ask("Why does the token refresh fail when two tabs are open at the same time?", minute=20),
        endpoint.observe("Token store", "token in keychain", type="feature", minute=24 * 60),
    ]  # fmt: skip
    text = endpoint.text("/api/search", query="token 令牌", orderBy="date_asc")
    same_as_golden(GOLDEN / "search_index.md", text, made)


@pytest.mark.clause("000 §2.3", "nothing found is said, not raised")
def test_2_3_nothing_found(endpoint: Endpoint) -> None:
    assert endpoint.text("/api/search", query="zebra").splitlines()[0] == 'No results found matching "zebra"'
    assert endpoint.rows("/api/search", query="zebra")["totalResults"] == 0


@pytest.mark.clause("000 §2.3", "a project that does not exist is told as such, with and without a query")
def test_2_3_an_unknown_project_is_told_as_such(endpoint: Endpoint) -> None:
    endpoint.observe("Port", "listens on 37877", project="shop-api")
    for query in ({}, {"query": "port"}):
        text = endpoint.text("/api/search", project="shop-ap", **query)
        assert text.splitlines()[0].startswith("No results found")
        assert text.splitlines()[-1] == 'Note: nothing is stored for the project "shop-ap"; GET /api/projects lists all'
        assert "Vector search" not in text
        rows = endpoint.rows("/api/search", project="shop-ap", **query)
        assert (rows["totalResults"], len(rows["notes"])) == (0, 1)
    # A known project in which nothing fits is another matter.
    assert "nothing is stored" not in endpoint.text("/api/search", project="shop-api", query="zebra")


@pytest.mark.clause("000 §2.3", "the markdown index of a query keeps the order of relevance, across kinds and days")
def test_2_3_the_index_keeps_the_order_of_relevance(endpoint: Endpoint) -> None:
    endpoint.observe("Release notes", "We mention the port once, among many other things: port.", minute=-3000)
    endpoint.observe("Server", "Started on a port.", files_modified=("src/server.py",))
    exact = endpoint.ask("Which port is 37877 for?", minute=3)
    rows = endpoint.rows("/api/search", query="which port is 37877 for")
    scored = sorted(
        ((row["score"], row["id"]) for group in ("observations", "sessions", "prompts") for row in rows[group]),
        reverse=True,
    )
    text = endpoint.text("/api/search", query="which port is 37877 for")
    shown = [int(number) for number in re.findall(r"^\| #[SP]?(\d+) \|", text, flags=re.MULTILINE)]
    assert shown == [number for _, number in scored]
    assert shown[0] == exact.seq
    assert f"| #P{exact.seq} | Feb 18, 2026, 4:03 PM | 💬 | Which port is 37877 for? | - | - |" in text
    assert "| src/server.py |" in text


@pytest.mark.clause("000 §3.3.1", "text comes as MCP content, JSON as rows")
def test_3_3_1_the_answer_can_be_passed_on(endpoint: Endpoint) -> None:
    endpoint.observe("Port", "37877")
    reply = endpoint.get("/api/search", query="port")
    assert (reply.status, set(reply.json)) == (200, {"content"})
    (content,) = reply.json["content"]
    assert (content["type"], content["text"].splitlines()[0]) == (
        "text", 'Found 1 result(s) matching "port" (1 obs, 0 sessions, 0 prompts)',
    )  # fmt: skip
    assert {"observations", "sessions", "prompts", "totalResults", "query"} <= set(
        endpoint.get("/api/search", query="port", format="json").json
    )


@pytest.mark.clause("000 §6.4", "without embeddings the answer is lexical-only")
@pytest.mark.clause("000 §2.3", "without vectors a readable text says so, and words still find")
def test_2_3_degraded_search_says_so_and_still_finds(endpoint_without_encoder: Endpoint) -> None:
    endpoint = endpoint_without_encoder
    memory = endpoint.observe("Port", "listens on 37877")
    text = endpoint.text("/api/search", query="listens")
    assert f"| #{memory.seq} |" in text
    assert text.splitlines()[-1].startswith("Note: Vector search is unavailable, so this was found by words only: ")
    rows = endpoint.rows("/api/search", query="listens")
    assert (rows["mode"], rows["notes"]) == ("lexical-only", ["no embedder is configured: words only"])
    assert "notes" not in endpoint.rows("/api/search")


@pytest.mark.clause(
    "000 §2.3", "format=json: observations, sessions, prompts, totalResults, query, in rank order with scores"
)
def test_2_3_json_rows_in_rank_order(endpoint: Endpoint) -> None:
    far = endpoint.observe("Release notes", "We mention the port once: port.", minute=30)
    near = endpoint.observe("Port", "The port is 37877. 端口是 37877。", minute=1, facts=("port 37877",))
    summary, prompt = endpoint.summarize("Choose a port", minute=2), endpoint.ask("Which port?", minute=3)
    rows = endpoint.rows("/api/search", query="port 37877")
    assert ids(rows) == [near.seq, far.seq]
    assert (ids(rows, "sessions"), ids(rows, "prompts")) == ([summary.seq], [prompt.seq])
    assert (rows["totalResults"], rows["query"], rows["hasMore"]) == (4, "port 37877", False)
    scores = [row["score"] for row in rows["observations"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert rows["observations"][0]["facts"] == ["port 37877"]
    assert rows["sessions"][0]["request"] == "Choose a port"
    assert rows["prompts"][0] | {"score": 0} == {
        "id": prompt.seq, "content_session_id": "s1", "project": "demo", "prompt_number": 1,
        "prompt_text": "Which port?", "private": False, "created_at": "2026-02-18T16:03:00.000Z",
        "created_at_epoch": prompt.created_ms, "score": 0,
    }  # fmt: skip


@pytest.mark.clause("000 §2.3", "type names categories, several too, or types of observations")
def test_2_3_type_selects_categories_or_observation_types(endpoint: Endpoint) -> None:
    bug, feature = (
        endpoint.observe("port bug", "port", type="bugfix"),
        endpoint.observe("port new", "port", type="feature"),
    )
    summary, prompt = endpoint.summarize("port"), endpoint.ask("port")

    def found(**query: Any) -> tuple[set[int], set[int], set[int]]:
        rows = endpoint.rows("/api/search", **query)
        return set(ids(rows)), set(ids(rows, "sessions")), set(ids(rows, "prompts"))

    for query in ({}, {"query": "port"}):
        assert found(**query) == ({bug.seq, feature.seq}, {summary.seq}, {prompt.seq})
        assert found(**query, type="sessions") == (set(), {summary.seq}, set())
        assert found(**query, type="observations,prompts") == ({bug.seq, feature.seq}, set(), {prompt.seq})
        assert found(**query, type=["sessions", "prompts"]) == (set(), {summary.seq}, {prompt.seq})
        assert found(**query, type="bugfix") == ({bug.seq}, set(), set())
        assert found(**query, type="bugfix, feature") == ({bug.seq, feature.seq}, set(), set())
        assert found(**query, obs_type="feature") == ({feature.seq}, set(), set())
        assert found(**query, obs_type=["feature", "bugfix"]) == ({bug.seq, feature.seq}, set(), set())
    nothing = endpoint.rows("/api/search", type="sessions", obs_type="feature")
    assert (nothing["totalResults"], nothing["notes"]) == (0, ["only observations have a type, concepts or files"])


@pytest.mark.clause("000 §2.3", "concepts, files, project and dates filter, with and without a query")
@pytest.mark.parametrize("query", [{}, {"query": "alpha"}])
def test_2_3_filters_and_their_aliases(endpoint: Endpoint, query: dict[str, str]) -> None:
    one = endpoint.observe("alpha one", minute=0, concepts=("gotcha", "pattern"), files_read=("/code/src/app/main.py",))
    two = endpoint.observe("alpha two", minute=60, concepts=("pattern",), files_modified=("src/登录/令牌.ts",))
    three = endpoint.observe("alpha three", minute=24 * 60, project="other", files_read=("lib\\win\\main.cpp",))

    def found(**more: Any) -> set[int]:
        return set(ids(endpoint.rows("/api/search", **query, **more)))

    everything = {one.seq, two.seq, three.seq}
    assert found(concepts="gotcha") == {one.seq}
    assert found(concept="gotcha,pattern") == {one.seq, two.seq}
    assert found(project="other") == {three.seq}
    assert found(files="main.py") == {one.seq}
    assert found(files="main") == {one.seq, three.seq}
    assert found(files="app/ma") == found(files="/code/src") == found(files="src/app/main.py") == {one.seq}
    assert found(filePath="src/登录") == found(files="令牌.ts") == found(files="./src/登录/令牌.ts") == {two.seq}
    assert found(files="win/main.cpp") == found(files="lib\\win") == {three.seq}
    assert found(files="main", project="demo") == {one.seq}
    assert found(files=["main.py", "令牌.ts"]) == {one.seq, two.seq}
    assert found(files="main", concepts="pattern") == {one.seq}
    assert found(files="ain.py") == found(files="nothing.py") == found(files=" / ") == set()
    for start in ("dateStart", "date_start", "date_from"):
        assert found(**{start: NOON + 1}) == {two.seq, three.seq}
    for end in ("dateEnd", "date_end", "date_to"):
        assert found(**{end: "2026-02-18"}) == {one.seq, two.seq}
    assert found(dateStart=str(NOON // 1000), dateEnd="2026-02-18T16:00:00Z") == {one.seq}
    assert found(dateStart="2026-02-18T16:00:00", platform_source="claude") == everything


@pytest.mark.clause("000 §2.3", "orderBy relevance, date_desc and date_asc; limit and offset")
def test_2_3_order_and_pages(endpoint: Endpoint) -> None:
    made = [endpoint.observe(f"port {number}", "port " * (number + 1), minute=number) for number in range(6)]
    seqs = [memory.seq for memory in made]

    def found(**more: Any) -> list[int]:
        return ids(endpoint.rows("/api/search", **more))

    assert found() == found(orderBy="date_desc") == seqs[::-1]
    assert found(orderBy="date_asc") == seqs
    assert found(limit=2, offset=3) == seqs[::-1][3:5]
    assert found(query="port", orderBy="date_asc") == seqs
    assert found(query="port", orderBy="date_desc") == seqs[::-1]
    pages = found(query="port", limit=2) + found(query="port", limit=2, offset=2) + found(query="port", offset=4)
    assert pages == found(query="port")
    assert endpoint.rows("/api/search", limit=2)["hasMore"] is True
    assert endpoint.rows("/api/search", limit=2, offset=4)["hasMore"] is False


@pytest.mark.clause("000 §4.1", "wrong parameters are 400 with a reason")
@pytest.mark.parametrize("wrong, said", [
    ({"limit": 0}, "limit"), ({"limit": "many"}, "limit"), ({"limit": 201}, "limit"), ({"offset": -1}, "offset"),
    ({"offset": 990, "limit": 20}, "offset 990 reaches beyond"), ({"orderBy": "sideways"}, "orderBy"),
    ({"format": "xml"}, "format"), ({"dateStart": "soon"}, "Invalid date: soon"), ({"dateEnd": "9" * 16}, "Invalid"),
    ({"query": ["a", "b"]}, "query"), ({"dateStart": "99999-01-01"}, "Invalid date"),
])  # fmt: skip
def test_4_1_wrong_parameters(endpoint: Endpoint, wrong: dict[str, Any], said: str) -> None:
    reply = endpoint.get("/api/search", **wrong)
    assert reply.status == 400
    assert said in reply.json["error"]


@pytest.mark.clause("000 §2.3", "more files than can be looked at are said to be left out")
def test_2_3_too_many_files_are_said_to_be_left_out(endpoint: Endpoint) -> None:
    for number in range(3):
        endpoint.observe("m", files_read=tuple(f"deep/f{number}-{each}.py" for each in range(40)))
    rows = endpoint.rows("/api/search", files="deep/")
    assert "only the first were looked at" in rows["notes"][0]
    assert rows["totalResults"] == 3
    assert "Note: more than 100 files are named so" in endpoint.text("/api/search", files="deep/")


@pytest.mark.clause("000 §2.3", "vectors that fail are told in words while words find; vectors that work are used")
def test_2_3_an_embedder_that_fails_is_told(database: Database, tenant: str) -> None:
    embedder = ToyEmbedder()
    with recall_endpoint(database, tenant, embedder=embedder) as endpoint:
        memory = endpoint.observe("Port", "listens on 37877")
        endpoint.real.catch_up()
        rows = endpoint.rows("/api/search", query="listens")
        assert (rows["mode"], "notes" in rows) == ("hybrid", False)
        assert "Note:" not in endpoint.text("/api/search", query="listens")
        embedder.fails = Unavailable("the embedding server does not answer")
        text = endpoint.text("/api/search", query="listens")
        assert f"| #{memory.seq} |" in text
        assert text.splitlines()[-1] == (
            "Note: Vector search is unavailable, so this was found by words only: "
            "no vectors: the embedding server does not answer"
        )
