"""Events that wait for the server, as files in `spool/` of the data directory.

An event that is added is on the disk when `add` returns, or `add` raises. Files are delivered in order by whoever holds
the lock, one process at a time, and removed after the server has taken them; a repetition is recognised by the
server. What the server refuses for good is put aside in `rejected/`. A spool that outgrows its limit drops its oldest
files, and says so in `overflow.log`.

Where the data directory cannot be written (its disk is full, for example) an event waits in a folder of our own outside
it, which nobody else can open, and is delivered from there.
"""

from __future__ import annotations

import os

from codexmem.hook.surroundings import now_ns
from codexmem.kernel.model import spooled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    # What became of one event: taken by the server, refused for good, failed on by a server that answers, or the
    # server is away.
    Outcome = Literal["taken", "refused", "failed", "away"]
    Send = Callable[[str, bytes], Outcome]

REJECTED_MOST = 1_000
_REFUSED = frozenset((400, 409, 410, 413, 415, 422))
FAILURES_MOST = 5  # rounds in which the server took others but failed on this one
_LOOK_EVERY = 32  # one write in so many looks how large the spool is
_PART_NS = 60 * 10**9  # an unfinished file that is older was left behind by a process that died
_LONGEST_NAME = 240
_FREED = 16  # what is dropped when the spool is full, as a share of the limit

_counter = 0


