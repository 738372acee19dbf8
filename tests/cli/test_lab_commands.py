"""`codexmem batch`, `run`, `rb`, `product` and `preset`: with a running server and without one, in both languages."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests._support.model_server import ModelServer, refused
from tests._support.postgres import PostgresServer
from tests._support.server import Server
from tests.cli.conftest import Call
from tests.stories import lab_cast

pytestmark = pytest.mark.sqlite
ABSENT = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def model(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A model that plays the lab's roles; the settings that name it."""
    with ModelServer(script=lab_cast.script) as played:
        settings = {"CODEXMEM_OPENAI_BASE_URL": played.url, "CODEXMEM_OPENAI_API_KEY": "none"}
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield settings


@pytest.fixture
def server(data_dir: Path, model: dict[str, str]) -> Iterator[Server]:
    """A server that owns the store and learns when it is told to."""
    data_dir.mkdir()
    settings = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_LAB_LEARN": "off", **model}
    with Server(data_dir, settings=settings) as running:
        yield running


def told(call: Call, *args: str) -> Any:
    said = call(*args, "--json")
    assert (said.code, said.err) == (0, ""), said
    return said.json


def completed(call: Call, request: str = "Cu–TiO2 用于 C2H4", *more: str, dry: bool = True) -> list[str]:
    """Runs of a batch that has completed."""
    made = told(call, "batch", "new", request, "--wait", *(["--dry-run"] if dry else []), *more)
    assert made["batch"]["status"] == "completed", made
    return [run["run_id"] for run in made["runs"]]


@pytest.mark.clause(
    "002 §7", "on the command line: a batch, its trace as it grows, output, evidence, feedback, lessons"
)
def test_from_a_request_to_a_lesson_and_back(call: Call, server: Server) -> None:
    assert call("lab", "kb", "add", "--sample").code == 0
    made = call("batch", "new", "Cu–TiO2 用于 C2H4", "--runs", "2", "--recipes", "1")
    batch_id = made.out.strip()
    assert re.fullmatch(r"batch_[0-9a-f]{32}", batch_id)
    assert made.err == f"2 runs are queued; to follow: codexmem batch show {batch_id}\n"
    first, second = (each["run_id"] for each in told(call, "run", "ls", "--batch", batch_id)["items"])
    lines = call("run", "events", first, "--follow", "--json").out.splitlines()
    types = [json.loads(line)["event_type"] for line in lines]
    assert (types[0], types[-1]) == ("run_started", "final_output")
    call("run", "events", second, "-f")
    shown = call("run", "events", second)
    assert next(line.split()[2] for line in shown.out.splitlines()) == "run_started"
    assert "用于 C2H4" in shown.out
    only = call("run", "events", second, "--type", "final_output", "--payload").out.splitlines()
    assert "recipes_json" in "".join(only[1:])
    assert {line.strip()[:1] for line in only[1:]} <= set('{}[]"')
    batch = told(call, "batch", "show", batch_id)
    assert (batch["batch"]["status"], batch["batch"]["n_runs"]) == ("completed", 2)
    assert [batch_id, "completed", "2/2"] == call("batch", "ls", "--query", "c2h4").out.split()[:3]
    assert len(json.loads(call("run", "output", first).out)["recipes"]) == 1

    ethylene = call("product", "add", "C2H4")
    assert ethylene.err == "C2H4 added (active)\n"
    call("product", "add", "一氧化碳")
    assert call("product", "add", "c2h4").code == 5
    said = call("run", "feedback", first, "--score", "7.5", "--pros", "选择性好", "--product", "c2h4=12.3",
                "--product", "一氧化碳=4.5")  # fmt: skip
    assert said.code == 0, said
    assert "C2H4      12.3  73.2%" in said.out
    assert said.err == f"feedback on {first} saved\n"
    again = told(call, "run", "feedback", first, "--cons", "too slow")["feedback"]
    assert (again["score"], again["pros"], again["cons"], len(again["products"])) == (7.5, "选择性好", "too slow", 2)
    assert told(call, "run", "feedback", first)["feedback"] == again
    zero = call("run", "feedback", second, "--replace", "--product", f"{ethylene.out.strip()}=0", "--lang", "zh")
    assert "所有数值都是 0" in zero.err

    learned = told(call, "rb", "learn", first, "--wait")
    assert learned["status"] == "completed", learned
    assert learned["rb_job_id"] in call("rb", "jobs", first).out
    (delta, *_) = told(call, "rb", "deltas", first)["items"]
    assert call("rb", "deltas", first).out.splitlines()[0].startswith(delta["delta_id"])
    lessons = told(call, "rb", "ls")["items"]
    assert {op["mem_id"] for op in delta["ops"]} <= {each["mem_id"] for each in lessons}
    name = f"mem:{delta['ops'][0]['mem_id']}"
    assert call("rb", "edit", name, "edited by hand 手改").err == f"{name} changed\n"
    assert "edited by hand 手改" in call("rb", "show", f"[{name}]").out
    preview = call("rb", "rollback", first, "--preview")
    assert f"remove  {name}  edited by hand 手改" in preview.out
    assert preview.err == f"overwrites hand edits: {name}\n"
    assert call("rb", "rollback", first).code == 2  # nobody can be asked
    taken = call("rb", "rollback", first, "--yes", "--reason", "错了")
    assert (taken.code, taken.out) == (0, f"{delta['delta_id']}\n")
    assert name not in call("rb", "ls").out
    assert "rolled back" in call("rb", "rollback", first, "--yes").err
    assert told(call, "rb", "learn", first, "--wait")["status"] == "completed"
    back = told(call, "rb", "rollback", first, "--yes", "--relearn", "--safe")
    assert back["learning"]["status"] == "queued"


