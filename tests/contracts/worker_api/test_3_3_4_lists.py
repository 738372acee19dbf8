"""Contract 000 §3.3.4 to §3.3.7: single records and lists."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Seq
from tests._support.recall_endpoint import Endpoint


@pytest.mark.clause("000 §3.3.4", "one observation; 404 names the number")
def test_3_3_4_one_observation(endpoint: Endpoint) -> None:
    made = endpoint.observe("端口", "37877", concepts=("gotcha",))
    reply = endpoint.get(f"/api/observation/{made.seq}")
    assert (reply.status, reply.json["id"], reply.json["title"], reply.json["concepts"]) == (
        200, made.seq, "端口", ["gotcha"],
    )  # fmt: skip
    assert "score" not in reply.json
    for missing in (10**9, 0, -3, endpoint.ask("not an observation").seq):
        reply = endpoint.get(f"/api/observation/{missing}")
        assert (reply.status, reply.json["error"]) == (404, f"Observation #{missing} not found")
    endpoint.real.memories.delete(Seq(made.seq), frozenset({Kind.OBSERVATION}), WriteContext("test"))
    assert endpoint.get(f"/api/observation/{made.seq}").status == 404


@pytest.mark.clause("000 §4.1", "a number that is none, or does not fit, is 400")
@pytest.mark.parametrize("number", ["x", "1.5", str(2**63)])
def test_4_1_what_is_no_number_is_400(endpoint: Endpoint, number: str) -> None:
    assert endpoint.get(f"/api/observation/{number}").status == 400


def test_a_summary_and_a_prompt_can_be_read_by_number(endpoint: Endpoint) -> None:
    summary, prompt = (
        endpoint.summarize("ship it", learned="slowly", next_steps="rest"),
        endpoint.ask("你好?", number=4),
    )
    row = endpoint.get(f"/api/session/{summary.seq}").json
    assert (row["request"], row["learned"], row["next_steps"], row["session_id"]) == ("ship it", "slowly", "rest", "s1")
    row = endpoint.get(f"/api/prompt/{prompt.seq}").json
    assert (row["prompt_text"], row["prompt_number"], row["content_session_id"]) == ("你好?", 4, "s1")
    for path, said in (("session", "Session"), ("prompt", "Prompt")):
        reply = endpoint.get(f"/api/{path}/99999999")
        assert (reply.status, reply.json["error"]) == (404, f"{said} #99999999 not found")


@pytest.mark.clause("000 §3.3.5", "pages of observations, newest first, 20 unless told otherwise, by project")
@pytest.mark.clause("000 §3.3.6", "pages of summaries, newest first, 20 unless told otherwise, by project")
@pytest.mark.clause("000 §3.3.7", "pages of prompts, newest first, 20 unless told otherwise, by project")
@pytest.mark.parametrize("path, write", [
    ("/api/observations", "observe"), ("/api/summaries", "summarize"), ("/api/prompts", "ask"),
])  # fmt: skip
def test_3_3_5_to_7_lists(endpoint: Endpoint, path: str, write: str) -> None:
    made = [getattr(endpoint, write)(f"m{number}", minute=number) for number in range(23)]
    other = getattr(endpoint, write)("x", project="other", minute=99)
    for noise in {"observe", "summarize", "ask"} - {write}:
        getattr(endpoint, noise)("another kind", minute=50)
    seqs = [other.seq, *(memory.seq for memory in reversed(made))]

    def page(**query: Any) -> tuple[list[int], bool]:
        reply = endpoint.get(path, **query)
        assert reply.status == 200, reply.body
        assert set(reply.json) == {"items", "hasMore", "offset", "limit"}
        return [row["id"] for row in reply.json["items"]], reply.json["hasMore"]

    assert page() == (seqs[:20], True)
    assert page(offset=20) == (seqs[20:], False)
    assert page(limit=4, offset=20) == (seqs[20:24], False)
    assert page(limit=100, project="demo") == (seqs[1:], False)
    assert page(project="none") == ([], False)
    assert page(offset=5000) == ([], False)


@pytest.mark.clause("000 §4.1", "pages beyond what is bounded are 400")
@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 101}, {"offset": -1}, {"offset": 10_001}, {"limit": "x"}])
def test_4_1_pages_are_bounded(endpoint: Endpoint, wrong: dict[str, Any]) -> None:
    reply = endpoint.get("/api/observations", **wrong)
    assert reply.status == 400
    assert reply.json["error"].startswith(next(iter(wrong)))


def test_a_private_prompt_has_a_row_and_no_text(endpoint: Endpoint) -> None:
    endpoint.ask("", private=True, number=7)
    (row,) = endpoint.get("/api/prompts").json["items"]
    assert (row["prompt_text"], row["private"], row["prompt_number"]) == ("", True, 7)
