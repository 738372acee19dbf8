"""A real Chroma server, started from the wheel for one test run; loopback only, gone when the tests are."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Self

STARTUP_SECONDS = 60.0

# What the program `chroma` does, without the client in Python that it loads and does not use.
_PROGRAM = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])"
# Ends with us, however we end: it reads a pipe that closes when this process is gone.
_KEEPER = """
import os, signal, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
signal.signal(signal.SIGTERM, lambda *_: (server.terminate(), server.wait(10), os._exit(0)))
signal.signal(signal.SIGUSR1, lambda *_: (server.kill(), server.wait(10), os._exit(0)))
while os.read(0, 4096):
    pass
server.terminate()
"""


class ChromaServer:
    """One server with its own folder and port; `stop`, `kill` and `start` keep both."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="codexmem-chroma-"))
        self.port = _free_port()
        self._keeper: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What to configure."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def start(self) -> None:
        """Start and wait until it answers."""
        command = ["run", "--path", str(self.home), "--host", "127.0.0.1", "--port", str(self.port)]
        program = [sys.executable, "-c", _PROGRAM, *command]
        self._keeper = subprocess.Popen([sys.executable, "-S", "-c", _KEEPER, *program], stdin=subprocess.PIPE)
        deadline = time.monotonic() + STARTUP_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise RuntimeError("Chroma did not start")
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop and keep the data."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL it; what it had written stays."""
        self._end(signal.SIGUSR1)

    def _end(self, how: signal.Signals) -> None:
        if self._keeper is not None:
            self._keeper.send_signal(how)
            self._keeper.wait(20)
            if self._keeper.stdin is not None:
                self._keeper.stdin.close()
            self._keeper = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=1) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
