"""The trace: one JSON line per span, nested, redacted, and never a reason to fail."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from codexmem.codecli.trace import RunTracer, opened
from codexmem.kernel.model.redaction import redact_value

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def never(_: object) -> None:
    raise AssertionError


def test_spans_are_lines_with_their_parents_and_times(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    write = opened(str(path), never, never)
    trace = RunTracer("run-1", write, redact_value)
    with trace.span("run", token=SECRET) as whole:
        with pytest.raises(ValueError, match="no"), trace.span("inner", text="x" * 5_000):
            raise ValueError("no")
        trace.event("seen", n=1)
        whole.tell(code=0)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["name"], line["parent"], line["status"]) for line in lines] == [
        ("inner", 1, "error"), ("seen", 1, "ok"), ("run", None, "ok"),
    ]  # fmt: skip
    assert {line["run_id"] for line in lines} == {"run-1"}
    assert all(line["end_ms"] >= line["start_ms"] for line in lines)
    assert SECRET not in path.read_text()
    assert lines[2]["attributes"]["code"] == 0
    assert len(lines[0]["attributes"]["text"]) < 2_100
    assert "ValueError: no" in lines[0]["attributes"]["error"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_runs_and_threads_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    traces = [RunTracer(f"run-{n}", opened(str(path), never, never)) for n in range(4)]
    threads = [threading.Thread(target=lambda t=trace: [t.event("e", n=n) for n in range(50)]) for trace in traces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 200


def test_a_place_that_cannot_be_written_is_told_and_borne(tmp_path: Path) -> None:
    notes: list[str] = []
    assert opened(str(tmp_path / "none" / "trace"), notes.append, never) is None
    assert opened("a\0b", notes.append, never) is None
    assert len(notes) == 2
    trace = RunTracer("r", None)
    with trace.span("x") as span:
        span.tell(a=1)
    assert not trace.is_on


def test_standard_error_and_nowhere() -> None:
    said: list[bytes] = []
    write = opened("-", never, said.append)
    RunTracer("r", write).event("x")
    assert json.loads(said[0])["name"] == "x"
    assert opened("", never, never) is None
