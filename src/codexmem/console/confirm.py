"""Asking before something that cannot be taken back, or not easily."""

import click

from codexmem.console.command import current
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem


def confirm(question: str) -> None:
    """Go on if a person says yes; where nobody can be asked, say how to mean it."""
    if not current().may_ask:
        raise UsageProblem(say("usage.unasked"), hint=say("usage.add_yes"))
    if not click.confirm(question, default=False, err=True):
        raise click.Abort
