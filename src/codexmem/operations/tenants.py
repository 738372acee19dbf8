"""One tenant of a PostgreSQL store as a whole: to a file, from a file, and removed for good.

All of it works with the login that owns the tables, under which a tenant's own servers never act. What was done is an
audit line in the cluster's own log, the tenant `local`. An import is invisible until its rows have been read back and
are those of the file.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, NotReady
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.tenant import LOCAL, tenant_name
from codexmem.kernel.store.cells import places, tenant_rows
from codexmem.kernel.store.cells.places import Place, PlaceState
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.opening import open_database, schema_of
from codexmem.operations import tenant_file
from codexmem.operations.keys import FORGOTTEN_SECONDS
from codexmem.operations.tenant_file import TenantManifest

Progress = Callable[[str, int], object]
Step = Callable[[str], object]


def nothing(*_: object) -> None:
    """The report and the failpoint of those who want none."""


@dataclass(frozen=True, slots=True)
class TenantErased:
    """What was removed."""

    tenant: str
    rows: int


class Tenants:
    """The verbs on whole tenants of one cluster."""

    def __init__(self, url: str, clock: Clock, *, by: str, forgotten_s: float = FORGOTTEN_SECONDS) -> None:
        self._url = url
        self._clock = clock
        self._by = by
        self._forgotten_s = forgotten_s

    def list(self) -> list[tuple[str, str]]:
        """Tenants that have a key here or are on their way, with their state."""
        with places.connected(self._url) as connection:
            return places.all_of(connection)

    def export(self, tenant: str, path: Path, *, progress: Progress = nothing) -> TenantManifest:
        """Write the tenant's rows of one moment into a new file; its servers go on."""
        tenant_name(tenant)
        with places.connected(self._url) as connection, tenant_rows.snapshot(connection):
            place = places.of(connection, tenant)
            if place is not None and place.state != PlaceState.FENCED:
                places.require_here((place.tenant, place.state, place.cell, place.address, place.version))
            if not tenant_rows.is_anybody(connection, tenant):
                raise no_tenant(tenant)
            manifest = TenantManifest(tenant, schema_of(self._url) or "", self._clock.now_ms())

            def told(table: Any) -> Any:
                progress(table.name, 0)
                return table.name, tenant_rows.columns(table), tenant_rows.export(connection, table, tenant)

            tables = map(told, tenant_rows.tables(connection))
            tenant_file.write(path, manifest, tables, lambda: tenant_rows.numbers(connection))
        audit(self._url, self._clock, EventType.TENANT_EXPORTED, tenant, self._by, {
            "rows": manifest.rows, "sha256": manifest.sha256, "file": path.name,
        })  # fmt: skip
        return manifest

    def take_in(self, path: Path, *, progress: Progress = nothing, step: Step = nothing) -> TenantManifest:
        """Add the tenant of a file; goes on where an interrupted import of the same file has ended."""
        manifest = tenant_file.verify(path)
        tenant = not_local(tenant_name(manifest.tenant))
        have = schema_of(self._url)
        if manifest.schema != have:
            raise NotReady(
                f"the export has schema {manifest.schema}, this store {have or 'none'}",
                hint="bring both to the same version: codexmem db upgrade before the export",
                details={"reason": "other_schema", "schema": manifest.schema, "ours": have},
            )
        step("verified")
        with places.connected(self._url) as connection, places.one_mover(connection, tenant):
            done = self._arrive(connection, manifest)
            step("arriving")
            self._load(connection, path, manifest, done, progress, step)
            self._compare(connection, manifest)
            step("compared")
            tenant_rows.number_above(connection, manifest.numbers)
            # Before it is visible: twice, after an interruption here, is better than never.
            audit(self._url, self._clock, EventType.TENANT_IMPORTED, tenant, self._by, {
                "rows": manifest.rows, "sha256": manifest.sha256,
            })  # fmt: skip
            with places.alone(connection, tenant):
                places.require_state(connection, tenant, PlaceState.ARRIVING)
                places.remove(connection, tenant)
        step("visible")
        return manifest

    def erase(self, tenant: str, *, progress: Progress = nothing, step: Step = nothing) -> TenantErased:
        """Remove every row of the tenant for good; goes on where an interrupted one has ended."""
        not_local(tenant_name(tenant))
        with places.connected(self._url) as connection, places.one_mover(connection, tenant):
            place = places.of(connection, tenant)
            if place is None and not tenant_rows.is_anybody(connection, tenant):
                raise no_tenant(tenant)
            if place is not None and place.cell and place.state in _IN_A_MOVE:
                raise Conflict(
                    f"tenant {tenant} is being moved",
                    hint=f"end the move first: codexmem tenant move {tenant} --to {place.cell} --commit, or --undo",
                    details={"reason": "in_a_move", "tenant": tenant},
                )
            self._audit_erasure(tenant, "begun")
            with places.alone(connection, tenant):
                places.put(connection, Place(tenant, PlaceState.ERASING))
            step("erasing")
            removed = tenant_rows.erase(connection, tenant, PlaceState.ERASING, progress=progress)
            step("erased")
            self._audit_erasure(tenant, "done", rows=removed)
            # A server may know a key that was just removed for some seconds more. Let in, it would write new rows.
            time.sleep(self._forgotten_s)
            with places.alone(connection, tenant):
                places.remove(connection, tenant)
        return TenantErased(tenant, removed)

    def _audit_erasure(self, tenant: str, status: str, **more: int) -> None:
        payload = {"status": status, **more}
        audit(self._url, self._clock, EventType.TENANT_ERASED, tenant, self._by, payload)

    def _arrive(self, connection: Any, manifest: TenantManifest) -> dict[str, int]:
        """Keep everybody out; how many rows of each table an earlier try has loaded."""
        with places.alone(connection, manifest.tenant):
            place = places.of(connection, manifest.tenant)
            if place is not None and place.state == PlaceState.ARRIVING and place.progress:
                known = json.loads(place.progress)
                if known["file"] == manifest.sha256:
                    return dict(known["rows"])
            if place is not None or tenant_rows.is_anybody(connection, manifest.tenant):
                raise Conflict(
                    f"this store has a tenant {manifest.tenant} already",
                    hint=f"erase it first: codexmem tenant erase {manifest.tenant} --yes",
                    details={"reason": "tenant_taken", "tenant": manifest.tenant},
                )
            places.put(connection, Place(manifest.tenant, PlaceState.ARRIVING))
            places.note_progress(connection, manifest.tenant, _progress(manifest, {}))
            return {}

    def _load(self, connection: Any, path: Path, manifest: TenantManifest, done: dict[str, int], progress: Progress,
              step: Step) -> None:  # fmt: skip
        known = {table.name: table for table in tenant_rows.tables(connection)}
        with tenant_file.reading(path) as reader:
            for name, columns, rows in reader.tables():
                if manifest.tables[name].rows and (name not in known or columns != tenant_rows.columns(known[name])):
                    raise InvalidArgument(
                        f"this store has no table {name} as the export has it",
                        hint="make pgvector available here and run: codexmem db upgrade",
                    )
                for _ in range(done.get(name, 0)):
                    next(rows)
                for chunk in tenant_rows.chunks(rows):
                    with connection.transaction():
                        places.require_state(connection, manifest.tenant, PlaceState.ARRIVING)
                        tenant_rows.load(connection, known[name], chunk)
                        done[name] = done.get(name, 0) + len(chunk)
                        places.note_progress(connection, manifest.tenant, _progress(manifest, done))
                    progress(name, done[name])
                    step(f"loaded {name}")

    def _compare(self, connection: Any, manifest: TenantManifest) -> None:
        with tenant_rows.snapshot(connection):
            for table in tenant_rows.tables(connection):
                wanted = manifest.tables.get(table.name)
                found = tenant_rows.digest(tenant_rows.export(connection, table, manifest.tenant))
                if found != ((wanted.rows, wanted.sha256) if wanted else (0, found[1])):
                    raise Conflict(
                        f"the rows of {table.name} are not those of the file",
                        hint=f"nothing is visible; run codexmem tenant erase {manifest.tenant} --yes and import again",
                        details={"reason": "not_the_same", "table": table.name},
                    )


