"""A standby that may be read: as new as was asked for, or not at all.

The primary is asked again and again how far its log has come, and the standby how far it has repeated it. So it is
known up to which moment the standby has everything, which neither an idle primary nor two clocks disturb. A standby
that stops following, or stops answering, is by itself too old soon. Whoever has just written through this process is
not sent to a standby that lacks it.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import psycopg
import sqlalchemy as sa

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.tenant import ProjectScope

_log = logging.getLogger(__name__)
_EVERY_S = 0.5
_REMEMBERED = 600  # positions of the primary
_END_S = 5.0


class ReplicaPeer(Protocol):
    """What is needed of a PostgreSQL here."""

    def log_position(self) -> int:
        """How far its log has come; on a standby, how far it has been repeated."""
        ...

    def reading(self, tenant: str, scope: ProjectScope | None) -> AbstractContextManager[sa.Connection]:
        """A snapshot confined to the tenant."""
        ...

    def close(self) -> None:
        """Give back every connection."""
        ...


class ReadReplica:
    """One standby: several behind one address would not be equally far."""

    def __init__(self, primary: ReplicaPeer, connect: Callable[[], ReplicaPeer], *, within_s: float) -> None:
        self._primary, self._connect, self._within_s = primary, connect, within_s
        self._engine: ReplicaPeer | None = None
        self._positions: deque[tuple[float, int]] = deque(maxlen=_REMEMBERED)
        self._complete_s: float | None = None  # the standby has everything that was committed until then
        self._wrote: dict[str, float] = {}  # when a tenant last wrote here
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="codexmem-replica", daemon=True)
        self._thread.start()

    def reading(self, tenant: str, scope: ProjectScope | None) -> AbstractContextManager[sa.Connection] | None:
        """A snapshot of the standby; None while it is too far behind for this tenant."""
        engine, behind_s = self._engine, self.behind_s()
        if engine is None or behind_s is None or behind_s > self._within_s:
            return None
        if ids.monotonic() - self._wrote.get(tenant, float("-inf")) <= behind_s:
            return None
        return self._snapshot(engine, tenant, scope)

    @contextmanager
    def remembering(self, tenant: str, transaction: AbstractContextManager[sa.Connection]) -> Iterator[sa.Connection]:
        """The same transaction, which the tenant may read only where its effects are."""
        with transaction as connection:
            yield connection
        self._wrote[tenant] = ids.monotonic()

    def behind_s(self) -> float | None:
        """How old what is read there may be; None where nothing is."""
        complete_s = self._complete_s
        return None if complete_s is None else ids.monotonic() - complete_s

    def close(self) -> None:
        """Read no more."""
        self._ending.set()
        self._thread.join(_END_S)
        if self._engine is not None:
            self._engine.close()

    @contextmanager
    def _snapshot(self, engine: ReplicaPeer, tenant: str, scope: ProjectScope | None) -> Iterator[sa.Connection]:
        try:
            with engine.reading(tenant, scope) as connection:
                yield connection
        except (sa.exc.DBAPIError, psycopg.Error):
            self._complete_s = None  # until it has answered again
            raise

    def _follow(self) -> None:
        """Until the end; what fails now is tried again, and meanwhile the standby grows old by itself."""
        failing = False
        while not self._ending.wait(_EVERY_S):
            try:
                self._look()
            except (CodexmemError, sa.exc.SQLAlchemyError, psycopg.Error) as error:
                if not failing:
                    _log.warning("the replica is not read until it answers: %s", error)
                failing = True
            else:
                failing = False

    def _look(self) -> None:
        asked, position = ids.monotonic(), self._primary.log_position()
        if self._positions and position < self._positions[-1][1]:
            self._positions.clear()  # another primary, whose log is not the one that was asked before
            self._complete_s = None
        self._positions.append((asked, position))
        if self._engine is None:
            self._engine = self._connect()
        repeated = self._engine.log_position()
        complete = [at for at, position in self._positions if position <= repeated]
        if complete:
            self._complete_s = complete[-1]
            self._wrote = {tenant: at for tenant, at in self._wrote.copy().items() if at >= complete[-1]}
