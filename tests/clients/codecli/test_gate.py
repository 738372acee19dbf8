"""The gate: policy, then a person, and a record of everything; nothing passes because something else is broken."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from codexmem.codecli import gate as gates
from codexmem.codecli.asking_person import ApprovalAnswer, ApprovalQuestion
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.configuration import AuditConfig, Config, PolicyConfig
from codexmem.codecli.gate import Gate, gate_of
from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.names import Around
from codexmem.codecli.remembered_permissions import Always
from codexmem.kernel.model.tool_access import Cause, Risk, ToolRequest, Verdict

ALLOW, DENY = Verdict.ALLOW, Verdict.DENY


class Somebody:
    """Answers as told, and remembers what was asked."""

    def __init__(self, *answers: ApprovalAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[ApprovalQuestion] = []

    def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.asked.append(question)
        return self.answers.pop(0)


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path / "state" / "audit", sync=lambda _: None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path


def policy(allow: Any = (), deny: Any = (), ask: Any = (), max_risk: str = "read") -> Policy:
    return Policy.parse(allow, deny, ask, max_risk=max_risk, around=Around("/shop", "/home/u"))


@pytest.mark.clause("001 §3.2.7", "--audit prompt: policy decides, and a person where it says ask")
def test_prompt_asks_a_person_where_the_policy_says_ask(log: AuditLog) -> None:
    person = Somebody(
        ApprovalAnswer(True),
        ApprovalAnswer(False),
        ApprovalAnswer(False, reason="改用 trash"),
        ApprovalAnswer(False, late=True),
    )
    gate = Gate(policy(deny=["Write"]), "prompt", person, log)
    request = ToolRequest("Bash", command="rm -rf build", cwd="/shop")
    decisions = [gate.decide(request) for _ in range(4)]
    assert [each.verdict for each in decisions] == [ALLOW, DENY, DENY, DENY]
    assert [each.by for each in decisions] == ["person"] * 4
    assert decisions[2].reason == "A person denied it: 改用 trash"
    assert decisions[3].cause is Cause.TIMED_OUT
    assert (person.asked[0].what, person.asked[0].risk) == ("Bash: rm -rf build", "execute")
    assert gate.decide(ToolRequest("Read")).verdict is ALLOW
    assert gate.decide(ToolRequest("Write")).verdict is DENY
    assert len(person.asked) == 4, "nobody is asked about what the policy decides"
    assert [each["decision"] for each in log.rows()] == ["allow", "deny", "deny", "deny", "allow", "deny"]


@pytest.mark.clause("001 §3.2.7", "--audit auto: the policy decides alone, and what it would ask is denied")
def test_auto_asks_nobody(log: AuditLog) -> None:
    person = Somebody()
    decision = Gate(policy(), "auto", person, log).decide(ToolRequest("Bash", command="ls"))
    assert (decision.verdict, decision.cause) == (DENY, Cause.NOBODY_ASKED)
    assert "auto" in decision.reason
    assert person.asked == []


@pytest.mark.clause("001 §3.2.7", "--audit off: nothing is held back")
def test_off_holds_nothing_back(log: AuditLog) -> None:
    gate = Gate(policy(deny=["*"]), "off", None, log)
    decision = gate.decide(ToolRequest("Bash", command="rm -rf /"))
    assert (decision.verdict, decision.cause) == (ALLOW, Cause.OFF)
    assert Gate(policy(deny=["*"]), "off").decide(ToolRequest("Bash")).verdict is ALLOW


@pytest.mark.parametrize("person", [None, Somebody(ApprovalAnswer(False, absent=True))])
def test_without_a_terminal_ask_is_deny(person: Somebody | None) -> None:
    decision = Gate(policy(), "prompt", person).decide(ToolRequest("Bash", command="ls"))
    assert (decision.verdict, decision.by, decision.cause) == (DENY, "no-terminal", Cause.NO_TERMINAL)
    assert "no terminal" in decision.reason
    assert "another way" in decision.reason


@pytest.mark.clause(
    "001 §5.4", "every request with run_id, project_id, decision and reason, its result and duration_ms"
)
def test_everything_is_recorded_and_the_end_of_a_tool_too(log: AuditLog) -> None:
    gate = Gate(policy(["Bash"]), "auto", None, log, run_id="run-9", project_id="项目")
    gate.decide(ToolRequest("Bash", command="make test", call_id="c1", agent="codex"))
    gate.started(ToolRequest("Bash", command="make test", call_id="c1"))
    gate.ended("c1", ok=True)
    gate.started(ToolRequest("Read", paths=("/shop/a",), call_id="c2"))
    gate.ended("c2", ok=False, took_ms=77)
    rows = list(log.rows())
    assert [each["kind"] for each in rows] == ["request", "result", "started", "result"]
    request, result, started, failed = rows
    assert (request["run_id"], request["project_id"], request["tool"]) == ("run-9", "项目", "Bash")
    assert (request["decision"], request["rule"], request["arguments"]) == (
        "allow",
        "allow[0]",
        {"command": "make test"},
    )
    assert request["reason"].startswith("Allowed by allow[0]")
    assert (result["call_id"], result["tool"], result["result"]) == ("c1", "Bash", "success")
    assert 0 <= result["duration_ms"] < 10_000
    assert (started["tool"], started["risk"], "decision" in started) == ("Read", "read", False)
    assert (failed["result"], failed["duration_ms"]) == ("failure", 77)
    assert log.verify().ok


def test_what_cannot_be_recorded_is_denied_unless_it_only_reads(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("a file where the folder should be")
    told: list[str] = []
    gate = Gate(policy(["*"]), "auto", None, AuditLog(tmp_path / "audit"), note=told.append)
    decision = gate.decide(ToolRequest("Write", paths=("/shop/a",)))
    assert (decision.verdict, decision.cause) == (DENY, Cause.NOT_RECORDED)
    assert gate.decide(ToolRequest("mcp__x__y")).verdict is DENY
    assert gate.decide(ToolRequest("Read", paths=("/shop/a",))).verdict is ALLOW
    gate.started(ToolRequest("Read"))
    gate.ended("c", ok=True)
    assert len(told) == 1, "a person is told once"


def test_whatever_breaks_nothing_passes_and_nothing_is_raised(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    class Rude:
        def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
            raise RuntimeError("gone")

    decision = Gate(policy(), "prompt", Rude(), log).decide(ToolRequest("Bash"))
    assert (decision.verdict, decision.cause) == (DENY, Cause.BROKEN)
    hostile = ToolRequest("\ud800\x00", arguments=object(), paths=("\0",), urls=("http://[",), command="'")
    assert Gate(policy(["*"], ["path:/etc"]), "auto", None, log).decide(hostile).verdict is DENY
    assert log.verify().ok


def test_always_is_kept_for_the_project_and_for_no_other(home: Path, log: AuditLog) -> None:
    work = home / "work"
    always = Always(work, home / "state")
    person = Somebody(ApprovalAnswer(True, always=True), ApprovalAnswer(False))
    gate = Gate(policy(), "prompt", person, log, always=always)
    request = ToolRequest("Bash", command="npm test; echo $?", cwd=str(work))
    assert gate.decide(request).verdict is ALLOW
    assert person.asked[0].always == ['tool = "bash", command_line = "npm test; echo $?"']
    assert gate.decide(request).cause is Cause.RULE_ALLOWS, "the same is not asked again"
    assert gate.decide(ToolRequest("Bash", command="npm test; rm -rf ~", cwd=str(work))).verdict is DENY
    assert len(person.asked) == 2
    assert Always(work, home / "state").rules() == [{"tool": "bash", "command_line": "npm test; echo $?"}]
    assert Always(home, home / "state").rules() == []
    assert not list(work.rglob("*.json")), "nothing is written into the checkout"
    assert always.forget(0) == {"tool": "bash", "command_line": "npm test; echo $?"}
    assert (always.rules(), always.forget(0)) == ([], None)


@pytest.mark.parametrize(
    "request_,rules",
    [
        (ToolRequest("Write", paths=("src/a.py",)), [{"tool": "write", "path": "ROOT"}]),
        (ToolRequest("Write", paths=("/elsewhere/a.py",)), [{"tool": "write", "path": "/elsewhere/a.py"}]),
        (ToolRequest("WebFetch", urls=("https://Example.com/x",)), [{"tool": "webfetch", "domain": "example.com"}]),
        (ToolRequest("get", server="github"), [{"tool": "mcp__github__get"}]),
        (ToolRequest("frob"), [{"tool": "frob"}]), (ToolRequest("fr*b"), []), (ToolRequest("Вash"), []),
        (ToolRequest("Bash", command="ls", from_text=True), []),
        (ToolRequest("WebFetch", urls=("https://a@b.com/",)), []),
    ],
)  # fmt: skip
def test_always_is_as_narrow_as_what_was_seen(home: Path, request_: ToolRequest, rules: list[dict[str, str]]) -> None:
    root = str(home / "work")
    person = Somebody(ApprovalAnswer(True))
    gate = Gate(policy(max_risk="none"), "prompt", person, always=Always(home / "work", home / "state"))
    request = ToolRequest(
        request_.tool, request_.server, command=request_.command, paths=request_.paths, urls=request_.urls, cwd=root,
        from_text=request_.from_text,
    )  # fmt: skip
    gate.decide(request)
    shown = [", ".join(f'{name} = "{value}"' for name, value in rule.items()).replace("ROOT", root) for rule in rules]
    assert list(person.asked[0].always) == shown


def test_always_is_not_offered_where_it_would_not_help(home: Path) -> None:
    person = Somebody(ApprovalAnswer(True))
    gate = Gate(policy(ask=["Bash"]), "prompt", person, always=Always(home / "work", home / "state"))
    gate.decide(ToolRequest("Bash", command="ls"))
    assert list(person.asked[0].always) == []


def test_another_checkout_cannot_take_over_what_was_allowed(home: Path) -> None:
    mine, theirs = Always(home / "work", home / "state"), Always(home / "other", home / "state")
    mine.add({"tool": "bash"})
    theirs.folder.mkdir(parents=True)
    for path in mine.folder.iterdir():
        (theirs.folder / path.name).write_bytes(path.read_bytes())
    assert (mine.rules(), theirs.rules()) == ([{"tool": "bash"}], [])
    (mine.folder / "0-broken.json").write_text("{")
    assert mine.rules() == [{"tool": "bash"}]


def test_the_configured_gate_guards_its_own_files(home: Path) -> None:
    config = Config(project_id="p", audit=AuditConfig("auto"), policy=PolicyConfig(allowlist=("*",)))
    gate = gate_of(config, cwd=str(home / "work"), run_id="r")
    state, user = home / "state" / "mem-codecli", home / "config" / "mem-codecli"
    for path in (state / "audit" / "key", state / "always" / "x.json"):
        assert gate.decide(ToolRequest("Read", paths=(str(path),))).verdict is DENY
        assert gate.decide(ToolRequest("Bash", command=f"cat {path}", cwd="/")).verdict is DENY
    assert gate.decide(ToolRequest("Write", paths=(str(user / "config.toml"),))).verdict is DENY
    assert gate.decide(ToolRequest("Read", paths=(str(user / "config.toml"),))).verdict is ALLOW
    link = home / "work" / "link"
    link.symlink_to(state)
    assert gate.decide(ToolRequest("Read", paths=(str(link / "audit" / "key"),))).verdict is DENY
    assert (state / "audit" / "audit.jsonl").exists()


def test_rules_that_cannot_be_read_let_nothing_through(home: Path) -> None:
    told: list[str] = []
    config = Config(audit=AuditConfig("auto"), policy=PolicyConfig(allowlist=("risk:huge",), max_risk="execute"))
    gate = gate_of(config, cwd=str(home / "work"), run_id="r", note=told.append)
    assert gate.decide(ToolRequest("Read")).verdict is DENY
    assert "risk class" in told[0]


def test_any_thread_may_ask(log: AuditLog) -> None:
    gate = Gate(policy(["*"]), "auto", None, log)
    threads = [threading.Thread(target=lambda: [gate.decide(ToolRequest("Read")) for _ in range(10)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert (log.verify().ok, log.verify().rows) == (True, 40)


def test_calls_that_never_end_are_not_remembered_for_ever(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "_REMEMBERED", 3)
    gate = Gate(policy(["*"]), "auto")
    for number in range(10):
        gate.decide(ToolRequest("Read", risk=Risk.READ, call_id=str(number)))
    assert list(gate._calls) == ["7", "8", "9"]
