"""Wait until something holds: how a test says that it happens, and not how soon."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.1


def patience() -> float:
    """Return the factor by which everything takes longer now: the load of each core, at least one."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def eventually(
    read: Callable[[], Value | None], *, within_s: float = 60.0, pause: Callable[[float], object] = time.sleep
) -> Value:
    """Return the first value that is true; fail with the last one after `within_s`, longer on a loaded machine.

    `pause` takes seconds: a page of a browser must go on working between two readings.
    """
    deadline = time.monotonic() + within_s * patience()
    pause_s = SHORTEST_PAUSE_S
    while not (value := read()):
        if time.monotonic() > deadline:
            raise AssertionError(f"still {value!r} after {within_s * patience():.0f} s")
        pause(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
    return value
