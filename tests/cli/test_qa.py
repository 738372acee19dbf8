"""`codexmem qa`: questions with answers by command, with a running server and without one, in both languages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from codexmem.console.backend import opened
from codexmem.console.store import chosen
from codexmem.hook.surroundings import announcement
from codexmem.kernel.model.history import WriteContext
from codexmem.qa.model.items import NewQa
from codexmem.qa.service import QaService
from tests._support.postgres import PostgresServer
from tests._support.server import Server
from tests.cli.conftest import Call
from tests.cli.test_memory import way

__all__ = ["way"]

Add = Callable[..., str]
PORT = "What is the default port of the server?"
BACKUP = "如何备份数据库？"


def hand_in(tenant: str, new: NewQa, **where: str) -> str:
    with opened(chosen(**where), tenant, create=True) as core:
        candidates = core.room(QaService).candidates
        return candidates.store(candidates.prepare(new), WriteContext("agent")).item.memory.id


@pytest.fixture
def add(way: str, data_dir: Path) -> Add:
    """Hand in a candidate, as agents do."""

    def added(question: str, answer: str, project: str = "work") -> str:
        if way == "here":
            return hand_in("local", NewQa(project, question, answer))
        url, _ = announcement(data_dir)
        assert url
        body = {"project_id": project, "question": question, "answer": answer}
        return str(httpx.post(f"{url}/v1/qa/candidates", json=body).raise_for_status().json()["qa_id"])

    return added


def told(call: Call, *args: str) -> Any:
    said = call("qa", *args, "--json")
    assert (said.code, said.err) == (0, ""), said
    return said.json


@pytest.mark.sqlite
def test_answers_are_found_in_the_project_of_this_folder_and_marked(call: Call, add: Add) -> None:
    one = add(PORT, "It is port 8080.\nSet PORT to change it.")
    other = add(PORT, "It is port 9090.")
    add(PORT, "It is port 7070.", "elsewhere")
    found = call("qa", "search", "default", "port", "of", "the", "server")
    assert found.code == 0
    heads = [line.split("  ") for line in found.out.splitlines() if line.startswith("candidate")]
    assert {head[2] for head in heads} == {one, other}
    assert (
        f"{PORT}\n  It is port 8080.\n  Set PORT to change it.\n  (unproven)\n  (contradicted by {other})" in found.out
    )
    assert {each["qa_id"] for each in told(call, "search", PORT)["items"]} == {one, other}
    assert "7070" in call("qa", "search", PORT, "--project", "elsewhere").out
    assert len(told(call, "search", PORT, "--limit", "1")["items"]) == 1
    nothing = call("qa", "search", "火星", "weather")
    assert (nothing.code, nothing.out) == (0, "")
    assert "no answer in project work scores 0.2" in nothing.err
    assert "未经证实" in call("qa", "search", PORT, "--lang", "zh").out


@pytest.mark.sqlite
def test_candidates_are_listed_shown_approved_and_rejected(call: Call, add: Add) -> None:
    port, backup = add(PORT, "It is port 8080."), add(BACKUP, "运行 `codexmem backup`。", "shop")
    listed = [line.split() for line in call("qa", "candidates").out.splitlines()]
    assert [(line[0], line[3]) for line in listed] == [("candidate", backup), ("candidate", port)]
    assert listed[0][5:] == ["shop", "0/0", "+0", "-0", BACKUP]
    assert [each["qa_id"] for each in told(call, "ls", "--project", "shop")["items"]] == [backup]

    first = call("qa", "candidates", "--limit", "1")
    assert first.err.startswith("there are more: --after ")
    rest = told(call, "candidates", "--limit", "1", "--after", first.err.split()[-1])
    assert ([each["qa_id"] for each in rest["items"]], rest["next_cursor"]) == ([port], None)

    approved = call("qa", "approve", port, f"see [QA_REF {backup}]")
    assert (approved.code, approved.out) == (0, f"{port}\n{backup}\n")
    assert approved.err == f"{port} is validated\n{backup} is validated\n"
    assert call("qa", "candidates").err == "no matching items\n"
    assert len(told(call, "candidates", "--status", "validated")["items"]) == 2
    assert "现为 deprecated" in call("qa", "reject", backup, "--lang", "zh").err
    assert told(call, "search", BACKUP, "--project", "shop")["items"] == []
    assert call("qa", "candidates", "--status", "deprecated", "--color", "always").out.startswith(
        "\x1b[31mdeprecated\x1b[0m"
    )

    shown = call("qa", "show", port)
    assert shown.out.startswith(f"validated  {port}\nconfidence")
    assert f"{PORT}\n  It is port 8080." in shown.out
    assert told(call, "show", port)["validations"] == {"success": 1, "failure": 0}


@pytest.mark.sqlite
def test_reports_are_counted_learned_and_logged(call: Call, add: Add) -> None:
    port, backup = add(PORT, "It is port 8080."), add(BACKUP, "运行 `codexmem backup`。", "shop")
    hit = call("qa", "hit", port, backup, "--used", "--message-id", "run-1")
    assert (hit.code, hit.out, hit.err) == (0, "2\n", "2 counted, 0 already known\n")
    assert told(call, "hit", port, "--used", "--message-id", "run-1") == {"accepted": 0, "deduped": 1, "unknown": []}
    assert told(call, "hit", port)["accepted"] == 1
    assert told(call, "show", port)["hits"] == {"shown": 2, "used": 1}
    before = told(call, "show", port)["confidence"]
    weak = told(call, "validate", port, "--success", "--strength", "0.5")
    assert (weak["status"], weak["confidence"] > before) == ("candidate", True)
    strong = call("qa", "validate", port, "--success", "--strong", "--note", "端口正确")
    assert (strong.code, strong.out) == (0, f"{port}\n")
    assert strong.err.startswith(f"{port} is validated, confidence ")
    failed = told(call, "validate", backup, "--failure")
    assert (failed["validations"], failed["unproven"]) == ({"success": 0, "failure": 1}, True)
    expired = call("qa", "expire")
    assert (expired.code, expired.out, expired.err) == (0, "0\n", "0 expired\n")
    assert told(call, "expire", "--batch-size", "5") == {"expired": 0, "remaining": False, "delta": None}


WRONG: list[tuple[list[str], int, str]] = [
    (["search", " "], 2, "query must not be blank"),
    (["search", "x", "--limit", "21"], 2, "--limit: "),
    (["search", "x", "--min-score", "1.5"], 2, "--min-score: "),
    (["search", "x" * 20_001], 2, "query: "),
    (["candidates", "--status", "deleted"], 2, "--status: "),
    (["candidates", "--after", "x"], 2, "--after: this is not a position"),
    (["show", "qa-none"], 3, "codexmem qa search and codexmem qa candidates show ids"),
    (["show", "../qa"], 2, "../qa is not an id"),
    (["approve", "qa-none"], 3, "'qa-none' is not an item"),
    (["hit", "qa-none"], 3, "'qa-none' is not an item"),
    (["hit", "qa-none", "--message-id", ""], 2, "--message-id: it must have 1 to 200"),
    (["validate", "qa-none"], 2, "--success / --failure is missing"),
    (["validate", "qa-none", "--failure"], 3, "'qa-none' is not an item"),
    (["expire", "--batch-size", "0"], 2, "--batch-size: "),
]


@pytest.mark.sqlite
@pytest.mark.slow
def test_what_is_wrong_is_said(call: Call, home: Path) -> None:
    hand_in("local", NewQa("work", PORT, "It is port 8080."))
    for args, code, said in WRONG:
        answer = call("qa", *args)
        assert (answer.code, answer.out) == (code, ""), answer
        assert said in answer.err


@pytest.mark.sqlite
def test_errors_are_the_same_with_a_server(call: Call, data_dir: Path, home: Path) -> None:
    port = hand_in("local", NewQa("work", PORT, "It is port 8080."))
    wrong = (["show", "qa-none"], ["approve", port, "qa-..none"], ["search", " "], ["search", "x" * 20_001],
             ["validate", port, "--success", "--strong", "--strength", "0"], ["hit", "qa-none"])  # fmt: skip
    here = [call("qa", *args, "--json") for args in wrong]
    with Server(data_dir, settings={"CODEXMEM_EMBEDDER": "none"}):
        assert [call("qa", *args, "--json") for args in wrong] == here
    assert [said.code for said in here] == [3, 3, 2, 2, 2, 3]
    assert told(call, "show", port)["status"] == "candidate"  # one that is missing keeps the others from being decided


@pytest.mark.sqlite
def test_what_answers_say_cannot_drive_a_terminal(call: Call, home: Path) -> None:
    port = hand_in("local", NewQa("work", PORT, "It is \x1b[31mport\x1b[0m 8080.\u202e"))
    for args in (["search", PORT], ["show", port], ["candidates"]):
        said = call("qa", *args)
        assert said.code == 0
        assert not {"\x1b", "\u202e"} & set(said.out)


@pytest.mark.sqlite
def test_a_store_that_is_not_there_is_said(call: Call, home: Path) -> None:
    said = call("qa", "candidates")
    assert (said.code, "there is no store" in said.err) == (3, True)


@pytest.mark.postgresql
def test_on_postgresql_for_the_tenant_that_is_named(call: Call, postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database("qa_by_command")
    there = ("--database-url", url)
    assert call("db", "upgrade", *there).code == 0
    acme, other = (*there, "--tenant", "acme"), (*there, "--tenant", "other")
    made = hand_in("acme", NewQa("work", BACKUP, "运行 `codexmem backup`。"), database_url=url)
    assert made in call("qa", "candidates", *acme).out
    assert call("qa", "candidates", *other).out == ""
    assert call("qa", "approve", made, *other).code == 3
    assert call("qa", "approve", made, *acme).code == 0
    assert made in call("qa", "search", "备份数据库", *acme).out
    assert call("qa", "candidates", *there).code == 2  # whose?
