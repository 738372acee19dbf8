"""The precision benchmark on a small set of our own: it counts what is met, and says what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import precision


def belief(name: str, user: str = precision.USER, **more: Any) -> dict[str, Any]:
    usual = {
        "_id": f"b-{name}", "user_id": user, "type": "entity", "canonical_name": name, "aliases": [],
        "content": f"about {name}", "scope": ["domain:code"], "pinned": False, "superseded_by": None,
        "resolved_at": None,
    }  # fmt: skip
    return usual | more


def case(name: str, query: str, only: list[str], **more: Any) -> dict[str, Any]:
    expect = {"relevantBeliefs": {"shouldOnlyInclude": only}, **more.pop("expect", {})}
    return {"caseId": name, "category": "names", "scope": ["domain:code"], "query": query, "expect": expect, **more}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    beliefs = [
        belief("queue", aliases=["消息队列"]), belief("ledger", aliases=["books"], scope=["domain:writing"]),
        belief("old_queue", aliases=["rabbit"], superseded_by="b-queue"), belief("database", pinned=True),
        belief("tone", scope=["user:universal"], pinned=True, content="short answers"),
        belief("theirs", user="other-user"),
    ]  # fmt: skip
    cases = [
        case("alias", "消息队列为什么慢", ["b-queue"], expect={"pinnedFacts": {"mustInclude": ["b-database"]}}),
        case("scope", "the books", []),
        case("superseded", "rabbit", []),
        case("persona", "hello", [], expect={"personaPrelude": {"contains": ["short"]}}),
        case("isolation", "theirs", []),
        case("unmet", "queue", ["b-ledger"]),
    ]
    turn = {"turnIndex": 0, "scope": ["domain:code"], "userMessage": "the broker?", "expect": cases[1]["expect"],
            "updateBeliefAtTurn": {"beliefId": "b-queue", "addAliases": ["broker"]}}  # fmt: skip
    later = {"turnIndex": 1, "scope": ["domain:code"], "userMessage": "the broker?",
             "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["b-queue"]}}}  # fmt: skip
    for name, rows in (("beliefs.seed", beliefs), ("retrieval.cases", cases)):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    (tmp_path / "session-retrieval.cases.json").write_text(json.dumps([{"caseId": "s", "turns": [turn, later]}]))
    return tmp_path


def test_what_is_met_is_counted_and_what_is_not_is_told(data: Path) -> None:
    found = precision.measure(data)
    assert (found["passed"], found["cases"], found["turns_passed"], found["turns"]) == (5, 6, 2, 2)
    assert found["failing"] == {"unmet": {"relevantBeliefs": "missing ['b-ledger'], too many ['b-queue']"}}


def test_it_fails_below_the_goal(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert precision.main(["--data", str(data)]) == 1
    assert "5 of 6 cases, 2 of 2 session turns" in capsys.readouterr().out
