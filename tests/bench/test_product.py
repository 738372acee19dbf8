"""The measurements drive a real installation: what they report is remembered, told, found and forgotten."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import coding, coding_log, delivery, month, month_log, noise
from bench.delivery import Chat, Task
from bench.product import Product, text_of
from tests._support.server import Server

RULE = "Amounts of exactly half a cent are always rounded down here, because the old ledger does that."
CHAT = Chat("decides", ((RULE, f"Noted. {RULE} I changed round_cents."),))
TASK = Task("rounding", "The ledger is off by half a cent after rounding.", "round half a cent down", (CHAT,))
NOISE = Chat("other", (("Which colour does the button of the login page have?", "It is green, as the brand wants."),))


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with Product(tmp_path_factory.mktemp("product"), "none") as made:
        delivery.capture(made, delivery.order([TASK], [NOISE]))
        yield made


def test_a_session_of_the_past_is_remembered_with_its_time(product: Product) -> None:
    memories = list(product.stored(delivery.PROJECT))
    mine = [each for each in memories if "half a cent" in text_of(each)]
    assert {each.get("content_session_id") or each["memory_session_id"] for each in mine} == {"decides"}
    now_ms = time.time() * 1000
    assert all(3_600_000 < now_ms - each["created_at_epoch"] < 86_400_000 for each in mine)


def test_what_is_handed_over_is_judged_and_the_asking_session_forgotten(product: Product) -> None:
    before = len(list(product.stored(delivery.PROJECT)))
    (seen,) = delivery.ask(product, [TASK], [CHAT, NOISE])
    assert seen.outcome in {"told", "not handed over"}
    assert seen.start_tokens > 0
    assert len(list(product.stored(delivery.PROJECT))) == before


def test_it_is_found_by_the_search_and_by_the_tools(product: Product) -> None:
    first, *_ = product.search(delivery.PROJECT, "half a cent rounded down")
    assert first["session"] == "decides"
    answer = product.tool("search", query="half a cent rounded down", project=delivery.PROJECT)
    assert "#" in answer["content"][0]["text"]
    assert delivery.defined(product.tools()) > 1_000
    assert product.call("memory_query", query="anything") == {"results": []}
    with pytest.raises(RuntimeError, match="404"):
        product.get("/api/prompt/999999")


def test_a_session_of_the_month_is_reported_and_its_fact_looked_for(product: Product) -> None:
    said = next(each for each in month_log.month() if each.key == "seedcat-01")
    (fact,) = (each for each in month_log.facts() if (each.project, each.session) == ("seedcat", 1))
    assert month_log.replay(product, said, int(time.time() * 1000)) == sum(len(turn.events) for turn in said.turns)
    product.settle()
    stored = [text_of(each) for each in product.stored("seedcat")]
    heard = month.hear(product, fact, 0)
    row = month.judge(heard, [heard.start], stored)
    assert (row.stored, row.place is not None) == (True, True)
    assert month.estrange(product, "seedcat", "Which knots hold a canoe on a roof?", 0).tokens >= 0
    assert len(list(product.stored("seedcat"))) == len(stored)


def test_a_memory_is_read_without_repeating_itself() -> None:
    memory = {"content": "first second", "title": "first", "attrs": {"learned": "first second", "facts": ["third"]}}
    assert text_of(memory) == "first second\nthird"


def test_a_server_that_does_not_end_in_time_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as busy:

        def late(*_: object) -> None:
            raise subprocess.TimeoutExpired("serve", 20)

        monkeypatch.setattr(Server, "__enter__", lambda server: server)
        monkeypatch.setattr(Server, "__exit__", late)
        monkeypatch.setattr(Server, "pid", busy.pid)
        with Product(tmp_path, "none"):
            pass
        assert busy.wait(10) == -signal.SIGKILL


def session(number: int, *items: dict[str, Any]) -> dict[str, Any]:
    asked = {"k": "user", "i": 0, "text": f"Step {number}: go on with the parser of numbers"}
    ends = {"k": "assistant", "i": 9, "text": f"The parser of step {number} is started by `make parser{number}` now."}
    return {"id": f"s{number}", "project": "tiny", "started_at": f"2026-01-{number + 1:02}T00:00:00Z", "title": "t",
            "items": [asked, *items, ends]}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    edit = {"k": "tool", "kind": "edit", "tool": "Edit", "i": 1, "path": "src/parser.py", "old": "a", "new": "b"}
    run = {"k": "tool", "kind": "shell", "tool": "Bash", "i": 2, "command": "MODE_X=fast make test", "output": "ok"}
    folder = tmp_path / "coding-sessions"
    folder.mkdir()
    with gzip.open(folder / "tiny.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(session(at, edit, run)) + "\n" for at in range(coding_log.FIRST_ASKED + 1))
    asked = {"id": "q1", "project": "tiny", "split": "held-out", "lang": "en", "category": "howto",
             "source": "assistant", "question": "How is the parser of step 3 started?", "answers": ["make parser3"],
             "evidence": [{"session": "s3", "items": [9]}]}  # fmt: skip
    absent = {**asked, "id": "q2", "question": "Which moon has the most cheese?", "answers": [], "evidence": []}
    (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (asked, absent)))
    return tmp_path


def test_a_project_is_measured_from_its_log_and_a_kept_store_only_asked_again(data: Path, tmp_path: Path) -> None:
    found = coding.measure_project(data, "tiny", "none", tmp_path / "stores")
    assert found.events == 2 * (coding_log.FIRST_ASKED + 1)
    (start,) = found.starts
    assert (start.files, start.commands[1], start.errors) == ((1, 1), 1, (0, 0))
    answered, absent = found.questions
    assert (answered.stored, answered.answer_10, answered.answerable, absent.answerable) == (True, True, True, False)
    assert found.variables[1] == coding_log.FIRST_ASKED + 1
    again = coding.measure_project(data, "tiny", "none", tmp_path / "stores")
    assert (again.events, again.starts, again.variables) == (0, (), found.variables)
    assert [(row.answer_10, row.outcome) for row in again.questions] == [
        (row.answer_10, row.outcome) for row in found.questions
    ]


def test_every_interface_is_asked(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding_log, "PROJECTS", ("tiny",))
    found = noise.measure_home(data, "tiny", 5, "none", 1)
    assert found["memories"] == 5
    seen = noise.by_interface(found["given"])
    assert seen.keys() >= {
        noise.UNASKED,
        noise.ASKED,
        "MCP search",
        "QA search",
        "knowledge",
        "notes preload",
        "command",
    }
    assert [seen[name][noise.ANSWERABLE] for name in (noise.ASKED, "MCP search", "QA search")] == [1.0, 1.0, 1.0]
    assert [each.findable for each in found["given"] if each.right and each.interface == noise.ASKED] == [True]
