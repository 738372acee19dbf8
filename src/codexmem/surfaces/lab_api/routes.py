"""The paths of contract 002, group by group; each group is a file that adds its own routes."""

from fastapi import APIRouter

from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.lab_api import (
    bank,
    batches,
    catalog,
    debug,
    events,
    evidence,
    feedback,
    health,
    kb,
    learning,
    runs,
    system,
)
from codexmem.surfaces.lab_api.described import describe
from codexmem.surfaces.lab_api.services import Services


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()
    health.add(door, services)
    batches.add(door, services)
    runs.add(door, services)
    events.add(door, services)
    evidence.add(door, services)
    kb.add(door, services)
    bank.add(door, services)
    learning.add(door, services)
    catalog.add(door, services)
    feedback.add(door, services)
    system.add(door, services)
    debug.add(door, services)
    return describe(door)
