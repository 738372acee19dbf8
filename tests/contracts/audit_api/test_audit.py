"""Contract 001 §5.4 at the server: what wrappers record can be taken in and looked through. Rows are real ones."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from codexmem.audit import chain as audit
from codexmem.audit.wire import AuditPage
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.gate import Gate
from codexmem.codecli.policy.deciding import Policy
from codexmem.http.moments import iso
from codexmem.kernel.model.tool_access import ToolRequest
from tests._support.server import Reply, Server
from tests._support.waiting import eventually

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


class Wrapper:
    """A wrapper's own log, made by its gate."""

    def __init__(self, folder: Path, project: str) -> None:
        self.log = AuditLog(folder / "audit", sync=lambda _: None)
        self.project = project
        self.gate = Gate(Policy.parse(["Bash"], ["Write"]), "auto", None, self.log, run_id="run-1", project_id=project)

    @property
    def id(self) -> str:
        return audit.seal(b"log", self.log.key())[:32]

    def use(self, count: int = 3) -> list[dict[str, Any]]:
        for number in range(count):
            call = f"c{number}"
            self.gate.decide(ToolRequest("Bash", command=f"echo {number} 你好", call_id=call, agent="codex"))
            self.gate.ended(call, ok=number % 2 == 0, took_ms=number)
            self.gate.decide(ToolRequest("Write", paths=("/etc/passwd",)))
        return list(self.log.rows())


@pytest.fixture
def wrapper(tmp_path: Path, project: str) -> Wrapper:
    return Wrapper(tmp_path, project)


def send(api: Server, log: str, rows: list[dict[str, Any]], headers: dict[str, str] | None = None) -> Reply:
    return api.post("/v1/audit", {"log": log, "rows": rows}, headers)


def look(api: Server, query: str) -> Any:
    reply = api.request("GET", f"/v1/audit?{query}")
    assert reply.status == 200, reply.body
    return reply.json