@pytest.mark.slow
def test_without_a_server_the_command_does_the_work(call: Call) -> None:
    (run_id,) = completed(call, "Cu–TiO2 用于 C2H4", "--recipes", "2")
    assert len(told(call, "run", "output", run_id)["recipes_json"]["recipes"]) == 2
    call("product", "add", "C2H4")
    said = call("run", "feedback", run_id, "--score", "3", "--cons", "失活快", "--product", "C2H4=1")
    assert said.err == (f"feedback on {run_id} saved\nlearning from it is queued: codexmem rb jobs {run_id}\n")
    # Nobody tried what a dry run answers.
    for language, why in (("en", "nothing was learned: this was a dry run"), ("zh", "没有学到内容：这是演练")):
        nothing = call("rb", "learn", run_id, "--wait", "--lang", language)
        assert (nothing.code, why in nothing.err) == (0, True), nothing
        assert why in call("rb", "jobs", run_id, "--lang", language).out
    assert call("rb", "ls").err == "no lessons\n"


@pytest.mark.slow
def test_a_batch_without_a_model_and_a_run_without_a_library(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for language, said, hint in (
        ("en", "no model is configured", "OPENAI_API_KEY"),
        ("zh", "没有配置模型", "--dry-run"),
    ):
        refused = call("batch", "new", "Cu for C2H4", "--lang", language)
        assert (refused.code, refused.out) == (6, "")
        assert said in refused.err
        assert hint in refused.err
    (run_id,) = completed(call, "Cu for C2H4", "--recipes", "1")
    assert "completed (empty library)" in call("run", "show", run_id).out
    assert "completed (empty library)" in call("run", "ls").out
    assert "文献库为空，没有可引用的内容" in call("run", "output", run_id, "--lang", "zh").err


def test_without_a_server_a_command_learns(call: Call, model: dict[str, str]) -> None:
    assert call("lab", "kb", "add", "--sample").code == 0
    (run_id,) = completed(call, "Cu–TiO2 用于 C2H4", "--recipes", "1", dry=False)
    call("run", "feedback", run_id, "--score", "3", "--cons", "失活快")
    learned = call("rb", "learn", run_id, "--wait")
    assert (learned.code, "lesson was written, as rbd_" in learned.err) == (0, True)
    assert "Cu loading" in call("rb", "ls").out
    assert call("rb", "rollback", run_id, "--yes").code == 0
    assert call("rb", "ls").err == "no lessons\n"


@pytest.mark.slow
def test_without_a_server_a_run_is_followed_to_its_end(call: Call) -> None:
    waiting = call("batch", "new", "second", "--dry-run").out.strip()
    (other,) = told(call, "run", "ls", "--batch", waiting)["items"]
    followed = call("run", "events", other["run_id"], "-f")
    assert followed.err == f"{other['run_id']} is completed\n"
    assert followed.out.splitlines()[0].split()[2] == "run_started"


def test_lessons_by_hand_and_the_catalog(call: Call, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("空白实验 first".encode()), encoding="utf-8"))
    name = call("rb", "add", "--role", "mof_expert").out.strip()
    assert [name, "mof_expert", "manual_note", "active"] == call("rb", "ls", "空白实验").out.split()[:4]
    assert call("rb", "edit", name, "--role", "global", "--status", "archived").code == 0
    assert call("rb", "ls", "--status", "active").err == "no lessons\n"
    assert call("rb", "edit", name, "--status", "active").code == 0
    assert call("rb", "archive", name, "--lang", "zh").err == f"已停用 {name}\n"
    assert told(call, "rb", "show", name)["memory"]["role"] == "global"
    ids = [call("product", "add", each).out.strip() for each in ("CO", "甲烷")]
    assert [line.split() for line in call("product", "ls").out.splitlines()] == [
        [ids[1], "active", "甲烷"], [ids[0], "active", "CO"],
    ]  # fmt: skip
    preset = call("preset", "add", "gas 气体", "co", ids[1])
    assert preset.err == "gas 气体 added, with 2 products\n"
    assert told(call, "preset", "ls")["items"][0]["product_ids"] == ids
    assert call("preset", "edit", preset.out.strip(), "甲烷", "--name", "one").err == "one has 1 product\n"
    assert call("product", "edit", ids[0], "--status", "archived").err == "CO is archived\n"
    assert call("product", "ls", "--status", "archived").out.split() == [ids[0], "archived", "CO"]
    assert call("product", "edit", ids[0], "--name", "CO (g)").err == "CO (g) is archived\n"


