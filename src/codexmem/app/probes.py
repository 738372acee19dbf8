"""What a worker serves. Nothing of it belongs to a tenant."""

from typing import Any

from codexmem import __version__
from codexmem.app.core import Core
from codexmem.app.gauges import gauges
from codexmem.http.metrics import Metrics
from codexmem.http.probes import probes
from codexmem.kernel.services.status import ServerStatus

_BEHIND_MS = 15_000  # the dispatcher looks every five seconds


def worker_probes(core: Core, status: ServerStatus) -> Any:
    """The ASGI application that answers for a worker."""
    worker, metrics = core.worker, Metrics()
    metrics.register(lambda: gauges(status, core))
    # Health asks nobody: a database that is away is no reason to start a worker anew, jobs that never return are.
    return probes(
        lambda: not worker.stuck(),
        lambda: not worker.stuck() and worker.dispatch_age_ms() <= _BEHIND_MS,
        metrics,
        version=__version__,
    )
