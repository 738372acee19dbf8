"""`mem-codecli doctor`: looks at everything a run depends on, and says how to mend it."""

import click

from codexmem.cli.codecli.configured import memory_options
from codexmem.cli.frame import Command, current, option
from codexmem.cli.messages import say


@click.command("doctor", cls=Command, key="codecli.doctor")
@option("--strict", is_flag=True, key="doctor.strict")
@memory_options
def doctor(strict: bool, project_id: str | None, memory_url: str | None) -> None:
    """Run every check; exit 1 if one fails, with --strict also if one warns."""
    from codexmem.cli.codecli.checks import examine

    output = current()
    signs = {state: say(f"doctor.sign_{state}") for state in ("ok", "warning", "failure")}
    document, lines = [], []
    states = set()
    for finding in examine({"project_id": project_id, "memory.base_url": memory_url}):
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