REFUSED: list[tuple[list[str], int, str]] = [
    (["run", "show", "run_x"], 3, "runs are listed at codexmem run ls"),
    (["batch", "show", "batch_x"], 3, "batches are listed at codexmem batch ls"),
    (["batch", "show", "../products"], 3, "no such path"),
    (["run", "feedback", "run_x"], 3, "no run run_x"),
    (["run", "feedback", "run_x", "--score", "nan"], 2, ""),
    (["run", "feedback", "run_x", "--product", "C2H4"], 2, "C2H4 is not NAME=VALUE"),
    (["run", "feedback", "run_x", "--product", "C2H4=much"], 2, "is not NAME=VALUE"),
    (["run", "events", "run_x", "-f"], 3, "no run run_x"),
    (["run", "events", "run_x", "--type", "nothing"], 2, "event_type 'nothing' is not known"),
    (["run", "evidence", "run_x", "C1"], 3, "run_x"),
    (["batch", "cancel", "batch_x"], 3, "no batch batch_x"),
    (["batch", "new", " "], 2, "user_request"),
    (["batch", "new", "x", "--kb-principles", "/etc"], 2, "kb_principles_dir"),
    (["batch", "new", "x", "--runs", "0"], 2, "--runs"),
    (["rb", "show", ABSENT], 3, ABSENT),
    (["rb", "rollback", "run_x", "--preview"], 3, "no run run_x"),
    (["rb", "learn", "run_x"], 3, "no run run_x"),
    (["rb", "add", "x", "--role", "nobody"], 2, "known are"),
    (["product", "edit", "x", "--name", "y"], 3, "listed at codexmem product ls"),
    (["preset", "add", "p", "unknown"], 2, "not in the catalog"),
    (["run", "ls", "--tenant", "other"], 2, "--tenant"),
]  # fmt: skip


