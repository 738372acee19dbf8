"""`codexmem worker`: runs jobs and serves nothing. Only where several processes may share a store."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from codexmem.cli.frame import Command, current
from codexmem.cli.messages import say
from codexmem.cli.store import chosen, store_options
from codexmem.domain.errors import InvalidArgument


@click.command("worker", cls=Command, key="worker")
@store_options
def worker(data_dir: str | None, database_url: str | None) -> None:
    """Run jobs until a signal says stop."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    if not settings.on_postgres:
        raise InvalidArgument(
            "a SQLite store has one owner: codexmem serve runs the jobs in its own process",
            hint="run codexmem serve, or use a PostgreSQL store for separate workers",
            details={"reason": "worker_on_sqlite"},
        )
    from codexmem.app import GRACE_S, open_core
    from codexmem.surfaces._kit import logs

    logs.configure(settings.log_level, settings.log_format == "json")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    output = current()
    with _until_signal() as stop:
        core = open_core(settings)
        try:
            core.begin()
            output.note(say("worker.started", name=core.worker.name))
            stop.wait()
            core.stop(GRACE_S)
        finally:
            core.close()
    output.note(say("worker.stopped"))


@contextmanager
def _until_signal() -> Iterator[threading.Event]:
    """An event that SIGTERM or SIGINT sets."""
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
