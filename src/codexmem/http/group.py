"""Several servers behind one port: a parent that listens and starts them, and serves nothing itself.

All of them accept from the parent's sockets, so that a connection which arrives while one goes is another's. The first
one accepts at once, because health can be asked before a store is open; whoever comes later accepts when it can answer.
Who dies is started again, later each time; a replacement serves before the one whose place it takes begins to leave.
Parent and server are joined by a line: the server tells that it is ready or why it cannot be, and leaves when the line
ends, because then the parent is gone.
"""

import json
import logging
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from codexmem.http.signals import told_signals
from codexmem.kernel.model.errors import BY_CODE, CodexmemError, NotReady
from codexmem.kernel.model.ids import monotonic

log = logging.getLogger(__name__)

LEAVE_S = 25.0  # for a server that leaves; then it is killed
_START_S = 120.0  # for a replacement to become ready; then it is given up
_AGAIN_S = (0.2, 0.5, 1.0, 2.0, 5.0, 15.0, 30.0)
_NOT_NOW_S = 5.0  # until a program that could not be started is tried again
_STEADY_S = 30.0  # after this a server that dies is started again at once
_SPOKEN = 1 << 16


def started(module: str, files: Sequence[int]) -> subprocess.Popen[bytes]:
    """The program of a server, told which of these files is its line: the first."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, str(files[0])], pass_fds=files,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


@dataclass
class _Member:
    number: int
    process: subprocess.Popen[bytes]
    line: socket.socket
    began: float
    ready: bool = False
    leaves_by: float | None = None
    said: bytes = b""


class ServerGroup:
    """The parent. `orders` are what a server has to know besides its number; JSON, because another process reads it."""

    def __init__(
        self, module: str, count: int, sockets: Sequence[socket.socket], orders: Mapping[str, object],
        *, on_ready: Callable[[], None], leave_s: float = LEAVE_S,
    ) -> None:  # fmt: skip
        self._module = module
        self._count = count
        self._sockets = sockets
        self._orders = orders
        self._on_ready = on_ready
        self._leave_s = leave_s
        self._selector = selectors.DefaultSelector()
        self._members: dict[int, _Member] = {}
        self._fresh: _Member | None = None  # will take the place of the one with its number
        self._leaving: list[_Member] = []
        self._due = dict.fromkeys(range(1, count + 1), 0.0)  # when a place that is empty is to be filled
        self._deaths = dict.fromkeys(range(1, count + 1), 0)
        self._to_replace: deque[int] = deque()
        self._was_ready = False
        self._stopping = False
        self._error: CodexmemError | None = None

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT; SIGHUP replaces the servers one by one. Raises why none could begin."""
        on_terminal = os.isatty(0)
        receiver, sender = socket.socketpair()
        self._selector.register(receiver, selectors.EVENT_READ)
        folder = tempfile.mkdtemp(prefix="codexmem-")
        self._orders = {**self._orders, "folder": folder, "processes": self._count, "group": os.getpid()}
        try:
            with told_signals(
                (signal.SIGTERM, signal.SIGINT, signal.SIGHUP), lambda number: sender.sendall(bytes([number]))
            ):
                while not self._done():
                    self._fill()
                    self._replace()
                    for key, _ in self._selector.select(self._patience()):
                        if key.fileobj is receiver:
                            self._signalled(receiver.recv(16), on_terminal=on_terminal)
                        else:
                            self._hear(key.data)
                    self._enforce()
        finally:
            for each in self._all():
                each.process.kill()
                each.process.wait()
            self._selector.close()
            receiver.close()
            sender.close()
            shutil.rmtree(folder, ignore_errors=True)
        if self._error is not None:
            raise self._error

    def _all(self) -> list[_Member]:
        return [*self._members.values(), *([self._fresh] if self._fresh else []), *self._leaving]

    def _done(self) -> bool:
        return self._stopping and not self._all()

    def _fill(self) -> None:
        """Start who is missing: one that accepts at once if nobody does, everybody else as soon as one is ready."""
        serving = any(each.ready for each in self._members.values())
        for number, due in sorted(self._due.items()):
            if self._stopping or (self._members and not serving):
                return
            if due > monotonic():
                continue
            if (member := self._start(number, late=serving)) is None:
                self._due[number] = monotonic() + _NOT_NOW_S
            else:
                del self._due[number]
                self._members[number] = member

    def _replace(self) -> None:
        if self._stopping or self._fresh is not None or self._leaving or not self._to_replace:
            return
        number = self._to_replace.popleft()
        if number in self._members:  # else it is about to be started anyway
            self._fresh = self._start(number, late=True)
            if self._fresh is None:
                self._to_replace.clear()

    def _start(self, number: int, *, late: bool) -> _Member | None:
        """None where the machine has no room for it now: that must not take those that serve."""
        ours, theirs = socket.socketpair()
        files = [theirs.fileno(), *(each.fileno() for each in self._sockets)]
        try:
            process = started(self._module, files)
        except OSError as error:
            log.error("server process %d cannot be started: %s", number, error)
            ours.close()
            return None
        finally:
            theirs.close()
        ours.setblocking(False)
        orders = {**self._orders, "number": number, "late": late, "sockets": files[1:]}
        with suppress(OSError):  # it is gone already; its line tells
            ours.sendall(json.dumps(orders).encode() + b"\n")
        member = _Member(number, process, ours, monotonic())
        self._selector.register(ours, selectors.EVENT_READ, member)
        return member

    def _hear(self, member: _Member) -> None:
        try:
            said = member.line.recv(_SPOKEN)
        except ConnectionResetError:
            said = b""
        if not said:
            self._ended(member)
            return
        member.said += said
        *lines, member.said = member.said.split(b"\n")
        for line in lines:
            self._told(member, json.loads(line))

    def _told(self, member: _Member, said: Mapping[str, object]) -> None:
        if isinstance(failed := said.get("failed"), dict):
            if not self._was_ready and self._error is None:
                # Nothing has ever worked: who started us wants to know why, not to see it tried again.
                self._error = BY_CODE.get(failed["code"], CodexmemError)(
                    failed["message"], hint=failed["hint"], details=failed["details"]
                )
                self._stop()
            return
        member.ready = True
        if member is self._fresh:
            self._fresh = None
            self._leave(self._members[member.number])
            self._members[member.number] = member
        log.info("server process %d of %d is ready (pid %d)", member.number, self._count, member.process.pid)
        if not self._was_ready:
            self._was_ready = True
            self._on_ready()

    def _ended(self, member: _Member) -> None:
        """Its line has ended, so it has, or is about to."""
        self._selector.unregister(member.line)
        member.line.close()
        try:
            code = member.process.wait(self._leave_s)
        except subprocess.TimeoutExpired:
            member.process.kill()
            code = member.process.wait()
        if member in self._leaving:
            self._leaving.remove(member)
        elif member is self._fresh:
            self._fresh = None
            self._to_replace.clear()
            log.error("a new server process ended with %d; those that serve go on, none is replaced", code)
        else:
            del self._members[member.number]
            self._lost(member, code)

    def _lost(self, member: _Member, code: int) -> None:
        if self._stopping:
            return
        if not self._was_ready and code > 0:
            self._error = NotReady("the server could not start", hint="the log lines above say why")
            self._stop()
            return
        steady = member.ready and monotonic() - member.began >= _STEADY_S
        deaths = self._deaths[member.number] = 0 if steady else self._deaths[member.number] + 1
        wait_s = _AGAIN_S[min(deaths, len(_AGAIN_S) - 1)]
        self._due[member.number] = monotonic() + wait_s
        log.warning("server process %d ended with %d; started again in %g s", member.number, code, wait_s)

    def _signalled(self, numbers: bytes, *, on_terminal: bool) -> None:
        for number in numbers:
            if number == signal.SIGHUP and not (on_terminal and _terminal_gone()):
                if not self._stopping:
                    self._to_replace = deque(sorted(self._members))
            elif self._stopping:
                for each in self._all():  # asked twice
                    each.leaves_by = monotonic()
            else:
                self._stop()

    def _stop(self) -> None:
        self._stopping = True
        self._to_replace.clear()
        for listener in self._sockets:  # who comes now is refused as soon as the last server has left
            listener.close()
        for each in self._all():
            if each not in self._leaving:
                self._leave(each)
        self._members.clear()
        self._fresh = None

    def _leave(self, member: _Member) -> None:
        member.leaves_by = monotonic() + self._leave_s
        self._leaving.append(member)
        member.process.terminate()

    def _patience(self) -> float | None:
        moments = [each.leaves_by for each in self._leaving if each.leaves_by is not None]
        moments += [self._fresh.began + _START_S] if self._fresh else []
        moments += [] if self._stopping else [due for due in self._due.values() if due > monotonic()]
        return max(0.0, min(moments) - monotonic()) if moments else None

    def _enforce(self) -> None:
        """Kill who had time enough; its line tells the rest."""
        now = monotonic()
        for each in self._leaving:
            if each.leaves_by is not None and each.leaves_by <= now:
                log.warning("server process %d did not leave in time and is killed", each.number)
                each.leaves_by = None
                each.process.kill()
        if self._fresh is not None and self._fresh.began + _START_S <= now:
            log.error("a new server process was not ready after %g s", _START_S)
            self._fresh.began = now
            self._fresh.process.kill()


