"""Many writers, one connection, one fsync.

SQLite lets one transaction write at a time, and with `synchronous=FULL` each commit waits for the disk. So callers that
are waiting for the connection join the transaction of the one before them, each in a savepoint of its own, and the last
of them commits for all. A caller returns only after that commit; a caller that fails takes back its savepoint alone.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import sqlalchemy as sa

MAX_GROUP = 64  # callers per fsync: enough to amortise the disk, few enough that the first does not wait long


class _Group:
    """The callers that one commit will make durable."""

    def __init__(self) -> None:
        self.size = 0
        self.error: BaseException | None = None
        self._done = threading.Event()

    def settle(self, error: BaseException | None) -> None:
        self.error = error
        self._done.set()

    def wait(self) -> None:
        self._done.wait()
        if self.error is not None:
            raise self.error


class GroupCommit:
    """Hands one writing connection from caller to caller and commits for groups of them."""

    def __init__(self, connect: Callable[[], sa.Connection], before_commit: Callable[[sa.Connection], None],
                 after_failure: Callable[[], None],
                 after_commit: Callable[[], None] = lambda: None) -> None:  # fmt: skip
        self._connect = connect
        self._before_commit = before_commit
        self._after_failure = after_failure
        self._after_commit = after_commit  # an error from it is told to the whole group
        self._connection: sa.Connection | None = None
        self._turn = threading.Lock()  # held while a caller uses the connection
        self._waiting = 0
        self._count = threading.Lock()
        self._group: _Group | None = None

    @contextmanager
    def member(self) -> Iterator[sa.Connection]:
        """Use the connection inside a savepoint; durable when the block has ended."""
        with self._count:
            self._waiting += 1
        with self._turn:
            with self._count:
                self._waiting -= 1
            group = self._join()
            connection = self._connection
            assert connection is not None
            try:
                _say(connection, "SAVEPOINT member")
                yield connection
                _say(connection, "RELEASE member")
            except BaseException as error:
                self._take_back(connection, group, error)
                raise
            finally:
                self._close_group_if_last(group)
        group.wait()

    def close(self) -> None:
        """Close the connection; nobody writes any more."""
        with self._turn:
            self._drop()

    def _join(self) -> _Group:
        if self._group is None:
            if self._connection is None:
                self._connection = self._connect()
            _say(self._connection, "BEGIN IMMEDIATE")
            self._group = _Group()
        self._group.size += 1
        return self._group

    def _take_back(self, connection: sa.Connection, group: _Group, error: BaseException) -> None:
        # A full disk or an I/O error makes SQLite roll back everything, the savepoints of other callers included:
        # then the whole group has failed, and a further ROLLBACK would only mask why.
        try:
            if _in_transaction(connection):
                _say(connection, "ROLLBACK TO member")
                _say(connection, "RELEASE member")
                return
        except Exception as worse:
            error = worse
        self._fail(group, error)

    def _close_group_if_last(self, group: _Group) -> None:
        if self._group is not group:
            return
        with self._count:
            more = self._waiting > 0
        if more and group.size < MAX_GROUP:
            return  # the next caller is already waiting for its turn and takes the group over
        connection = self._connection
        assert connection is not None
        try:
            self._before_commit(connection)
            _say(connection, "COMMIT")
            self._after_commit()
        except BaseException as error:
            self._fail(group, error)
            return
        self._group = None
        group.settle(None)

    def _fail(self, group: _Group, error: BaseException) -> None:
        # After a failed fsync the page cache can no longer be trusted: start again from the file.
        self._group = None
        self._after_failure()
        self._drop()
        group.settle(error)

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(Exception):
                if _in_transaction(self._connection):
                    _say(self._connection, "ROLLBACK")
            with suppress(Exception):
                self._connection.close()
            self._connection = None


def _say(connection: sa.Connection, command: str) -> None:
    connection.connection.driver_connection.execute(command)  # type: ignore[union-attr]


def _in_transaction(connection: sa.Connection) -> bool:
    return bool(connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]
