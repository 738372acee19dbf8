"""Our programs without their start-up: one process has loaded them and the encoder, and each call is a fork of it.

To start Python, load the libraries of a server and read the encoder costs seconds of CPU, and tests start hundreds of
servers and thousands of commands. What runs is the same `main` with the caller's arguments, environment, folder and
files, in a process like any other. What it does not show is loading itself: tests about that start a real program, and
so does whoever gives an environment that Python or the C library reads only once, or is in another network
(`may_fork`).
`CODEXMEM_TEST_FORK=0` starts real servers everywhere.
"""

from __future__ import annotations

import array
import atexit
import contextlib
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

from codexmem.kernel.embed import local
from codexmem.kernel.store import upgrade

PROGRAMS = {
    "codexmem": "codexmem.cli",
    "codexmem-hook": "codexmem.hook.__main__",
    "mem-codecli": "codexmem.codecli.cli",
}
# Loaded beside every command: what only a running server or an opened store needs.
ALSO = (
    "alembic.command", "anyio._backends._asyncio", "codexmem.agents.install.installing", "codexmem.app.mcp.server",
    "codexmem.app.server", "codexmem.client.background", "codexmem.client.bridge", "codexmem.client.supervisors",
    "codexmem.codecli.exec_through", "codexmem.kernel.store.opening", "codexmem.kernel.store.postgres.pgvector",
    "codexmem.kernel.store.sqlite.text", "codexmem.kernel.store.sqlite.vectors", "mcp.server", "numpy",
    "platformdirs.unix", "psycopg", "pydantic.v1", "rich.console", "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite", "sqlite_vec", "uvicorn.lifespan.on", "uvicorn.protocols.http.h11_impl",
)  # fmt: skip
_ONCE = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS", "OMP_", "MALLOC", "TZ")  # beginnings of names that are read once
CALLER = """#!{python} -IS
import array, json, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect({path!r})
asked = json.dumps([{program!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
line.sendmsg([len(asked).to_bytes(4, "big")], files)
line.sendall(asked)
answers = line.makefile()
child = int(answers.readline())
for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, lambda number, frame: os.kill(child, number))
code = int(answers.readline())
sys.exit(code if code >= 0 else 128 - code)
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
    arguments: Sequence[str], *, env: Mapping[str, str], out: int, err: int, fork: bool = True
) -> ForkedProcess | subprocess.Popen[bytes]:
    """`codexmem …` without input, its output in files."""
    if not fork or not may_fork(env):
        command = [sys.executable, "-m", "codexmem.cli", *arguments]
        return subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    asked = json.dumps(["codexmem", list(arguments), str(Path.cwd()), dict(env)]).encode()
    line = socket.socket(socket.AF_UNIX)
    line.connect(str(_origin() / "line"))
    with Path(os.devnull).open("rb") as nothing:
        files = array.array("i", [nothing.fileno(), out, err])
        line.sendmsg([len(asked).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        line.sendall(asked)
        return ForkedProcess(line)


def programs() -> Path:
    """A folder for the path, with what stands for our programs there."""
    return _origin() / "programs"


def may_fork(env: Mapping[str, str]) -> bool:
    """Whether a process with this environment may be a fork of one with ours."""
    if os.environ.get("CODEXMEM_TEST_FORK") == "0" or _network() != _NETWORK:
        return False
    names = {name for name in env.keys() | os.environ.keys() if name.startswith(_ONCE)}
    return all(env.get(name) == os.environ.get(name) for name in names)


def _network() -> str:
    """Which network this process is in: tests of agents take theirs away."""
    try:
        return str(Path("/proc/self/ns/net").readlink())
    except OSError:
        return ""


_NETWORK = _network()


@functools.cache
def _origin() -> Path:
    """The folder of the process to fork from, one for each process of pytest; both end with that."""
    folder = Path(tempfile.mkdtemp(prefix="codexmem-warm-"))
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", __name__, str(folder)]
    # Its input ends when this process does, however that happens.
    loaded = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, start_new_session=True)
    atexit.register(_end, loaded)
    until = time.monotonic() + 90
    while not (folder / "line").exists():
        if loaded.poll() is not None or time.monotonic() > until:
            raise RuntimeError("the programs could not be loaded")
        time.sleep(0.02)
    (folder / "programs").mkdir()
    for name in PROGRAMS:
        caller = folder / "programs" / name
        caller.write_text(CALLER.format(python=sys.executable, path=str(folder / "line"), program=name))
        caller.chmod(0o755)
    return folder


def _end(loaded: subprocess.Popen[bytes]) -> None:
    assert loaded.stdin is not None
    loaded.stdin.close()
    loaded.wait(20)


def serve(folder: Path) -> None:
    """Load everything, then answer calls until the input ends."""
    for name in (*PROGRAMS.values(), *ALSO):
        importlib.import_module(name)
    _load_commands()
    local.small().query("read once for all")
    upgrade.newest()
    _make_template(folder / "template.db")
    gc.collect()
    gc.freeze()
    line = socket.socket(socket.AF_UNIX)
    line.bind(str(folder / "new"))
    line.listen(16)
    (folder / "new").rename(folder / "line")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for a call
    while 0 not in (ready := select.select([line.fileno(), 0], [], [])[0]):
        if line.fileno() in ready:
            call, _ = line.accept()
            if os.fork() == 0:
                line.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os._exit(_answer(call))
            call.close()
    shutil.rmtree(folder, ignore_errors=True)


def _load_commands() -> None:
    from codexmem.cli.root import cli
    from codexmem.codecli.cli.root import cli as codecli
    from tests.docs.reference.commands import walk

    for program in (cli, codecli):
        list(walk(program, program.name or ""))


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


def _answer(call: socket.socket) -> int:
    """One call: run it in a process of its own and tell how it ended."""
    head, received, *_ = call.recvmsg(4, socket.CMSG_SPACE(12))
    files = array.array("i")
    files.frombytes(received[0][2][:12])
    wanted, text = int.from_bytes(head, "big"), b""
    while len(text) < wanted:
        text += call.recv(wanted - len(text))
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        call.close()
        _run(json.loads(text), files)
    for file in files:
        os.close(file)
    with contextlib.suppress(BrokenPipeError):
        call.sendall(f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(BrokenPipeError):
        call.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return 0


def _run(asked: list[object], files: array.array[int]) -> NoReturn:
    program, arguments, folder, environment = asked
    assert isinstance(program, str)
    assert isinstance(arguments, list)
    assert isinstance(environment, dict)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(str(folder))
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv = [program, *arguments]
    code: object = 0
    try:
        importlib.import_module(PROGRAMS[program]).main()
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
