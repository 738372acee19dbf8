"""Contract 001 §3.1: the memory commands, each against the real service on each engine."""

from __future__ import annotations

import pytest

from tests._support.server import Server
from tests.cli.conftest import Call

QUESTION = "How do we deploy the shop?"
ANSWER = "1. Run the checks. 2. Tag the commit. 3. Push the tag. Note: never tag while a check fails."


def kept(call: Call, question: str = QUESTION, answer: str = ANSWER, *more: str) -> str:
    said = call("memory", "candidate", "--q", question, "--a", answer, *more, "--json")
    assert said.code == 0, said.out
    number: str = said.json["qa_id"]
    return number


@pytest.mark.usefixtures("memory")
@pytest.mark.clause("001 §3.1.2", "`memory search --query --limit --min-score` finds what was written, with its anchor")
@pytest.mark.clause("001 §3.1.4", "`memory candidate --q --a` writes a candidate that a search finds")
def test_a_candidate_is_written_and_found(call: Call) -> None:
    qa_id = kept(call, QUESTION, ANSWER, "--tag", "部署", "--confidence", "0.7")
    said = call("memory", "search", "--query", "deploy the shop", "--limit", "3", "--min-score", "0.05", "--json")
    (item,) = said.json["items"]
    assert (item["qa_id"], item["question"], item["answer"]) == (qa_id, QUESTION, ANSWER)
    assert (item["status"], item["tags"], item["anchor"]) == ("candidate", ["部署"], f"[QA_REF {qa_id}]")
    text = call("memory", "search", "--query", "deploy the shop", "--min-score", "0.05").out
    assert f"1. {qa_id}" in text
    assert "(unproven)" in text
    assert call("memory", "search", "--query", "deploy the shop", "--min-score", "1", "--json").json["items"] == []


@pytest.mark.usefixtures("memory")
@pytest.mark.clause("001 §3.1.2", "Chinese is found by Chinese")
def test_chinese_is_found_by_chinese(call: Call) -> None:
    qa_id = kept(call, "如何部署商店？", "1. 运行检查。2. 打标签。3. 推送标签。注意：检查失败时不要打标签。")
    said = call("memory", "search", "--query", "部署商店", "--min-score", "0.05", "--json")
    assert [item["qa_id"] for item in said.json["items"]] == [qa_id]


@pytest.mark.usefixtures("memory")
@pytest.mark.clause("001 §3.1.3", "`memory hit --qa-id` counts what was shown and used, each message once")
def test_hits_are_counted(call: Call) -> None:
    qa_id = kept(call)
    for _ in range(2):
        said = call("memory", "hit", "--qa-id", qa_id, "--used", "--message-id", "m-1", "--context", "section:design")
        assert said.code == 0
    said = call("memory", "search", "--query", "deploy the shop", "--min-score", "0", "--json")
    assert said.json["items"][0]["hits"] == {"shown": 1, "used": 1}
    said = call("memory", "hit", "--qa-id", "qa-nobody")
    assert (said.code, said.err) == (3, "not known in this project: qa-nobody\n")


@pytest.mark.usefixtures("memory")
@pytest.mark.clause("001 §2.2", "validation closes the loop: a candidate that proved right is one no longer")
def test_a_strong_validation_proves_a_candidate(call: Call) -> None:
    qa_id = kept(call)
    said = call("memory", "validate", "--qa-id", qa_id, "--success", "--strong", "--json")
    assert (said.code, said.json["status"]) == (0, "validated")
    text = call("memory", "search", "--query", "deploy the shop", "--min-score", "0").out
    assert "validated" in text
    assert "(unproven)" not in text
    assert call("memory", "validate", "--qa-id", "qa-nobody", "--failure").code == 3


@pytest.mark.usefixtures("memory")
def test_old_candidates_can_be_let_expire(call: Call) -> None:
    said = call("memory", "expire", "--batch-size", "10", "--json")
    assert said.code == 0
    assert isinstance(said.json["expired"], int)


@pytest.mark.clause(
    "001 §6.2", "without the key, and with a wrong one, the memory is closed; with MEMORY_API_KEY it opens"
)
def test_the_key_opens_the_memory(call: Call, memory: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    if memory.key is None:
        assert call("memory", "search", "--query", "x").code == 0  # one developer's own server asks for none
        return
    assert call("memory", "search", "--query", "x").code == 0
    monkeypatch.setenv("MEMORY_API_KEY", "cm_wrong_0123456789")
    said = call("memory", "search", "--query", "x")
    assert said.code == 4
    assert "MEMORY_API_KEY" in said.err
    assert "cm_wrong" not in said.out + said.err
    monkeypatch.delenv("MEMORY_API_KEY")
    assert call("memory", "search", "--query", "x").code == 4


@pytest.mark.clause("001 §3.1.5", "doctor against the real service: server, authentication and one round trip are well")
def test_doctor_is_content_with_the_real_service(call: Call, memory: Server) -> None:
    checks = {each["check"]: each["state"] for each in call("doctor", "--json").json["checks"]}
    for check in ("configuration", "project", "server", "tls", "authentication", "round_trip"):
        assert checks[check] == "ok", check