def test_what_is_refused_says_why(call: Call, server: Server) -> None:
    told(call, "product", "add", "C2H4")
    for args, code, said in REFUSED:
        refused = call(*args)
        assert (refused.code, refused.out) == (code, ""), args
        assert said in refused.err, args
        assert "unexpected" not in refused.err, args
    some = [REFUSED[0][0], ["preset", "add", "p", "unknown"], ["batch", "new", " "]]
    there = [call(*args, "--json") for args in some]
    server.stop()
    assert [call(*args, "--json") for args in some] == there
    assert all(said.json["error"]["message"] for said in there)


def test_a_run_that_fails_ends_the_command_with_1(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(script=lambda _: refused(401, "no such key")) as model:
        monkeypatch.setenv("CODEXMEM_OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("CODEXMEM_OPENAI_API_KEY", "wrong")
        said = call("batch", "new", "the model refuses the key", "--wait")
    assert model.count
    assert said.code == 1
    assert "failed" in said.out
    run_id = told(call, "run", "ls", "--status", "failed")["items"][0]["run_id"]
    assert "error" in call("run", "show", run_id).out
    assert call("run", "output", run_id).code == 3
    assert call("run", "cancel", run_id).code == 5


def test_nothing_is_made_by_looking(call: Call, data_dir: Path) -> None:
    for args in (["batch", "ls"], ["run", "ls"], ["rb", "ls"], ["product", "ls"], ["preset", "ls"]):
        assert call(*args).code == 3
    assert not data_dir.exists()


@pytest.mark.slow
def test_canceling(call: Call, data_dir: Path) -> None:
    batch_id = call("batch", "new", "x", "--runs", "3", "--dry-run").out.strip()
    (run, *_) = told(call, "run", "ls", "--batch", batch_id)["items"]
    assert call("run", "cancel", run["run_id"], "--reason", "不要了").err == f"{run['run_id']} was asked to stop\n"
    assert "不要了" in call("run", "show", run["run_id"]).out
    assert told(call, "batch", "cancel", batch_id)["status"] == "requested"
    assert told(call, "batch", "show", batch_id)["batch"]["status"] == "canceled"
    assert call("batch", "cancel", batch_id, "--lang", "zh").err == f"已请求停止 {batch_id}\n"
    assert call("batch", "ls", "--status", "completed").err == "no batches\n"
    assert call("run", "ls", "--batch", batch_id, "--limit", "1").err == "there are more; use --limit\n"


def test_what_a_model_wrote_cannot_move_the_cursor(call: Call) -> None:
    name = call("rb", "add", "a\x1b[2Jb\u202ec").out.strip()
    assert "\x1b" not in call("rb", "ls").out
    shown = call("rb", "show", name).out
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.postgresql
def test_on_postgresql_a_tenant_is_named(call: Call, postgres_server: PostgresServer) -> None:
    url = postgres_server.create_store("codexmem_lab_commands")
    where = ("--database-url", url, "--tenant", "acme")
    assert call("product", "ls", "--database-url", url).code == 2
    batch_id = call("batch", "new", "x", "--runs", "2", "--dry-run", *where).out.strip()
    assert told(call, "batch", "show", batch_id, *where)["batch"]["status"] == "queued"
    assert call("batch", "show", batch_id, "--database-url", url, "--tenant", "other").code == 3
    assert call("product", "add", "乙烯", *where).code == 0
    assert told(call, "product", "ls", *where)["items"][0]["name"] == "乙烯"
    assert call("batch", "cancel", batch_id, *where).code == 0
