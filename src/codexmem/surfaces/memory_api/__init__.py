"""Beyond the contracts: doors onto the whole memory, whatever kind a thing is."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.memory_api.routes import Services, routes

SURFACE: Surface[Services] = Surface(
    name="memory_api",
    prefixes=(
        "/api/context", "/api/forget", "/api/import", "/api/memories", "/api/provenance", "/api/search/all",
        "/api/sessions", "/api/undo",
    ),
    kinds=frozenset(Kind),
    routes=routes,
)  # fmt: skip
