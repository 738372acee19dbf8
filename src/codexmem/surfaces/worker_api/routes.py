"""The paths of contract 000, group by group; each group is a file that adds its own routes and names what it needs."""

from typing import Protocol

from fastapi import APIRouter

from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.worker_api import (
    lists,
    memory,
    ops,
    overview,
    recall,
    sessions,
    standing,
    stream,
    system,
)


class Services(
    system.Services, sessions.Services, memory.Services, lists.Services, overview.Services, stream.Services,
    ops.Services, standing.Services, Protocol,
):  # fmt: skip
    """What this door needs: what its groups need."""


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()
    system.add(door, services)
    sessions.add(door, services)
    memory.add(door, services)
    recall.add(door, services)
    lists.add(door, services)
    overview.add(door, services)
    stream.add(door, services)
    ops.add(door, services)
    standing.add(door, services)
    return door
