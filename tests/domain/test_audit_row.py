"""What is recorded of a request: the contract's fields, nothing secret, nothing that breaks a line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.audit import chain as audit
from codexmem.audit import chain as audit_row
from codexmem.kernel.model.tool_access import Cause, Risk, ToolDecision, ToolRequest, Verdict

KEY = b"k" * 32
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def recorded(request: ToolRequest, decision: ToolDecision | None = None) -> dict[str, Any]:
    decision = decision or ToolDecision(Verdict.DENY, "no", "deny[0]", cause=Cause.RULE_DENIES, argument_hash="ab")
    fields = audit_row.request_fields(request, decision, Risk.EXECUTE, KEY)
    line, _ = audit.sealed(audit_row.stamped(fields, 1_767_225_600_123, "run-1", "项目"), 1, audit.GENESIS, KEY)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert all(32 <= byte < 127 for byte in line[:-1])
    row: dict[str, Any] = json.loads(line)
    return row


@pytest.mark.clause("001 §5.4", "timestamp run_id project_id tool arguments decision reason of every request")
def test_a_request_has_the_contracts_fields() -> None:
    row = recorded(ToolRequest("Bash", command="rm -rf build", cwd="/shop", call_id="c1", agent="codex"))
    assert row["timestamp"] == "2026-01-01T00:00:00.123Z"
    assert (row["run_id"], row["project_id"], row["tool"], row["risk"]) == ("run-1", "项目", "Bash", "execute")
    assert row["arguments"] == {"command": "rm -rf build"}
    assert (row["decision"], row["reason"], row["rule"], row["by"]) == ("deny", "no", "deny[0]", "policy")
    assert (row["call_id"], row["agent"], row["cause"], row["kind"]) == ("c1", "codex", "rule-denies", "request")


@pytest.mark.clause("001 §5.4", "the result (success or failure) and duration_ms")
def test_a_result_has_the_contracts_fields() -> None:
    fields = audit_row.result_fields("c1", "Bash", ok=False, took_ms=12)
    assert fields == {"kind": "result", "call_id": "c1", "tool": "Bash", "result": "failure", "duration_ms": 12}


@pytest.mark.parametrize(
    "request_",
    [
        ToolRequest("Bash", command=f"curl -H 'Authorization: Bearer {SECRET}' x"),
        ToolRequest("Write", arguments={"content": f"key = {SECRET}", "nested": [{"password": "hunter2hunter2"}]}),
        ToolRequest(SECRET), ToolRequest("x", server=SECRET), ToolRequest("x", urls=(f"https://u:{SECRET}@h/",)),
        ToolRequest("Write", arguments={"content": "x" * 200 + SECRET + "y" * 100_000}),
    ],
)  # fmt: skip
def test_no_secret_is_recorded(request_: ToolRequest) -> None:
    decision = ToolDecision(Verdict.ASK, f"because {SECRET}", argument_hash="ab")
    text = json.dumps(recorded(request_, decision))
    assert SECRET[:20] not in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    "value",
    [
        "a\r\nb\x1b[2J\x00\u2028\u202e", {"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}}, ["x" * 10_000] * 10_000,
        {str(number): "y" * 1_000 for number in range(5_000)}, float("nan"), float("inf"), 10**40, object(), "\ud800",
        {"k\n": b"bytes"}, None, True,
    ],
)  # fmt: skip
def test_whatever_the_arguments_are_the_row_is_one_short_line(value: object) -> None:
    row = recorded(ToolRequest("x\ny\x1b[0m", arguments=value, call_id="c" * 9_999, paths=("p" * 9_999,) * 99))
    line, _ = audit.sealed(row, 1, audit.GENESIS, KEY)
    assert len(line) < 16_384


def test_the_hash_of_the_arguments_cannot_be_found_by_trying_without_the_key() -> None:
    decision = ToolDecision(Verdict.ALLOW, "", argument_hash="ab")
    request = ToolRequest("x")
    one, two = (audit_row.request_fields(request, decision, None, key) for key in (KEY, b"other"))
    assert one["arguments_hash"] != two["arguments_hash"]
    assert one["arguments_hash"] != "ab"
