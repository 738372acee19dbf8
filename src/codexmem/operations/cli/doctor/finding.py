"""What a check of a `doctor` says, and how all of them are told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import click

from codexmem.console.command import current
from codexmem.console.messages import say

State = Literal["ok", "notice", "warning", "failure", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `key` names its texts: the fact, and unless all is well the reason and the remedy.

    A notice is worth knowing and nothing is wrong. What was skipped is neither good nor bad: it could not be tried, or
    is for the person to decide.
    """

    check: str
    state: State
    key: str
    values: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """For programs, in the language of the moment."""
        said = {"check": self.check, "state": self.state, "what": say(self.key, **self.values)}
        if self.state != "ok":
            said |= {part: say(f"{self.key}.{part}", **self.values) for part in ("why", "how")}
        return said


def is_bad(findings: Iterable[Finding], *, strict: bool) -> bool:
    """Whether a doctor ends with 1: on a failure, if strict also on a warning."""
    states = {finding.state for finding in findings}
    return "failure" in states or (strict and "warning" in states)


def lines(findings: Sequence[Finding]) -> list[str]:
    """For people. Of findings in a row that were skipped for one reason, the last says it."""
    output = current()
    signs = {
        "ok": say("doctor.sign_ok"),
        "notice": say("doctor.sign_notice"),
        "warning": say("doctor.sign_warning"),
        "failure": say("doctor.sign_failure"),
        "skipped": say("doctor.sign_skipped"),
    }
    told: list[str] = []
    documents = [finding.document() for finding in findings]
    for place, said in enumerate(documents):
        state = said["state"]
        good = None if state in {"skipped", "notice"} else state == "ok"
        told.append(output.painted(f"{signs[state]} {said['what']}", good))
        follows = documents[place + 1] if place + 1 < len(documents) else {}
        if state != "ok" and not (state == "skipped" and all(said[part] == follows.get(part) for part in _PARTS)):
            told += [f"    {say('doctor.why')}{said['why']}", f"    {say('doctor.how')}{said['how']}"]
    return told


_PARTS = ("state", "why", "how")


def tell(findings: Iterable[Finding], *, strict: bool) -> None:
    """Say what was found and how to fix it; the command exits with 1 if that is bad."""
    found = list(findings)
    bad = is_bad(found, strict=strict)
    document = {"ok": not bad, "checks": [finding.document() for finding in found]}
    current().result(document, "\n".join(lines(found)))
    if bad:
        click.get_current_context().exit(1)
