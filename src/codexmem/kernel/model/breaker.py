"""When to stop asking something that does not answer.

After a failure the way is closed for a while; then one call may try again, and each time that it fails too the way is
closed for longer. So a dead dependency costs one caller its time-out now and then, and everybody else nothing. Calls
that were already under way when the first failed say nothing new: many at once are one failure.
"""

FIRST_S = 15.0
LONGEST_S = 300.0


class Breaker:
    """The state of one dependency. Seconds are of a clock that never goes back.

    Without locks: at worst two calls try again at once.
    """

    def __init__(self, *, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._failures = 0
        self._closed_until = 0.0
        self._trying = False  # whether a call is out that was let through after a pause

    def lets(self, now_s: float) -> bool:
        """Whether a call may try; the one that may after a pause keeps the others away until it has ended."""
        if self._failures and now_s < self._closed_until:
            return False
        if self._failures:
            self._closed_until = now_s + self._first_s
            self._trying = True
        return True

    def closed_for_s(self, now_s: float) -> float:
        """How long no call may try."""
        return max(0.0, self._closed_until - now_s) if self._failures else 0.0

    def failed(self, now_s: float) -> None:
        """A call has failed."""
        if self._failures and now_s < self._closed_until and not self._trying:
            return
        self._trying = False
        self._failures += 1
        self._closed_until = now_s + min(self._longest_s, self._first_s * 2 ** min(self._failures - 1, 20))

    def worked(self) -> None:
        """A call was answered."""
        self._failures = 0
        self._trying = False
