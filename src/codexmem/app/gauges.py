"""What operators watch, the same from a server and from a worker: figures, read when they are asked for, and where the
environment names an endpoint of OpenTelemetry, these figures and spans sent there.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from codexmem import __version__
from codexmem.app.core import Core
from codexmem.http.metrics import Metrics, Sample
from codexmem.installation import install_command
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.services.status import Phase, ServerStatus
from codexmem.kernel.store import depth
from codexmem.kernel.store.database import acting_as
from codexmem.settings.telemetry import PROTOCOL, telemetry

_log = logging.getLogger(__name__)


def gauges(status: ServerStatus, core: Core | None) -> Iterable[Sample]:
    """Readings of this process and of the queue, which all processes of a store share."""
    readiness = status.readiness()
    yield Sample("codexmem_ready", "Whether requests are served", float(readiness.ready))
    if core is None or not readiness.ready:
        return  # nothing that is read from the store would be answered
    stalled = readiness.phase is Phase.STALLED
    yield Sample("codexmem_queue_stalled", "Whether jobs wait and none was started for a minute", float(stalled))
    replica = core.db.engine.replica
    if replica is not None and (behind_s := replica.behind_s()) is not None:
        yield Sample("codexmem_replica_behind_seconds", "How old what is read from the replica may be", behind_s)
    yield Sample("codexmem_live_followers", "Readers of the live log", core.live.count())
    progress = core.worker.progress()
    yield Sample("codexmem_worker_running", "Jobs running in this process", progress.running)
    yield Sample("codexmem_worker_overdue", "Jobs of this process that run past their time", progress.overdue)
    waited = (progress.oldest_ready_age_ms or 0) / 1000
    yield Sample("codexmem_queue_oldest_seconds", "How long the first claimable job has waited", waited)
    if core.db.engine.ambient_tenant is not None:
        with acting_as(LOCAL):
            counts = core.queue.counts()
    else:
        counts = depth.everywhere(core.db)
    for state, count in counts.items():
        yield Sample("codexmem_jobs", "Jobs by status", count, {"status": state.value})


def worker_metrics(core: Core) -> Metrics:
    """The figures of a process that only works."""
    status, metrics = ServerStatus(version=__version__, clock=SystemClock()), Metrics()
    status.opened(core.db)
    metrics.register(lambda: gauges(status, core))
    return metrics


@contextmanager
def telemetry_sent(metrics: Metrics) -> Iterator[None]:
    """Send what the environment asks for while the block runs.

    What cannot be sent is no reason not to serve: an agent's own settings may have come here with its environment.
    """
    wanted = telemetry()
    if wanted.refused:
        _log.warning("OpenTelemetry: the protocol %s is not spoken, only %s; set OTEL_EXPORTER_OTLP_PROTOCOL=%s and "
                     "the endpoint's HTTP port (usually 4318)", wanted.refused, PROTOCOL, PROTOCOL)  # fmt: skip
    if not wanted.wanted:
        yield
        return
    try:
        from codexmem.app.telemetry import TelemetryExport
    except ImportError:
        _log.warning("OpenTelemetry: the environment names an endpoint, and the SDK is not installed; nothing is sent. "
                     "Next: %s, or unset OTEL_EXPORTER_OTLP_ENDPOINT", install_command("otel"))  # fmt: skip
        yield
        return
    export = TelemetryExport(wanted, metrics.registry)
    try:
        yield
    finally:
        export.close()
