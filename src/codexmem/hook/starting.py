"""Starting a server in the background where there is none, without waiting for it.

At most one attempt at a time, by whichever client: the hook and the bridges start theirs here. The mark of an attempt
names its process, so that others know whether it is still on its way. Two servers that are started all the same do no
harm, because the second finds the store owned and goes.
"""

from __future__ import annotations

import os
import sys

from codexmem.hook.surroundings import now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ATTEMPT = "server.starting"
AGAIN_S = 30
_LOG_BYTES = 4 << 20


def start(data_dir: str, environ: Mapping[str, str], flags: Sequence[str] = ()) -> bool:
    """Start a server that outlives us; False if somebody has tried a moment ago, or it cannot be done."""
    try:
        os.makedirs(data_dir, mode=0o700, exist_ok=True)
        mark = os.path.join(data_dir, ATTEMPT)
        if not _take_turn(mark):
            return False
        log = os.path.join(data_dir, "server.log")
        if os.path.exists(log) and os.stat(log).st_size > _LOG_BYTES:
            os.truncate(log, 0)
        command = [sys.executable, "-m", "codexmem.cli", "serve", "--data-dir", data_dir, *flags]
        pid = _spawn(command, log, data_dir, environ)
        with open(mark, "r+", encoding="ascii") as attempt:  # never empty: that would be nobody's
            attempt.write(str(pid))
    except OSError:
        return False
    return True


def attempted(data_dir: str) -> int:
    """The process of the last attempt; 0 if none is known. Whether it lives is for the caller to see."""
    try:
        with open(os.path.join(data_dir, ATTEMPT), encoding="ascii") as attempt:
            return int(attempt.read(20))
    except (OSError, ValueError):
        return 0


def _take_turn(mark: str) -> bool:
    """Whether it is ours to start one: nobody else has within a moment. Of several who ask at once one is told yes."""
    file = os.open(mark, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        # Whoever holds it is about to start one.
        if not _locked(file) or _is_young(os.fstat(file)):
            return False
        os.ftruncate(file, 0)
        os.write(file, b"0")
        return True
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Whether the file is ours until we close it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_young(mark: os.stat_result) -> bool:
    """Whether somebody wrote it a moment ago; one that is empty was only now made."""
    return mark.st_size > 0 and 0 <= now_ns() / 1e9 - mark.st_mtime < AGAIN_S


def _spawn(command: list[str], log: str, folder: str, environ: Mapping[str, str]) -> int:
    if os.name != "posix":
        import subprocess

        detached = 0x00000008 | 0x08000000  # no console of ours, no window of its own
        with open(log, "ab") as said:
            return subprocess.Popen(command, cwd=folder, env=dict(environ), stdin=subprocess.DEVNULL, stdout=said,
                                    stderr=said, creationflags=detached, close_fds=True).pid  # fmt: skip
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        os.chdir(folder)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.execve(command[0], command, dict(environ))  # noqa: S606
    finally:
        os._exit(127)
