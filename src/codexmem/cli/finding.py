"""What a check of a `doctor` says, and how all of them are told."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import click

from codexmem.cli.frame import current
from codexmem.cli.messages import say

State = Literal["ok", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `key` names its texts: the fact, and unless all is well the reason and the remedy."""

    check: str
    state: State
    key: str
    values: dict[str, Any] = field(default_factory=dict)


def tell(findings: Iterable[Finding], *, strict: bool) -> None:
    """Say what was found and how to mend it; the command exits with 1 on a failure, if strict also on a warning."""
    output = current()
    signs = {"ok": say("doctor.sign_ok"), "warning": say("doctor.sign_warning"), "failure": say("doctor.sign_failure")}
    document, lines = [], []
    states = set()
    for finding in findings:
        states.add(finding.state)
        what = say(finding.key, **finding.values)
        entry = {"check": finding.check, "state": finding.state, "what": what}
        lines.append(output.painted(f"{signs[finding.state]} {what}", finding.state == "ok"))
        if finding.state != "ok":
            entry |= {part: say(f"{finding.key}.{part}", **finding.values) for part in ("why", "how")}
            lines += [f"    {say('doctor.why')}{entry['why']}", f"    {say('doctor.how')}{entry['how']}"]
        document.append(entry)
    bad = "failure" in states or (strict and "warning" in states)
    output.result({"ok": not bad, "checks": document}, "\n".join(lines))
    if bad:
        click.get_current_context().exit(1)
