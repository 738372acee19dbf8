"""Reading claude-mem's database: every release's tables, broken rows, and nothing written."""

from __future__ import annotations

import sqlite3
import tracemalloc
from pathlib import Path

import pysqlite3.dbapi2 as driver
import pytest

from codexmem.kernel.model.errors import InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.import_row import MAX_TEXT, Broken, Flaw, ForeignMemory
from codexmem.kernel.model.memory import Kind
from codexmem.recall.claude_mem_store import ClaudeMem
from tests._support.claude_mem import BEGAN_MS, V13_ADDS, claude_mem, large, small

pytestmark = pytest.mark.sqlite


def read(path: Path) -> list[ForeignMemory | Broken]:
    source = ClaudeMem(path)
    try:
        return list(source.rows())
    finally:
        source.close()


def sound(path: Path) -> list[ForeignMemory]:
    return [row for row in read(path) if isinstance(row, ForeignMemory)]


def fingerprint(path: Path) -> str:
    source = ClaudeMem(path)
    try:
        return source.fingerprint()
    finally:
        source.close()


@pytest.mark.parametrize("version", [10, 13])
def test_rows_come_whole_and_in_the_order_of_time(version: int, tmp_path: Path) -> None:
    path = small(tmp_path / "claude-mem.db", version)
    rows = sound(path)
    assert [(row.kind.value, row.at_ms - BEGAN_MS) for row in rows] == [
        ("prompt", 1_000), ("observation", 2_000), ("prompt", 3_000), ("observation", 4_000), ("observation", 5_000),
        ("summary", 7_000),
    ]  # fmt: skip
    bug = rows[1]
    assert bug == ForeignMemory(
        Kind.OBSERVATION, bug.number, BEGAN_MS + 2_000, session="s-en", project="shop", prompt_number=1, tokens=321,
        text="The fixture used port 8080.", type="bugfix", title="Login test waits for the wrong port",
        subtitle="fixture", facts=("port is 8081", "CI was green"), concepts=("gotcha",),
        files_read=("tests/conftest.py",), files_modified=("src/login.py",),
    )  # fmt: skip
    assert (rows[2].text, rows[2].session, rows[2].project) == ("登录为什么失败？", "s-zh", "商店")
    assert rows[4].text == "旧版本只有正文"
    assert (rows[5].request, rows[5].learned, rows[5].next_steps, rows[5].tokens) == ("Fix login", "port 8081", "", 77)


def test_broken_rows_are_told_with_their_reason(tmp_path: Path) -> None:
    broken = [row for row in read(small(tmp_path / "claude-mem.db")) if isinstance(row, Broken)]
    assert sorted((row.flaw, row.number) for row in broken) == [(Flaw.NO_TEXT, 4), (Flaw.NO_TIME, 5)]


def test_the_first_releases_had_text_only_and_other_names(tmp_path: Path) -> None:
    with claude_mem(tmp_path / "old.db", version=4) as old:
        old.add("sdk_sessions", claude_session_id="c1", sdk_session_id="m1", project="p", started_at="",
                started_at_epoch=1)  # fmt: skip
        old.add("observations", sdk_session_id="m1", project="p", text="早期的记忆", type="decision",
                created_at="2025-10-01T08:00:00.000Z", created_at_epoch=1_759_305_600_000)  # fmt: skip
    (row,) = sound(tmp_path / "old.db")
    assert (row.session, row.text, row.type, row.facts, row.prompt_number) == ("c1", "早期的记忆", "decision", (), None)


