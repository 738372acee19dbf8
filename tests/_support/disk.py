"""Writes that nobody waits for: what tests write has to outlive a killed process, not the machine.

Each commit of a SQLite store and each file put in place waits for the disk, for milliseconds, and tests do that by ten
thousands. Without the wait the data still reach the kernel, so a process that is killed loses none, as with `fsync=off`
of the tests' PostgreSQL. That the product does wait is tested under `tests/store` and `tests/clients/hook`; programs
that tests start for real, among them all that are killed under `tests/bench`, wait as they do for anyone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codexmem.kernel.store.sqlite import engine

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike


def skip_waits(unless: Callable[[], bool] = lambda: False) -> None:
    """For the rest of this process and its forks; `unless` is asked when a store is opened."""
    connect, fsync = engine._connect, os.fsync

    def connected(path: Path, *, read_only: bool) -> Any:
        connection = connect(path, read_only=read_only)
        if not unless():
            connection.execute("PRAGMA synchronous=OFF")
        return connection

    def looked_at(fd: FileDescriptorLike) -> None:
        if unless():
            fsync(fd)
        else:
            os.fstat(fd if isinstance(fd, int) else fd.fileno())  # one that is not open is an error all the same

    engine._connect = connected
    os.fsync = looked_at
