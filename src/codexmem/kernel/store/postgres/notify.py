"""Wake-ups through PostgreSQL: heard in every process that uses the database.

NOTIFY takes a lock on the whole cluster when its transaction commits, so inside a writer's transaction it would let
only one writer commit at a time. Here a thread with a connection of its own sends it after the writer's commit, all
names of a short while in one statement; that transaction has written nothing else and so waits for no disk. What is
lost when the process dies in between only delays: readers also look by themselves. Hearing needs a session of our
own: through a pooler, which may give it to anybody after each transaction, nothing is heard, and the looks remain.
"""

import logging
import os
import select
import threading
from collections.abc import Callable

import psycopg

from codexmem.kernel.model import ids
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.postgres import connecting

CHANNEL = "codexmem"
QUIET_S = 0.02  # rings within this time go out together
_FIRST_RETRY_S = 0.1
_LAST_RETRY_S = 5.0
_log = logging.getLogger(__name__)


class PostgresNotifier:
    """Rings at once in this process, and shortly afterwards in the others."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._origin = ids.prefixed("bell")  # our own notifications have already been heard here
        self._local = LocalNotifier()
        self._lock = threading.Lock()
        self._pending: set[str] = set()
        self._something = threading.Event()
        self._closed = threading.Event()
        self._wake_read, self._wake_write = os.pipe()
        self._threads = [
            threading.Thread(target=self._kept_up, args=(target,), name=name, daemon=True)
            for target, name in ((self._send, "codexmem-notify"), (self._hear, "codexmem-listen"))
        ]
        self._started = False

    def notify(self, name: str) -> None:
        """Wake our own listeners now; leave the others to the sending thread."""
        self._local.notify(name)
        with self._lock:
            if self._closed.is_set():
                return
            self._pending.add(name)
        self._start()
        self._something.set()

    def listen(self, name: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at each ring until stopped."""
        stop = self._local.listen(name, callback)
        self._start()  # afterwards: the first connection rings for all who listen by then
        return stop

    def close(self) -> None:
        """Send what is still pending if that is quick, then end both threads."""
        with self._lock:
            first = not self._closed.is_set()
            self._closed.set()
            started = self._started
        if not first:
            return
        self._something.set()
        os.write(self._wake_write, b"x")
        if started:
            for thread in self._threads:
                thread.join(2.0)
        self._local.close()
        if not any(thread.is_alive() for thread in self._threads):
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _start(self) -> None:
        # With the first use: a process that neither rings nor listens opens no connection.
        with self._lock:
            if self._started or self._closed.is_set():
                return
            self._started = True
            for thread in self._threads:
                thread.start()

    def _kept_up(self, body: Callable[[psycopg.Connection], None]) -> None:
        retry_s = _FIRST_RETRY_S
        while not self._closed.is_set():
            try:
                with connecting.connect(
                    self._url, application_name=f"{connecting.APPLICATION} {connecting.BELL}"
                ) as connection:
                    retry_s = _FIRST_RETRY_S
                    body(connection)
            except (psycopg.Error, OSError) as error:
                if self._closed.is_set():
                    return
                _log.warning("wake-ups through PostgreSQL are interrupted: %s", type(error).__name__)
                self._closed.wait(retry_s)
                retry_s = min(_LAST_RETRY_S, retry_s * 2)

    def _send(self, connection: psycopg.Connection) -> None:
        while True:
            self._something.wait()
            self._something.clear()
            with self._lock:
                names, self._pending = self._pending, set()
            if names:
                try:
                    connection.execute(_NOTIFY, [CHANNEL, self._origin + " ", sorted(names)])
                except psycopg.Error:
                    with self._lock:
                        self._pending |= names
                    self._something.set()
                    raise
            if self._closed.wait(QUIET_S) and not self._pending:
                return

    def _hear(self, connection: psycopg.Connection) -> None:
        if connecting.pooled(connection):
            _log.warning(
                "wake-ups of other processes are not heard through a connection pooler, so work is found by looking "
                "every few seconds; CODEXMEM_DATABASE_DIRECT_URL can name PostgreSQL itself"
            )
            connection.close()
            select.select([self._wake_read], [], [])
            return
        connection.execute(f"LISTEN {CHANNEL}")
        self._local.ring_all()  # whatever rang while we were not connected
        while not self._closed.is_set():
            readable, _, _ = select.select([connection.fileno(), self._wake_read], [], [])
            if self._wake_read in readable:
                return
            heard = set()
            for note in connection.notifies(timeout=0):
                origin, _, name = note.payload.partition(" ")
                if origin != self._origin:
                    heard.add(name)
            for name in heard:
                self._local.notify(name)


_NOTIFY = "SELECT pg_notify(%s, %s || name) FROM unnest(%s::text[]) AS name"