@pytest.mark.parametrize(
    "epoch,iso,expected",
    [
        (BEGAN_MS, None, BEGAN_MS),
        (BEGAN_MS // 1000, None, BEGAN_MS),  # seconds
        (str(BEGAN_MS), None, BEGAN_MS),
        (None, "2026-01-01T00:00:00.000Z", BEGAN_MS),
        (0, "2026-01-01T08:00:00+08:00", BEGAN_MS),
        ("soon", "2026-01-01 00:00:00", BEGAN_MS),
        (-5, "yesterday", None),
        (10**17, None, None),
        (b"\xff", "0001-01-01", None),
    ],
)
def test_times_are_read_as_they_were_written_over_the_years(
    epoch: object, iso: str | None, expected: int | None, tmp_path: Path
) -> None:
    with claude_mem(tmp_path / "c.db") as made:
        made.session("s", "p")
        made.observation("s", "p", "x", None, created_at=iso)
        made.connection.execute("UPDATE observations SET created_at_epoch = ?", (epoch,))
    (row,) = read(tmp_path / "c.db")
    assert (row.at_ms if isinstance(row, ForeignMemory) else None) == expected


@pytest.mark.parametrize(
    "stored,expected",
    [
        ('["a", "b"]', ("a", "b")),
        (None, ()),
        ("", ()),
        ("[]", ()),
        ("not json", ("not json",)),
        ('["broken', ('["broken',)),
        ('"one"', ("one",)),
        ('{"a": 1}', ('{"a": 1}',)),
        ('["a", null, 3, {"k": "值"}, "  "]', ("a", "3", '{"k": "值"}')),
        ("[" * 50_000, ("[" * 50_000,)),
        (b'["bytes"]', ("bytes",)),
        ('["\\ud800x"]', ("?x",)),
    ],
)
def test_lists_lose_nothing_however_they_are_stored(stored: object, expected: tuple[str, ...], tmp_path: Path) -> None:
    with claude_mem(tmp_path / "c.db") as made:
        made.session("s", "p")
        made.observation("s", "p", "x", facts=stored)
    assert sound(tmp_path / "c.db")[0].facts == expected


def test_texts_are_made_fit_and_bounded(tmp_path: Path) -> None:
    with claude_mem(tmp_path / "c.db") as made:
        made.session("s", "p")
        made.observation("s", "p", "nul\0here", narrative="长" * (2 * MAX_TEXT), facts=["x" * 1000] * 1000)
        made.observation("s", "p", b"not \xff utf-8")
    first, second = sound(tmp_path / "c.db")
    assert first.title == "nulhere"
    assert len(first.text) < MAX_TEXT
    assert "characters left out" in first.text
    assert len(first.facts) <= 100
    assert second.title == "not � utf-8"


def test_a_missing_session_leaves_what_the_row_itself_says(tmp_path: Path) -> None:
    with claude_mem(tmp_path / "c.db") as made:
        made.observation("gone", "p", "orphan")
        made.prompt("gone", 3, "who am I?")
    by_kind = {row.kind: row for row in sound(tmp_path / "c.db")}
    assert (by_kind[Kind.OBSERVATION].session, by_kind[Kind.OBSERVATION].project) == ("mem-gone", "p")
    assert (by_kind[Kind.PROMPT].session, by_kind[Kind.PROMPT].project) == ("gone", "")


def test_a_session_that_is_there_twice_gives_its_rows_once(tmp_path: Path) -> None:
    with claude_mem(tmp_path / "c.db") as made:
        made.connection.executescript("DROP TABLE sdk_sessions; CREATE TABLE sdk_sessions "
                                      "(content_session_id TEXT, memory_session_id TEXT, project TEXT);")  # fmt: skip
        for key in ("a", "b"):
            made.add("sdk_sessions", content_session_id=key, memory_session_id="mem-s", project="p")
        made.observation("s", "p", "once")
        made.observation("s", "p", "and another")
    assert [row.title for row in sound(tmp_path / "c.db")] == ["once", "and another"]


def test_merged_work_belongs_to_the_project_it_was_merged_into(tmp_path: Path) -> None:
    with claude_mem(tmp_path / "c.db") as made:
        made.session("s", "shop/feature")
        made.observation("s", "shop/feature", "x", merged_into_project="shop")
    assert sound(tmp_path / "c.db")[0].project == "shop"


def test_the_fingerprint_survives_growth_moving_and_upgrading(tmp_path: Path) -> None:
    path = small(tmp_path / "claude-mem.db", version=10)
    before = fingerprint(path)
    with claude_mem(path) as grown:
        grown.connection.executescript(V13_ADDS)
        grown.session("s-new", "shop")
        grown.observation("s-new", "shop", "later")
    moved = path.rename(tmp_path / "elsewhere.db")
    assert fingerprint(moved) == before
    with claude_mem(tmp_path / "other.db") as other:
        other.session("another", "shop")
    assert fingerprint(tmp_path / "other.db") != before
    assert sound(moved)[0].id == sound(small(tmp_path / "again.db", version=13))[0].id


def test_a_folder_stands_for_the_database_in_it_and_the_file_stays_as_it_was(tmp_path: Path) -> None:
    path = small(tmp_path / "claude-mem.db")
    before = path.read_bytes()
    assert len(sound(tmp_path)) == 6
    assert path.read_bytes() == before
    source = ClaudeMem(path)
    with pytest.raises(driver.OperationalError, match="readonly"):
        source._connection.execute("DELETE FROM observations")
    source.close()


def test_it_is_read_while_claude_mem_writes(tmp_path: Path) -> None:
    path = small(tmp_path / "claude-mem.db")
    with claude_mem(path) as writer:
        writer.connection.execute("BEGIN IMMEDIATE")
        writer.observation("s-en", "shop", "not committed yet")
        assert len(sound(path)) == 6
    assert len(sound(path)) == 7


def test_what_is_no_such_database_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as missing:
        ClaudeMem(tmp_path / "nothing.db")
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(InvalidArgument) as text:
        ClaudeMem(tmp_path / "text.db")
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(InvalidArgument) as empty:
        ClaudeMem(tmp_path / "empty.db")
    assert all(caught.value.hint for caught in (missing, text, empty))


def test_a_damaged_page_ends_the_reading_with_a_clear_error(tmp_path: Path) -> None:
    path = large(tmp_path / "c.db", 2_000)
    with claude_mem(path) as made:
        made.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = bytearray(path.read_bytes())
    raw[200_000:600_000] = b"\xff" * 400_000
    path.write_bytes(raw)
    with pytest.raises((InvalidArgument, Unavailable)) as caught:
        read(path)
    assert caught.value.hint


@pytest.mark.slow
def test_reading_holds_some_hundreds_of_rows_only(tmp_path: Path) -> None:
    path = large(tmp_path / "c.db", 10_000)
    source = ClaudeMem(path)
    tracemalloc.start()
    try:
        count = sum(1 for _ in source.rows())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        source.close()
    assert count == 10_000
    assert peak < 12 << 20  # all of them are about 30 MiB
