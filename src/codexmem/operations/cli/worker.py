"""`codexmem worker`: runs jobs, and with `--port` answers probes. Only where several processes may share a store."""

import logging
import os
import threading
from typing import TYPE_CHECKING

import click

from codexmem.console.command import Command, current, option, setting_option
from codexmem.console.messages import say
from codexmem.console.store import chosen, store_options
from codexmem.http.signals import ending_signals
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.settings import Settings

if TYPE_CHECKING:
    from codexmem.app import Core
    from codexmem.http.metrics import Metrics

_NICE = 10  # on a machine that serves requests too, those come first


@click.command("worker", cls=Command, key="worker")
@option("--port", metavar="PORT", key="worker.port")
@setting_option("host", metavar="HOST")
@store_options
def worker(port: str | None, host: str | None, data_dir: str | None, database_url: str | None) -> None:
    """Run jobs until a signal says stop."""
    # The port is no setting here: one that the servers share must not make every worker of a machine want it.
    asked = None if port is None else chosen(port=port).port
    settings = chosen(host=host, data_dir=data_dir, database_url=database_url)
    if not settings.on_postgres:
        raise InvalidArgument(
            "a SQLite store has one owner: codexmem serve runs the jobs in its own process",
            hint="run codexmem serve, or use a PostgreSQL store for separate workers",
            details={"reason": "worker_on_sqlite"},
        )
    from codexmem.app import GRACE_S, open_core
    from codexmem.app.gauges import telemetry_sent, worker_metrics
    from codexmem.http import logs

    logs.configure(settings.log_level, settings.log_format == "json")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    output = current()
    stop = threading.Event()
    os.nice(_NICE)
    with ending_signals(lambda _: stop.set()):
        core = open_core(settings)
        metrics = worker_metrics(core)
        try:
            with telemetry_sent(metrics):
                core.begin()
                output.note(say("worker.started", name=core.worker.name))
                if asked is None:
                    stop.wait()
                else:
                    _answer(core, metrics, settings, asked, stop)
                core.stop(GRACE_S)
        finally:
            core.close()
    output.note(say("worker.stopped"))


def _answer(core: "Core", metrics: "Metrics", settings: Settings, port: int, stop: threading.Event) -> None:
    """Serve the probes until a signal says stop."""
    from codexmem.app.probes import worker_probes
    from codexmem.http.bind import require_safe_bind
    from codexmem.http.serving import serve

    # Figures only, nothing of a tenant: it may listen beyond loopback without asking for a key.
    addresses = require_safe_bind(settings.host, True)
    output = current()
    serve(worker_probes(core, metrics), addresses, port, stop=stop, shutdown_grace=1.0,
          on_bound=lambda at: output.note(say("worker.listens", url=at.url)))  # fmt: skip
