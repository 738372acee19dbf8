"""A real server process on a free port, spoken to over real HTTP; stopped when the block ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from codexmem.operations.keys import LocalToken
from tests._support import changed, warm
from tests._support.waiting import patience
from tests._support.warm import ForkedProcess

STOPS_WITHIN_S = 60.0  # it may take 20 s by its own rules, and this is no test of them
STARTS_WITHIN_S = 90.0  # on a machine that has a core for it


@dataclass(frozen=True)
class Reply:
    """One answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """The environment of a codexmem process that owes nothing to the developer's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CODEXMEM_")}
    config = {"CODEXMEM_DATA_DIR": str(data_dir), "XDG_CONFIG_HOME": str(data_dir / "config")}
    return kept | config | settings


class Server:
    """`codexmem serve` with its own data directory."""

    forks = False  # whether it may be a fork of a process that has loaded everything; the gate sets it

    def __init__(self, data_dir: Path, *, database_url: str | None = None, key: str | None = None,
                 settings: Mapping[str, str] | None = None, options: Sequence[str] = (),
                 constants: Mapping[str, float] | None = None, program: str = "codexmem") -> None:  # fmt: skip
        """`constants` are values of modules that this server has instead of its own, by their full names."""
        self.data_dir = data_dir
        self.key = key
        where = {"CODEXMEM_DATABASE_URL": database_url} if database_url else {}
        self._env = environment(data_dir, **where, **(settings or {}))
        self._program = "tests._support.changed" if constants else program
        self._env |= {changed.VARIABLE: json.dumps(dict(constants))} if constants else {}
        self._options = tuple(options)
        self._process: ForkedProcess | subprocess.Popen[bytes] | None = None
        self.port = 0
        self._wanted = frozenset((200,))

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process is not None
        return self._process.pid

    def start_unready(self) -> None:
        """Start and wait until it says how it is, well or not."""
        self._wanted = frozenset((200, 503))
        self.start()

    def start(self, port: int = 0) -> None:
        """Start and wait until it says it is ready; on the port where somebody expects it, if one is given."""
        self._log = (self.data_dir / "server.log").open("ab")
        arguments = ["serve", "--port", str(port), *self._options]
        log = self._log.fileno()
        self._process = warm.start(arguments, env=self._env, out=log, err=log, fork=self.forks, program=self._program)
        began = time.monotonic()
        while time.monotonic() - began < STARTS_WITHIN_S * patience():
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended: {(self.data_dir / 'server.log').read_text()[-2000:]}")
            if self._announced():
                return
            time.sleep(0.02)
        self._process.kill()
        self._process.wait()
        raise TimeoutError(f"the server did not become ready: {(self.data_dir / 'server.log').read_text()[-2000:]}")

    def _announced(self) -> bool:
        try:
            said = json.loads((self.data_dir / "server.json").read_text())
        except (FileNotFoundError, ValueError):
            return False
        assert self._process is not None
        if said["pid"] != self._process.pid:
            return False
        self.port = urlsplit(said["url"]).port or 0
        return self.request("GET", "/api/readiness").status in self._wanted

    def stop(self) -> int:
        """End it as an operator would; returns its exit code."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(STOPS_WITHIN_S * patience())
        self._log.close()
        return code

    def request(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Reply:
        """One request on a connection of its own; a body that is not bytes is sent as JSON."""
        sent = dict(headers or {})
        if self.key is not None:
            sent.setdefault("Authorization", f"Bearer {self.key}")
        elif "X-Codexmem-Person" in sent or sent.get("Sec-Fetch-Site") == "same-origin":
            # As the command line and our own page do.
            token = LocalToken(self.data_dir / "token")
            sent.setdefault("Authorization", f"Bearer {(self.data_dir / 'token').read_text().strip()}")
            sent.setdefault("Cookie", f"{token.cookie}={token.session}")
        payload = body if isinstance(body, bytes) or body is None else json.dumps(body, ensure_ascii=False).encode()
        if payload is not None:
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, payload, sent)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Reply:
        """POST a JSON value."""
        return self.request("POST", path, body, headers)


def create_key(data_dir: Path, database_url: str, tenant: str) -> str:
    """A fresh API key, made as an operator makes one."""
    env = environment(data_dir, CODEXMEM_DATABASE_URL=database_url)
    done = warm.run(["--json", "key", "create", "--tenant", tenant, "--label", f"test {uuid4().hex}"], env=env)
    done.check_returncode()
    secret: str = json.loads(done.stdout)["secret"]
    return secret
