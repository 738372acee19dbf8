"""The wrapper as a person starts it: in a home of its own, with agents of the test's own on its PATH.

`STRAIGHT` becomes the agent; `BETWEEN` sits between, which `python -m tests._support.wrapping` does with an adapter
that knows nothing, so that what is tested is the wrapper alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codexmem.codecli.agents.protocol import (
    Happening,
    Injection,
    Launch,
    OutputWatcher,
    PreparedAgent,
    ToolDecided,
    Wiring,
)
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

ROOT = Path(__file__).resolve().parents[2]
STRAIGHT, BETWEEN = "straight", "between"
BOTH = (STRAIGHT, BETWEEN)


@dataclass
class PlainAdapter:
    """Puts what it is told before the prompt, which is the last argument, and reads nothing."""

    name: str = "plain"
    watcher: Callable[[], OutputWatcher] | None = None
    by_input: bool = False  # the prompt comes by standard input

    def prompt_of(self, launch: Launch) -> str | None:
        """The last argument, if there is one."""
        return launch.argv[-1] if len(launch.argv) > 1 and not self.by_input else None

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """As it is, with the injection in it."""
        told = "\n".join(part for part in (injection.system, injection.user) if part)
        argv = launch.argv if not told or self.by_input else (*launch.argv[:-1], f"{told}\n{launch.argv[-1]}")
        return PreparedAgent(Launch(argv, launch.environ, launch.cwd), launch.argv[-1], in_launch=not self.by_input,
                        by_input=self.by_input, before_input=told if self.by_input else "",
                        stdout=self.watcher() if self.watcher else None)  # fmt: skip


@dataclass
class Place:
    """A machine of the test's own: a home, and a folder of programs."""

    home: Path
    more: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.home / "bin").mkdir(parents=True, exist_ok=True)
        (self.home / "work").mkdir(exist_ok=True)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of everything that is started here."""
        path = f"{self.home / 'bin'}:/usr/bin:/bin"
        paths = f"{ROOT / 'src'}:{ROOT}"
        return {"HOME": str(self.home), "PATH": path, "PYTHONPATH": paths, "LANG": "C.UTF-8",
                "TERM": "xterm-256color"} | self.more  # fmt: skip

    def program(self, text: str, name: str = "codecli") -> None:
        """Have a program in Python on the PATH."""
        self.script(f"#!{sys.executable} -S\n{textwrap.dedent(text)}", name)

    def shell(self, text: str, name: str = "codecli") -> None:
        """Have a program for the shell on the PATH."""
        self.script(f"#!/bin/sh\n{text}\n", name)

    def script(self, text: str, name: str) -> None:
        """Have this on the PATH."""
        path = self.home / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def command(self, way: str, *arguments: str) -> list[str]:
        """What is started; `bare` is the agent alone."""
        if way == "bare":
            return [str(self.home / "bin" / "codecli"), *arguments]
        if way == STRAIGHT:
            return [sys.executable, "-m", "codexmem.codecli.cli", "run", "--", *arguments]
        return [sys.executable, "-m", "tests._support.wrapping", "codecli", *arguments]

    def start(self, way: str, *arguments: str, **more: Any) -> subprocess.Popen[bytes]:
        """Start it with pipes, or with what is given."""
        given: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | more
        return subprocess.Popen(self.command(way, *arguments), env=self.environ, cwd=self.home / "work", **given)

    def run(self, way: str, *arguments: str, given: bytes = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end."""
        return subprocess.run(self.command(way, *arguments), env=self.environ, cwd=self.home / "work", input=given,
                              capture_output=True, timeout=90, check=False, **more)  # fmt: skip

    def in_shell(self, way: str, line: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
        """Run it in a line of the shell, where `{}` stands for it."""
        command = " ".join(shlex.quote(word) for word in self.command(way))
        return subprocess.run(["sh", "-c", line.format(command)], env=self.environ, cwd=self.home / "work",
                              capture_output=True, timeout=90, check=False, **more)  # fmt: skip


class Screen:
    """A real terminal with a program on it, as a person sits before it."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: Path, *, rows: int = 30,
                 columns: int = 100, streams: Mapping[int, int] | None = None) -> None:  # fmt: skip
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.seen = b""
        given = streams or {}
        places: dict[str, Any] = {
            name: given.get(number, self.slave) for number, name in enumerate(("stdin", "stdout", "stderr"))
        }
        self.before = termios.tcgetattr(self.slave)

        # A shell of its own leads the session, as on a real terminal; it becomes the program once it has the terminal.
        taking = "import fcntl, os, sys, termios; fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0)"
        becoming = "os.set_inheritable(int(sys.argv[1]), False); os.execvp(sys.argv[2], sys.argv[2:])"
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", f"{taking}; {becoming}", str(self.slave), *command], env=dict(environ),
            cwd=cwd, start_new_session=True, pass_fds=(self.slave,), **places,
        )  # fmt: skip

    def resize(self, rows: int, columns: int) -> None:
        """The person drags the window's corner."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: bytes) -> None:
        """The person types."""
        os.write(self.master, text)

    def until(self, text: bytes, wait_s: float = 60.0) -> bytes:
        """Read until this was shown; returns everything so far."""
        end = time.monotonic() + wait_s
        while text not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"{text!r} was not shown, but {self.seen!r}"
            if select.select([self.master], [], [], left)[0]:
                try:
                    piece = os.read(self.master, 65536)
                except OSError:
                    piece = b""
                assert piece, f"{text!r} was not shown, but {self.seen!r}"
                self.seen += piece
        return self.seen

    def wait(self, wait_s: float = 60.0) -> int:
        """Until the program has ended; what it shows is read on."""
        end = time.monotonic() + wait_s
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still there, having shown {self.seen!r}"
            self._read(0.02)
        while self._read(0.05):
            pass
        return int(self.process.returncode)

    def _read(self, wait_s: float) -> bool:
        if not select.select([self.master], [], [], wait_s)[0]:
            return False
        with contextlib.suppress(OSError):
            piece = os.read(self.master, 65536)
            self.seen += piece
            return bool(piece)
        return False

    @property
    def settings(self) -> list[Any]:
        """How the terminal is set now."""
        return termios.tcgetattr(self.slave)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@contextlib.contextmanager
def screen(place: Place, way: str, *arguments: str, **more: Any) -> Iterator[Screen]:
    """The wrapper on a terminal."""
    shown = Screen(place.command(way, *arguments), place.environ, place.home / "work", **more)
    try:
        yield shown
    finally:
        shown.close()


class Asking:
    """A gate that asks the person at the terminal, and a watcher that comes to it with every line that says ASK."""

    def __init__(self) -> None:
        self.decide_by: Callable[[ToolRequest], ToolDecision] = self.decide

    def decide(self, request: ToolRequest) -> ToolDecision:
        """Read a line from the terminal itself."""
        with Path("/dev/tty").open("r+b", buffering=0) as terminal:
            terminal.write(b"really? ")
            answer = terminal.read(100)
            terminal.write(b"(%s)\n" % answer.strip())
        return ToolDecision(Verdict.ALLOW, "asked")

    def started(self, request: ToolRequest) -> None:
        """Nothing."""

    def ended(self, call_id: str, ok: bool, took_ms: int | None) -> None:
        """Nothing."""

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """A question for each line that asks."""
        return [ToolDecided(request, self.decide_by(request)) for request in [ToolRequest("x")] * piece.count(b"ASK")]

    def close(self) -> Iterable[Happening]:
        """Nothing."""
        return ()


def _note(text: str) -> None:
    sys.stderr.write(f"mem-codecli: {text}\n")


def main(argv: list[str]) -> int:
    """Run a command with us in between and nothing else."""
    from codexmem.codecli import surroundings
    from codexmem.codecli.child.process import die_alike
    from codexmem.codecli.child.spawning import NotStarted
    from codexmem.codecli.configuration import Config
    from codexmem.codecli.redactor import Redactor
    from codexmem.codecli.run import AgentRun
    from codexmem.codecli.run_context import Parts
    from codexmem.codecli.trace import RunTracer

    environ = surroundings.environ()
    asking = Asking() if environ.get("TEST_ASK") else None
    parts = Parts(
        Config(), "run-1", "project", Launch(tuple(argv), environ, surroundings.cwd()), PlainAdapter(),
        _note, Redactor(), RunTracer("run-1", None),
        strip=bool(environ.get("TEST_STRIP")), gate=asking,
    )  # fmt: skip
    run = AgentRun(parts)
    if asking is not None:
        asking.decide_by = run.wiring().decide
        run.parts.adapter.watcher = lambda: asking  # type: ignore[attr-defined]
    try:
        ending = run.go()
    except NotStarted as error:
        sys.stderr.write(f"{error.message}\n")
        return error.exit_code
    die_alike(ending)
    return ending.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
