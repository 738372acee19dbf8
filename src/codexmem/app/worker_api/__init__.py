"""Contract 000, the worker's HTTP interface: what agents' hooks and MCP clients call under `/api`."""

from codexmem.app.worker_api.routes import WorkerServices, routes
from codexmem.http.surface import Surface
from codexmem.kernel.model.memory import Kind

SURFACE: Surface[WorkerServices] = Surface(
    name="worker_api",
    prefixes=("/api", "/stream"),
    # Traces name what any search found; pieces of documents are shown by the lab alone.
    kinds=frozenset(Kind) - {Kind.CHUNK},
    routes=routes,
)
