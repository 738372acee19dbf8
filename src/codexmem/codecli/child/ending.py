"""How the agent ended, and ending in the same way: whoever waits for us must not be able to tell the difference."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """An exit code, or the number of the signal that killed the agent."""

    code: int = 0
    signal: int = 0

    @classmethod
    def of(cls, status: int) -> ExitStatus:
        """From what the system says of a process that is no more."""
        if os.WIFSIGNALED(status):
            return cls(signal=os.WTERMSIG(status))
        return cls(code=os.WEXITSTATUS(status))

    @property
    def number(self) -> int:
        """The exit code, or minus the signal."""
        return -self.signal or self.code

    @property
    def shell_code(self) -> int:
        """The exit code as a shell tells it."""
        return 128 + self.signal if self.signal else self.code


def die_alike(ending: ExitStatus) -> None:
    """Die by the signal that killed the agent; returns if there was none. The dump of our memory helps nobody."""
    if not ending.signal:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(ValueError, OSError):  # two of them cannot be caught, and need not be given back
        signal.signal(ending.signal, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
    os.kill(os.getpid(), ending.signal)
    os._exit(ending.shell_code)  # a signal that does not kill: a real-time one that somebody ignores, for example
