"""Our programs without their start-up: one process has loaded them and the encoder, and each call is a fork of it.

To start Python, load the libraries of a server and read the encoder costs seconds of CPU, and tests start hundreds of
servers and thousands of commands. What runs is the same `main` with the caller's arguments, environment, folder and
files, in a process like any other. What it does not show is loading itself: tests about that start a real program, and
so does whoever gives an environment that Python or the C library reads only once (`may_fork`). A caller in a network of
its own, as tests of agents are, has its programs there.
`CODEXMEM_TEST_FORK=0` starts real servers everywhere.
"""

from __future__ import annotations

import array
import asyncio
import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn
from unittest import mock

from codexmem.hook import starting
from codexmem.kernel.embed import local
from codexmem.kernel.store import upgrade
from tests._support import disk, statements

PROGRAMS = {
    "codexmem": "codexmem.cli",
    "codexmem-hook": "codexmem.hook.__main__",
    "mem-codecli": "codexmem.codecli.cli",
}
# Loaded beside every command: what only a running server or an opened store needs.
ALSO = (
    "alembic.command", "anyio._backends._asyncio", "codexmem.agents.install.installing", "codexmem.http.mcp",
    "codexmem.app.server", "codexmem.client.background", "codexmem.client.bridge", "codexmem.client.supervisors",
    "codexmem.codecli.exec_through", "codexmem.kernel.store.opening", "codexmem.kernel.store.postgres.pgvector",
    "codexmem.kernel.store.sqlite.text", "codexmem.kernel.store.sqlite.vectors", "mcp.server", "numpy", "openai",
    "openai.resources.chat.completions", "platformdirs.unix", "psycopg", "pydantic.v1",
    "sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite.pysqlite", "sqlite_vec",
    "uvicorn.lifespan.on", "uvicorn.protocols.http.h11_impl",
)  # fmt: skip
_SPOKEN: dict[str, object] = {"contentSessionId": "rehearsal", "project": "rehearsal"}
# A session with a tool's call, what is made of it, and what is looked at afterwards; None is no body.
REHEARSED: tuple[tuple[str, dict[str, object] | None], ...] = (
    ("/api/sessions/init", _SPOKEN | {"prompt": "Which port?"}),
    ("/api/sessions/observations",
     _SPOKEN | {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x", "tool_use_id": "1"}),
    ("/api/sessions/summarize", _SPOKEN | {"last_assistant_message": "The dev server listens on port 5179."}),
    ("/api/sessions/complete", _SPOKEN),
    ("/api/memory/save", {"text": "The dev server listens on port 5179.", "project": "rehearsal"}),
    ("/api/context?project=rehearsal", None),
    ("/api/search?query=port&project=rehearsal", None),
    ("/api/observations?limit=5", None),
    ("/api/summaries?limit=5", None),
    ("/api/processing-status", None),
)  # fmt: skip
_NETWORK, _NEW_NETWORK = Path("/proc/thread-self/ns/net"), 0x40000000  # CLONE_NEWNET
_ONCE = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS", "OMP_", "MALLOC", "TZ")  # beginnings of names that are read once
# Built-in modules only: those that wrap them take longer to load than the interpreter takes to start.
CALLER = """#!{python} -IS
import posix, sys, _signal, _socket
def told():
    said = b""
    while not said.endswith(b"\\n"):
        said += line.recv(1) or sys.exit("the process to fork from is gone")
    return int(said)
line = _socket.socket(_socket.AF_UNIX)
line.connect({path!r})
arguments = [each.encode(sys.getfilesystemencoding(), "surrogateescape") for each in sys.argv[1:]]
asked = [{program!r}, posix.getcwdb(), b"%d" % len(arguments), *arguments]
asked = b"\\0".join(asked + [name + b"=" + value for name, value in posix.environ.items()])
files = [0, 1, 2]
try:
    files.append(posix.open("/proc/thread-self/ns/net", posix.O_RDONLY | posix.O_CLOEXEC))
except FileNotFoundError:
    pass
files = b"".join(each.to_bytes(4, sys.byteorder) for each in files)
line.sendmsg([len(asked).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
line.sendall(asked)
child = told()
for each in (_signal.SIGTERM, _signal.SIGINT):
    _signal.signal(each, lambda number, frame: posix.kill(child, number))
code = told()
posix._exit(code if code >= 0 else 128 - code)
"""


class ForkedProcess:
    """What tests use of `subprocess.Popen`."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._answers = line.makefile()
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("codexmem", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Nothing, if it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """At once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """As an operator does."""
        self.send_signal(signal.SIGTERM)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                return None
            self.returncode = int(self._answers.readline())
            self._answers.close()
            self._line.close()
        return self.returncode


def run(arguments: Sequence[str], *, env: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """`codexmem …`, to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = start(arguments, env=env, out=out.fileno(), err=err.fileno()).wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["codexmem", *arguments], code, out.read(), err.read())


def start(
    arguments: Sequence[str], *, env: Mapping[str, str], out: int, err: int, fork: bool = True,
    program: str = "codexmem", folder: Path | None = None,
) -> ForkedProcess | subprocess.Popen[bytes]:  # fmt: skip
    """`codexmem …`, or another of our programs or a module with a `main`, without input, its output in files."""
    if not fork or not may_fork(env):
        command = [sys.executable, "-m", PROGRAMS.get(program, program), *arguments]
        return subprocess.Popen(command, env=dict(env), cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    asked = _packed(program, arguments, folder or Path.cwd(), env)
    line = socket.socket(socket.AF_UNIX)
    line.connect(str(_origin() / "line"))
    with Path(os.devnull).open("rb") as nothing, contextlib.ExitStack() as stack:
        network = [stack.enter_context(_NETWORK.open("rb")).fileno()] if _NETWORK.exists() else []
        files = array.array("i", [nothing.fileno(), out, err, *network])
        line.sendmsg([len(asked).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        line.sendall(asked)
        return ForkedProcess(line)


def _packed(program: str, arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> bytes:
    parts = [program, str(folder), str(len(arguments)), *arguments, *(f"{name}={env[name]}" for name in env)]
    return b"\0".join(map(os.fsencode, parts))


def _unpacked(asked: bytes) -> tuple[str, list[str], str, dict[str, str]]:
    program, folder, count, *others = map(os.fsdecode, asked.split(b"\0"))
    pairs = (each.partition("=") for each in others[int(count) :])
    return program, others[: int(count)], folder, {name: value for name, _, value in pairs}


def programs() -> Path:
    """A folder for the path, with what stands for our programs there."""
    return _origin() / "programs"


def program(name: str) -> str:
    """The path of one of them, to be started as any program; it takes the caller's files, folder and environment."""
    return str(programs() / name)


def forkable(env: Mapping[str, str]) -> dict[str, str]:
    """The same with what is read only once as it is here."""
    kept = {name: value for name, value in env.items() if not name.startswith(_ONCE)}
    return kept | {name: value for name, value in os.environ.items() if name.startswith(_ONCE)}


def may_fork(env: Mapping[str, str]) -> bool:
    """Whether a process with this environment may be a fork of one with ours."""
    if os.environ.get("CODEXMEM_TEST_FORK") == "0":
        return False
    names = {name for name in env.keys() | os.environ.keys() if name.startswith(_ONCE)}
    return all(env.get(name) == os.environ.get(name) for name in names)


def _enter_network(file: int) -> None:
    """The caller's, if it is another one: tests of agents take theirs away."""
    if os.fstat(file).st_ino != _NETWORK.stat().st_ino and ctypes.CDLL(None, use_errno=True).setns(file, _NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "cannot enter the caller's network")


@functools.cache
def _origin() -> Path:
    """The folder of the process to fork from, one for each process of pytest; both end with that."""
    folder = Path(tempfile.mkdtemp(prefix="codexmem-warm-"))
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", __name__, str(folder)]
    # Its input ends when this process does, however that happens.
    loaded = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, start_new_session=True)
    atexit.register(_end, loaded)
    until = time.monotonic() + 150  # on a machine that does much else
    while not (folder / "line").exists():
        if loaded.poll() is not None or time.monotonic() > until:
            raise RuntimeError("the programs could not be loaded")
        time.sleep(0.02)
    (folder / "programs").mkdir()
    for name in PROGRAMS:
        caller = folder / "programs" / name
        caller.write_text(CALLER.format(python=sys.executable, path=str(folder / "line"), program=name.encode()))
        caller.chmod(0o755)
    return folder


def _end(loaded: subprocess.Popen[bytes]) -> None:
    assert loaded.stdin is not None
    loaded.stdin.close()
    loaded.wait(20)


def serve(folder: Path) -> None:
    """Load everything, then answer calls until the input ends."""
    gc.disable()  # until it is loaded: all of it stays
    for name in (*PROGRAMS.values(), *ALSO):
        importlib.import_module(name)
    disk.skip_waits()
    statements.compile_once()
    _load_commands()
    _fork_in_background(folder / "programs" / "codexmem")
    local.small().query("read once for all")
    upgrade.newest()
    _make_template(folder / "template.db")
    _rehearse(folder / "rehearsal")
    gc.enable()
    gc.collect()
    gc.freeze()
    line = socket.socket(socket.AF_UNIX)
    line.bind(str(folder / "new"))
    line.listen(16)
    (folder / "new").rename(folder / "line")
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    while 0 not in (ready := select.select([line.fileno(), 0, woken], [], [])[0]):
        if woken in ready:
            os.read(woken, 4096)
            _tell_ended(running)
        if line.fileno() in ready:
            call, _ = line.accept()
            try:
                asked, files = _received(call)
            except (OSError, LookupError):  # the caller is gone already
                call.close()
                continue
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (line, call, *running.values()):
                    each.close()
                os.close(woken)
                os.close(wakes)
                _run(*_unpacked(asked), files)
            for file in files:
                os.close(file)
            running[child] = call
            with contextlib.suppress(OSError):
                call.sendall(f"{child}\n".encode())
    for child in running:  # of tests that were interrupted
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
    shutil.rmtree(folder, ignore_errors=True)


def _tell_ended(running: dict[int, socket.socket]) -> None:
    """How each of those that have ended did; one signal may stand for many of them."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with running.pop(ended[0]) as call, contextlib.suppress(OSError):
                call.sendall(f"{os.waitstatus_to_exitcode(ended[1])}\n".encode())


def _load_commands() -> None:
    from codexmem.cli.root import cli
    from codexmem.codecli.cli.root import cli as codecli
    from tests.docs.reference.commands import walk

    for program in (cli, codecli):
        list(walk(program, program.name or ""))


def _fork_in_background(program: Path) -> None:
    """A server that one of our programs starts beside it is a fork as well."""
    spawn, real = starting._spawn, [sys.executable, "-m", PROGRAMS["codexmem"]]

    def spawned(command: list[str], log: str, folder: str, environ: Mapping[str, str]) -> int:
        return spawn([str(program), *command[3:]] if command[:3] == real else command, log, folder, environ)

    starting._spawn = spawned


def _make_template(path: Path) -> None:
    """Migrations run once; in a child, because an opened store leaves more behind than its file."""
    from codexmem.kernel.store import opening
    from tests._support import template

    if os.fork() == 0:
        with contextlib.suppress(BaseException):
            template.make(path)
        os._exit(0)
    os.wait()
    mock.patch.object(opening, "upgrade_store", template.copying(path, opening.upgrade_store)).start()


def _rehearse(folder: Path) -> None:
    """Ask what most tests ask of a server, so that its statements are compiled and its schemas built for all forks."""
    from codexmem.app import SURFACES, Services, open_core
    from codexmem.console.backend import InProcess
    from codexmem.http.assemble import build_asgi
    from codexmem.http.guard import GuardSettings
    from codexmem.kernel.model.ids import SystemClock
    from codexmem.kernel.model.tenant import LOCAL
    from codexmem.kernel.services.status import ServerStatus
    from codexmem.kernel.store.database import acting_as
    from codexmem.settings import load

    class Whole(InProcess):
        def _app(self, path: str) -> object:
            return app

    folder.mkdir()
    services = Services(ServerStatus(version="rehearsal", clock=SystemClock()))
    guard = GuardSettings(None, acting_as, port=80)
    app = build_asgi(SURFACES, services, guard, version="rehearsal")
    core = open_core(load({"data_dir": str(folder), "embedder": "none"}, {}, folder))
    try:
        services.opened(core)
        server = Whole(core, LOCAL)
        for path, body in REHEARSED:
            sent = None if body is None else json.dumps(body).encode()
            reply = asyncio.run(server._called("GET" if body is None else "POST", path, sent))
            assert reply.status == 200, (path, reply.body)
    finally:
        core.close()
    until = time.monotonic() + 10
    while threading.active_count() > 1:  # a fork has none of them, and may wait for what one of them held
        assert time.monotonic() < until, threading.enumerate()
        time.sleep(0.01)


def _received(call: socket.socket) -> tuple[bytes, array.array[int]]:
    """One call: what is asked, and the caller's files."""
    head, received, *_ = call.recvmsg(4, socket.CMSG_SPACE(16))
    files = array.array("i")
    files.frombytes(received[0][2][: len(received[0][2]) // 4 * 4])
    wanted, text = int.from_bytes(head, "big"), b""
    while len(text) < wanted:
        more = call.recv(wanted - len(text))
        if not more:
            raise ConnectionError("the caller has ended")
        text += more
    return text, files


def _run(
    program: str, arguments: list[str], folder: str, environment: dict[str, str], files: array.array[int]
) -> NoReturn:
    code: object = 0
    try:
        os.setpgid(0, 0)
        os.getppid = os.getpid  # a program's parent tells whose session it belongs to, and all forks have the same one
        for file in files[3:]:
            _enter_network(file)
            os.close(file)
        for number, file in enumerate(files[:3]):
            os.dup2(file, number)
            os.close(file)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        sys.argv = [program, *arguments]
        importlib.import_module(PROGRAMS.get(program, program)).main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    with contextlib.suppress(BaseException):  # as an interpreter ends
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
