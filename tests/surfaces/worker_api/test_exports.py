"""Exports: RFC 4180, no formulas, JSON lines that hold what the list shows; golden files of both."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from codexmem.operations.http import ops
from codexmem.operations.http.ops import Row
from codexmem.operations.service.entries import FailureEntry, SearchTrace, SessionTiming
from codexmem.operations.wire import ops as wire

GOLDEN = Path(__file__).with_name("golden")
AT = 1_767_571_200_123  # 2026-01-05T00:00:00.123Z
TRIGGERS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")


def traces() -> list[Row]:
    made = [
        SearchTrace(
            3, AT + 2, "端口是多少？", "商店", "hybrid", "default", {"lexical": 4, "neighbours": 1, "sqlite": 7},
            {"lexical": 1.5, "total": 12.345}, 5, (),
        ),
        SearchTrace(
            2, AT + 1, 'say "hi",\nthen leave', "shop", "lexical-only", "default", {"lexical": 2}, {"total": 3}, 2,
            ("without chroma: Chroma at 127.0.0.1 does not answer", "not reranked: busy"),
        ),
        SearchTrace(1, AT, "=HYPERLINK(\"http://evil.test\")", "-project", "", "", {}, {}, 0, ()),
    ]  # fmt: skip
    return [wire.Trace.of(each).document() for each in made]


def timings() -> list[Row]:
    made = [
        SessionTiming(9, AT + 1, 12, "商店", "observation", True, 3, 10, 50.5, 4.5, 70),
        SessionTiming(8, AT, None, "", "summarize", False, 0, 0, 0, 0, 0),
    ]
    return [wire.Timing.of(each).document() for each in made]


def failures() -> list[Row]:
    made = [
        FailureEntry(7, AT + 1, 41, "capture.extract", 12, "observation", 5, "rate_limit", "@model: 太忙, try later"),
        FailureEntry(6, AT, None, "index.catch_up", None, None, 1, "timeout", "line one\r\nline two"),
    ]
    return [wire.Failure.of(each).document() for each in made]


CASES = {
    "search-traces": (traces, wire.Trace.columns()),
    "session-timings": (timings, wire.Timing.columns()),
    "failure-summary": (failures, wire.Failure.columns()),
}


@pytest.mark.parametrize("name", CASES)
def test_the_files_are_as_they_were(name: str) -> None:
    rows, columns = CASES[name]
    assert b"".join(ops.csv_pieces(rows(), columns)) == (GOLDEN / f"{name}.csv").read_bytes()
    assert b"".join(ops.ndjson_pieces(rows())) == (GOLDEN / f"{name}.ndjson").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_every_field_has_a_column(name: str) -> None:
    rows, columns = CASES[name]
    assert all(tuple(row) == columns for row in rows())


@pytest.mark.parametrize("name", CASES)
def test_json_lines_hold_what_the_list_shows(name: str) -> None:
    rows, _ = CASES[name]
    lines = b"".join(ops.ndjson_pieces(rows())).decode().splitlines()
    assert [json.loads(line) for line in lines] == rows()


def read(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("name", CASES)
def test_no_cell_is_taken_for_a_formula(name: str, trigger: str) -> None:
    rows, columns = CASES[name]
    for column in columns:
        for value in (trigger, f"{trigger}cmd|' /C calc'!A0", [f"{trigger}x"], {f"{trigger}x": 1}):
            row = dict(rows()[0]) | {column: value}
            (_, cells) = read(b"".join(ops.csv_pieces([row], columns)))
            assert not cells[columns.index(column)].startswith(TRIGGERS), (column, value)


def test_a_number_stays_a_number() -> None:
    told = [ops.cell(value) for value in (-5, 1.5, True, False, None, "-5")]
    assert told == [-5, 1.5, "true", "false", "", "'-5"]


def test_commas_quotes_and_lines_survive() -> None:
    odd = ['a,b"c', "line\r\nline", "端口\n37877", " spaces ", "", "tab\tinside", "\u2028"]
    columns = tuple(f"c{number}" for number in range(len(odd)))
    data = b"".join(ops.csv_pieces([dict(zip(columns, odd, strict=True))], columns))
    assert read(data) == [list(columns), odd]
    assert data.startswith(b"c0,c1,")
    assert data.endswith(b"\r\n")


def test_no_rows_leave_a_heading_and_no_line() -> None:
    assert b"".join(ops.csv_pieces([], ("a", "b"))) == b"a,b\r\n"
    assert b"".join(ops.ndjson_pieces([])) == b""


def test_rows_are_read_as_they_are_sent() -> None:
    taken = 0

    def rows() -> Any:
        nonlocal taken
        for number in range(100_000):
            taken += 1
            yield {"n": number}

    pieces = ops.csv_pieces(rows(), ("n",))
    next(pieces)
    assert taken <= 200
    next(pieces)
    assert taken <= 400
