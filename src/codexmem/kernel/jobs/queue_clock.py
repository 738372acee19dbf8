"""The workers' time: follows the machine's clock, but not when that is set.

Leases and delays must not all run out because someone corrected the clock, nor wait a day because it was set back. So
this time goes on steadily from where it stands, follows the machine's clock while the two are close, and jumps forward
only when the table proves that a later time has been.
"""

import threading

from codexmem.kernel.model import ids
from codexmem.kernel.model.ids import Clock

TOLERANCE_MS = 1_000  # what drift and gentle corrections amount to between two looks


class QueueClock:
    """Milliseconds since the epoch that never go back."""

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
