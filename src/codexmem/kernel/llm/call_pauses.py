"""When a model is left alone for a while: one that says for how long, that somebody has to repair, that was slow, or
that has failed several times in a row.
"""

from collections.abc import Callable

from codexmem.kernel.llm.model import SOMEBODY_MUST_ACT, Trouble, Unanswered
from codexmem.kernel.model.breaker import Breaker

STRIKES = 3  # failures in a row after which it is left alone


class CallPauses:
    """What the calls to one model have taught. Without locks: at worst two calls try again at once."""

    def __init__(self, *, slow_s: float, longest_rest_s: float, breaker: Breaker | None,
                 now_s: Callable[[], float]) -> None:  # fmt: skip
        self._slow_s = slow_s  # a failure that took so long is enough
        self._longest_rest_s = longest_rest_s
        self._breaker = breaker or Breaker()
        self._now_s = now_s
        self._last = Trouble.TRANSIENT
        self._strikes = 0
        self._rest_until_s = 0.0

    def require(self, who: str) -> None:
        """Raise if it is to be left alone now, with how long that will last."""
        now_s = self._now_s()
        if now_s < self._rest_until_s or not self._breaker.lets(now_s):
            wait_s = max(self._rest_until_s - now_s, self._breaker.closed_for_s(now_s), 0.0)
            raise Unanswered(f"{who} did not answer recently; retrying later", self._last, wait_s=wait_s)

    def worked(self) -> None:
        """It has answered."""
        self._strikes = 0
        self._breaker.worked()

    def failed(self, error: Unanswered, *, took_s: float, deadline_s: float) -> None:
        """Draw the consequences of a failure for the calls to come."""
        if error.trouble is Trouble.UNRECOVERABLE:
            self.worked()  # it answers, and may like the next prompt better
            return
        self._last = error.trouble
        self._strikes += 1
        now_s = self._now_s()
        if error.wait_s > 0:
            self._rest_until_s = now_s + min(error.wait_s, self._longest_rest_s)
        slow = took_s >= min(self._slow_s, deadline_s / 2)
        if slow or error.trouble in SOMEBODY_MUST_ACT or self._strikes >= STRIKES:
            self._breaker.failed(now_s)
