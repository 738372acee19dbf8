"""`codexmem doctor`: looks at everything that can be wrong with an installation, and says how to fix it.

Without options nothing changes. `--canary` sends a memory through every interface and erases it, `--fix` fixes what is
safe, `--bundle` writes what somebody who is to help needs to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.store import chosen, store_options
from codexmem.operations.cli.doctor.finding import is_bad, lines

if TYPE_CHECKING:
    from codexmem.operations.cli.doctor.finding import Finding
    from codexmem.operations.cli.doctor.fixes import FixResult
    from codexmem.settings import Settings


@click.command("doctor", cls=Command, key="doctor")
@option("--canary", is_flag=True, key="doctor.canary")
@option("--fix", is_flag=True, key="doctor.fix")
@option("--dry-run", is_flag=True, key="doctor.dry_run")
@option("--bundle", "bundle", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", key="doctor.bundle")
@option("--overwrite", is_flag=True, key="doctor.overwrite")
@option("--strict", is_flag=True, key="doctor.strict")
@store_options
def doctor(canary: bool, fix: bool, dry_run: bool, bundle: Path | None, overwrite: bool, strict: bool,
           data_dir: str | None, database_url: str | None) -> None:  # fmt: skip
    """Run every check; exit 1 if one fails, with --strict also if one warns."""
    from codexmem.operations.cli.doctor.checks import examine
    from codexmem.operations.cli.doctor.fixes import apply_fixes

    settings = chosen(data_dir=data_dir, database_url=database_url)
    output = current()
    if bundle is not None:
        from codexmem.operations.cli.doctor.bundle import require_free

        require_free(bundle, overwrite=overwrite)
    findings = list(examine(settings))
    fixed: list[FixResult] = []
    if fix or dry_run:
        fixed = apply_fixes(findings, settings, dry_run=dry_run)
        if fixed and not dry_run:
            findings = list(examine(settings))
    if (canary or fix) and not dry_run:
        from codexmem.operations.cli.doctor.canary import through_interfaces

        sound = all(each.state == "ok" for each in findings if each.check in {"schema", "integrity"})
        findings += through_interfaces(settings, sound=sound)
    bad = is_bad(findings, strict=strict)
    document = {"ok": not bad, "checks": [finding.document() for finding in findings]}
    if fix or dry_run:
        document["fixes"] = [each.document() for each in fixed]
    text = [*_fixed_lines(fixed), *lines(findings)]
    if bundle is not None:
        from codexmem.operations.cli.doctor.bundle import write

        names = write(bundle, settings, document, overwrite=overwrite)
        document["bundle"] = {"path": str(bundle), "files": names}
        text += ["", say("doctor.bundled", path=bundle), *(f"    {name}" for name in names)]
    output.result(document, "\n".join(text))
    _say_next(findings, fixed, canary=canary, fix=fix, dry_run=dry_run, settings=settings)
    if bundle is not None:
        output.note(say("doctor.bundle_look"))
    if bad:
        click.get_current_context().exit(1)


def _fixed_lines(fixed: Sequence[FixResult]) -> list[str]:
    output = current()
    signs = {"fixed": say("doctor.sign_fixed"), "would": say("doctor.sign_would"),
             "failed": say("doctor.sign_unmended")}  # fmt: skip
    goods = {"fixed": True, "would": None, "failed": False}
    return [output.painted(f"{signs[each.outcome]} {each.what}", goods[each.outcome]) for each in fixed]


def _say_next(findings: Sequence[Finding], fixed: Sequence[FixResult], *, canary: bool, fix: bool, dry_run: bool,
              settings: Settings) -> None:  # fmt: skip
    """What a person may want to do now."""
    from codexmem.operations.cli.doctor.fixes import fixable

    output = current()
    left = sum(finding.state in {"warning", "failure"} for finding in findings)
    if fix and not dry_run:
        done = sum(each.outcome == "fixed" for each in fixed)
        output.note(say("doctor.fixed", done=done, left=left), good=not left)
        return
    if dry_run:
        output.note(say("doctor.would_fix" if fixed else "doctor.nothing_to_fix"))
        return
    if count := len(fixable(findings, settings)):
        output.note(say("doctor.can_fix", count=count))
    if not canary:
        output.note(say("doctor.try_canary"))
