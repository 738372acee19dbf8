"""`codexmem import`, `undo` and `forget`: beside a server and without one, in both languages, again and again."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codexmem.app import open_core
from codexmem.console.backend import Remote
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.opening import open_database, sqlite_url
from codexmem.recall.claude_mem_store import ClaudeMem
from codexmem.settings import load
from tests._support.claude_mem import BEGAN_MS, claude_mem, large, small
from tests._support.postgres import PostgresServer
from tests.cli.conftest import Call
from tests.cli.test_processes import serving

pytestmark = pytest.mark.sqlite

CPU_S = 5  # for 1,000 rows on a busy machine; it takes about a quarter of that on an idle one


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    return small(tmp_path / "claude-mem.db")


def titles(call: Call, query: str, *more: str) -> list[str]:
    scope = [] if "--project" in more else ["--all-projects"]
    return [each["title"] for each in call("search", query, "--json", *scope, *more).json["results"]]


@pytest.mark.slow
def test_an_import_tells_what_it_did_and_how_to_take_it_back(call: Call, theirs: Path) -> None:
    said = call("import", "claude-mem", str(theirs))
    assert said.code == 0
    assert [line.split() for line in said.out.splitlines()] == [
        ["observations", "3"],
        ["summaries", "1"],
        ["prompts", "2"],
    ]
    lines = said.err.splitlines()
    assert "1 row was skipped: no text" in lines
    assert "1 row was skipped: unreadable time" in lines
    assert "6 memories imported" in lines
    assert lines[-1].startswith("to undo the import: codexmem undo import:claude-mem:")
    found = call("search", "port", "--all-projects", "--kind", "observation", "--json").json["results"]
    assert [(each["title"], each["project"], each["created_ms"], each["origin"]) for each in found] == [
        ("Login test waits for the wrong port", "shop", BEGAN_MS + 2_000, "import")
    ]
    assert titles(call, "令牌", "--project", "商店")[0] == "登录超时的原因"

    undone = call(*lines[-1].partition("codexmem ")[2].split(), "--yes")
    assert undone.code == 0
    assert "6 memories undone" in undone.err
    assert titles(call, "port") == []
    again = call(*undone.err.splitlines()[-1].partition("codexmem ")[2].split(), "--yes")
    assert (again.code, titles(call, "port", "--kind", "observation")) == (0, ["Login test waits for the wrong port"])


@pytest.mark.slow
def test_a_second_run_imports_what_is_new_only(call: Call, theirs: Path) -> None:
    first = call("import", "claude-mem", str(theirs), "--json").json
    assert first["imported"] == {"observation": 3, "summary": 1, "prompt": 2}
    again = call("import", "claude-mem", str(theirs), "--json").json
    assert (again["imported"], again["known"], again["delta"], again["undo"]) == (
        {"observation": 0, "summary": 0, "prompt": 0}, 6, None, None,
    )  # fmt: skip
    with claude_mem(theirs) as grown:
        grown.observation("s-zh", "商店", "后来学到的")
    moved = theirs.rename(theirs.with_name("moved.db"))
    third = call("import", "claude-mem", str(moved), "--json").json
    assert (third["imported"]["observation"], third["known"], third["source"]) == (1, 6, first["source"])
    assert "7 were already here" in call("import", "claude-mem", str(moved)).err


@pytest.mark.slow
def test_an_import_that_was_taken_back_says_how_to_bring_it_again(call: Call, theirs: Path) -> None:
    source = call("import", "claude-mem", str(theirs), "--json").json["source"]
    delta = call("undo", source, "--yes", "--json").json["delta"]
    again = call("import", "claude-mem", str(theirs), "--json").json
    assert (again["hidden"], again["known"], again["undone"]) == (6, 0, delta)
    assert f"codexmem undo {delta}" in call("import", "claude-mem", str(theirs)).err


def test_a_dry_run_counts_and_changes_nothing(call: Call, theirs: Path, data_dir: Path) -> None:
    said = call("import", "claude-mem", str(theirs), "--dry-run", "--rename", "shop=acme/shop", "--json")
    assert said.code == 0
    assert said.json["imported"] == {"observation": 3, "summary": 1, "prompt": 2}
    assert said.json["projects"] == {"acme/shop": 3, "商店": 3}
    assert said.json["skipped"] == {"no_text": 1, "no_time": 1}
    assert not data_dir.exists()
    assert "将导入 6 条记忆" in call("import", "claude-mem", str(theirs), "--dry-run", "--lang", "zh").err


@pytest.mark.slow
def test_projects_can_be_renamed_on_the_way_in(call: Call, theirs: Path) -> None:
    assert call("import", "claude-mem", str(theirs), "--rename", "shop=acme/shop", "--rename", "商店=店").code == 0
    assert titles(call, "port", "--project", "acme/shop", "--kind", "observation")
    assert titles(call, "令牌", "--project", "店")
    wrong = call("import", "claude-mem", str(theirs), "--rename", "shop")
    assert (wrong.code, "is not OLD=NEW" in wrong.err) == (2, True)


def test_what_cannot_be_read_is_refused_in_both_languages(call: Call, tmp_path: Path) -> None:
    missing = call("import", "claude-mem", str(tmp_path / "no.db"))
    assert (missing.code, "hint: " in missing.err) == (3, True)
    (tmp_path / "bad.db").write_text("not a database, " * 100)
    assert call("import", "claude-mem", str(tmp_path / "bad.db")).code == 2
    assert "不是完好的 claude-mem 数据库" in call("import", "claude-mem", str(tmp_path / "bad.db"), "--lang", "zh").err


@pytest.mark.slow
def test_an_interrupted_import_goes_on_where_it_was(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = large(tmp_path / "large.db", 900)
    rows = ClaudeMem.rows

    def interrupted(source: ClaudeMem) -> Any:
        for number, row in enumerate(rows(source)):
            if number == 500:
                raise KeyboardInterrupt
            yield row

    with monkeypatch.context() as patched:
        patched.setattr(ClaudeMem, "rows", interrupted)
        broken = call("import", "claude-mem", str(path))
    assert broken.code == 130
    assert "400 memories were imported. Run the command again to continue" in broken.err
    assert "codexmem undo import:claude-mem:" in broken.err
    rest = call("import", "claude-mem", str(path), "--json").json
    assert (sum(rest["imported"].values()), rest["known"]) == (500, 400)
    assert call("undo", rest["source"], "--yes", "--json").json["restored"] == 900


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_1_000_memories_are_imported_in_seconds_and_passed_over_in_less(call: Call, tmp_path: Path) -> None:
    path = large(tmp_path / "large.db", 1_000)
    began = time.process_time()
    said = call("import", "claude-mem", str(path), "--json").json
    first = time.process_time() - began
    assert said["imported"] == {"observation": 760, "summary": 40, "prompt": 200}
    again = call("import", "claude-mem", str(path), "--json").json
    second = time.process_time() - began - first
    assert again["known"] == 1_000
    assert first < CPU_S
    assert second < first / 3


@pytest.mark.slow
def test_undo_shows_first_and_asks(call: Call, theirs: Path) -> None:
    source = call("import", "claude-mem", str(theirs), "--json").json["source"]
    shown = call("undo", source, "--dry-run")
    assert shown.code == 0
    assert shown.out.splitlines()[0] == "this changes 6 memories:"
    assert any("登录超时的原因" in line and "hidden" in line for line in shown.out.splitlines())
    document = call("undo", source, "--dry-run", "--json").json
    assert (document["memories"], len(document["first"]), document["delta"]) == (6, 6, None)
    unasked = call("undo", source)
    assert (unasked.code, "hint: add --yes to confirm" in unasked.err) == (2, True)
    assert "当前无人可以确认" in call("undo", source, "--lang", "zh").err
    assert titles(call, "port")
    assert call("undo", source, "--yes").code == 0
    nothing = call("undo", source, "--yes")
    assert (nothing.code, nothing.err.splitlines()[0]) == (3, f"error: there is nothing to undo for {source}")
    assert call("undo", "delta_none", "--yes").code == 3


@pytest.mark.slow
def test_undo_leaves_what_was_written_since(call: Call, theirs: Path, data_dir: Path) -> None:
    source = call("import", "claude-mem", str(theirs), "--json").json["source"]
    found = call("search", "port", "--all-projects", "--kind", "observation", "--json").json["results"]
    retitle(data_dir, found[0]["seq"])
    assert "1 of them were changed by others since" in call("undo", source, "--dry-run").out
    said = call("undo", source, "--yes")
    assert "5 memories undone" in said.err
    assert "1 were left alone because others changed them since; --strict undoes them too" in said.err
    assert call("undo", source, "--yes", "--strict", "--json").json["restored"] == 1


def retitle(data_dir: Path, number: int) -> None:
    """As a person would who corrects a memory."""
    core = open_core(load({"data_dir": str(data_dir)}, {"CODEXMEM_EMBEDDER": "none"}))
    try:
        core.memories.change(
            Seq(number), frozenset(Kind), lambda state: replace(state, title="mine"), WriteContext("person")
        )
    finally:
        core.close()


@pytest.mark.slow
def test_forget_asks_and_erases(call: Call, theirs: Path) -> None:
    source = call("import", "claude-mem", str(theirs), "--json").json["source"]
    assert call("forget", "--project", "shop").code == 2
    assert call("forget", "--yes").code == 2
    assert "只能选一种" in call("forget", "1", "--project", "x", "--lang", "zh").err
    assert call("forget", "--project", "shop", "--yes", "--json").json == {"found": 3, "erased": 3, "project": "shop"}
    assert titles(call, "port") == []
    numbers = [str(each["seq"]) for each in call("search", "登录", "--all-projects", "--json").json["results"]]
    assert call("forget", f"#{numbers[0]}", "--id", "999", "--yes", "--json").json["erased"] == 1
    assert call("forget", "qa-none", "--yes").code == 3
    assert call("forget", "--session", "s-zh", "--yes").out == "2\n"
    # Forgotten for good is forgotten by the importer too.
    assert call("import", "claude-mem", str(theirs), "--json").json["imported"]["observation"] == 3
    assert "已彻底删除 6 条记忆" in call("forget", "--source", source, "--yes", "--lang", "zh").err


def test_a_store_that_is_not_there_is_not_made_to_take_something_back(call: Call, data_dir: Path) -> None:
    for args in (["undo", "session:1", "--yes"], ["forget", "--id", "1", "--yes"]):
        assert call(*args).code == 3
    assert not data_dir.exists()


def test_the_same_commands_beside_a_running_server(call: Call, theirs: Path, data_dir: Path) -> None:
    with serving(data_dir, fork=True) as (_, url):
        first = call("import", "claude-mem", str(theirs), "--json")
        assert (first.code, first.json["imported"]) == (0, {"observation": 3, "summary": 1, "prompt": 2})
        assert Remote(url).get("/api/search", query="令牌", format="json")["totalResults"] > 0
        again = call("import", "claude-mem", str(theirs), "--json").json
        assert (again["known"], again["delta"]) == (6, None)
        source = first.json["source"]
        assert "this changes 6 memories:" in call("undo", source, "--dry-run").out
        undone = call("undo", source, "--yes", "--json").json
        assert undone["restored"] == 6
        assert call("import", "claude-mem", str(theirs), "--json").json["undone"] == undone["delta"]
        assert call("undo", undone["delta"], "--yes", "--json").json["restored"] == 6
        assert call("undo", "delta_none", "--yes").code == 3
        assert call("forget", "--project", "shop", "--yes", "--json").json["erased"] == 3
        assert call("forget", "--source", source, "--yes", "--json").json["erased"] == 3
        assert Remote(url).get("/api/search", query="令牌", format="json")["totalResults"] == 0


def test_a_server_with_a_token_is_reached_by_its_own_user(call: Call, theirs: Path, data_dir: Path) -> None:
    config = Path("~/.config/codexmem/config.toml").expanduser()
    config.parent.mkdir(parents=True)
    config.write_text('auth = "token"\n')
    with serving(data_dir, fork=True):
        assert call("import", "claude-mem", str(theirs)).code == 0
        (data_dir / "token").rename(data_dir / "token.away")
        refused = call("import", "claude-mem", str(theirs))
        assert refused.code == 4
        assert "the server asks for a token" in refused.err


def test_a_large_import_through_a_server_comes_in_batches(call: Call, tmp_path: Path, data_dir: Path) -> None:
    path = large(tmp_path / "large.db", 700)
    with claude_mem(path) as made:
        made.observation("s1", "project-1", "huge", narrative="长" * 200_000, facts=["事" * 90_000])
    with serving(data_dir, fork=True):
        said = call("import", "claude-mem", str(path), "--json").json
        assert sum(said["imported"].values()) == 701
        assert call("undo", said["source"], "--yes", "--json").json["restored"] == 701


def test_a_store_that_somebody_else_has_open_says_who(call: Call, theirs: Path, data_dir: Path) -> None:
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    try:
        # A server that does not answer may have been killed: who has the store is told by its lock.
        for announced in ({}, {"url": "http://127.0.0.1:9", "pid": 1}):
            (data_dir / "server.json").write_text(json.dumps(announced))
            said = call("import", "claude-mem", str(theirs))
            assert (said.code, f"in use by another codexmem process (pid {os.getpid()})" in said.err) == (6, True)
            chinese = call("import", "claude-mem", str(theirs), "--lang", "zh")
            assert (chinese.code, f"正被另一个 codexmem 进程（pid {os.getpid()}）使用" in chinese.err) == (6, True)
            assert "codexmem stop" in said.err
            assert "codexmem stop" in chinese.err
    finally:
        db.close()


def test_a_silent_server_is_an_error_with_a_hint() -> None:
    with pytest.raises(Unavailable) as caught:
        Remote("http://127.0.0.1:9").post("/api/forget", {})
    assert caught.value.hint


@pytest.mark.postgresql
def test_on_postgresql_a_tenant_imports_directly(
    call: Call, theirs: Path, postgres_server: PostgresServer, postgres_url: str
) -> None:
    there = ("--database-url", postgres_url, "--tenant", "import-cli")
    assert call("import", "claude-mem", str(theirs), "--database-url", postgres_url).code == 2
    said = call("import", "claude-mem", str(theirs), "--json", *there).json
    assert said["imported"] == {"observation": 3, "summary": 1, "prompt": 2}
    assert titles(call, "令牌", *there)[0] == "登录超时的原因"
    assert call("undo", said["source"], "--yes", "--json", *there).json["restored"] == 6
    assert call("forget", "--source", said["source"], "--yes", "--json", *there).json["erased"] == 6
