"""Figures that operators watch, read when they are asked for: the same ones from a server and from a worker."""

from collections.abc import Iterable

from codexmem.app.core import Core
from codexmem.http.metrics import Sample
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.services.status import Phase, ServerStatus
from codexmem.kernel.store import depth
from codexmem.kernel.store.database import acting_as


def gauges(status: ServerStatus, core: Core | None) -> Iterable[Sample]:
    """Readings of this process and of the queue, which all processes of a store share."""
    readiness = status.readiness()
    yield Sample("codexmem_ready", "Whether requests are served", float(readiness.ready))
    if core is None or not readiness.ready:
        return  # nothing that is read from the store would be answered
    stalled = readiness.phase is Phase.STALLED
    yield Sample("codexmem_queue_stalled", "Whether jobs wait and none was started for a minute", float(stalled))
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