class Spool:
    """The files of one data directory."""

    def __init__(self, data_dir: str, limit: int = 256 << 20) -> None:
        self.root = os.path.join(data_dir, "spool")
        self._limit = limit

    def is_empty(self) -> bool:
        """Whether nothing waits; cheap however much does."""
        try:
            with os.scandir(self.root) as entries:
                return not any(entry.name.endswith((spooled.SUFFIX, spooled.UNFINISHED)) for entry in entries)
        except OSError:
            return True

    def names(self) -> list[str]:
        """Everything that waits, in order."""
        try:
            return sorted(name for name in os.listdir(self.root) if name.endswith(spooled.SUFFIX))
        except OSError:
            return []

    def add(self, path: str, body: bytes) -> str:
        """Keep an event; it is on the disk afterwards. OSError if it cannot be."""
        global _counter  # noqa: PLW0603  (orders what one process writes within one tick of the clock)
        _counter += 1
        content = spooled.content_of(path, body)
        at = now_ns()
        name = spooled.name_of(at, os.getpid(), _counter, len(content))
        part = os.path.join(self.root, f".{name}{spooled.UNFINISHED}")
        file = self._created(part)
        try:
            _write_all(file, content)
            os.fsync(file)
        except OSError:
            os.close(file)
            os.unlink(part)
            raise
        os.close(file)
        os.rename(part, os.path.join(self.root, name))
        _sync(self.root)
        if at // 1000 % _LOOK_EVERY == 0 or len(content) > self._limit // 1024:
            self.make_room()
        return name

    def read(self, name: str) -> tuple[str, bytes] | None:
        """Path and body of one event; None if it has gone or is no event."""
        try:
            with open(os.path.join(self.root, name), "rb") as file:
                return spooled.parsed(file.read())
        except OSError:
            return None

    def remove(self, name: str) -> None:
        """It has been delivered."""
        _unlink(os.path.join(self.root, name))

    def reject(self, name: str) -> None:
        """The server will never take it: put it aside, for people to look at."""
        aside = os.path.join(self.root, "rejected")
        os.makedirs(aside, mode=0o700, exist_ok=True)
        _rename(os.path.join(self.root, name), os.path.join(aside, name))
        kept = sorted(os.listdir(aside))
        if len(kept) > REJECTED_MOST:
            self._drop(aside, kept[: len(kept) - REJECTED_MOST], "rejected")

    def failed(self, name: str) -> None:
        """The server took others but not this one; after some rounds it is put aside."""
        if spooled.failures_in(name) + 1 >= FAILURES_MOST:
            self.reject(name)
        else:
            _rename(os.path.join(self.root, name), os.path.join(self.root, spooled.after_failure(name)))

    def make_room(self) -> int:
        """Drop the oldest events if the spool has outgrown its limit; how many."""
        names = self.names()
        total = sum(map(spooled.size_in, names))
        if total <= self._limit:
            return 0
        wanted, dropped = total - self._limit + self._limit // _FREED, []
        for name in names[:-1]:
            if wanted <= 0:
                break
            wanted -= spooled.size_in(name)
            dropped.append(name)
        self._drop(self.root, dropped, "dropped")
        return len(dropped)

    def lost(self) -> int:
        """How many events were ever dropped for want of room."""
        try:
            with open(os.path.join(self.root, "overflow.log"), encoding="utf-8") as log:
                return sum(int(line.split()[2]) for line in log if line.split()[1:2] == ["dropped"])
        except (OSError, ValueError, IndexError):
            return 0

    def take_lock(self) -> int | None:
        """The right to deliver, as an open file to be closed afterwards; None if somebody else has it."""
        try:
            file = os.open(os.path.join(self.root, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None
        try:
            _lock(file)
        except OSError:
            os.close(file)
            return None
        return file

    def adopt(self) -> None:
        """Finish what processes that died have left: a whole file is an event, a piece is nothing."""
        for name in os.listdir(self.root):
            if not name.endswith(spooled.UNFINISHED) or now_ns() - spooled.at_ns_in(name) < _PART_NS:
                continue
            path = os.path.join(self.root, name)
            size = os.stat(path).st_size
            if size and size == spooled.size_in(name):
                _rename(path, os.path.join(self.root, name[1:].removesuffix(spooled.UNFINISHED)))
            else:
                _unlink(path)

    def _created(self, part: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        try:
            return os.open(part, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(self.root, mode=0o700, exist_ok=True)
            _sync(os.path.dirname(self.root))
            return os.open(part, flags, 0o600)

    def _drop(self, folder: str, names: list[str], word: str) -> None:
        """Say it first: what is gone must have been said."""
        if not names:
            return
        line = f"{now_ns() // 1_000_000} {word} {len(names)} events, {names[0]} to {names[-1]}\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.open(os.path.join(self.root, "overflow.log"), flags, 0o600)
        try:
            os.write(file, line.encode())
            os.fsync(file)
        finally:
            os.close(file)
        for name in names:
            _unlink(os.path.join(folder, name))


def outside(data_dir: str, environ: Mapping[str, str], limit: int = 256 << 20) -> list[Spool]:
    """Where events of this data directory wait when it cannot be written; best first, made or not."""
    name = data_dir.replace("%", "%25").replace("/", "%2F")
    if os.name != "posix" or len(os.fsencode(name)) > _LONGEST_NAME:
        return []
    bases = dict.fromkeys((environ.get("XDG_RUNTIME_DIR", ""), environ.get("TMPDIR", "") or "/tmp"))  # noqa: S108
    folders = [os.path.join(base, f"codexmem-{os.geteuid()}") for base in bases if base.startswith("/")]
    return [Spool(os.path.join(folder, name), limit) for folder in folders if _is_ours(folder)]


def _is_ours(folder: str) -> bool:
    """Whether nobody else can put anything there: in a folder that all share, the name alone proves nothing."""
    try:
        found = os.lstat(folder)
    except OSError:
        return True  # it is not there; whoever writes makes it, and looks again
    return found.st_uid == os.geteuid() and found.st_mode & 0o170077 == 0o040000


def keep_outside(spools: list[Spool], path: str, body: bytes) -> Spool | None:
    """Keep an event in the first of these folders that takes it; None if none does."""
    for spool in spools:
        folder = os.path.dirname(os.path.dirname(spool.root))
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if _is_ours(folder):
                spool.add(path, body)
                return spool
        except OSError:
            continue
    return None


def outcome_of(status: int) -> Outcome:
    """What a server's answer means for an event."""
    if 200 <= status < 300:
        return "taken"
    if status in _REFUSED:
        return "refused"
    return "failed" if status == 500 else "away"


def drain(spool: Spool, send: Send, may_go_on: Callable[[], bool]) -> bool:
    """Deliver what waits, oldest first; whether nothing is left.

    One process at a time delivers: another that is at it makes this return False. Looks again after letting go of the
    lock, because an event may have been added by somebody who saw us hold it.
    """
    while not spool.is_empty():
        lock = spool.take_lock()
        if lock is None:
            return False
        try:
            spool.adopt()
            while names := spool.names():
                if not _deliver(spool, names, send, may_go_on):
                    return False
        finally:
            os.close(lock)
        if not spool.names():
            return True
    return True


def _deliver(spool: Spool, names: list[str], send: Send, may_go_on: Callable[[], bool]) -> bool:
    """One round through these files; whether another is worth while."""
    failed: list[str] = []
    taken = 0
    away = False
    for name in names:
        if not may_go_on():
            away = True
            break
        event = spool.read(name)
        outcome: Outcome = send(*event) if event is not None else "refused"
        if outcome == "away":
            away = True
            break
        if outcome == "taken":
            taken += 1
            spool.remove(name)
        elif outcome == "refused":
            spool.reject(name)
        else:
            failed.append(name)
            if len(failed) - taken >= FAILURES_MOST:  # the server is ill, not the events
                break
    if taken:
        for name in failed:
            spool.failed(name)
    return not away and bool(taken or not failed)


def _write_all(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _rename(old: str, new: str) -> None:
    try:
        os.rename(old, new)
    except FileNotFoundError:
        return


def _sync(folder: str) -> None:
    """Make names in a folder survive a power cut, where the system has a way to ask for it."""
    if os.name != "posix":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _lock(file: int) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
