"""`codexmem kb` and `codexmem workspace`: with a running server and without one, in both languages."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests._support.postgres import PostgresServer
from tests.cli.conftest import Call
from tests.cli.test_memory import way
from tests.cli.test_processes import serving

__all__ = ["way"]
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def told(call: Call, *args: str) -> Any:
    said = call(*args, "--json")
    assert (said.code, said.err) == (0, ""), said
    return said.json


@pytest.mark.sqlite
def test_entries_are_added_found_listed_and_deleted(call: Call, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = call(
        "kb",
        "add",
        "1024 以下的端口 need rights\nsecond",
        "--summary",
        "low ports 低端口",
        "--tag",
        "net",
        "--tag",
        "运维",
    )
    assert made.code == 0
    entry = made.out.strip()
    assert (entry.startswith("kb-"), made.err) == (True, f"{entry} added\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"key {SECRET}".encode()), encoding="utf-8"))
    other = call("kb", "add", "--summary", "piped in").out.strip()
    found = call("kb", "query", "端口", "rights")
    assert found.out == f"{entry}  low ports 低端口\n  1024 以下的端口 need rights\n  second\n"
    assert told(call, "kb", "query", "端口", "--top", "1")["results"][0]["id"] == entry
    assert call("kb", "query", "zebra").err == "no matching entries\n"
    assert [line.split("  ") for line in call("kb", "ls").out.splitlines()] == [
        [entry, "low ports 低端口", "net, 运维"], [other, "piped in"],
    ]  # fmt: skip
    dumped = json.loads(call("kb", "dump").out)
    assert dumped[entry]["tags"] == ["net", "运维"]
    assert SECRET not in dumped[other]["content"]
    assert call("kb", "rm", entry).code == 2  # nobody can be asked
    gone = call("kb", "delete", entry, "--yes")
    assert (gone.code, gone.out) == (0, f"{entry}\n")
    missing = call("kb", "rm", entry, "--yes")
    assert (missing.code, "codexmem kb query and codexmem kb ls" in missing.err) == (3, True)
    assert told(call, "why", entry)["memory"]["status"] == "deleted"
    assert "已删除" in call("kb", "rm", other, "--yes", "--lang", "zh").err
    assert call("kb", "list").err == "the knowledge base is empty\n"


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "args,code,said",
    [
        (["add", "x"], 2, "--summary is missing"),
        (["add", " ", "--summary", "x"], 2, "content must not be empty"),
        (["add", "x", "--summary", "y", "--file", "z"], 2, "either on the command line or as a file"),
        (["query", " "], 2, "query must not be empty"),
        (["query", "x", "--top", "101"], 2, "--top: "),
        (["rm", "kb-none", "--yes"], 3, "'kb-none' not found"),
    ],
)
def test_what_is_wrong_is_said(call: Call, home: Path, args: list[str], code: int, said: str) -> None:
    assert call("kb", "add", "first", "--summary", "s").code == 0
    answer = call("kb", *args)
    assert (answer.code, answer.out) == (code, ""), answer
    assert said in answer.err
    assert call("kb", *args, "--json").json["error"]["message"]


@pytest.mark.sqlite
def test_workspaces_are_made_listed_and_removed(call: Call, way: str, data_dir: Path) -> None:
    made = call("workspace", "init", "task-42")
    assert (made.code, made.err) == (0, "when the task is done: codexmem workspace rm task-42\n")
    path = Path(made.out.strip())
    assert path.is_dir()
    assert data_dir in path.parents
    (path / "笔记.txt").write_text("x")
    listed = told(call, "workspace", "ls")
    assert listed == {"workspaces": [{"task": "task-42", "path": str(path), "files": 1}], "note": None}
    assert call("workspace", "ls").out.split() == ["task-42", "1", "file", str(path)]
    assert "1 个文件" in call("workspace", "list", "--lang", "zh").out
    taken = call("workspace", "init", "task-42")
    assert (taken.code, "codexmem workspace rm" in taken.err) == (5, True)
    assert call("workspace", "rm", "task-42").code == 2  # nobody can be asked
    assert path.is_dir()
    assert call("workspace", "cleanup", "task-42", "--yes").out == f"{path}\n"
    assert not path.exists()
    assert call("workspace", "rm", "task-42", "--yes").code == 3
    assert call("workspace", "ls").err == "no task has a workspace\n"
    for name in ("..", "a/b", ""):
        assert call("workspace", "init", name).code == 2
    chinese = call("workspace", "init", "任务-42")
    assert (chinese.code, Path(chinese.out.strip()).name) == (0, "任务-42")
    assert [each["task"] for each in told(call, "workspace", "ls")["workspaces"]] == ["任务-42"]
    assert call("workspace", "rm", "任务-42", "--yes").out == chinese.out


@pytest.mark.sqlite
def test_errors_are_the_same_with_a_server(call: Call, data_dir: Path, home: Path) -> None:
    wrong = (["kb", "rm", "kb-none", "--yes"], ["workspace", "rm", "none", "--yes"], ["workspace", "init", "../up"],
             ["kb", "query", " "])  # fmt: skip
    call("kb", "add", "x", "--summary", "y")
    here = [call(*args, "--json") for args in wrong]
    with serving(data_dir, fork=True):
        assert [call(*args, "--json") for args in wrong] == here
    assert [said.code for said in here] == [3, 3, 2, 2]


@pytest.mark.postgresql
def test_on_postgresql_for_the_tenant_that_is_named(call: Call, postgres_server: PostgresServer) -> None:
    there = ("--database-url", postgres_server.create_database("kb_by_command"))
    assert call("db", "upgrade", *there).code == 0
    acme, other = (*there, "--tenant", "acme"), (*there, "--tenant", "other")
    entry = call("kb", "add", "端口", "--summary", "ports", *acme).out.strip()
    assert entry in call("kb", "ls", *acme).out
    assert call("kb", "ls", *other).out == ""
    assert call("kb", "rm", entry, "--yes", *other).code == 3
    assert call("workspace", "init", "task", *acme).code == 0
    assert call("workspace", "ls", *acme).out.split()[0] == "task"
    assert call("workspace", "ls", *other).out == ""
    assert call("workspace", "rm", "task", "--yes", *acme).code == 0
