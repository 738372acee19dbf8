"""Our programs without their start-up: one process has loaded them, and each call is a fork of it.

A page calls them a hundred times, and Python with all its imports would be most of that. What runs is the same `main`
with the caller's arguments, environment, folder and files; `CALLER` is what stands on the path instead of the program.
"""

from __future__ import annotations

import array
import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = {"codexmem": "codexmem.cli", "codexmem-hook": "codexmem.clients.hook.__main__",
            "mem-codecli": "codexmem.cli.codecli"}  # fmt: skip
# Loaded beside every command: what only a running server or an opened store needs.
ALSO = (
    "alembic.command", "anyio._backends._asyncio", "codexmem.app.server", "codexmem.clients.bridge",
    "codexmem.clients.codecli.straight", "codexmem.store.opening", "codexmem.store.postgres.pgvector",
    "codexmem.store.sqlite.text", "codexmem.store.sqlite.vectors", "codexmem.surfaces.mcp.server", "mcp.server",
    "numpy", "platformdirs.unix", "psycopg", "pydantic.v1", "rich.console", "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite", "uvicorn.lifespan.on", "uvicorn.protocols.http.h11_impl",
)  # fmt: skip
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


@contextlib.contextmanager
def warmed(folder: Path) -> Iterator[Path]:
    """A process that has loaded everything; the folder of the programs that call it."""
    path = folder / "warm"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    loaded = subprocess.Popen([sys.executable, "-m", "tests.docs.warm", str(path)], env=env, start_new_session=True)
    try:
        until = time.monotonic() + 60
        while not path.exists():
            assert loaded.poll() is None, "the programs could not be loaded"
            assert time.monotonic() < until, "the programs took too long to load"
            time.sleep(0.02)
        programs = folder / "programs"
        programs.mkdir()
        for name in PROGRAMS:
            caller = programs / name
            caller.write_text(CALLER.format(python=sys.executable, path=str(path), program=name))
            caller.chmod(0o755)
        yield programs
    finally:
        os.killpg(loaded.pid, signal.SIGTERM)
        loaded.wait(20)


def serve(path: str) -> None:
    """Load everything, then answer calls until ended."""
    for name in (*PROGRAMS.values(), *ALSO):
        importlib.import_module(name)
    _load_commands()
    line = socket.socket(socket.AF_UNIX)
    line.bind(path)
    line.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for a call
    while True:
        call, _ = line.accept()
        if os.fork() == 0:
            line.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os._exit(_answer(call))
        call.close()


def _load_commands() -> None:
    from codexmem.cli.codecli.root import cli as codecli
    from codexmem.cli.root import cli
    from tests.docs.reference.commands import walk

    for program in (cli, codecli):
        list(walk(program, program.name or ""))


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
    call.sendall(f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    call.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return 0


def _run(asked: list[object], files: array.array[int]) -> None:
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
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    serve(sys.argv[1])
