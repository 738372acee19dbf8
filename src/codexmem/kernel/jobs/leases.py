"""Keeping leases: one thread that renews ours and takes jobs away from workers that vanished, and the time of both.

It runs apart from claiming and from the jobs themselves, so that neither a slow claim nor a slow job lets a lease run
out. A run past its time is not renewed any more: its job goes to another worker, its late result is fenced off.
"""

import logging
import threading
from collections.abc import Callable

from codexmem.kernel.jobs.job_kind import JobContext, Lost, Overdue
from codexmem.kernel.jobs.outcomes import JobOutcomes
from codexmem.kernel.model import ids
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Canceled, Job
from codexmem.kernel.store.dispatch import Dispatch

RECOVERED_AT_ONCE = 100
TOLERANCE_MS = 1_000  # what drift and gentle corrections amount to between two looks
_LATER_THAN_ALL = 2**62  # no lease ends after this

_log = logging.getLogger(__name__)


class QueueClock:
    """Milliseconds since the epoch that never go back: the workers' time.

    Leases and delays must not all run out because someone corrected the clock, nor wait a day because it was set back.
    So this time goes on steadily from where it stands, follows the machine's clock while the two are close, and jumps
    forward only when the table proves that a later time has been.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._at_ms = clock.now_ms()
        self._since = ids.monotonic()
        self._last_ms = self._at_ms

    def now_ms(self) -> int:
        """The time, at least as late as any that was told before."""
        with self._lock:
            moment = ids.monotonic()
            steady = self._at_ms + int((moment - self._since) * 1000)
            shown = self._clock.now_ms()
            if abs(shown - steady) <= TOLERANCE_MS:
                self._at_ms, self._since = shown, moment
                steady = shown
            self._last_ms = max(self._last_ms, steady)
            return self._last_ms

    def observe(self, ms: int) -> bool:
        """This time has been: go on from there if we are clearly behind it; whether we were."""
        now = self.now_ms()
        with self._lock:
            if ms <= now + TOLERANCE_MS:
                return False
            self._at_ms, self._since = ms, ids.monotonic()
            self._last_ms = ms
            return True


class LeaseRenewer:
    """Renews and recovers until closed."""

    def __init__(self, dispatch: Dispatch, ending: JobOutcomes, clock: QueueClock, worker: str,
                 held: Callable[[], list[JobContext]], *, lease_ms: int, look_s: float) -> None:  # fmt: skip
        self._dispatch = dispatch
        self._ending = ending
        self._clock = clock
        self._worker = worker
        self._held = held
        self._lease_ms = lease_ms
        self._pause_s = min(lease_ms / 3000, look_s)
        self._look_s = look_s
        self._looked = float("-inf")
        self._closing = threading.Event()
        self._stirred = threading.Event()
        self._beat = ids.monotonic()
        self._thread = threading.Thread(target=self._keep, name="codexmem-keeper", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stir(self) -> None:
        """Look now: a running job may have been canceled."""
        self._stirred.set()

    def close(self, timeout_s: float) -> None:
        """End; leases run out from here on."""
        self._closing.set()
        self._stirred.set()
        self._thread.join(timeout_s)

    def beat_age_s(self) -> float:
        """How long ago the last round succeeded."""
        return ids.monotonic() - self._beat

    def renew(self) -> None:
        """Renew what runs in time, tell what was canceled or lost."""
        contexts = self._held()
        for context in contexts:
            if ids.monotonic() > context.deadline:
                context.interrupt(Overdue)
        current = [each for each in contexts if each.reason not in {Overdue, Lost}]
        owned = self._dispatch.heartbeat(
            self._worker, [each.job for each in current], lease_ms=self._lease_ms, now_ms=self._clock.now_ms()
        )
        for each in current:
            canceled = owned.get((each.job.tenant, each.job.id))
            if canceled is None:
                each.interrupt(Lost)
            elif canceled:
                each.interrupt(Canceled)

    def recover(self) -> int:
        """Take jobs away from workers whose lease is not current; returns how many were looked at."""
        found = self._dispatch.expired(now_ms=self._clock.now_ms(), limit=RECOVERED_AT_ONCE)
        self._take_away(found)
        self._looked = ids.monotonic()
        return len(found)

    def recover_all(self) -> int:
        """Take every running job away, before any of ours runs, where no other worker can be; returns how many."""
        total = 0
        while found := self._dispatch.expired(now_ms=_LATER_THAN_ALL, limit=RECOVERED_AT_ONCE):
            taken = self._take_away(found)
            total += taken
            if not taken:
                break
        return total

    def _take_away(self, found: list[Job]) -> int:
        taken = 0
        for job in found:
            if self._closing.is_set():
                break
            try:
                taken += self._ending.take_away(job)
            except Exception:  # one that cannot be taken must not keep the others
                _log.warning("job %d could not be taken from its worker; trying again", job.id, exc_info=True)
        return taken

    def _keep(self) -> None:
        while not self._closing.is_set():
            self._stirred.clear()
            try:
                self.renew()
                if ids.monotonic() - self._looked >= self._look_s * 0.9:
                    self.recover()
                self._beat = ids.monotonic()
            except Exception:
                _log.warning("leases could not be kept; trying again", exc_info=True)
                self._closing.wait(min(self._pause_s, 0.5))
                continue
            self._stirred.wait(self._pause_s)
