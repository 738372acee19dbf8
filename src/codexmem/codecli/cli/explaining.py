"""`--explain`: what a run would do: query, memories, injection and rules. The agent is not started."""

from collections.abc import Mapping
from typing import TypedDict

from codexmem.codecli import remembered_permissions
from codexmem.codecli.cli.assembly import Wishes, assembled
from codexmem.codecli.configuration import Config
from codexmem.codecli.opening import InputKind, kind_of, peek, prompt_in
from codexmem.codecli.recall import Recalled
from codexmem.codecli.run import AgentRun
from codexmem.console.command import current
from codexmem.console.messages import explain, language, say
from codexmem.kernel.model.errors import CodexmemError
from codexmem.qa.gatekeeper import judging as gatekeeper


def explained(config: Config, command: tuple[str, ...], wishes: Wishes) -> int:
    """Print it; 0 whatever the memory says, since the run would go on without it."""
    output = current()
    with assembled(config, command, Wishes(trace=wishes.trace, may_ask=False), output.note) as run:
        document = _document(config, run)
    output.result(document, _text(document))
    return 0


class _Problem(TypedDict):
    message: str
    hint: str | None


class _MemoryPart(TypedDict):
    on: bool
    prompt: str | None
    query: str
    took_ms: int
    items: list[dict[str, object]]
    problem: _Problem | None


class _InjectionPart(TypedDict):
    mode: str
    system: str
    user: str
    items: list[str]


class _JudgedRule(TypedDict):
    name: str
    title: str
    passed: bool | None  # None: not before there is an answer
    why: str


class _GatekeeperPart(TypedDict):
    mode: str
    rules: list[_JudgedRule]
    writes: str


class _PolicyPart(TypedDict):
    audit: str
    mode: str
    max_risk: str
    deny: list[object]  # as they stand in the configuration
    ask: list[object]
    allow: list[object]
    problem: str | None


class _Explanation(TypedDict):
    command: list[str]
    adapter: str
    project_id: str
    memory: _MemoryPart
    injection: _InjectionPart
    gatekeeper: _GatekeeperPart
    policy: _PolicyPart


def _document(config: Config, run: AgentRun) -> _Explanation:
    parts = run.parts
    prompt = parts.adapter.prompt_of(parts.launch)
    if prompt is None and config.memory.on and not run.connected.terminal[0] and run.connected.is_open[0]:
        seen = peek().seen
        prompt = prompt_in(seen) if kind_of(seen) is InputKind.PROMPT else None
    recalled = run.recaller.recall(prompt or "") if config.memory.on else Recalled()
    injected = recalled.rendered.injection(config.inject.mode)
    return {
        "command": list(parts.launch.argv), "adapter": parts.adapter.name, "project_id": parts.project,
        "memory": _memory(config, recalled, prompt),
        "injection": {"mode": config.inject.mode, "system": injected.system, "user": injected.user,
                      "items": [item.qa_id for item in recalled.rendered.items]},
        "gatekeeper": _gatekeeper(config, recalled, prompt or ""),
        "policy": _policy(config, parts.launch.cwd),
    }  # fmt: skip


def _memory(config: Config, recalled: Recalled, prompt: str | None) -> _MemoryPart:
    problem = explain(recalled.problem) if recalled.problem is not None else None
    return {
        "on": config.memory.on, "prompt": prompt, "query": recalled.query, "took_ms": recalled.took_ms,
        "items": [dict(item.document) for item in recalled.items],
        "problem": None if problem is None else {"message": problem[0], "hint": problem[1]},
    }  # fmt: skip


def _gatekeeper(config: Config, recalled: Recalled, prompt: str) -> _GatekeeperPart:
    """The rules as far as they can be judged before there is an answer: on the question alone."""
    outcome = gatekeeper.judge(prompt, prompt, top_score=recalled.top_score, min_score=config.search.min_score,
                               mode=config.gatekeeper.mode)  # fmt: skip
    judged = {"missing", "safe"} if prompt.strip() and config.memory.on else set()
    rules: list[_JudgedRule] = []
    for rule in outcome.rules:
        name, why = rule.explained(language())
        known = rule.name in judged and (recalled.problem is None or rule.name != "missing")
        rules.append({
            "name": rule.name, "title": name, "passed": rule.passed if known else None,
            "why": why if known else say("codecli.run.explain.later"),
        })  # fmt: skip
    mode = config.gatekeeper.mode
    writes = {"off": "codecli.run.explain.off", "soft": "codecli.run.explain.soft", "hard": "codecli.run.explain.hard"}
    return {"mode": mode, "rules": rules, "writes": say(writes[mode])}


def _policy(config: Config, cwd: str) -> _PolicyPart:
    told = config.policy
    problem = ""
    try:
        remembered_permissions.policy_of(config, cwd)
    except CodexmemError as error:
        problem = explain(error)[0]
    return {
        "audit": config.audit.mode, "mode": told.mode, "max_risk": told.max_risk, "deny": list(told.denylist),
        "ask": list(told.asklist), "allow": list(told.allowlist), "problem": problem or None,
    }  # fmt: skip


def _text(document: _Explanation) -> str:
    memory, injection = document["memory"], document["injection"]
    keeper, policy = document["gatekeeper"], document["policy"]
    lines = [say("codecli.run.explain.command", command=" ".join(document["command"]), adapter=document["adapter"],
                 project=document["project_id"])]  # fmt: skip
    if not memory["on"]:
        lines += ["", say("codecli.run.explain.memory_off")]
    else:
        lines += [
            "",
            say("codecli.run.explain.query"),
            _indented(memory["query"] or say("codecli.run.explain.nothing")),
        ]
        if memory["problem"]:
            lines += ["", say("codecli.run.explain.problem", problem=memory["problem"]["message"])]
        lines += ["", say("codecli.run.explain.items", count=len(memory["items"]))]
        lines += [_item(item) for item in memory["items"]]
        lines += ["", say("codecli.run.explain.injection", mode=injection["mode"])]
        lines.append(_indented(injection["system"] or injection["user"] or say("codecli.run.explain.nothing")))
    lines += ["", say("codecli.run.explain.gatekeeper", mode=keeper["mode"])]
    marks = {True: "+", False: "-", None: "?"}
    lines += [f"  {marks[rule['passed']]} {rule['title']}: {rule['why']}" for rule in keeper["rules"]]
    lines.append(f"  {keeper['writes']}")
    lines += [
        "",
        say("codecli.run.explain.policy", audit=policy["audit"], mode=policy["mode"], risk=policy["max_risk"]),
    ]
    lists = {"deny": policy["deny"], "ask": policy["ask"], "allow": policy["allow"]}
    lines += [f"  {name} {rule}" for name, rules in lists.items() for rule in rules]
    lines += [f"  ! {policy['problem']}"] if policy["problem"] else []
    lines += ["", say("codecli.run.explain.not_run")]
    return "\n".join(lines)


def _item(item: Mapping[str, object]) -> str:
    score = item.get("score")
    shown = f"{score:.2f}" if isinstance(score, int | float) else "?"
    question = " ".join(str(item.get("question", "")).split())[:100]
    return f"  {shown}  {item.get('qa_id', '?')}  {question}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
