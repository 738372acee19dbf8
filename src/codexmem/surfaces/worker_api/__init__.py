"""Contract 000, the worker's HTTP door: what agents' hooks and MCP clients call under `/api`."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.worker_api.routes import Services, routes

SURFACE: Surface[Services] = Surface(
    name="worker_api",
    prefixes=("/api", "/stream"),
    # Traces name what any search found; pieces of documents are shown by the lab alone.
    kinds=frozenset(Kind) - {Kind.CHUNK},
    routes=routes,
)
