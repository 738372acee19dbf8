"""The agent between its person and us: started, its streams pumped, its signals passed on, until it has ended.

One thread per stream moves bytes; the calling thread, which must be the main one, takes signals and waits. When the
agent has ended, what it wrote is still passed on; what a process that it left behind may write later is not waited for.

How the agent ended, and ending in the same way: whoever waits for us must not be able to tell the difference.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from codexmem.codecli.agents.protocol import Launch
from codexmem.codecli.child import pump as moving
from codexmem.codecli.child import signals, spawning
from codexmem.codecli.child.pump import Deliver, Gone, Outbox, Pump, See, Stop, unseen
from codexmem.codecli.child.spawning import ERR, IN, OUT, StreamMode, spawn
from codexmem.codecli.child.terminals import LONGEST_LINE, Inner, Outer
from codexmem.codecli.opening import Opening, Typed


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


_LOOK_S = 0.5  # a signal that another thread took away is noticed after so long
_SEEN_S = 0.2  # what the agent said last is looked at before what the person says to it
_STOPPING_S = 0.1  # for an agent to put its screen in order before it is stopped
_WAITING_BYTES = 1 << 20  # for an agent that reads slowly
_FORCED_S = 5.0  # for an agent that was asked to end; then it is made to


class Route(Protocol):
    """What is between the streams, where they are not simply passed on. Called from the pumps' threads."""

    leads: bool  # nobody's input is read; the route speaks for the person

    def begin(self, to_agent: Deliver, to_person: Deliver, hang_up: Callable[[], None]) -> None:
        """The agent runs. `hang_up` closes its input."""
        ...

    def person(self, piece: bytes) -> None:
        """The person's program sent this."""
        ...

    def agent(self, piece: bytes) -> None:
        """The agent wrote this."""
        ...

    def person_ended(self) -> None:
        """No more comes from the person's program."""
        ...

    def agent_ended(self) -> None:
        """No more comes from the agent."""
        ...


@dataclass(frozen=True, slots=True)
class Eyes:
    """Who sees what passes, each piece after it was delivered."""

    stdin: See = unseen
    stdout: See = unseen  # on a terminal, everything
    stderr: See = unseen


@dataclass(slots=True)
class ProcessPlan:
    """What is to be run, and how it is connected."""

    launch: Launch
    eyes: Eyes = field(default_factory=Eyes)
    wants: spawning.Wants = field(default_factory=spawning.Wants)
    connected: spawning.Connected | None = None  # None: look
    first: bytes = b""  # goes to the agent's input before the person's
    ours: int = 0  # how many bytes of that are not the person's
    opening: Opening | None = None  # puts something before the first prompt of the person's
    heard: See = unseen  # hears what the person sends, before the agent can answer it
    route: Route | None = None
    leaving_s: float | None = None  # how long an agent may stay once its input is closed; None: as long as it likes
    show: Callable[[int, bytes], None] = moving.write  # writes to our own output and error


