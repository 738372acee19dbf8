"""Moving a tenant from one cluster to another while it is written to.

Its rows are copied and compared until little differs; then nobody writes for a moment, the rest is copied, both sides
are compared row by row, and the tenant is the other cluster's. Each step leaves a state from which the same command
goes on, whoever was killed: the row in `places` at either end says how far it is, and copying again costs a comparison.
Until `commit` the rows stay where they were, and `undo` brings the tenant back, with what was written since.

At no moment do both clusters answer: the old one refuses before the new one begins. A fence ends by itself, so a mover
that was killed holds up writers for that long at most.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, NotFound, NotReady, Unavailable
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.cells import places, tenant_rows
from codexmem.kernel.store.cells.directory import Cell, Directory, TenantRoute
from codexmem.kernel.store.cells.places import Place, PlaceState
from codexmem.kernel.store.opening import schema_of
from codexmem.operations.tenants import Step, audit, no_tenant, not_local, nothing

FENCE_MS = 30_000
_ROUNDS = 6  # of copying beside writers
_FEW_ROWS = 2_000  # that lie in what differs: then it is worth holding off writers
_TRIES = 5  # to hold them off long enough

_UNDO = "undo"  # noted where a tenant is on its way back

Connection = Any


@dataclass(frozen=True, slots=True)
class TenantMoved:
    """How a tenant stands after a command about its move."""

    tenant: str
    source: str
    target: str
    state: str  # moved, committed, undone
    version: int
    rows: int = 0
    fenced_ms: int = 0  # for how long nobody could write


@dataclass(slots=True)
class _Ends:
    """Both clusters, connected."""

    source: Cell
    target: Cell
    here: Connection
    there: Connection


class TenantMove:
    """The verbs on one tenant between the clusters of a directory."""

    def __init__(self, directory_url: str, tenant: str, clock: Clock, *, by: str, fence_ms: int = FENCE_MS,
                 step: Step = nothing) -> None:  # fmt: skip
        self._directory_url = directory_url
        self._tenant = not_local(tenant)
        self._clock = clock
        self._by = by
        self._fence_ms = fence_ms
        self._step = step

    def run(self, to: str) -> TenantMoved:
        """Move it; go on with a move to there that was interrupted; nothing where it already lives there."""
        with self._directory() as directory:
            target, route = directory.cell(to), self._located(directory, to)
            if route.cell == to:
                return TenantMoved(self._tenant, to, to, "moved", route.version)
            source, version = directory.cell(route.cell), route.version + 1
            with self._ends(source, target) as ends:
                moved = self._switched(ends, version)
            directory.put(TenantRoute(self._tenant, to, version))
            self._step("routed")
            return moved

    def commit(self, to: str) -> TenantMoved:
        """Remove what is left where it came from; from then on it cannot be undone."""
        with self._directory() as directory:
            target = directory.cell(to)
            source = self._left(directory, to)
            with self._ends(source, target) as ends:
                there = places.of(ends.there, self._tenant)
                # What is erased here must be there, or have gone on from there.
                if there is None and not tenant_rows.is_anybody(ends.there, self._tenant):
                    raise self._not_there(to)
                if there is not None and there.state == PlaceState.ARRIVING:
                    raise self._not_there(to)
                with places.alone(ends.here, self._tenant):
                    place = places.of(ends.here, self._tenant)
                    if place is None or place.cell != to or place.state not in {PlaceState.MOVED, PlaceState.GONE}:
                        raise self._no_move("commit", to)
                    places.put(ends.here, replace(place, state=PlaceState.GONE))
                self._step("gone")
                rows = tenant_rows.erase(ends.here, self._tenant, PlaceState.GONE)
                self._step("erased")
            self._audit(source, "committed", source.name, to)
            return TenantMoved(self._tenant, source.name, to, "committed", place.version, rows)

    def undo(self, to: str) -> TenantMoved:
        """Bring it back from there, or give up a move to there that is under way."""
        with self._directory() as directory:
            target = directory.cell(to)
            source = directory.cell(self._came_from(directory, target))
            route = directory.route(self._tenant)
            version = (route.version if route is not None else 0) + 1
            with self._ends(source, target) as ends:
                here, there = places.of(ends.here, self._tenant), places.of(ends.there, self._tenant)
                if there is None or there.state != PlaceState.ARRIVING:
                    # It was written to there: the same move, the other way round, over what is still here.
                    self._switched(_Ends(target, source, ends.there, ends.here), version, note=_UNDO)
                elif here is not None:
                    with places.alone(ends.here, self._tenant):
                        places.remove(ends.here, self._tenant)
                self._step("back")
                directory.put(TenantRoute(self._tenant, source.name, version))
                rows = self._clear(ends.there)
            self._audit(source, "undone", source.name, to)
            return TenantMoved(self._tenant, source.name, to, "undone", version, rows)

    def _came_from(self, directory: Directory, target: Cell) -> str:
        """The cluster that has it, or had it, and can have it back from there."""
        with places.connected(target.store) as connection:
            there = places.of(connection, self._tenant)
            ended = there is not None and there.state == PlaceState.GONE
            coming_back = there is not None and there.progress == _UNDO
            if ended and not tenant_rows.is_anybody(connection, self._tenant):
                coming_back = False
        if there is not None and (there.state == PlaceState.ARRIVING or coming_back):
            return there.cell
        for cell in directory.all():
            with places.connected(cell.store) as connection:
                place = places.of(connection, self._tenant)
            if (
                place is not None
                and place.cell == target.name
                and place.state in {PlaceState.MOVED, PlaceState.ARRIVING}
            ):
                return cell.name
        raise self._no_move("undo", target.name)

    def _clear(self, there: Connection) -> int:
        """Remove the rows of a copy that nobody is answered from; who asks there is sent on."""
        place = places.of(there, self._tenant)
        if place is None:
            return 0
        with places.alone(there, self._tenant):
            places.put(there, replace(place, state=PlaceState.GONE, progress=_UNDO))
        return tenant_rows.erase(there, self._tenant, PlaceState.GONE)

    def _switched(self, ends: _Ends, version: int, *, note: str | None = None) -> TenantMoved:
        here = places.of(ends.here, self._tenant)
        fenced_ms = 0
        if here is None or here.state == PlaceState.FENCED:
            fenced_ms = self._copied(ends, version, note)
        elif here.state not in {PlaceState.MOVED, PlaceState.GONE} or here.cell != ends.target.name:
            raise Conflict(
                f"tenant {self._tenant} is {here.state} in {ends.source.name}, towards {here.cell or 'nowhere'}",
                hint="end that first; codexmem tenant ls shows it",
                details={"reason": "in_a_move", "tenant": self._tenant},
            )
        self._open(ends)
        self._step("opened")
        return TenantMoved(self._tenant, ends.source.name, ends.target.name, "moved", version, fenced_ms=fenced_ms)

    def _copied(self, ends: _Ends, version: int, note: str | None) -> int:
        """All of it is there and the same, and here it is sealed; for how long writers were held off."""
        if schema_of(ends.source.store) != schema_of(ends.target.store):
            raise NotReady(
                f"the schemas of {ends.source.name} and {ends.target.name} differ",
                hint="run codexmem db upgrade on both",
            )
        if not tenant_rows.is_anybody(ends.here, self._tenant):
            raise no_tenant(self._tenant)
        self._arrive(ends)
        self._step("arriving")
        self._audit(ends.source, "begun", ends.source.name, ends.target.name)
        for _ in range(_ROUNDS):
            changed = tenant_rows.follow(ends.here, ends.there, self._tenant)
            self._step("copied")
            if changed <= _FEW_ROWS:
                break
        leaving = Place(self._tenant, PlaceState.FENCED, ends.target.name, ends.target.address, version,
                        progress=note)  # fmt: skip
        for _ in range(_TRIES):
            until_ms, began = places.fence(ends.here, leaving, for_ms=self._fence_ms), ids.monotonic()
            try:
                self._step("fenced")
                tenant_rows.follow(ends.here, ends.there, self._tenant)
                self._step("followed")
                tenant_rows.number_above(ends.there, tenant_rows.numbers(ends.here))
                differing = self._differing(ends)
                if differing and places.is_fenced(ends.here, self._tenant, until_ms):
                    raise _not_the_same(differing)
                self._step("compared")
                if not differing and places.seal(ends.here, self._tenant, until_ms):
                    self._step("sealed")
                    return round((ids.monotonic() - began) * 1000)
            except Exception:
                self._unfence(ends.here)
                raise
        self._unfence(ends.here)
        raise Unavailable(
            f"copying the last rows of {self._tenant} takes longer than writers are held off",
            hint="give it longer with --fence-seconds, or move it at a quieter time; it works where it is",
        )

    def _arrive(self, ends: _Ends) -> None:
        with places.alone(ends.there, self._tenant):
            place = places.of(ends.there, self._tenant)
            if place is None and tenant_rows.is_anybody(ends.there, self._tenant):
                raise Conflict(
                    f"{ends.target.name} has a tenant {self._tenant} of its own",
                    hint="two tenants cannot have one name in one cluster",
                    details={"reason": "tenant_taken", "tenant": self._tenant},
                )
            if place is not None and place.state == PlaceState.ARRIVING and place.cell == ends.source.name:
                return
            if place is not None and place.state not in {PlaceState.MOVED, PlaceState.GONE}:
                raise Conflict(
                    f"tenant {self._tenant} is {place.state} in {ends.target.name}",
                    hint="end that first; codexmem tenant ls shows it",
                    details={"reason": "in_a_move", "tenant": self._tenant},
                )
            places.put(ends.there, Place(self._tenant, PlaceState.ARRIVING, ends.source.name, ends.source.address))
            tenant_rows.zero_positions(ends.there, self._tenant)

    def _differing(self, ends: _Ends) -> list[str]:
        """Tables whose rows are not the same at both ends."""
        here, there = (tenant_rows.sums(each, self._tenant) for each in (ends.here, ends.there))
        return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))

    def _open(self, ends: _Ends) -> None:
        """Let the new cluster answer, once; what has gone on from there since stays."""
        place = places.of(ends.there, self._tenant)
        if place is None or place.state != PlaceState.ARRIVING:
            return
        self._audit(ends.target, "arrived", ends.source.name, ends.target.name)
        with places.alone(ends.there, self._tenant):
            places.require_state(ends.there, self._tenant, PlaceState.ARRIVING)
            places.remove(ends.there, self._tenant)

    def _unfence(self, here: Connection) -> None:
        with places.alone(here, self._tenant):
            place = places.of(here, self._tenant)
            if place is not None and place.state == PlaceState.FENCED:
                places.remove(here, self._tenant)

    @contextmanager
    def _directory(self) -> Iterator[Directory]:
        with places.connected(self._directory_url) as connection:
            yield Directory(connection)

    @contextmanager
    def _ends(self, source: Cell, target: Cell) -> Iterator[_Ends]:
        with (
            places.connected(source.store) as here,
            places.connected(target.store) as there,
            places.one_mover(here, self._tenant),
            places.one_mover(there, self._tenant),
        ):
            yield _Ends(source, target, here, there)

    def _located(self, directory: Directory, to: str) -> TenantRoute:
        """Where it lives: as the directory says, unless it has gone on since; else as the clusters themselves do."""
        route = directory.route(self._tenant)
        if route is not None:
            with places.connected(directory.cell(route.cell).store) as connection:
                place = places.of(connection, self._tenant)
            if place is None or place.cell == to or place.state not in {PlaceState.MOVED, PlaceState.GONE}:
                return route
            route = TenantRoute(self._tenant, place.cell, max(place.version, route.version + 1))
            directory.put(route)
            return route
        found = [cell for cell in directory.all() if self._lives_in(cell)]
        if len(found) > 1:
            raise Conflict(
                f"tenant {self._tenant} lives in {' and '.join(cell.name for cell in found)}",
                hint="two tenants cannot have one name; erase one of them",
            )
        if not found:
            raise no_tenant(self._tenant)
        route = TenantRoute(self._tenant, found[0].name, 1)
        directory.put(route)
        return route

    def _lives_in(self, cell: Cell) -> bool:
        with places.connected(cell.store) as connection:
            place = places.of(connection, self._tenant)
            return (place is None or place.state == PlaceState.FENCED) and tenant_rows.is_anybody(
                connection, self._tenant
            )  # fmt: skip

    def _left(self, directory: Directory, to: str) -> Cell:
        """The cluster that it left for there, and that still has its rows."""
        for cell in directory.all():
            with places.connected(cell.store) as connection:
                place = places.of(connection, self._tenant)
                if (
                    place is not None
                    and place.cell == to
                    and (
                        place.state == PlaceState.MOVED
                        or (place.state == PlaceState.GONE and tenant_rows.is_anybody(connection, self._tenant))
                    )
                ):
                    return cell
        raise self._no_move("commit", to)

    def _no_move(self, what: str, to: str) -> NotFound:
        return NotFound(
            f"no move of tenant {self._tenant} to {to} is left to {what}",
            hint="codexmem tenant ls shows where it is; a committed move is undone by moving it back",
            details={"reason": "no_move", "tenant": self._tenant, "cell": to},
        )

    def _not_there(self, to: str) -> Conflict:
        return Conflict(
            f"tenant {self._tenant} has not arrived in {to}",
            hint=f"codexmem tenant move {self._tenant} --to {to} goes on with it",
            details={"reason": "in_a_move", "tenant": self._tenant},
        )

    def _audit(self, cell: Cell, status: str, source: str, target: str) -> None:
        payload = {"status": status, "from": source, "to": target}
        audit(cell.store, self._clock, EventType.TENANT_MOVED, self._tenant, self._by, payload)


def _not_the_same(tables: list[str]) -> Conflict:
    return Conflict(
        f"after copying, the rows of {', '.join(tables)} differ",
        hint="run this again; it works where it is",
        details={"reason": "not_the_same", "tables": tables},
    )
