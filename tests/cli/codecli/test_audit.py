"""`mem-codecli audit`: looking through the log of this machine, checking it, and sending it to a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.gate import Gate
from codexmem.codecli.policy.deciding import Policy
from codexmem.kernel.model.tool_access import ToolRequest
from tests.cli.conftest import Call


@pytest.fixture
def log(home: Path) -> AuditLog:
    """Three requests, two of them with results."""
    log = AuditLog(home / ".local" / "state" / "mem-codecli" / "audit", sync=lambda _: None)
    gate = Gate(Policy.parse(["Bash"], ["Write"]), "auto", None, log, run_id="run-1", project_id="shop")
    gate.decide(ToolRequest("Bash", command="echo 你好\x1b[2J", call_id="c1"))
    gate.ended("c1", ok=True, took_ms=12)
    gate.decide(ToolRequest("Write", paths=("/etc/hosts",)))
    gate.started(ToolRequest("Read", paths=("/shop/a",), call_id="c2"))
    gate.ended("c2", ok=False, took_ms=3)
    return log


@pytest.mark.clause("001 §1.2.3", "requests for tools can be looked up and audited")
def test_ls_shows_requests_with_decision_and_result(log: AuditLog, call: Call) -> None:
    lines = call("audit", "ls").out.splitlines()
    assert [line.split()[0] for line in lines] == ["4", "3", "1"]
    assert "not asked" in lines[0]
    assert "failure 3 ms" in lines[0]
    assert ("deny" in lines[1], "/etc/hosts" in lines[1]) == (True, True)
    assert ("allow" in lines[2], "success 12 ms" in lines[2], "\x1b" in lines[2]) == (True, True, False)
    items = call("audit", "ls", "--json").json["items"]
    assert [(item["seq"], item["result"], item["duration_ms"]) for item in items] == [
        (4, "failure", 3), (3, None, None), (1, "success", 12),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "args,seqs",
    [
        (["--tool", "bash"], [1]), (["--decision", "deny"], [3]), (["--limit", "1"], [4]), (["--run-id", "run-2"], []),
        (["--project-id", "shop", "--decision", "allow"], [1]),
    ],
)  # fmt: skip
def test_ls_shows_only_what_is_asked_for(log: AuditLog, call: Call, args: list[str], seqs: list[int]) -> None:
    assert [item["seq"] for item in call("audit", "ls", *args, "--json").json["items"]] == seqs


def test_show_tells_all_that_is_recorded(log: AuditLog, call: Call) -> None:
    told = call("audit", "show", "1", "--json").json
    assert (told["tool"], told["decision"], told["result"], told["duration_ms"]) == ("Bash", "allow", "success", 12)
    assert "run_id: run-1" in call("audit", "show", "1").out
    assert "\x1b" not in call("audit", "show", "1").out
    missing = call("audit", "show", "99", "--lang", "zh")
    assert (missing.code, "没有第 99 行" in missing.err) == (3, True)


def test_verify_says_whether_and_where(log: AuditLog, call: Call) -> None:
    assert call("audit", "verify").out == "5 rows, unchanged\n"
    text = log.path.read_bytes()
    log.path.write_bytes(text.replace(b"/etc/hosts", b"/tmp/hosts", 1))
    said = call("audit", "verify")
    assert (said.code, said.out) == (1, "a row was changed (audit.jsonl, line 3, row 3)\n")
    assert "the 2 rows before it" in said.err
    told = call("audit", "verify", "--json")
    assert (told.code, told.json["bad"]["seq"], told.json["ok"]) == (1, 3, False)
    assert call("audit", "verify", "--lang", "zh").out.startswith("有一行被改动")
    log.path.write_bytes(text + b'{"seq":6')
    assert "incomplete" in call("audit", "verify").err


def test_nothing_recorded_is_told(home: Path, call: Call) -> None:
    assert "no entries" in call("audit", "ls").err
    assert call("audit", "verify").code == 0
    assert not (home / ".local").exists()


def test_push_says_when_there_is_no_server(log: AuditLog, call: Call) -> None:
    said = call("audit", "push")
    assert (said.code, "does not answer" in said.err) == (6, True)
