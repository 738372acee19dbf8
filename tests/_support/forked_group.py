"""`codexmem` whose group of servers are forks of their parent, which has loaded everything, instead of programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module

from codexmem.http import group


class ForkedMember:
    """What the group uses of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG if deadline else 0)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("a server", timeout or 0)
            else:
                time.sleep(0.02)
        return self._code

    def terminate(self) -> None:
        """As the group does."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """At once."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def forked(module: str, files: Sequence[int]) -> ForkedMember:
    """A fork in a session of its own that has these files and runs the module."""
    pid = os.fork()
    if pid:
        return ForkedMember(pid)
    code = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        last = 2
        for each in sorted(files):
            os.closerange(last + 1, each)
            last = each
        os.closerange(last + 1, 1024)
        sys.argv = [module, str(files[0])]
        import_module(module).main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        os._exit(code)


def main() -> None:
    """Run as ever."""
    group.started = forked  # type: ignore[assignment]
    import_module("codexmem.cli").main()


if __name__ == "__main__":
    main()
