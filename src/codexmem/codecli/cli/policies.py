"""`mem-codecli policies`: what an agent may do here, and why. Nothing is asked, recorded or run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from codexmem.codecli import remembered_permissions, surroundings
from codexmem.codecli.cli.configured import configured
from codexmem.codecli.policy.deciding import NO_RISK, DecisionStep, Policy
from codexmem.codecli.policy.facts import Facts
from codexmem.codecli.policy.rules import RISKS
from codexmem.codecli.remembered_permissions import Always
from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.terminal_width import one_line
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.tool_access import Cause, ToolDecision, ToolRequest, Verdict

EXIT_CODES: Mapping[Verdict, int] = {Verdict.ALLOW: 0, Verdict.DENY: 10, Verdict.ASK: 11}
_CAUSES: Mapping[Cause, str] = {
    Cause.RULE_DENIES: "codecli.policies.rule_denies", Cause.RULE_ASKS: "codecli.policies.rule_asks",
    Cause.RULE_ALLOWS: "codecli.policies.rule_allows", Cause.CLASS_ALLOWS: "codecli.policies.class_allows",
    Cause.UNKNOWN: "codecli.policies.unknown", Cause.UNREADABLE: "codecli.policies.unreadable",
    Cause.FROM_TEXT: "codecli.policies.from_text", Cause.BROKEN: "codecli.policies.broken",
}  # fmt: skip
_VERDICTS: Mapping[Verdict, str] = {
    Verdict.ALLOW: "codecli.policies.allow", Verdict.DENY: "codecli.policies.deny", Verdict.ASK: "codecli.policies.ask",
}  # fmt: skip
_WHY: Mapping[str, str] = {
    "applies": "codecli.policies.why.applies", "covers": "codecli.policies.why.covers",
    "mode": "codecli.policies.why.mode", "tool": "codecli.policies.why.tool", "server": "codecli.policies.why.server",
    "risk": "codecli.policies.why.risk", "path": "codecli.policies.why.path", "domain": "codecli.policies.why.domain",
    "command": "codecli.policies.why.command", "class": "codecli.policies.why.class",
    "narrowed": "codecli.policies.why.narrowed", "secret": "codecli.policies.why.secret",
    "marker": "codecli.policies.why.marker",
}  # fmt: skip


@click.group("policies", cls=Group, key="codecli.policies", no_args_is_help=True)
def policies() -> None:
    """What an agent may do."""


def _request_options(command: Any) -> Any:
    for decorate in reversed((
        option("--tool", required=True, metavar="NAME", key="codecli.policies.option_tool"),
        option("--server", default="", metavar="NAME", key="codecli.policies.option_server"),
        option("--path", "paths", multiple=True, metavar="PATH", key="codecli.policies.option_path"),
        option("--url", "urls", multiple=True, metavar="URL", key="codecli.policies.option_url"),
        option("--command", default="", metavar="TEXT", key="codecli.policies.option_command"),
        option("--risk", type=click.Choice(list(RISKS)), key="codecli.policies.option_risk"),
        option("--mode", type=click.Choice(["dev", "test", "prod"]), key="codecli.policies.option_mode"),
        option("--from-text", is_flag=True, key="codecli.policies.option_from_text"),
    )):  # fmt: skip
        command = decorate(command)
    return command


@policies.command("check", cls=Command, key="codecli.policies.check")
@_request_options
def check(mode: str | None, **given: Any) -> int:
    """Say what would be decided; the exit code says it too."""
    request, policy = _asked(mode, **given)
    decision, _ = policy.examine(request)
    _told(request, policy, decision, ())
    return EXIT_CODES[decision.verdict]


@policies.command("explain", cls=Command, key="codecli.policies.explain")
@_request_options
def explain(mode: str | None, **given: Any) -> int:
    """Say what would be decided, and show every rule on the way."""
    request, policy = _asked(mode, **given)
    decision, steps = policy.examine(request)
    _told(request, policy, decision, steps)
    return EXIT_CODES[decision.verdict]


@policies.command("list", cls=Command, key="codecli.policies.list")
@option("--mode", type=click.Choice(["dev", "test", "prod"]), key="codecli.policies.option_mode")
def list_rules(mode: str | None) -> None:
    """Show every rule in the order in which they count."""
    policy, _ = _policy(mode)
    most = policy.max_risk.name.lower() if policy.max_risk is not None else NO_RISK
    rules = [rule for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW) for rule in policy.of(verdict)]
    document = {
        "mode": policy.mode, "max_risk": most,
        "rules": [
            {"id": rule.id, "list": rule.list.value, "index": rule.index, "rule": rule.written, "origin": rule.origin,
             "reason": rule.reason}
            for rule in rules
        ],
    }  # fmt: skip
    rows = [[say(_VERDICTS[rule.list]), str(rule.index), one_line(rule.written), rule.origin] for rule in rules]
    output = current()
    output.result(document, table(rows) if rows else "")
    output.note(say("codecli.policies.list.rest", mode=policy.mode, risk=most))


@policies.command("forget", cls=Command, key="codecli.policies.forget")
@click.argument("index", type=click.IntRange(min=0), metavar="NUMBER")
def forget(index: int) -> None:
    """Forget a rule that a person added by answering "always"."""
    always = _always()
    rule = always.forget(index)
    if rule is None:
        raise NotFound(
            f"no remembered rule has the number {index}", hint="mem-codecli policies list shows them",
            details={"reason": "codecli_no_always", "index": index},
        )  # fmt: skip
    output = current()
    output.result({"forgotten": rule, "left": len(always.rules())})
    output.note(say("codecli.policies.forgotten", rule=one_line(str(rule))), good=True)


def _asked(mode: str | None, *, tool: str, server: str, paths: tuple[str, ...], urls: tuple[str, ...], command: str,
           risk: str | None, from_text: bool) -> tuple[ToolRequest, Policy]:  # fmt: skip
    policy, cwd = _policy(mode)
    request = ToolRequest(
        tool=tool, server=server, risk=RISKS[risk] if risk else None, command=command, paths=paths, urls=urls, cwd=cwd,
        from_text=from_text,
    )  # fmt: skip
    return request, policy


def _policy(mode: str | None) -> tuple[Policy, str]:
    loaded = configured({"policy.mode": mode})
    cwd = surroundings.cwd()
    policy = remembered_permissions.policy_of(loaded.config, cwd, _always(), loaded.origins)
    if loaded.config.audit.mode == "off":
        current().note(say("codecli.policies.off"), good=False)
    return policy, cwd


def _always() -> Always:
    return Always(remembered_permissions.root_of(surroundings.cwd()), Path(surroundings.state_dir()))


def _told(request: ToolRequest, policy: Policy, decision: ToolDecision, steps: tuple[DecisionStep, ...]) -> None:
    cause = decision.cause
    if cause is None:
        raise InvalidArgument("nothing was decided")
    risk = Facts.of(request, policy.around).risk
    document: dict[str, object] = {
        "decision": decision.verdict.value, "tool": request.tool, "rule": decision.rule, "cause": cause.value,
        "reason": decision.reason, "risk": risk.name.lower() if risk is not None else None, "mode": policy.mode,
    }  # fmt: skip
    if steps:
        document["steps"] = [
            {"rule": step.rule, "written": step.written, "holds": step.holds, "why": step.why} for step in steps
        ]
    shown = risk.name.lower() if risk is not None else say("codecli.policies.no_class")
    said = say(_CAUSES[cause], rule=decision.rule, risk=shown)
    lines = [f"{say(_VERDICTS[decision.verdict])}: {one_line(request.tool)} — {said}"]
    if steps:
        marks = [["+" if step.holds else "-", step.rule, one_line(step.written), _why(step)] for step in steps]
        lines.append(table(marks))
    current().result(document, "\n".join(lines))


def _why(step: DecisionStep) -> str:
    return say(_WHY[step.why])
