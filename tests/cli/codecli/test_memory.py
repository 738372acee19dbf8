"""`mem-codecli memory`: what each command sends, to the letter, and what it makes of the answers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests._support.model_server import Reply
from tests._support.qa_endpoint import ITEM, QaEndpoint
from tests.cli.conftest import Call

CANDIDATE = ITEM | {
    "qa_id": "qa-02", "status": "candidate", "unproven": True, "contradicts": ["qa-01"], "anchor": "[QA_REF qa-02]",
    "confidence": 0.5, "score": 0.4,
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "search": {"items": [ITEM, CANDIDATE], "count": 2, "mode": "hybrid"},
    "hit": {"accepted": 2, "unknown": [], "deduped": 0},
    "candidates": Reply(201, {"qa_id": "qa-09", "status": "candidate", "created": True, "merged_into": None,
                              "contradicts": [], "confidence": 0.5}),
    "validate": {"qa_id": "qa-01", "status": "validated", "confidence": 0.812},
    "expire": {"expired": 3, "remaining": True},
}  # fmt: skip


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QaEndpoint]:
    with QaEndpoint(dict(ANSWERS)) as server:
        monkeypatch.setenv("MEM_CODECLI_MEMORY_BASE_URL", server.base)
        monkeypatch.setenv("CODEXMEM_PROJECT_ID", "商店")
        yield server


@pytest.mark.clause("001 §3.1.2", "limit and min-score are six and 0.2 unless given or configured")
@pytest.mark.clause("001 §4.1", "the client sends project_id, query, limit 6 and min_score 0.2 unless told otherwise")
def test_search_sends_the_contracts_fields_and_defaults(
    server: QaEndpoint, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("memory", "search", "--query", "如何部署").code == 0
    assert server.asked[-1].path == "/v1/qa/search"
    assert server.asked[-1].body == {"project_id": "商店", "query": "如何部署", "limit": 6, "min_score": 0.2}
    monkeypatch.setenv("MEM_CODECLI_SEARCH_LIMIT", "9")
    call("memory", "search", "--query", "x", "--min-score", "0.5")
    assert (server.asked[-1].body["limit"], server.asked[-1].body["min_score"]) == (9, 0.5)
    call("memory", "search", "--query", "x", "--limit", "20")
    assert server.asked[-1].body["limit"] == 20
    count = len(server.asked)
    for wrong in (["--limit", "21"], ["--limit", "0"], ["--min-score", "1.5"], ["--query", " "]):
        assert call("memory", "search", "--query", "x", *wrong).code == 2
    assert len(server.asked) == count


def test_search_shows_each_item_with_its_anchor_and_marks(server: QaEndpoint, call: Call) -> None:
    said = call("memory", "search", "--query", "如何部署")
    assert said.out == (
        "1. qa-01  score 0.81, confidence 0.75, validated\n"
        "   Q: 如何部署商店？\n   A: 1. 打标签。\n   2. 推送。\n   #部署  [QA_REF qa-01]\n\n"
        "2. qa-02  score 0.40, confidence 0.50, candidate  (unproven)  (contradicts qa-01)\n"
        "   Q: 如何部署商店？\n   A: 1. 打标签。\n   2. 推送。\n   #部署  [QA_REF qa-02]\n"
    )
    assert call("memory", "search", "--query", "x", "--json").json == {
        "project_id": "商店", "items": [ITEM, CANDIDATE], "count": 2,
    }  # fmt: skip
    assert "未经验证" in call("memory", "search", "--query", "x", "--lang", "zh").out
    server.answers = {"search": {"items": [], "count": 0}}
    said = call("memory", "search", "--query", "x")
    assert (said.code, said.out, said.err) == (0, "", "nothing found; a lower --min-score finds more\n")


@pytest.mark.clause("001 §3.1.3", "each --qa-id is a reference, shown unless said otherwise, of one message")
@pytest.mark.clause("001 §4.3", "the references carry qa_id, shown, used, message_id (a UUID) and context")
def test_hit_tells_what_was_shown_and_used(server: QaEndpoint, call: Call) -> None:
    said = call("memory", "hit", "--qa-id", "qa-01", "--qa-id", "qa-02", "--qa-id", "qa-01", "--used",
                "--context", "section:设计", "--json")  # fmt: skip
    body = server.asked[-1].body
    run = body["references"][0]["message_id"]
    assert len(run) == 36
    assert body == {
        "project_id": "商店",
        "references": [
            {"qa_id": qa_id, "shown": True, "used": True, "message_id": run, "context": "section:设计"}
            for qa_id in ("qa-01", "qa-02")
        ],
    }
    assert said.json == {"message_id": run, "accepted": 2, "unknown": [], "deduped": 0}
    assert call("memory", "hit", "--qa-id", "qa-01", "--not-shown", "--message-id", "m-1").out == "reported 2\n"
    assert server.asked[-1].body["references"] == [
        {"qa_id": "qa-01", "shown": False, "used": False, "message_id": "m-1"}
    ]
    server.answers = {"hit": {"accepted": 0, "unknown": ["qa-77"], "deduped": 0}}
    said = call("memory", "hit", "--qa-id", "qa-77")
    assert (said.code, said.err) == (3, "not known in this project: qa-77\n")


@pytest.mark.clause("001 §3.1.4", "question and answer alone, and every further field")
@pytest.mark.clause(
    "001 §4.4", "the client sends question, answer, summary, tags, metadata, source, author, confidence"
)
def test_candidate_sends_every_field_and_leaves_out_what_was_not_given(server: QaEndpoint, call: Call) -> None:
    said = call("memory", "candidate", "--q", "如何部署？", "--a", "1. 打标签。")
    assert (said.code, said.out) == (0, "qa-09 saved as a candidate\n")
    assert said.err == "once it has helped: mem-codecli memory validate --qa-id qa-09 --success\n"
    assert server.asked[-1].body == {
        "project_id": "商店", "question": "如何部署？", "answer": "1. 打标签。", "tags": [], "metadata": {},
    }  # fmt: skip
    call("memory", "candidate", "--q", "q", "--a", "a", "--summary", "s", "--tag", "部署", "--tag", "ci", "--metadata",
         "file=a=b", "--source", "wiki", "--author", "li", "--confidence", "0.5")  # fmt: skip
    assert server.asked[-1].body == {
        "project_id": "商店", "question": "q", "answer": "a", "summary": "s", "tags": ["部署", "ci"],
        "metadata": {"file": "a=b"}, "source": "wiki", "author": "li", "confidence": 0.5,
    }  # fmt: skip
    for wrong in (["--confidence", "1.5"], ["--metadata", "no-equals"], ["--q", " "]):
        assert call("memory", "candidate", "--q", "q", "--a", "a", *wrong).code == 2


def test_candidate_takes_secrets_out_by_the_configured_level(
    server: QaEndpoint, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    said = call("memory", "candidate", "--q", f"what is {secret}", "--a", "a", "--metadata", f"x={secret}")
    assert "secrets were removed from it" in said.err
    assert secret not in str(server.asked[-1].body)
    monkeypatch.setenv("MEM_CODECLI_REDACT_PATTERNS", '["EMP-[0-9]{6}"]')
    call("memory", "candidate", "--q", "who is EMP-123456?", "--a", "a")
    assert "EMP-123456" not in str(server.asked[-1].body)
    monkeypatch.setenv("MEM_CODECLI_REDACT_LEVEL", "off")
    call("memory", "candidate", "--q", f"what is {secret}", "--a", "a")
    assert secret in str(server.asked[-1].body)


def test_candidate_reads_from_standard_input_and_tells_of_merging_and_contradiction(
    server: QaEndpoint, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("一行\n两行\n"))
    server.answers = {
        "candidates": {"qa_id": "qa-01", "merged_into": "qa-01", "created": False, "contradicts": ["qa-05"]}
    }
    said = call("memory", "candidate", "--q", "q", "--a", "-")
    assert server.asked[-1].body["answer"] == "一行\n两行\n"
    assert said.out == "qa-01 already says so; added as another way to ask for it\n"
    assert "it contradicts qa-05; both are shown until one is proven wrong" in said.err


def test_validate_says_whether_and_how_surely(server: QaEndpoint, call: Call) -> None:
    said = call("memory", "validate", "--qa-id", "qa-01", "--success", "--strong", "--context", "CI 通过")
    assert said.out == "qa-01 is validated, with confidence 0.81\n"
    body = dict(server.asked[-1].body)
    assert isinstance(body.pop("ts"), int)
    assert body.pop("signal_strength") is not None
    assert body == {
        "project_id": "商店", "qa_id": "qa-01", "result": "success", "success": True, "strong_signal": True,
        "source": "person", "context": "CI 通过", "client": "mem-codecli",
    }  # fmt: skip
    call("memory", "validate", "--qa-id", "qa-01", "--failure")
    assert server.asked[-1].body["success"] is False
    assert server.asked[-1].body["strong_signal"] is False
    said = call("memory", "validate", "--qa-id", "qa-01")
    assert (said.code, said.err.splitlines()[0]) == (2, "error: use --success or --failure")


def test_expire_needs_no_project_and_says_if_there_is_more(
    server: QaEndpoint, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODEXMEM_PROJECT_ID")
    said = call("memory", "expire")
    assert (said.out, said.err) == ("3 expired\n", "there are more; run it again\n")
    assert server.asked[-1].body == {"batch_size": 200}
    call("memory", "expire", "--batch-size", "1000")
    assert server.asked[-1].body == {"batch_size": 1000}
    assert call("memory", "expire", "--batch-size", "1001").code == 2


@pytest.mark.clause(
    "001 §3.2.1", "--project-id wins over CODEXMEM_PROJECT_ID, that over the file; without any nothing is written"
)
def test_a_project_must_be_named(server: QaEndpoint, call: Call, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / ".mem-codecli.toml").write_text('project_id = "of the file"\n')
    call("memory", "search", "--query", "x", "--project-id", "of the flag")
    call("memory", "search", "--query", "x")
    monkeypatch.delenv("CODEXMEM_PROJECT_ID")
    call("memory", "search", "--query", "x")
    assert [asked.body["project_id"] for asked in server.asked] == ["of the flag", "商店", "of the file"]
    (work / ".mem-codecli.toml").unlink()
    said = call("memory", "candidate", "--q", "q", "--a", "a")
    assert said.code == 2
    assert "no project is named" in said.err
    assert "--project-id" in said.err
    assert "没有指明项目" in call("memory", "candidate", "--q", "q", "--a", "a", "--lang", "zh").err
    assert len(server.asked) == 3
    assert call("memory", "search", "--query", "x").code == 0
    assert server.asked[3].body["project_id"] == work.name  # as `run` infers it


@pytest.mark.clause("001 §3.2.2", "--memory-url wins over the configured address")
@pytest.mark.clause("001 §6.2", "MEMORY_API_KEY goes to the memory as a bearer token and nowhere else")
def test_address_and_key_are_as_given(call: Call, server: QaEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM_CODECLI_MEMORY_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("MEMORY_API_KEY", "cm_secret_0123456789")
    said = call("memory", "search", "--query", "x", "--memory-url", server.base)
    assert said.code == 0
    assert server.asked[-1].key == "Bearer cm_secret_0123456789"
    assert "cm_secret" not in said.out + said.err
    said = call("memory", "search", "--query", "x")
    assert said.code == 6
    assert "does not answer" in said.err


def test_without_an_address_the_server_of_this_machine_is_asked(
    call: Call, server: QaEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEM_CODECLI_MEMORY_BASE_URL")
    data = tmp_path / "data"
    data.mkdir()
    (data / "server.json").write_text(f'{{"url": "{server.base}", "pid": 1}}')
    (data / "token").write_text("of this machine\n")
    assert call("memory", "search", "--query", "x").code == 0
    assert server.asked[-1].key == "Bearer of this machine"
    monkeypatch.setenv("MEMORY_API_KEY", "mine")
    call("memory", "search", "--query", "x")
    assert server.asked[-1].key == "Bearer mine"


@pytest.mark.parametrize(
    "reply,code,text",
    [
        (Reply(401, {"error": {"message": "no"}}), 4, "rejected the key"),
        (Reply(404, {"error": {"code": "not_found", "message": "qa-77 is not known"}}), 3, "qa-77 is not known"),
        (Reply(503, {"error": {"message": "starting"}}), 6, "starting"),
        (Reply(200, b"<html>"), 6, "is not a memory server"),
    ],
)
def test_failures_have_their_exit_codes(reply: Reply, code: int, text: str, server: QaEndpoint, call: Call) -> None:
    server.answers = dict.fromkeys(ANSWERS, reply)
    said = call("memory", "validate", "--qa-id", "qa-77", "--success")
    assert (said.code, said.out) == (code, "")
    assert text in said.err
    assert call("memory", "validate", "--qa-id", "qa-77", "--success", "--json").json["error"]["message"]
