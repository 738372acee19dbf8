"""Signals while the agent runs: ours are blocked and taken one by one, so that none is lost or comes at a bad time.

An agent that shares our process group gets what the keyboard sends by itself; only what was sent to us alone is passed
on, so that Ctrl-C reaches it once. One in a group or on a terminal of its own gets everything from us.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator

PASSED_ON = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2})
_KEYBOARD = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP})
_TAKEN = PASSED_ON | {signal.SIGCHLD, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP}
_FROM_KERNEL = 0x80  # SI_KERNEL


@contextlib.contextmanager
def taken() -> Iterator[frozenset[int]]:
    """Block what we take ourselves; gives what was blocked before, which is what the agent begins with."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
    try:
        yield frozenset(before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def next_one(wait_s: float) -> tuple[int, bool]:
    """The next signal, and whether the keyboard or the system sent it rather than a process; 0 if none came in time."""
    wait = getattr(signal, "sigtimedwait", None)
    if wait is not None:
        got = wait(_TAKEN, wait_s)
        return (int(got.si_signo), got.si_code == _FROM_KERNEL) if got is not None else (0, False)
    number = int(signal.sigwait(_TAKEN))
    return number, number in _KEYBOARD  # where the system does not tell, the keyboard is the likelier


def none_here() -> None:
    """Let the calling thread, which others may wait for, take no signals: they are the main thread's."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Threads that are started in here take no signals, nor do those that they start."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def alarm(number: int) -> None:
    """Have the loop that takes signals wake up with this one."""
    os.kill(os.getpid(), number)


def send(process: int, number: int, *, group: bool) -> None:
    """To the agent, or to its whole group; one that is gone does not mind."""
    to: Callable[[int, int], None] = os.killpg if group else os.kill
    with contextlib.suppress(ProcessLookupError, PermissionError):
        to(process, number)
