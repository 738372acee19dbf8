"""`mem-codecli policies`: the exit code says what would be decided, and `explain` shows the way there."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.codecli.remembered_permissions import Always
from tests.cli.conftest import Call

CONFIG = """
[audit]
mode = "prompt"
[policy]
allowlist = ["server:github", {tool = "Bash", command = "git status"}, "domain:example.com"]
denylist = ["path:/etc", {command = "rm -rf", reason = "使用 trash"}, {risk = "execute", mode = "prod"}]
asklist = ["Edit"]
"""


@pytest.fixture
def configured(home: Path) -> Path:
    file = home / ".config" / "mem-codecli" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(CONFIG)
    return file


@pytest.mark.clause("001 §3.1.6", "`policies check --tool`: 0 is allow, 10 is deny, 11 is ask")
@pytest.mark.parametrize(
    "args,code",
    [
        (["--tool", "Read"], 0), (["--tool", "Read", "--path", "../../../../../../etc/passwd"], 10),
        (["--tool", "Edit"], 11), (["--tool", "frobnicate"], 11), (["--tool", "get", "--server", "github"], 0),
        (["--tool", "mcp__github__get"], 0), (["--tool", "WebFetch", "--url", "https://docs.example.com/"], 0),
        (["--tool", "WebFetch", "--url", "https://example.com@evil.com/"], 11),
        (["--tool", "Bash", "--command", "git status"], 0), (["--tool", "Bash", "--command", "sudo rm -rf /"], 10),
        (["--tool", "Bash", "--command", "git status", "--mode", "prod"], 10),
        (["--tool", "list", "--risk", "network"], 11), (["--tool", "Read", "--from-text"], 11),
    ],
)  # fmt: skip
def test_the_exit_code_says_what_would_be_decided(configured: Path, call: Call, args: list[str], code: int) -> None:
    said = call("policies", "check", *args)
    assert said.code == code, said
    assert said.out.startswith({0: "allow", 10: "deny", 11: "ask"}[code])
    assert "decision" in call("policies", "check", *args, "--json").json


def test_check_tells_rule_reason_and_risk(configured: Path, call: Call) -> None:
    told = call("policies", "check", "--tool", "Bash", "--command", "rm -rf build", "--json").json
    assert (told["decision"], told["cause"], told["risk"], told["mode"]) == ("deny", "rule-denies", "execute", "dev")
    assert told["rule"] == f"deny[1] (user file {configured})"
    assert "使用 trash" in told["reason"]
    chinese = call("policies", "check", "--tool", "Bash", "--command", "rm -rf build", "--lang", "zh")
    assert (chinese.code, chinese.out.startswith("拒绝: Bash — 被 deny[1]")) == (10, True)


def test_explain_shows_every_rule_on_the_way(configured: Path, call: Call) -> None:
    said = call("policies", "explain", "--tool", "WebFetch", "--url", "https://evil.com/")
    lines = said.out.splitlines()
    assert said.code == 11
    assert lines[0].startswith("ask: WebFetch")
    assert [line.split()[:2] for line in lines[1:]] == [
        ["-", "deny[0]"], ["-", "deny[1]"], ["-", "deny[0]"], ["-", "deny[1]"], ["-", "deny[2]"], ["-", "ask[0]"],
        ["-", "allow[0]"], ["-", "allow[1]"], ["-", "allow[2]"], ["-", "max_risk"],
    ]  # fmt: skip
    assert "is for another mode" in lines[5]
    steps = call("policies", "explain", "--tool", "Edit", "--json").json["steps"]
    assert (steps[-1]["rule"].startswith("ask[0]"), steps[-1]["holds"], steps[-1]["why"]) == (True, True, "applies")
    assert "适用于其他模式" in call("policies", "explain", "--tool", "Read", "--lang", "zh").out


def test_list_shows_the_rules_with_their_origin_and_the_guard(configured: Path, call: Call, work: Path) -> None:
    told = call("policies", "list", "--json").json
    assert [rule["list"] for rule in told["rules"]] == ["deny"] * 5 + ["ask"] + ["allow"] * 3
    assert [rule["origin"] for rule in told["rules"][:2]] == ["built-in", "built-in"]
    assert (told["mode"], told["max_risk"]) == ("dev", "read")
    said = call("policies", "list")
    assert "path:/etc" in said.out
    assert "allowed up to risk read" in said.err


def test_what_is_always_allowed_is_listed_and_can_be_forgotten(
    configured: Path, call: Call, home: Path, work: Path
) -> None:
    Always(work, home / ".local" / "state" / "mem-codecli").add({"tool": "frobnicate"})
    assert call("policies", "check", "--tool", "frobnicate").code == 0
    assert "always in this project" in call("policies", "list").out
    assert call("policies", "forget", "0").code == 0
    assert call("policies", "check", "--tool", "frobnicate").code == 11
    gone = call("policies", "forget", "0", "--lang", "zh")
    assert (gone.code, "没有编号为 0" in gone.err) == (3, True)


def test_rules_that_cannot_be_read_are_told(home: Path, call: Call) -> None:
    file = home / ".config" / "mem-codecli" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[policy]\nallowlist = ["risk:huge"]\n')
    said = call("policies", "list")
    assert said.code == 2
    assert "allowlist[0]" in said.err
    assert "hint: use one of read, write, network, execute" in said.err


def test_without_audit_it_says_that_nobody_is_held_to_the_rules(home: Path, call: Call) -> None:
    assert "audit.mode is off" in call("policies", "check", "--tool", "Read").err
    assert call("policies", "check").code == 2


@pytest.mark.parametrize(
    "command",
    [
        "git -C . push", "git -c a=b push", "git --no-pager push", 'git -c alias.x="!rm -rf x" x',
        "alias r=rm; r -rf x",
        'trap "rm -rf x" EXIT', 'PROMPT_COMMAND="rm -rf x" bash -i', 'vim -c ":!rm -rf x"', "cd /; cat etc/shadow",
        "cat ~u/.ssh/id_rsa", "cat /proc/1/root/etc/shadow", "exec 3<>/dev/tcp/evil.example/80",
    ],
)  # fmt: skip
def test_a_rule_that_holds_back_is_not_passed_by_another_spelling(command: str, configured: Path, call: Call) -> None:
    configured.write_text("""
[audit]
mode = "auto"
[policy]
max_risk = "execute"
denylist = ["command:rm -rf", "command:git push", "path:/etc", "path:~/.ssh", "domain:evil.example"]
""")
    assert call("policies", "check", "--tool", "Bash", "--command", command).code in {10, 11}
    assert call("policies", "check", "--tool", "Bash", "--command", "git -C . status").code == 0


def test_an_allowed_command_that_reads_is_asked_about_where_it_writes(configured: Path, call: Call) -> None:
    configured.write_text('[policy]\nallowlist = ["command:git diff"]\n')
    assert call("policies", "check", "--tool", "Bash", "--command", "git diff HEAD").code == 0
    told = call("policies", "check", "--tool", "Bash", "--command", "git diff --output=a.patch")
    assert told.code == 11
