"""Bytes from one file descriptor to another, at once and in their order."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import struct
import sys
import termios
import threading
from collections import deque
from collections.abc import Callable

CHUNK = 1 << 18
_LOWEST = 10  # our own descriptors are kept away from the three that have a meaning
_PIPE_BYTES = 1 << 20

Deliver = Callable[[bytes], None]
See = Callable[[bytes], None]


class Gone(Exception):
    """Whoever was to read this no longer does."""


def unseen(piece: bytes) -> None:
    """Look at nothing."""


def pipe() -> tuple[int, int]:
    """A large pipe whose ends no other program inherits."""
    near, far = (raised(each) for each in os.pipe())
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # the system's limit for all pipes of a user
            fcntl.fcntl(far, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return near, far


def raised(descriptor: int) -> int:
    """The same file at a number that is not one of the standard streams, which may be closed."""
    if descriptor >= _LOWEST:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    os.close(descriptor)
    return moved


def write(descriptor: int, piece: bytes) -> None:
    """All of it, waiting as long as the reader does; raises Gone if there is none."""
    rest = memoryview(piece)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # somebody who shares the file made it so
            _wait(descriptor, select.POLLOUT)
        except OSError as error:
            # A full disk, too: the agent learns from its own next write that this goes nowhere.
            raise Gone(error.strerror or str(error)) from error


def unread(descriptor: int) -> int | None:
    """How many bytes wait in a pipe or a terminal for whoever reads it; None if nobody knows."""
    try:
        return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)))[0]  # type: ignore[no-any-return]
    except (OSError, ValueError):
        return None


def reading_end(descriptor: int) -> int:
    """Another reading end of a pipe that we write to, to see what is left in it once ours is closed; -1 if unknown."""
    try:
        return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return -1


def _wait(descriptor: int, event: int) -> None:
    poller = select.poll()
    poller.register(descriptor, event)
    poller.poll()


class Stop:
    """Something that can be waited for beside file descriptors, and that stays once it was set."""

    def __init__(self) -> None:
        self.descriptor, self._far = pipe()
        self._set = False

    def set(self) -> None:
        """From now on."""
        if not self._set:
            self._set = True
            os.write(self._far, b"x")

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._set


class Pump(threading.Thread):
    """Moves everything from `source` to `deliver` until the source ends, nobody takes it any more, or `stop` is set.

    What is there when `stop` is set is still moved if `drains`: the agent has written it before it ended. `see` gets
    each piece after it was delivered, so that looking never delays. The reader's pace is the writer's pace: at most one
    piece is held here.
    """

    def __init__(self, name: str, source: int, deliver: Deliver, see: See, stop: Stop, *, drains: bool,
                 first: bytes = b"", ended: Callable[[], None] = lambda: None) -> None:  # fmt: skip
        super().__init__(name=f"codecli-{name}", daemon=True)
        self._source = source
        self._deliver = deliver
        self._see = see
        self._stop_mark = stop
        self._drains = drains
        self._first = first  # goes before all that comes from the source
        self._ended = ended  # called once, when no more will come from here
        self._held = threading.Event()
        self._held.set()
        self._looked = threading.Event()  # not set while a piece is delivered and looked at
        self._looked.set()
        self.problem = ""  # why it ended before its source did

    def run(self) -> None:
        """Move."""
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        poller.register(self._stop_mark.descriptor, select.POLLIN)
        try:
            if self._first:
                self._deliver(self._first)
                self._see(self._first)
            while True:
                stopping = self._stop_mark.is_set()
                ready = {each for each, _ in poller.poll(0 if stopping else None)}
                if self._source not in ready:
                    if stopping:
                        return
                    continue
                if self._stop_mark.is_set() and not self._drains:
                    return
                self._held.wait()
                piece = _read(self._source)
                if piece is None:
                    continue
                if not piece:
                    return
                self._looked.clear()
                self._deliver(piece)
                self._see(piece)
                self._looked.set()
        except Gone as error:
            self.problem = str(error)
        except Exception as error:
            # Whatever happens to our copy, the agent must not wait for ever for a reader who is not there.
            self.problem = f"{type(error).__name__}: {error}"
        finally:
            self._looked.set()
            self._ended()

    def looked(self, most_s: float) -> None:
        """Wait until what was delivered was looked at too: whoever read it may have answered already."""
        self._looked.wait(most_s)

    def hold(self) -> None:
        """Read nothing for a while."""
        self._held.clear()

    def go_on(self) -> None:
        """Read again."""
        self._held.set()


class Outbox(threading.Thread):
    """Writes what it is given, in order, so that whoever gives it need not wait for a reader who is slow or stuck.

    Somebody who reads an agent's output and answers it must never wait for it to read: it may be waiting for them.
    """

    def __init__(self, deliver: Deliver, ended: Callable[[], None]) -> None:
        super().__init__(name="codecli-outbox", daemon=True)
        self._deliver = deliver
        self._ended = ended
        self._state = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._held = 0  # bytes that wait
        self._over = False

    def put(self, piece: bytes) -> None:
        """Write this after all that came before; nothing, once it is over."""
        with self._state:
            if not self._over:
                self._waiting.append(piece)
                self._held += len(piece)
                self._state.notify_all()

    def finish(self) -> None:
        """Nothing follows what waits."""
        with self._state:
            self._over = True
            self._state.notify_all()

    def room(self, most: int) -> None:
        """Wait until at most so many bytes wait."""
        with self._state:
            self._state.wait_for(lambda: self._held <= most)

    def run(self) -> None:
        """Write."""
        try:
            while True:
                with self._state:
                    self._state.wait_for(lambda: self._waiting or self._over)
                    if not self._waiting:
                        return
                    piece = self._waiting.popleft()
                self._deliver(piece)
                with self._state:
                    self._held -= len(piece)
                    self._state.notify_all()
        except Gone:
            pass  # an agent that no longer listens may still speak
        finally:
            with self._state:
                self._over, self._held = True, 0
                self._waiting.clear()
                self._state.notify_all()
            self._ended()


def _read(source: int) -> bytes | None:
    """A piece; empty at the end, None if there was nothing after all."""
    try:
        return os.read(source, CHUNK)
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno == errno.EIO:  # how a terminal says that nobody has it open any more
            return b""
        raise


def close(descriptor: int) -> None:
    """Close, even if it was closed already."""
    with contextlib.suppress(OSError):
        os.close(descriptor)
