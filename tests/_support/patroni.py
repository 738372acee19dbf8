"""The reference deployment of `deploy/patroni` on loopback: etcd, three PostgreSQL nodes under Patroni, and HAProxy.

Debian's packages have etcd, HAProxy and what Patroni needs; `requirements/patroni.txt` says which Patroni. What runs
are the deployment's own files. Everything is gone when the block ends.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote

import psycopg
from psycopg import sql

from tests._support.postgres import SUPERUSER, Account, Installation, children, free_port

DEPLOY = Path(__file__).parents[2] / "deploy/patroni"
NAMES = ("one", "two", "three")
PASSWORD = "only-on-loopback"
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
ETCD, HAPROXY = (shutil.which(name, path=_PATH) for name in ("etcd", "haproxy"))
PATRONI = Path(sys.prefix) / "patroni"  # as the gate installs it
_PYTHON = "/usr/bin/python3"  # Debian's, which has what Patroni needs, and which any account may run
_START_S = 120.0


@dataclass(eq=False)
class Node:
    """One database node."""

    name: str
    postgres: int  # ports
    patroni: int
    process: subprocess.Popen[bytes] | None = None


class PatroniCluster:
    """Three nodes, of which one is the primary and another its synchronous standby."""

    def __init__(self, *, parent: Path | None = None) -> None:
        self._account = Account.for_server()  # neither PostgreSQL nor Patroni runs as root
        self._installation = Installation.find()
        self._parent = parent
        self._others: list[subprocess.Popen[bytes]] = []
        self.port = 0  # HAProxy's
        self.nodes = [Node(name, 0, 0) for name in NAMES]

    def __enter__(self) -> Self:
        if ETCD is None or HAPROXY is None or not PATRONI.is_dir():
            raise RuntimeError("what the deployment is made of is not installed; run: .ci/run --setup-only")
        self.home = Path(tempfile.mkdtemp(prefix="codexmem-ha-", dir=self._parent))
        try:
            self._own(self.home)
            shutil.copytree(PATRONI, self.home / "patroni")
            if not self._installation.usable_by(self._account):
                self._installation = self._installation.copy_to(self.home / "wheel")
            self._start_etcd()
            for node in self.nodes:
                node.postgres, node.patroni = free_port(), free_port()
            for node in self.nodes:
                self.start(node)
                if node is self.nodes[0]:
                    _until(lambda: self._is_primary(self.nodes[0]), "a first primary", _START_S, self._said)
            self._start_haproxy()
            self.wait_for_standbys()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes:
            self.kill(node)
        for each in self._others:
            each.kill()
            each.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        """The address of a database, through HAProxy."""
        return f"postgresql://{SUPERUSER}:{quote(PASSWORD)}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str) -> str:
        """Create a database and return its address."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def primary(self) -> Node | None:
        """Who says that it is."""
        return next((node for node in self.nodes if node.process and self._is_primary(node)), None)

    def wait_for_standbys(self) -> None:
        """Until both other nodes follow, one of them so that each commit waits for it."""
        _until(self._follow, "two standbys", _START_S, self._said)

    def start(self, node: Node) -> None:
        """The node's Patroni, which starts its PostgreSQL; the same command after it was killed."""
        data = self.home / node.name
        data.mkdir(exist_ok=True)
        self._own(data)
        environment = {
            **_ENVIRONMENT,
            "PYTHONPATH": str(self.home / "patroni"),
            "PATRONI_NAME": node.name,
            "PATRONI_ETCD3_HOSTS": f"127.0.0.1:{self._etcd}",
            "PATRONI_RESTAPI_LISTEN": f"127.0.0.1:{node.patroni}",
            "PATRONI_RESTAPI_CONNECT_ADDRESS": f"127.0.0.1:{node.patroni}",
            "PATRONI_POSTGRESQL_LISTEN": f"127.0.0.1:{node.postgres}",
            "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"127.0.0.1:{node.postgres}",
            "PATRONI_POSTGRESQL_DATA_DIR": str(data / "data"),
            "PATRONI_POSTGRESQL_BIN_DIR": str(Path(self._installation.program("postgres")).parent),
            "PATRONI_POSTGRESQL_PGPASS": str(data / "pgpass"),
            "PATRONI_SUPERUSER_USERNAME": SUPERUSER,
            "PATRONI_SUPERUSER_PASSWORD": PASSWORD,
            "PATRONI_REPLICATION_USERNAME": "replicator",
            "PATRONI_REPLICATION_PASSWORD": PASSWORD,
        }
        (data / "patroni.yml").write_text(self._config(data))
        command = [_PYTHON, "-m", "patroni", str(data / "patroni.yml")]
        node.process = self._spawn(command, f"{node.name}.log", environment, data)

    def kill(self, node: Node) -> None:
        """SIGKILL of everything on the node at once, as when its machine dies."""
        if node.process is None:
            return
        for pid in self._processes(node):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.process.wait()
        node.process = None

    def freeze(self, node: Node) -> None:
        """Stop everything on the node without ending it, as a hung hypervisor does."""
        for pid in self._processes(node):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def thaw(self, node: Node) -> None:
        """Go on after `freeze`, as if no time had passed."""
        for pid in self._processes(node):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _processes(self, node: Node) -> list[int]:
        """Patroni, and PostgreSQL with its backends, which is no child of Patroni for long."""
        assert node.process is not None
        found = [node.process.pid]
        with suppress(OSError, ValueError, IndexError):
            postmaster = int((self.home / node.name / "data/postmaster.pid").read_text().split()[0])
            found += [postmaster, *children(postmaster)]
        return found

    def _config(self, data: Path) -> str:
        """The deployment's file, with a socket folder of the node's own because all share a machine."""
        text = (DEPLOY / "patroni.yml").read_text()
        assert "postgresql:\n  use_unix_socket: true\n" in text
        return text.replace(
            "postgresql:\n  use_unix_socket: true\n",
            f"postgresql:\n  parameters: {{unix_socket_directories: '{data}', shared_buffers: 64MB}}\n"
            "  use_unix_socket: true\n",
        )

    def _start_etcd(self) -> None:
        self._etcd, peer = free_port(), free_port()
        assert ETCD is not None
        here, there = f"http://127.0.0.1:{self._etcd}", f"http://127.0.0.1:{peer}"
        folder = self.home / "etcd"
        folder.mkdir()
        self._own(folder)
        command = [
            ETCD, "--name", "etcd", "--data-dir", str(folder / "data"), "--listen-client-urls", here,
            "--advertise-client-urls", here, "--listen-peer-urls", there, "--initial-advertise-peer-urls", there,
            "--initial-cluster", f"etcd={there}",
        ]  # fmt: skip
        self._others.append(self._spawn(command, "etcd.log", _ENVIRONMENT, folder))
        _until(lambda: _status(self._etcd, "/health") == 200, "etcd", _START_S, self._said)

    def _start_haproxy(self) -> None:
        self.port = free_port()
        assert HAPROXY is not None
        environment = {**_ENVIRONMENT, "CODEXMEM_DB_LISTEN": f"127.0.0.1:{self.port}"}
        for node in self.nodes:
            place = f"CODEXMEM_DB_{node.name.upper()}"
            environment |= {place: f"127.0.0.1:{node.postgres}", f"{place}_PATRONI": str(node.patroni)}
        command = [HAPROXY, "-f", str(DEPLOY / "haproxy.cfg"), "-db"]
        self._others.append(self._spawn(command, "haproxy.log", environment, self.home))
        _until(self._answers, "HAProxy", _START_S, self._said)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _is_primary(self, node: Node) -> bool:
        return _status(node.patroni, "/primary") == 200

    def _follow(self) -> bool:
        """Patroni has written down who is synchronous: only that one may be promoted."""
        primary = self.primary()
        if primary is None:
            return False
        members = json.loads(_asked(primary.patroni, "/cluster")[1] or b"{}").get("members", ())
        roles = sorted(each["role"] for each in members if each["state"] in {"running", "streaming"})
        return roles == ["leader", "replica", "sync_standby"] and self._answers()

    def _own(self, path: Path) -> None:
        if self._account.uid is not None and self._account.gid is not None:
            os.chown(path, self._account.uid, self._account.gid)
        path.chmod(0o700)

    def _spawn(
        self, command: Sequence[str], log: str, environment: Mapping[str, str], cwd: Path
    ) -> subprocess.Popen[bytes]:
        with (self.home / log).open("ab") as out:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=cwd, env=dict(environment),
                start_new_session=True, user=self._account.uid, group=self._account.gid,
                extra_groups=self._account.groups,
            )  # fmt: skip

    def _said(self) -> str:
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in self.home.glob("*.log"))


_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _status(port: int, path: str) -> int:
    return _asked(port, path)[0]


def _asked(port: int, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def _until(holds: Callable[[], bool], what: str, within_s: float, said: Callable[[], str]) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} was waited for in vain for {within_s:.0f} s\n{said()}")
        time.sleep(0.1)
