"""`codexmem search`: what is found, how it is told to people and to programs, and what an empty answer says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codexmem.app import open_core, open_reading
from codexmem.console.memory_lines import FAIR, STRONG, strength
from codexmem.console.terminal_width import cells
from codexmem.kernel.model.attrs import KnowledgeAttrs, LessonAttrs, NoteAttrs, ObservationAttrs, PromptAttrs, QaAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, Seq
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database, sqlite_url
from codexmem.settings import load
from tests._support.embedding_server import EmbeddingServer
from tests._support.postgres import PostgresServer
from tests.cli.conftest import Call, Said
from tests.services.restoring import fill, fill_and_die

BY = WriteContext("test")


def ms(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, 12, tzinfo=UTC).timestamp() * 1000)


def drafts() -> list[MemoryDraft]:
    seen = ObservationAttrs(concepts=("auth",), files_read=("src/login.py",))
    states: list[tuple[Kind, State, int, str | None]] = [
        (Kind.OBSERVATION, State("The login test failed: its clock was mocked twice", seen, "shop", type="bugfix",
                                 title="Fix the login test"), ms(2026, 11, 1), "s1"),
        (Kind.NOTE, State("服务器监听端口 37877，见 config.toml\n第二行", NoteAttrs(), "商店"), ms(2026, 11, 2), None),
        (Kind.PROMPT, State("change the \x1b[31m port \x1b[0m of the server", PromptAttrs(), "shop"), ms(2026, 11, 3),
         "s1"),
        (Kind.LESSON, State("Keep the default port of the server", LessonAttrs(role="expert"), "shop",
                            title="Ports", status=Status.ARCHIVED), ms(2026, 11, 4), None),
        (Kind.KNOWLEDGE, State("A port below 1024 needs rights", KnowledgeAttrs(tags=("net",)), "ops"),
         ms(2026, 11, 5), "s2"),
    ]  # fmt: skip
    return [
        MemoryDraft(kind, state, Origin.AGENT, session=session, created_ms=at_ms)
        for kind, state, at_ms, session in states
    ]


@contextmanager
def core_of(**flags: str) -> Iterator[Any]:
    core = open_core(load(flags))
    try:
        yield core
    finally:
        core.close()


@pytest.fixture
def call(call: Call) -> Call:
    """Searches are of every project, unless they name one; `test_daily` is about the project they are called in."""

    def called(*args: str) -> Said:
        wide = args[:1] == ("search",) and "--project" not in args
        return call(*args[:1], *(["--all-projects"] if wide else []), *args[1:])

    return called


@pytest.fixture
def store(home: Path, data_dir: Path) -> Path:
    """Five memories of five kinds."""
    with core_of() as core:
        for draft in drafts():
            core.memories.remember(draft, BY)
    return data_dir


def numbers(call: Call, *args: str) -> list[int]:
    said = call("search", *args, "--json")
    assert said.code == 0, said.out
    return sorted(entry["seq"] for entry in said.json["results"])


@pytest.mark.sqlite
def test_a_result_says_what_it_is_and_why_and_how_it_was_found_is_beside_it(call: Call, store: Path) -> None:
    said = call("search", "login", "test")
    assert said.code == 0
    head, facts, snippet = said.out.splitlines()
    rank, strength, number, *title = head.split()
    assert (rank, strength, number) == ("1", "strong", "#1")
    assert " ".join(title) == "Fix the login test"
    assert facts == "    observation/bugfix · 2026-11-01 · shop"
    assert snippet == "    The login test failed: its clock was mocked twice"
    assert said.err.splitlines()[:2] == ["searched by words", "no embedder is configured: words only"]
    assert call("search", "login", "-q").err == ""


@pytest.mark.sqlite
def test_an_answer_that_nobody_approved_is_marked(call: Call, home: Path) -> None:
    attrs = QaAttrs(question="How are the tests run?")
    state = State("With just fast.", attrs, project="shop", status=Status.CANDIDATE, title=attrs.question)
    with core_of() as core:
        core.memories.remember(MemoryDraft(Kind.QA, state, Origin.AGENT), BY)
    assert " · shop · awaiting approval\n" in call("search", "how are the tests run").out


@pytest.mark.sqlite
def test_a_title_is_the_first_line_and_safe_to_print(call: Call, store: Path) -> None:
    said = call("search", "port", "server", "端口", "--lang", "zh")
    heads = [line for line in said.out.splitlines() if not line.startswith("    ")]
    assert any(head.endswith("note #2  服务器监听端口 37877，见 config.toml") for head in heads)
    assert any(head.endswith("#P3  change the  [31m port  [0m of the server") for head in heads)
    assert "\x1b" not in said.out
    assert said.err.startswith("已按词检索\n没有配置嵌入模型：仅按词检索\n")


@pytest.mark.sqlite
@pytest.mark.parametrize("columns", [24, 40, 65, 80])
def test_titles_stay_readable_however_narrow_the_terminal_is(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    title = "How the nightly tests get their database"
    uri = "project://howto-run-the-nightly-tests-against-postgresql"
    with core_of() as core:
        state = State("Set DB_URL before the nightly tests. " * 9, NoteAttrs(), "shop", title=title, uris=(uri,))
        core.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), BY)
    assert f"{uri}  {title}" in call("search", "nightly").out
    monkeypatch.setattr("codexmem.console.memory_lines.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda **_: os.terminal_size((columns, 24)))
    lines = call("search", "nightly", "--color", "never").out.splitlines()
    assert max(map(cells, lines)) <= columns
    shown = " ".join(line.strip() for line in lines)
    assert title in shown or columns == 24, lines
    assert "How the nightly" in shown


@pytest.mark.sqlite
@pytest.mark.slow
def test_the_place_that_was_found_is_shown_and_its_words_are_painted(call: Call, home: Path) -> None:
    filling = "Nothing of interest is said here at all. " * 20
    with core_of() as core:
        chinese = "首先安装依赖。" * 40 + "服务器监听端口 37877。" + "最后重启。" * 40
        english = filling + "The tests need DB_URL to be set. " + filling
        for text, title in ((english, "Orders of 100 items"), (chinese, "部署")):
            state = State(text, ObservationAttrs(), "shop", title=title)
            core.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.AGENT), BY)
    plain = call("search", "DB_URL", "testing")
    assert "The tests need DB_URL to be set." in plain.out
    assert "…" in plain.out
    assert "\x1b" not in plain.out
    painted = call("search", "DB_URL", "testing", "--color", "always").out
    assert "\x1b[33m\x1b[1mDB_URL\x1b[0m" in painted
    assert "\x1b[33m\x1b[1mtests\x1b[0m" in painted
    assert "监听端口 37877" in call("search", "端口").out
    assert call("search", "DB_URL", "--json").json["results"][0]["snippet"].count("DB_URL") == 1


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "args,found",
    [
        ([], [2, 3, 5]),
        (["--project", "shop"], [3]),
        (["--project", "商店"], [2]),
        (["--kind", "note", "--kind", "knowledge"], [2, 5]),
        (["--kind", "observation"], []),
        (["--tag", "net"], [5]),
        (["--tag", "net", "--tag", "other"], [5]),
        (["--session", "s2"], [5]),
        (["--status", "archived"], [4]),
        (["--status", "archived", "--role", "expert"], [4]),
        (["--status", "archived", "--role", "other"], []),
        (["--since", "2026-11-03"], [3, 5]),
        (["--until", "2026-11-03"], [2, 3]),
        (["--since", "2026-11-03", "--until", "2026-11-03"], [3]),
        (["--since", "2026-11-03T12:00:01Z"], [5]),
        (["--limit", "1", "--unit", "session", "--session", "s1"], [3]),
        (["--min-score", "1"], []),
    ],
)
def test_filters(call: Call, store: Path, args: list[str], found: list[int]) -> None:
    assert numbers(call, "port", "端口", *args) == found


@pytest.mark.sqlite
def test_filters_of_observations(call: Call, store: Path) -> None:
    for args in (["--type", "bugfix"], ["--concept", "auth"], ["--file", "src/login.py"]):
        assert numbers(call, "login", *args) == [1]
        assert numbers(call, "login", args[0], "other") == []


@pytest.mark.sqlite
@pytest.mark.slow
def test_pages_follow_each_other(call: Call, store: Path) -> None:
    first = call("search", "port", "端口", "--limit", "2")
    assert [line[:3] for line in first.out.splitlines() if line[0] != " "] == ["1  ", "2  "]
    assert first.err.splitlines()[-1] == "more results: --offset 2"
    second = call("search", "port", "端口", "--limit", "2", "--offset", "2")
    assert second.out.startswith("3  ")
    assert "more" not in second.err
    assert call("search", "port", "--offset", "50").err.splitlines()[-1] == "no results after the first 50"


@pytest.mark.sqlite
def test_as_of_searches_what_held_then(call: Call, data_dir: Path) -> None:
    with core_of() as core:
        memory = core.memories.remember(drafts()[1], BY)
        core.memories.change(
            Seq(memory.seq), frozenset({Kind.NOTE}), lambda state: replace(state, content="关掉了"), BY
        )
    assert numbers(call, "端口") == []
    moment = datetime.fromtimestamp(memory.updated_ms / 1000, UTC).isoformat()
    then = call("search", "端口", "--as-of", moment)
    assert "服务器监听端口 37877" in then.out
    assert then.err.splitlines() == ["searched by words", "the past is searched by words only"]


@pytest.mark.sqlite
def test_explain_shows_what_each_signal_added(call: Call, store: Path) -> None:
    said = call("search", "login", "--explain")
    first, _, _, *why = said.out.splitlines()
    assert first.startswith("1  ")
    shares = [line.split() for line in why]
    assert all(line.startswith("      ") for line in why)
    assert "words" in dict(shares)
    sizes = [abs(float(share)) for _, share in shares]
    assert sizes == sorted(sizes, reverse=True)
    assert said.err.splitlines()[2].startswith("candidates: lexical 1")
    document = call("search", "login", "--explain", "--json").json
    assert document["results"][0]["signals"].keys() == dict(shares).keys()
    assert call("search", "login", "--json").json["results"][0]["signals"] == {}


@pytest.mark.sqlite
def test_the_document_is_complete(call: Call, store: Path) -> None:
    said = call("search", "login", "test", "--project", "shop", "--json")
    assert said.err == ""
    document = said.json
    assert document.keys() == {
        "query", "projects", "mode", "results", "more", "notes", "sources", "timings_ms", "recipe", "unit", "limit",
        "offset", "min_score", "as_of_ms",
    }  # fmt: skip
    assert (document["query"], document["mode"], document["more"]) == ("login test", "lexical-only", False)
    (entry,) = document["results"]
    assert entry.keys() == {
        "rank", "label", "score", "signals", "seq", "id", "kind", "version", "origin", "session", "source",
        "created_ms", "updated_ms", "content", "attrs", "project", "status", "type", "title", "priority", "confidence",
        "uris", "links", "marks", "snippet",
    }  # fmt: skip
    assert entry["content"] == "The login test failed: its clock was mocked twice"
    assert entry["attrs"] == {"concepts": ["auth"], "files_read": ["src/login.py"]}
    assert (entry["rank"], entry["kind"], entry["session"]) == (1, "observation", "s1")
    assert 0.0 < entry["score"] < 1.0


@pytest.mark.sqlite
def test_nothing_found_is_an_answer_with_advice(call: Call, store: Path) -> None:
    said = call("search", "zebra", "--project", "shop", "--kind", "note", "--since", "2026-11-01", "--min-score", "0.4")
    assert (said.code, said.out) == (0, "")
    assert said.err.splitlines()[2:] == [
        "nothing found",
        "remove a filter: --project shop --kind note --since 2026-11-01",
        "lower the threshold: --min-score is 0.4",
        "try other words; codexmem doctor shows what search by meaning needs",
    ]
    chinese = call("search", "zebra", "--lang", "zh").err
    assert "没有找到相关记忆" in chinese
    assert "可换用其他词" in chinese
    assert call("search", "zebra", "--json").json["results"] == []


@pytest.mark.sqlite
def test_an_empty_store_says_so(call: Call, data_dir: Path) -> None:
    assert call("db", "upgrade").code == 0
    said = call("search", "anything")
    assert (said.code, said.out) == (0, "")
    assert said.err.splitlines()[0] == "there are no memories yet"
    assert "codexmem install" in said.err


@pytest.mark.sqlite
def test_a_weak_best_is_called_so(call: Call, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "weak" not in call("search", "login test").err
    monkeypatch.setattr("codexmem.recall.cli.search.FAIR", 1.0)
    assert "the best of these is a weak match" in call("search", "login test").err


def test_a_score_is_read_as_a_word() -> None:
    words = [strength(score) for score in (0.9, STRONG, STRONG - 0.01, FAIR, FAIR - 0.01, 0.0)]
    assert words == ["strong", "strong", "fair", "fair", "weak", "weak"]


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "args,code,said",
    [
        ([], 2, "QUERY... is missing"),
        (["x", "--since", "soon"], 2, "--since: 'soon' is not a date"),
        (["x", "--kind", "thing"], 2, "--kind: "),
        (["x", "--limit", "0"], 2, "limit 0 is not between 1 and 200"),
        (["x", "--limit", "ten"], 2, "--limit: "),
        (["x", "--offset", "5000"], 2, "reaches beyond the first 1,000 results"),
        (["x", "--min-score", "7"], 2, "min_score 7.0 is not between 0 and 1"),
        (["x", "--recipe", "stew"], 2, "there is no recipe 'stew'"),
        (["x", "--tenant", "acme"], 2, "a SQLite store has only the tenant local"),
    ],
)
def test_what_is_wrong_is_said(call: Call, store: Path, args: list[str], code: int, said: str) -> None:
    answer = call("search", *args)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err


@pytest.mark.sqlite
@pytest.mark.slow
def test_any_words_are_a_query(call: Call, store: Path) -> None:
    for words in (['"'], ["a AND (b OR"], ["--", "--json"], ["*"], ["' OR 1=1"], ["端口" * 2000], [" "], ["\x00"]):
        assert call("search", *words).code == 0, words


@pytest.mark.sqlite
def test_a_store_that_is_not_there_is_neither_found_nor_made(call: Call, data_dir: Path) -> None:
    said = call("search", "x")
    assert (said.code, said.err.startswith(f"error: there is no store at {data_dir}")) == (3, True)
    assert "codexmem init" in said.err
    assert not data_dir.exists()
    chinese = call("search", "x", "--lang", "zh").err
    assert chinese.startswith("错误：")
    assert "codexmem init" in chinese
    assert call("index", "status").code == 3


@pytest.mark.sqlite
def test_a_store_in_use_is_searched_all_the_same(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one port", "two"])
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    try:
        assert numbers(call, "port") == [1]
        assert call("index", "status").code == 0
        with db.transaction():
            assert numbers(call, "port") == [1]
    finally:
        db.close()


@pytest.mark.sqlite
def test_looking_keeps_nobody_from_becoming_the_owner(home: Path, store: Path) -> None:
    reading = open_reading(load({}))
    try:
        with core_of() as core:
            core.memories.remember(replace(drafts()[2], id="later"), BY)
            found = reading.recall.search(SearchQuery("port", Filter(frozenset({Kind.PROMPT}))))
        assert sorted(each.memory.seq for each in found.results) == [3, 6]
    finally:
        reading.close()


@pytest.mark.sqlite
def test_what_a_killed_server_wrote_last_is_found(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["first port"])
    fill_and_die(data_dir, ["second port"])
    assert (data_dir / "codexmem.db-wal").stat().st_size > 0
    assert numbers(call, "port") == [1, 2]


@pytest.mark.sqlite
def test_meaning_takes_part_where_there_are_vectors(call: Call, store: Path, embedding: EmbeddingServer) -> None:
    assert "nothing here has vectors of this model" in call("search", "server").err
    assert call("index", "rebuild").code == 0
    said = call("search", "server")
    assert said.err.splitlines()[0] == "searched by words and by meaning"
    assert call("search", "server", "--json").json["mode"] == "hybrid"
    embedding.stop()
    away = call("search", "server", "--lang", "zh")
    assert (away.code, away.err.startswith("已按词检索\n没有用到向量：")) == (0, True)
    assert away.out


@pytest.mark.postgresql
def test_a_tenant_of_a_team_finds_its_own(postgres_server: PostgresServer, call: Call, data_dir: Path) -> None:
    url = postgres_server.create_database("searching")
    there = ("--database-url", url)
    assert call("search", "port", "--tenant", "acme", *there).code == 6
    assert call("db", "upgrade", *there).code == 0
    with core_of(database_url=url) as core, acting_as("acme"):
        core.memories.remember(drafts()[2], BY)
    assert call("search", "port", *there).code == 2
    assert "of the server" in call("search", "port", "--tenant", "acme", *there).out
    other = call("search", "port", "--tenant", "other", *there)
    assert (other.code, other.out, other.err.splitlines()[0]) == (0, "", "there are no memories yet")
    assert call("search", "port", "--tenant", "No Such", *there).code == 2