@pytest.mark.clause(
    "001 §5.4",
    "the server takes in timestamp, run_id, project_id, tool, arguments, decision, reason, result, duration_ms",
)
def test_rows_are_taken_in_once_and_shown_newest_first(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use()
    assert send(api, wrapper.id, rows).json == {"accepted": 9, "deduped": 0, "broken": [], "forked": []}
    assert send(api, wrapper.id, rows).json == {"accepted": 0, "deduped": 9, "broken": [], "forked": []}
    assert send(api, wrapper.id, []).json == {"accepted": 0, "deduped": 0, "broken": [], "forked": []}
    shown = look(api, f"project_id={wrapper.project}")
    assert [each["seq"] for each in shown["items"]] == list(range(9, 0, -1))
    first = shown["items"][-1]
    assert {name: first[name] for name in rows[0]} == rows[0]
    assert (first["chain"], first["log"]) == ("follows", wrapper.id)
    assert all(
        name in first for name in ("timestamp", "run_id", "project_id", "tool", "arguments", "decision", "reason")
    )
    assert (shown["items"][-2]["result"], shown["items"][-2]["duration_ms"]) == ("success", 0)
    assert (shown["next"], shown["truncated"]) == (None, False)


@pytest.mark.parametrize(
    "query,seqs",
    [
        ("tool=BASH", [8, 7, 5, 4, 2, 1]), ("decision=deny", [9, 6, 3]), ("kind=result", [8, 5, 2]),
        ("run_id=run-1&decision=allow", [7, 4, 1]), ("tool=none", []), ("chain=broken", []),
    ],
)  # fmt: skip
def test_rows_are_found_by_their_fields(api: Server, wrapper: Wrapper, query: str, seqs: list[int]) -> None:
    send(api, wrapper.id, wrapper.use())
    assert [each["seq"] for each in look(api, f"project_id={wrapper.project}&{query}")["items"]] == seqs


def test_pages_go_on_where_the_last_ended(api: Server, wrapper: Wrapper) -> None:
    send(api, wrapper.id, wrapper.use())
    seen: list[int] = []
    cursor = ""
    while True:
        page = look(api, f"project_id={wrapper.project}&limit=4{cursor}")
        seen += [each["seq"] for each in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == list(range(9, 0, -1))


def test_a_log_may_come_in_several_batches_and_overlap(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use()
    assert send(api, wrapper.id, rows[:4]).json["accepted"] == 4
    told = send(api, wrapper.id, rows[2:]).json
    assert (told["accepted"], told["deduped"], told["broken"]) == (5, 2, [])


def test_rows_that_were_left_out_or_changed_are_kept_and_marked(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use()
    send(api, wrapper.id, rows[:2])
    later = send(api, wrapper.id, rows[5:]).json
    assert (later["accepted"], later["broken"]) == (4, [])
    chains = [each["chain"] for each in look(api, f"project_id={wrapper.project}")["items"]]
    assert chains == ["follows", "follows", "follows", "unknown", "follows", "follows"]
    moved = [{**rows[2], "prev": "f" * 64}]
    assert send(api, wrapper.id, moved).json["broken"] == [3]


def test_a_log_that_was_rewritten_is_told(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use()
    send(api, wrapper.id, rows)
    told = send(api, wrapper.id, [{**rows[3], "decision": "deny", "hash": "e" * 64}]).json
    assert (told["accepted"], told["forked"]) == (1, [4])
    again = send(api, wrapper.id, [{**rows[3], "decision": "deny", "hash": "e" * 64}]).json
    assert (again["accepted"], again["deduped"]) == (0, 1)
    kept = [each for each in look(api, f"project_id={wrapper.project}")["items"] if each["seq"] == 4]
    assert sorted((each["chain"], each["decision"]) for each in kept) == [("follows", "allow"), ("forked", "deny")]


def test_secrets_are_masked_again(api: Server, wrapper: Wrapper) -> None:
    row = {**wrapper.use(1)[0], "arguments": {"command": f"curl -H 'Authorization: Bearer {SECRET}'"}, "reason": SECRET}
    send(api, wrapper.id, [row])
    body = api.request("GET", f"/v1/audit?project_id={wrapper.project}").body.decode()
    assert "curl" in body
    assert SECRET[:16] not in body


def test_two_batches_at_once_are_taken_in_once(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use(10)
    replies: list[Reply] = []
    sending = [threading.Thread(target=lambda: replies.append(send(api, wrapper.id, rows))) for _ in range(4)]
    for each in sending:
        each.start()
    for each in sending:
        each.join(30)
    assert sorted(each.json["accepted"] for each in replies) == [0, 0, 0, 30]
    assert len(look(api, f"project_id={wrapper.project}&limit=500")["items"]) == 30


def test_an_idempotency_key_gives_the_same_answer_again(api: Server, wrapper: Wrapper) -> None:
    rows, headers = wrapper.use(1), {"Idempotency-Key": wrapper.project}
    first = send(api, wrapper.id, rows, headers).json
    assert send(api, wrapper.id, rows, headers).json == first
    assert send(api, wrapper.id, rows[:1], headers).status == 409


@pytest.mark.parametrize(
    "broken",
    [
        {"seq": 0}, {"seq": "1"}, {"hash": "x"}, {"prev": None}, {"kind": "other"}, {"decision": "maybe"},
        {"risk": "huge"}, {"tool": "x" * 500}, {"arguments": {"a": "x" * 20_000}}, {"arguments": [1]},
        {"duration_ms": -1}, {"unknown": 1}, {"chain": "follows"}, {"actor": "me"},
    ],
)  # fmt: skip
def test_a_row_that_is_none_is_refused_and_nothing_is_kept(
    api: Server, wrapper: Wrapper, broken: dict[str, Any]
) -> None:
    rows = wrapper.use(1)
    reply = send(api, wrapper.id, [rows[0], {**rows[1], **broken}])
    assert reply.status == 400
    assert reply.json["error"]
    assert look(api, f"project_id={wrapper.project}")["items"] == []


def test_a_batch_is_bounded_and_in_order(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use(1)
    assert send(api, wrapper.id, [{**rows[0], "seq": number + 1} for number in range(501)]).status == 400
    assert send(api, wrapper.id, [rows[1], rows[0]]).status == 400
    assert send(api, "not-hex", rows).status == 400


def test_rows_are_found_by_when_they_arrived(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use(1)
    send(api, wrapper.id, rows[:1])
    first = look(api, f"project_id={wrapper.project}")["items"][0]["received_at_ms"]
    eventually(lambda: time.time_ns() // 1_000_000 > first + 1)
    send(api, wrapper.id, rows[1:])
    mine = f"project_id={wrapper.project}"
    assert [each["seq"] for each in look(api, f"{mine}&to={first}")["items"]] == [1]
    assert [each["seq"] for each in look(api, f"{mine}&from={first + 1}")["items"]] == [3, 2]
    today = iso(first)[:10]
    page = look(api, f"{mine}&from={today}&to=2999-01-01&limit=2")
    assert [each["seq"] for each in page["items"]] == [3, 2]
    rest = look(api, f"{mine}&from={today}&to=2999-01-01&cursor={page['next']}")
    assert [each["seq"] for each in rest["items"]] == [1]
    assert look(api, f"{mine}&to=2020-01-01")["items"] == []
    for query in ("from=soon", "from=2026-01-02&to=2026-01-01"):
        assert api.request("GET", f"/v1/audit?{query}").status == 400


def test_pages_are_as_described(api: Server, wrapper: Wrapper) -> None:
    send(api, wrapper.id, wrapper.use())
    page = look(api, f"project_id={wrapper.project}")
    shown = AuditPage.model_validate(page)
    assert [each.seq for each in shown.items] == list(range(9, 0, -1))
    assert shown.model_dump(exclude_unset=True) == page


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "cursor=x", "cursor=1-", "decision=maybe", "who=me"])
def test_a_question_that_is_none_is_refused(api: Server, query: str) -> None:
    assert api.request("GET", f"/v1/audit?{query}").status == 400


def test_other_tenants_and_other_logs_do_not_meet(api: Server, wrapper: Wrapper, tmp_path: Path) -> None:
    rows = wrapper.use(1)
    other = Wrapper(tmp_path / "other", wrapper.project)
    assert send(api, wrapper.id, rows).json["accepted"] == 3
    assert send(api, other.id, other.use(1)).json == {"accepted": 3, "deduped": 0, "broken": [], "forked": []}
    if api.key is not None:
        nobody = api.request("GET", "/v1/audit", headers={"Authorization": "Bearer cmk_" + "0" * 64})
        assert nobody.status == 401


def test_an_act_is_one_row_with_its_outcome_and_no_page_loses_or_repeats_one(api: Server, wrapper: Wrapper) -> None:
    rows = wrapper.use(7)
    send(api, wrapper.id, rows)
    asked = f"project_id={wrapper.project}&outcomes=true"
    whole = AuditPage.model_validate(look(api, asked)).items
    assert [row.seq for row in whole] == [each["seq"] for each in reversed(rows) if each["kind"] == "request"]
    ended = {row.call_id: (row.outcome.result, row.outcome.duration_ms) for row in whole if row.outcome}
    assert ended == {f"c{n}": ("success" if n % 2 == 0 else "failure", n) for n in range(7)}
    allowed = AuditPage.model_validate(look(api, f"{asked}&decision=allow")).items
    assert all(row.outcome for row in allowed)
    paged: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        page = look(api, f"{asked}&limit=3{cursor and f'&cursor={cursor}'}")
        paged += [row["seq"] for row in page["items"]]
        cursor = page["next"]
    assert paged == [row.seq for row in whole]
    # Rows of one kind are shown as they are, and so is an outcome whose request is not here.
    assert len(look(api, f"{asked}&kind=result")["items"]) == 7
    (lone,) = [each for each in rows if each["kind"] == "result"][:1]
    send(api, "f" * 32, [lone | {"project_id": f"{wrapper.project}-lone"}])
    assert [row["seq"] for row in look(api, f"project_id={wrapper.project}-lone&outcomes=true")["items"]] == [
        lone["seq"]
    ]
