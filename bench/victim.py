"""The real server as a process that can be killed: `codexmem serve`, with its own settings and home.

Nothing of the caller's environment reaches it but the path. Loopback only.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import codexmem
from tests._support import warm
from tests._support.waiting import eventually
from tests._support.warm import ForkedProcess

READY_SECONDS = 60.0
_SOURCES = Path(codexmem.__file__).parent.parent


class VictimError(RuntimeError):
    """The server did not do what it must; the message ends with its own words."""


class Victim:
    """A server that is started, killed and started again on one port and one store."""

    forks = False  # whether its processes may be forks of one that has loaded everything; the gate sets it

    def __init__(self, home: Path, database_url: str, *, module: str = "codexmem.cli",
                 environment: Mapping[str, str] | None = None, options: Sequence[str] = ()) -> None:  # fmt: skip
        self._home = home
        self._url = database_url
        self._log = home / "server.log"
        self.port = free_port()
        self.secret: str | None = None
        self._module = module
        self._given = dict(environment or {})
        self._options = tuple(options)  # of `serve`
        self._process: subprocess.Popen[bytes] | ForkedProcess | None = None

    @property
    def pid(self) -> int:
        """Of the server, while it runs; else 0."""
        return self._process.pid if self._process is not None else 0

    def command(self, *arguments: str, timeout_s: float = READY_SECONDS) -> Any:
        """Run a command to its end and return the JSON document that it prints."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            code = self.launch(*arguments, "--json", out=out.fileno(), err=err.fileno()).wait(timeout_s)
            out.seek(0)
            err.seek(0)
            if code != 0:
                raise VictimError(f"codexmem {' '.join(arguments)} ended with {code}\n{err.read().decode()[-2000:]}")
            return json.loads(out.read())

    def launch(self, *arguments: str, out: int, err: int) -> subprocess.Popen[bytes] | ForkedProcess:
        """Start a command on this store, its output in files."""
        words = [*arguments, *self._store()]
        if self.forks:
            return warm.start(words, env=warm.forkable(self._environment()), out=out, err=err,
                              program=self._module, folder=self._home)  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", self._module, *words], env=self._environment(), cwd=self._home,
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
        )  # fmt: skip

    def start(self, pause: Callable[[float], object] = time.sleep) -> None:
        """Start and wait until ready, with these pauses between two looks."""
        with self._log.open("ab") as log:
            self._process = self.launch(
                "serve", "--port", str(self.port), *self._options, out=log.fileno(), err=log.fileno()
            )
        try:
            eventually(self._ready, within_s=READY_SECONDS, pause=pause)
        except AssertionError as error:
            self.kill()
            raise VictimError(f"the server was not ready\n{self._tail()}") from error

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        return self._end(signal.SIGTERM)

    def connect(self, timeout: float = 10.0) -> http.client.HTTPConnection:
        """A keep-alive connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def headers(self) -> dict[str, str]:
        """What every request carries."""
        known = {"Content-Type": "application/json"}
        return known | ({"Authorization": f"Bearer {self.secret}"} if self.secret else {})

    def post(self, connection: http.client.HTTPConnection, path: str, body: object, **headers: str) -> tuple[int, Any]:
        """Send one request and read its whole answer."""
        connection.request("POST", path, json.dumps(body).encode(), self.headers() | headers)
        reply = connection.getresponse()
        read = reply.read()
        return reply.status, json.loads(read) if read else None

    def _ready(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            raise VictimError(f"the server ended with {self._process.returncode}\n{self._tail()}")
        connection = self.connect(timeout=2.0)
        try:
            connection.request("GET", "/api/readiness")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def _end(self, number: int) -> int:
        if self._process is None:
            return 0
        self._process.send_signal(number)
        try:
            code = self._process.wait(READY_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise VictimError(f"the server ignored signal {number}\n{self._tail()}") from None
        self._process = None
        return code

    def _store(self) -> list[str]:
        return ["--data-dir", str(self._home / "data"), "--database-url", self._url]

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self._home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(_SOURCES),
            "CODEXMEM_LOG_LEVEL": "warning",
            **self._given,
        }

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-30:])


def seconds_to_start(victim: Victim) -> float:
    """Start it; how long it took until it was ready."""
    began = time.monotonic()
    victim.start(pause=lambda _: time.sleep(0.01))
    return time.monotonic() - began


def free_port() -> int:
    """A port below the range that clients are given, so that none of them takes it while the server is down."""
    for port in range(20_000 + os.getpid() % 8_000, 32_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise VictimError("no free port between 20000 and 32000")
