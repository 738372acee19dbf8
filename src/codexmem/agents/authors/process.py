"""One run of a program: its own process group, one deadline, limits of bytes, and an ear for interruption.

Whatever the end, nothing of the run is left: the whole group is killed, so that a child that the program has started
and forgotten does not go on. Only one that has left the group by itself is out of reach; it is not waited for.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

SLICE_S = 0.25  # how often a run asks whether it should stop
MAX_ERRORS = 64 << 10  # bytes of the error output that are kept: the last, which say how it ended
_GRACE_S = 0.5  # between asking a group to end and ending it
_PIPES_S = 1.0  # that pipes may stay open after their program has ended
_PIECE = 1 << 16


class Ending(StrEnum):
    """How a run came to its end."""

    BY_ITSELF = "by itself"
    TOO_SLOW = "too slow"
    TOO_MUCH = "too much output"


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """What came of it. Nothing is known of the code of a run that was ended."""

    ending: Ending
    code: int
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What a run may take."""

    timeout_s: float
    max_bytes: int


class _Pipe:
    """One output of the program, read aside."""

    def __init__(self, stream: IO[bytes], most: int, *, keeps_last: bool) -> None:
        self._stream = stream
        self._most = most
        self._keeps_last = keeps_last
        self._read = bytearray()
        self.overflowed = threading.Event()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self._stream.fileno(), _PIECE):
                if self._keeps_last:
                    self._read += piece
                    del self._read[: -self._most]
                elif len(self._read) + len(piece) > self._most:
                    self.overflowed.set()
                    return
                else:
                    self._read += piece

    def text(self) -> str:
        """What there was, once the program has ended."""
        self._thread.join(_PIPES_S)
        return bytes(self._read).decode("utf-8", "replace")


def run(command: Sequence[str], given: str, folder: Path, environ: Mapping[str, str], limits: ProgramLimits,
        check: Callable[[], None], now_s: Callable[[], float]) -> ProgramRun:  # fmt: skip
    """Run it in this folder with `given` on its input. `OSError` if it cannot be started; what `check` raises passes.

    The input is a file without a name: no program can make us wait by not reading it.
    """
    until_s = now_s() + limits.timeout_s
    with tempfile.TemporaryFile() as source:
        source.write(given.encode("utf-8", "replace"))
        source.seek(0)
        process = subprocess.Popen(
            command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=dict(environ),
            start_new_session=True,
        )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    ending = Ending.BY_ITSELF
    with process.stdout, process.stderr:
        output = _Pipe(process.stdout, limits.max_bytes, keeps_last=False)
        errors = _Pipe(process.stderr, MAX_ERRORS, keeps_last=True)
        try:
            while True:
                check()
                left_s = until_s - now_s()
                if output.overflowed.is_set():
                    ending = Ending.TOO_MUCH
                elif left_s <= 0:
                    ending = Ending.TOO_SLOW
                else:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(min(SLICE_S, left_s))
                        break
                    continue
                break
        finally:
            _end(process)
        told = ProgramRun(ending, process.returncode, output.text(), errors.text())
    if output.overflowed.is_set():
        return ProgramRun(Ending.TOO_MUCH, told.code, told.output, told.errors)
    return told


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing of the group."""
    if process.poll() is None:
        _send(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    _send(process, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    process.wait()


def _send(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.terminate()
