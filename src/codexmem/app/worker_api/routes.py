"""The paths of contract 000, group by group; each group is a file that adds its own routes and names what it needs."""

from typing import Protocol

from fastapi import APIRouter

from codexmem.capture import http as sessions
from codexmem.http.surface import router
from codexmem.operations.http import dashboard, ops, stream, system
from codexmem.recall.http import worker_api as recall


class WorkerServices(
    system.SystemServices,
    sessions.CaptureServices,
    recall.LookupServices,
    stream.StreamServices,
    ops.OpsServices,
    dashboard.DashboardServices,
    Protocol,
):
    """What this interface needs: what its groups need."""


def routes(services: WorkerServices) -> APIRouter:
    """The interface's routes on these services."""
    api = router()
    system.add(api, services)
    sessions.add(api, services)
    recall.add(api, services)
    stream.add(api, services)
    ops.add(api, services)
    dashboard.add(api, services)
    return api