_IN_A_MOVE = (PlaceState.ARRIVING, PlaceState.FENCED, PlaceState.MOVED)


def _progress(manifest: TenantManifest, rows: dict[str, int]) -> str:
    return json.dumps({"file": manifest.sha256, "rows": rows})


def not_local(tenant: str) -> str:
    """The name, unless it is the one under which a cluster keeps its own log."""
    if tenant == LOCAL:
        raise InvalidArgument(
            f"{LOCAL} is where a cluster keeps its own log, and stays", details={"reason": "local_stays"}
        )
    return tenant


def no_tenant(tenant: str) -> NotFound:
    """Nothing here is this tenant's."""
    return NotFound(
        f"this store has no tenant {tenant}", hint="codexmem tenant ls shows them",
        details={"reason": "no_tenant", "tenant": tenant},
    )  # fmt: skip


def audit(url: str, clock: Clock, type: EventType, tenant: str, by: str, payload: Mapping[str, object]) -> None:
    """A line in the cluster's own log, where it outlives the tenant."""
    db = open_database(url, pool_size=1)
    try:
        with acting_as(LOCAL):
            event = NewEvent(type, subject=f"tenant:{tenant}", payload={"tenant": tenant, "by": by, **payload})
            EventTable(db).append(event, id=ids.prefixed("evt"), at_ms=clock.now_ms())
    finally:
        db.close()
