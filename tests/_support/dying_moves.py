"""Commands about whole tenants in a process that is killed at one of their steps."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store.cells import tenant_rows
from tests._support import warm


class Steps:
    """A step callback that writes down where its process is, and kills it at one: the nth, or the first so named."""

    def __init__(self, path: str, at: str) -> None:
        self._path, self._at, self._count = path, at, 0

    def __call__(self, name: str) -> None:
        with Path(self._path).open("a") as stream:
            stream.write(name + "\n")
        self._count += 1
        if self._at in {name, str(self._count)}:
            os.kill(os.getpid(), signal.SIGKILL)


def run_or_die(call: str, folder: Path, at: str | int) -> tuple[bool, list[str]]:
    """Evaluate in a process that is killed at that step; whether it was, and the steps that it came through.

    The expression finds `Tenants`, `TenantMove`, `Path`, `clock`, and `step` for the verb to call.
    """
    path = folder / f"steps-{uuid4().hex}"
    path.touch()
    arguments = [call, str(path), str(at)]
    with tempfile.TemporaryFile() as err:
        ended = warm.start(arguments, env=os.environ, out=err.fileno(), err=err.fileno(), program=__name__).wait(120)
        err.seek(0)
        assert ended in {0, -signal.SIGKILL}, err.read().decode()
    return ended != 0, path.read_text().split("\n")[:-1]


def main() -> None:
    """What such a process runs."""
    from codexmem.operations import tenant_move, tenants

    call, path, at = sys.argv[1:]
    tenant_rows.CHUNK_ROWS = 500
    known = {"Tenants": tenants.Tenants, "TenantMove": tenant_move.TenantMove, "Path": Path, "clock": SystemClock()}
    eval(call, {**known, "step": Steps(path, at)})
