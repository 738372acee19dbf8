"""A clock that tests move."""

from __future__ import annotations


class StepClock:
    """Goes forward by one millisecond at each look, and by more when told."""

    def __init__(self, start_ms: int = 1_800_000_000_000) -> None:
        self._now = start_ms

    def now_ms(self) -> int:
        """One later than the last time."""
        self._now += 1
        return self._now

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self._now += ms