class Between:
    """One run of an agent."""

    def __init__(self, plan: ProcessPlan) -> None:
        self._plan = plan
        self._connected = plan.connected or spawning.look()
        self.ways = spawning.ways(self._connected, plan.wants)
        self._stop = Stop()
        self._outer = Outer(IN)
        self._inner: Inner | None = None
        self._shown: list[Inner] = []  # terminals for output alone
        self._outputs: list[Pump] = []
        self._keyboard: Pump | None = None
        self._agent_in = -1
        self._process = 0
        self._writing = threading.Lock()  # to the agent
        self._input_closed = False
        self._outbox: Outbox | None = None
        self._asked_to_leave = 0.0
        self._typed = Typed()
        self._sent = 0  # bytes, to the agent
        self._ours_until = 0  # so many bytes it has to read to have read what we put before the person's
        self._left_behind = -1  # the reading end of a closed input
        self.ours_read = False  # whether it has
        self.seen_off = False  # whether it had to be made to leave
        self.stopped = False  # whether it was ended because of a tool that was denied
        self._holding = False  # its group is halted while a tool is decided
        self._holds = 0
        self.drew_itself = False

    @property
    def draws_itself(self) -> bool:
        """Whether the agent has taken over its terminal."""
        return self._inner is not None and not self._inner.takes_lines()

    def run(self) -> ExitStatus:
        """Start the agent and stay until it has ended."""
        with signals.taken() as mask:
            sources = self._connect(mask)
            self._outer_enter()
            try:
                self._start_pumps(sources)
                status = self._wait()
                self._see_whether_read()
                self._stop.set()
                for pump in self._outputs:
                    pump.join()
            finally:
                self._stop.set()
                self._outer.leave()
                self._close()
        return ExitStatus.of(status)

    @contextlib.contextmanager
    def lent_terminal(self) -> Iterator[None]:
        """The person's terminal as it was, and nobody else reading it: to ask something."""
        if self._keyboard is not None:
            self._keyboard.hold()
        try:
            with self._outer.lent():
                yield
        finally:
            if self._keyboard is not None:
                self._keyboard.go_on()

    def _connect(self, mask: frozenset[int]) -> dict[int, int]:
        """Make what connects us and start the agent; returns what is read from, by the stream it belongs to."""
        theirs: dict[int, int | str] = {}
        sources: dict[int, int] = {}
        far: list[int] = []
        try:
            if StreamMode.TERMINAL in self.ways:
                self._inner = Inner(IN)
                sources[OUT] = self._agent_in = self._inner.master
                theirs.update(
                    {each: self._inner.path for each, way in enumerate(self.ways) if way is StreamMode.TERMINAL}
                )
            elif self.ways[IN] is StreamMode.PIPE:
                near, self._agent_in = moving.pipe()
                far.append(near)
                theirs[IN] = near
            for stream in (OUT, ERR):
                if self.ways[stream] is StreamMode.PIPE:
                    sources[stream], end = moving.pipe()
                    far.append(end)
                    theirs[stream] = end
                elif self.ways[stream] is StreamMode.SHOWN:
                    shown = Inner(stream, plain=True)
                    self._shown.append(shown)
                    sources[stream], theirs[stream] = shown.master, shown.slave
                elif self.ways[stream] is StreamMode.WITH_OUT:
                    theirs[stream] = theirs[OUT]
            self._process = spawn(self._plan.launch, theirs, mask=mask, own_group=self._own_group)
        except BaseException:
            for each in (*sources.values(), self._agent_in):
                moving.close(each)
            raise
        finally:
            for end in far:
                moving.close(end)
            for terminal in (*self._shown, *([self._inner] if self._inner else [])):
                terminal.started()
        return sources

    @property
    def _own_group(self) -> bool:
        """An agent that may have to be ended with what it starts, and does not need our terminal."""
        return self._plan.wants.protocol or self._plan.wants.group

    def _outer_enter(self) -> None:
        if self._inner is not None:
            self._outer.enter()

    def _start_pumps(self, sources: dict[int, int]) -> None:
        plan, route = self._plan, self._plan.route
        for stream, source in sources.items():
            eye = plan.eyes.stdout if stream == OUT else plan.eyes.stderr
            deliver = self._to_person(stream)
            ended = self._reading_ended(stream, source)
            if route is not None and stream == OUT:
                deliver, eye = route.agent, unseen
            self._outputs.append(Pump(f"from-{stream}", source, deliver, eye, self._stop, drains=True, ended=ended))
        if route is not None:
            self._outbox = Outbox(self._keys, self._close_input)
            self._outbox.start()
            route.begin(self._outbox.put, self._to_person(OUT), self._hang_up)
        if self._agent_in >= 0 and not (route is not None and route.leads):
            to, eye = (self._to_route, unseen) if route is not None else (self._person_sent, plan.eyes.stdin)
            self._ours_until = plan.ours
            self._keyboard = Pump("to-agent", IN, to, eye, self._stop, drains=False, first=plan.first,
                                  ended=self._person_ended)  # fmt: skip
            self._keyboard.start()
        for pump in self._outputs:
            pump.start()

    def _keys(self, piece: bytes) -> None:
        with self._writing:
            if self._input_closed:
                raise Gone("closed")
            moving.write(self._agent_in, piece)
            self._sent += len(piece)
        inner = self._inner
        if inner is not None and inner.foreground() == self._process and inner.suspends(piece):
            # The system does not stop the leader of a session by itself.
            signals.alarm(signal.SIGTSTP)

    def _person_sent(self, piece: bytes) -> None:
        """Pass it on, with what goes before the first prompt."""
        opening = self._plan.opening
        if piece is not self._plan.first and self._plan.heard is not unseen:
            for output in self._outputs:
                output.looked(_SEEN_S)
            self._plan.heard(piece)
        if opening is None or not opening.pending:
            self._keys(piece)
        elif self._inner is None:
            before = opening.before(piece)
            self._ours_until = self._sent + len(before) if before else 0
            self._keys(before + piece)
        else:
            self._person_typed(opening, self._inner, piece)

    def _person_typed(self, opening: Opening, inner: Inner, piece: bytes) -> None:
        """A person's keys go to the agent's terminal, which edits them; only a line's end is held until it is known
        what goes before that line."""
        while piece and opening.pending:
            ends = [at for at in (piece.find(b"\r"), piece.find(b"\n")) if at >= 0]
            keys = piece[: min(ends, default=len(piece))]
            editing = inner.editing()
            self._typed.add(keys, erase=editing[0] if editing else b"", kill=editing[1] if editing else b"")
            if not ends:
                break
            line = self._typed.line()
            if editing and line:
                before = opening.before_line(line, LONGEST_LINE - len(line.encode()))
                if before:
                    if keys.decode("utf-8", "replace").isprintable():
                        self._plan.show(OUT, keys)
                    else:  # what they do to the line is shown by whoever edits it
                        self._keys(keys)
                        inner.settle()
                    with inner.silent():
                        self._keys(editing[1] + before + line.encode())
                    self._keys(b"\n")
                    self._ours_until = self._sent
                    piece = piece[len(keys) + 1 :]
                    break
            self._keys(piece[: len(keys) + 1])
            piece = piece[len(keys) + 1 :]
        if piece:
            self._keys(piece)

    def _see_whether_read(self) -> None:
        """Whether the agent has read what we put before the person's; once it has, it has."""
        if self.ours_read or not self._ours_until:
            return
        if self._inner is not None:
            self.ours_read = self._inner.unread() == 0
        else:
            left = moving.unread(self._left_behind if self._input_closed else self._agent_in)
            self.ours_read = left is None or self._sent - left >= self._ours_until

    def _to_route(self, piece: bytes) -> None:
        assert self._plan.route is not None
        assert self._outbox is not None
        self._plan.route.person(piece)
        self._outbox.room(_WAITING_BYTES)  # whoever sends too fast waits, and nobody else does

    def _person_ended(self) -> None:
        if self._plan.route is not None:
            self._plan.route.person_ended()
        elif self._inner is None:
            self._hang_up()

    def hold(self) -> None:
        """Halt the agent and what it started."""
        self._holding = True
        self._holds += 1
        signals.send(self._process, signal.SIGSTOP, group=True)

    def go_on(self) -> None:
        """Let the agent run again."""
        signals.send(self._process, signal.SIGCONT, group=True)
        self._holding = False

    def stop(self) -> None:
        """End the agent and what it started, at once."""
        self.stopped = True
        signals.send(self._process, signal.SIGKILL, group=True)

    def tell_agent(self, piece: bytes) -> bool:
        """Write to the agent's input as if the person had; False if that is not ours, or closed. Waits for nobody."""
        if self._agent_in < 0 or self._input_closed:
            return False
        threading.Thread(target=self._told, args=(piece,), name="codecli-told", daemon=True).start()
        return True

    def _told(self, piece: bytes) -> None:
        with contextlib.suppress(Gone):
            self._keys(piece)

    def _to_person(self, stream: int) -> Deliver:
        def deliver(piece: bytes) -> None:
            self._plan.show(stream, piece)

        return deliver

    def _reading_ended(self, stream: int, source: int) -> Callable[[], None]:
        def ended() -> None:
            if self._plan.route is not None and stream == OUT:
                self._plan.route.agent_ended()
            if self._inner is None or source != self._inner.master:
                moving.close(source)  # an agent that goes on writing learns that nobody reads

        return ended

    def _hang_up(self) -> None:
        """Nothing more for the agent, after what it has still to read."""
        self._asked_to_leave = self._asked_to_leave or time.monotonic()
        if self._outbox is not None:
            self._outbox.finish()
        else:
            self._close_input()

    def _close_input(self) -> None:
        with self._writing:
            if not self._input_closed:
                if self._ours_until:
                    self._left_behind = moving.reading_end(self._agent_in)
                self._input_closed = True
                moving.close(self._agent_in)

    def _wait(self) -> int:
        own = self._inner is not None or self._own_group
        while True:
            number, from_keyboard = signals.next_one(_LOOK_S)
            holding, holds = self._holding, self._holds
            done, status = os.waitpid(self._process, os.WNOHANG | os.WUNTRACED)
            if done and os.WIFSTOPPED(status):
                if not holding and holds == self._holds:  # else it was us
                    self._suspend()
            elif done:
                return status
            self.drew_itself = self.drew_itself or self.draws_itself
            self._see_whether_read()
            if number == signal.SIGWINCH:
                self._resize()
            elif number == signal.SIGCONT:
                self._resumed()
            elif number == signal.SIGTSTP and self._inner is not None:
                time.sleep(_STOPPING_S)
                signals.send(self._process, signal.SIGSTOP, group=True)
            elif number in signals.PASSED_ON or number == signal.SIGTSTP:
                if own or not from_keyboard:
                    signals.send(self._process, number, group=own)
            self._see_off()

    def _see_off(self) -> None:
        """An agent that stays although its conversation is over is asked to end, then made to."""
        allowed = self._plan.leaving_s
        if not self._asked_to_leave or allowed is None:
            return
        late = time.monotonic() - self._asked_to_leave - allowed
        if late > 0:
            self.seen_off = True
            signals.send(self._process, signal.SIGKILL if late > _FORCED_S else signal.SIGTERM, group=True)

    def _resize(self) -> None:
        if self._inner is not None:
            self._inner.resize()
        elif self._shown:
            for terminal in self._shown:
                terminal.resize()
            # It was told by the person's terminal, perhaps before it could see the new size on its own.
            signals.send(self._process, signal.SIGWINCH, group=False)

    def _suspend(self) -> None:
        """The agent is stopped: so are we, for whoever started us; the terminal is theirs until we go on."""
        self._outer.leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._resumed()

    def _resumed(self) -> None:
        self._outer_enter()
        self._resize()
        signals.send(self._process, signal.SIGCONT, group=self._inner is not None or self._own_group)

    def _close(self) -> None:
        if self._keyboard is not None:
            self._keyboard.join(_STOPPING_S)
            if self._keyboard.is_alive():
                return  # it still writes to somebody whom the agent left behind; it ends with us
        if self._inner is not None:
            moving.close(self._inner.master)
        elif self._outbox is not None:
            self._outbox.finish()
        elif self._agent_in >= 0:
            self._close_input()
