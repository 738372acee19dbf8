"""Reaching PostgreSQL, and noticing when it no longer answers.

The address is read by libpq's own rules, so that several hosts and every parameter work wherever an address is taken.
A server that is frozen keeps its TCP connections: neither its own limits nor TCP's ever end a statement there. So each
wait is watched here: after some seconds without a word the same server is asked on a second connection. If that gets
no answer either, the statement fails and its connection is closed; if it does, the statement is merely slow, and the
server's own limits count.
"""

import threading
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import InvalidArgument

CONNECT_S = 3
QUIET_S = 4.0  # without an answer, until the server is asked whether it is there
APPLICATION = "codexmem"  # what the sessions of servers and workers call themselves, with the schema they know
BELL = "bell"  # those that only hear of changes
# What the address itself says wins over these.
_DEFAULTS: dict[str, str | int] = {
    "connect_timeout": CONNECT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_RV = TypeVar("_RV")


class Silent(psycopg.OperationalError):
    """The server has stopped answering, on this connection and on a new one."""


def parameters(url: str) -> dict[str, Any]:
    """The address as libpq reads it, completed."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise _unreadable() from error
    if "@" in str(given.get("host", "")):  # the end of a password: it must not be told as a host
        raise _unreadable()
    completed = _DEFAULTS | {name: value for name, value in given.items() if value is not None}
    return {**completed, "application_name": APPLICATION}  # ours: by it a restore and an upgrade know who is there


def _unreadable() -> InvalidArgument:
    return InvalidArgument(
        "the address of the database cannot be read",
        hint="write postgresql://user:password@host:5432/database, several hosts as host1:5432,host2:5432, "
        "and special characters of the password as %XX, such as %40 for @",
    )


def place(url: str) -> str:
    """Where the address leads, without who goes there."""
    given = parameters(url)
    hosts, ports = str(given.get("host", "localhost")).split(","), str(given.get("port", "")).split(",")
    ports *= len(hosts) if len(ports) == 1 else 1
    listed = (f"{host}:{port or 5432}" for host, port in zip(hosts, ports, strict=False))
    return ",".join(listed) + f"/{given.get('dbname', '')}"


def pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether a pooler stands in between: it answers for the server with a process number of its own.

    What outlives a transaction (prepared statements, LISTEN, session locks) must then not be relied on.
    """
    row = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    return row is None or row[0] != connection.info.backend_pid


class _Watched(psycopg.Connection[Any]):
    """A connection whose every wait calls `_quiet` when nothing has come for a while."""

    quiet_s = QUIET_S

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.since = ids.monotonic()

    def wait(self, gen: Generator[Any, Any, _RV], *args: Any, **options: Any) -> _RV:
        """As the driver waits, but not for ever."""
        return super().wait(self._watching(gen), *args, **options)

    def _watching(self, gen: Generator[Any, Any, _RV]) -> Generator[Any, Any, _RV]:
        heard = ids.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    heard = ids.monotonic()
                elif ids.monotonic() - heard > self.quiet_s:
                    self._quiet()
                    heard = ids.monotonic()
                wanted = gen.send(ready)
        except StopIteration as done:
            value: _RV = done.value
            return value

    def _quiet(self) -> None:
        self.close()
        raise Silent("the server does not answer")


class _Knock(_Watched):
    """A connection that only asks whether the server answers."""

    quiet_s = 2.0


class ServerConnection(_Watched):
    """A connection for requests and jobs."""

    def _quiet(self) -> None:
        info = self.info
        asked: dict[str, Any] = dict(info.get_parameters())
        asked |= {"host": info.host, "port": info.port, "password": info.password}
        if not _answers({name: value for name, value in asked.items() if value not in (None, "")}):
            super()._quiet()


_asking = threading.Lock()
_asked: dict[tuple[Any, Any], tuple[float, bool]] = {}


def _answers(server: dict[str, Any]) -> bool:
    """Ask on a new connection; threads that wonder at the same time share one answer."""
    where, began = (server.get("host"), server.get("port")), ids.monotonic()
    with _asking:
        when, answered = _asked.get(where, (float("-inf"), False))
        if when < began:
            answered = _knock(server)
            _asked[where] = ids.monotonic(), answered
        return answered


def _knock(server: dict[str, Any]) -> bool:
    told = {name: value for name, value in server.items() if name not in ("hostaddr", "target_session_attrs")}
    try:
        with _Knock.connect(**{**told, "connect_timeout": 2}, autocommit=True, prepare_threshold=None) as connection:
            connection.execute("SELECT 1")
    except (Silent, psycopg.errors.ConnectionTimeout):
        return False
    except psycopg.Error:
        return True  # too many connections, a server that is stopping: an answer all the same
    return True


def connect(url: str, **options: Any) -> psycopg.Connection[Any]:
    """One connection outside every pool."""
    return ServerConnection.connect(**{**parameters(url), **options}, autocommit=True, prepare_threshold=None)
