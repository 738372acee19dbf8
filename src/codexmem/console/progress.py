"""A bar for what takes long: on a terminal only, and for people only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from codexmem.console.command import current

Progress = Callable[[int, int], None]  # so much is done, of so much
_STEPS = 1_000


@contextmanager
def bar(label: str) -> Iterator[Progress]:
    """A bar on the terminal, nothing elsewhere."""
    output = current()
    if output.quiet or output.as_json or not sys.stderr.isatty():
        yield lambda *_: None
        return
    with click.progressbar(length=_STEPS, label=label, file=sys.stderr) as shown:
        reached = 0

        def progress(done: int, total: int) -> None:
            nonlocal reached
            at = _STEPS * done // max(1, total)
            shown.update(max(0, at - reached))
            reached = max(reached, at)

        yield progress
