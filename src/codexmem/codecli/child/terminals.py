"""Terminals: the person's, which is put aside while the agent has one of its own, and the agent's.

The person's terminal is made raw only while we are in its foreground, and is given back on every way out: at the end,
while the agent is stopped, and while a person is asked something by us.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator

from codexmem.codecli.child import pump

_SIZE = struct.Struct("HHHH")
_IFLAG, _OFLAG, _LFLAG, _CC = 0, 1, 3, 6
_TAKEN_UP_S = 0.05
LONGEST_LINE = 4_000 if sys.platform == "linux" else 1_000  # bytes that a terminal which edits lines keeps of one


def size(descriptor: int) -> bytes:
    """The window's size as the system keeps it; empty if this is no terminal."""
    try:
        return fcntl.ioctl(descriptor, termios.TIOCGWINSZ, bytes(_SIZE.size))
    except OSError:
        return b""


def columns(descriptor: int) -> int:
    """How many cells a line has; 80 if nobody knows."""
    found = size(descriptor)
    return _SIZE.unpack(found)[1] or 80 if found else 80


class Inner:
    """A terminal for the agent, like the person's.

    A `plain` one is for output alone and changes nothing of what is written to it: the person's terminal, which stays
    as it was, does all that a terminal does to output.
    """

    def __init__(self, like: int, *, plain: bool = False) -> None:
        master, slave = os.openpty()
        self.master = pump.raised(master)
        self.slave = pump.raised(slave)
        self.path = os.ttyname(self.slave)
        self._like = like
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.slave, termios.TCSANOW, termios.tcgetattr(like))
        if plain:
            tty.setraw(self.slave, termios.TCSANOW)
        self.resize()

    def resize(self) -> None:
        """Take on the size of the person's window; whoever runs in the foreground is told by the system."""
        found = size(self._like)
        if found and found != size(self.master):
            with contextlib.suppress(OSError):
                fcntl.ioctl(self.master, termios.TIOCSWINSZ, found)

    def started(self) -> None:
        """The agent has it now; our own end would keep it open for ever."""
        pump.close(self.slave)

    def foreground(self) -> int:
        """The process group that has the keyboard; 0 if none."""
        try:
            return os.tcgetpgrp(self.master)
        except OSError:
            return 0

    def suspends(self, piece: bytes) -> bool:
        """Whether these keys ask for the foreground to be stopped (Ctrl-Z, where the agent has not taken it away)."""
        try:
            settings = termios.tcgetattr(self.master)
        except termios.error:
            return False
        key = settings[_CC][termios.VSUSP]
        return bool(settings[_LFLAG] & termios.ISIG) and isinstance(key, bytes) and key != b"\0" and key in piece

    def takes_lines(self) -> bool:
        """Whether the agent leaves editing of lines to the terminal; one that draws its own screen does not."""
        try:
            return bool(termios.tcgetattr(self.master)[_LFLAG] & termios.ICANON)
        except termios.error:
            return False

    def editing(self) -> tuple[bytes, bytes] | None:
        """The keys that erase a character and a line, if the terminal edits lines for the agent and shows them.

        A line that is not shown is a secret; one that the agent edits itself is the agent's.
        """
        try:
            settings = termios.tcgetattr(self.master)
        except termios.error:
            return None
        erase, kill = settings[_CC][termios.VERASE], settings[_CC][termios.VKILL]
        edits = settings[_LFLAG] & termios.ICANON and settings[_LFLAG] & termios.ECHO
        if not edits or not isinstance(erase, bytes) or not isinstance(kill, bytes) or kill == b"\0":
            return None
        return erase, kill

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Nothing that is typed meanwhile is shown."""
        self._echo(False)
        try:
            yield
            self.settle()
        finally:
            self._echo(True)

    def settle(self) -> None:
        """Wait until what was written is taken up, which another thread of the system does."""
        time.sleep(_TAKEN_UP_S)

    def _echo(self, on: bool) -> None:
        with contextlib.suppress(termios.error):
            settings = termios.tcgetattr(self.master)
            settings[_LFLAG] = settings[_LFLAG] | termios.ECHO if on else settings[_LFLAG] & ~termios.ECHO
            termios.tcsetattr(self.master, termios.TCSANOW, settings)

    def unread(self) -> int | None:
        """How many bytes of finished lines the agent has not read; None if nobody knows."""
        try:
            slave = os.open(self.path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return pump.unread(slave)
        finally:
            pump.close(slave)


class Outer:
    """The person's terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.RLock()
        self._before: list[object] | None = None  # as it was, while it is raw

    def enter(self) -> None:
        """Pass every key on as it is, if we are in the foreground; what was typed already is kept."""
        with self._lock:
            if self._before is not None or not self._is_ours():
                return
            with contextlib.suppress(termios.error):
                before = termios.tcgetattr(self._descriptor)
                tty.setraw(self._descriptor, termios.TCSADRAIN)
                self._before = before

    def leave(self) -> None:
        """As it was."""
        with self._lock:
            before, self._before = self._before, None
            if before is not None:
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)  # type: ignore[arg-type]

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """As it was, for a while."""
        with self._lock:
            raw = self._before is not None
            self.leave()
        try:
            yield
        finally:
            if raw:
                self.enter()

    def _is_ours(self) -> bool:
        # Whoever changes a terminal from the background is stopped.
        try:
            return os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except OSError:
            return False
