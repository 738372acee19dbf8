"""Beyond the contract, for people who run the product: how everything stands, why a search answered as it did, and
backups.

A restore replaces the store under everybody, so it has no path here; a backup's row says which command does it.
"""

import platform
from typing import Any, Protocol

from fastapi import APIRouter, Path, Response

from codexmem.services.operations import Operations
from codexmem.services.operations.backups import Making
from codexmem.services.status import Status
from codexmem.surfaces.worker_api import answers_standing as answers
from codexmem.surfaces.worker_api import wire_standing as wire
from codexmem.surfaces.worker_api.answers_ops import described


class Services(Protocol):
    """What these routes need."""

    @property
    def operations(self) -> Operations: ...
    @property
    def status(self) -> Status: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes; after those with fixed last names."""

    @door.get("/api/ops/system", response_model=None, responses=described(answers.SystemAnswer))
    def system() -> dict[str, Any]:
        status = services.status
        look = services.operations.standing.look()
        return wire.system(status.health(), status.readiness(), platform.python_version(), look)

    @door.get("/api/ops/search-traces/{trace_id}", response_model=None, responses=described(answers.TraceAnswer))
    def search_trace(trace_id: int = Path(ge=1, le=2**63 - 1)) -> dict[str, Any]:
        return wire.explained(services.operations.reports.explained_search(trace_id))

    @door.get("/api/ops/backups", response_model=None, responses=described(answers.BackupsAnswer))
    def backups() -> dict[str, Any]:
        return wire.backups(services.operations.backups)

    @door.post(
        "/api/ops/backups", response_model=None, status_code=201,
        responses=described(answers.BackupMade, 201) | described(answers.BackupBegun, 202),
    )  # fmt: skip
    def make(response: Response) -> dict[str, Any]:
        made = services.operations.backups.make()
        if isinstance(made, Making):
            response.status_code = 202
            return {"making": wire.making(made)}
        return {"backup": wire.backup(made, services.operations.backups.commands)}

    @door.post("/api/ops/backups/{name}/verify", response_model=None, responses=described(answers.BackupVerified))
    def verify(name: str) -> dict[str, Any]:
        return {"name": name, "verified": wire.verified(services.operations.backups.verify(name))}
