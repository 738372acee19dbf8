"""Beyond the contract, for people who run the product: how everything stands, why a search answered as it did, and
backups.

A restore replaces the store under everybody, so it has no path here; a backup's row says which command does it.
"""

import platform
from typing import Protocol

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from codexmem.kernel.services.status import ServerStatus
from codexmem.operations.service import Operations
from codexmem.operations.service.backups import Making
from codexmem.operations.wire import dashboard as wire


class DashboardServices(Protocol):
    """What these routes need."""

    @property
    def operations(self) -> Operations: ...
    @property
    def status(self) -> ServerStatus: ...


def add(api: APIRouter, services: DashboardServices) -> None:
    """Add the routes; after those with fixed last names."""

    @api.get("/api/ops/system")
    def system() -> wire.SystemAnswer:
        status, look = services.status, services.operations.standing.look()
        return wire.SystemAnswer.of(status.health(), status.readiness(), platform.python_version(), look)

    # Named, so that scores near nothing are spelled as they always were: 9e-07 and not 9e-7.
    @api.get("/api/ops/search-traces/{trace_id}", response_class=JSONResponse)
    def search_trace(trace_id: int = Path(ge=1, le=2**63 - 1)) -> wire.TraceAnswer:
        return wire.TraceAnswer.of_search(services.operations.reports.explained_search(trace_id))

    @api.get("/api/ops/backups")
    def backups() -> wire.BackupsAnswer:
        return wire.BackupsAnswer.of(services.operations.backups)

    @api.post(
        "/api/ops/backups",
        status_code=201,
        response_model=wire.BackupMade,
        responses={202: {"model": wire.BackupBegun}},
    )
    def make() -> wire.BackupMade | JSONResponse:
        made = services.operations.backups.make()
        if isinstance(made, Making):
            return JSONResponse(wire.BackupBegun(making=wire.MakingAnswer.of(made)).document(), 202)
        return wire.BackupMade(backup=wire.BackupAnswer.of(made, services.operations.backups.commands))

    @api.post("/api/ops/backups/{name}/verify")
    def verify(name: str) -> wire.BackupVerified:
        check = services.operations.backups.verify(name)
        return wire.BackupVerified(name=name, verified=wire.VerifiedAnswer.of(check))