def _terminal_gone() -> bool:
    """Whether the terminal that we were started on was closed: then nobody asks for a replacement."""
    try:
        os.tcgetpgrp(0)
    except OSError:
        return True
    return False


class ServerOrders(TypedDict):
    """What a server is told by its parent, besides what it runs with."""

    flags: dict[str, object]
    work: bool
    late: bool
    folder: str
    processes: int
    group: int  # the parent's process
    number: int
    sockets: list[int]


class Line:
    """A server's end of the line to its parent."""

    def __init__(self, file: int) -> None:
        self._socket = socket.socket(fileno=file)
        self._socket.set_inheritable(False)
        self._read = self._socket.makefile("rb")
        self.orders: ServerOrders = json.loads(self._read.readline())

    @property
    def folder(self) -> Path:
        """Where the processes of the group meet."""
        return Path(self.orders["folder"])

    def sockets(self) -> list[socket.socket]:
        """What the parent listens on."""
        found = [socket.socket(fileno=file) for file in self.orders["sockets"]]
        for each in found:
            each.set_inheritable(False)
            each.setblocking(False)
        return found

    def ready(self) -> None:
        """We can answer."""
        self._tell({"ready": True})

    def failed(self, error: CodexmemError) -> None:
        """We cannot, and never could."""
        said = {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}
        self._tell({"failed": said})

    def wait_for_end(self) -> None:
        """Return when the parent is gone."""
        with suppress(OSError):
            self._read.read()

    def _tell(self, said: Mapping[str, object]) -> None:
        with suppress(OSError):
            self._socket.sendall(json.dumps(said, default=str).encode() + b"\n")
