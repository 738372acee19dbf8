"""`codexmem doctor`: looks at everything that can be wrong with an installation, and says how to mend it."""

import click

from codexmem.cli.frame import Command, current, option
from codexmem.cli.messages import say
from codexmem.cli.store import chosen, store_options


@click.command("doctor", cls=Command, key="doctor")
@option("--strict", is_flag=True, key="doctor.strict")
@store_options
def doctor(strict: bool, data_dir: str | None, database_url: str | None) -> None:
    """Run every check; exit 1 if one fails, with --strict also if one warns."""
    from codexmem.cli.checks import examine

    settings = chosen(data_dir=data_dir, database_url=database_url)
    output = current()
    signs = {"ok": say("doctor.sign_ok"), "warning": say("doctor.sign_warning"), "failure": say("doctor.sign_failure")}
    document, lines = [], []
    states = set()
    for finding in examine(settings):
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
