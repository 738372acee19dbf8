"""Beyond the contracts: notes for people and programs that keep them in order, as a tree, with their past."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.errors import ENVELOPE
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.notes_api.routes import Services, routes

SURFACE: Surface[Services] = Surface(
    name="notes_api",
    prefixes=("/api/notes",),
    kinds=frozenset({Kind.NOTE}),
    routes=routes,
    errors=ENVELOPE,
)
