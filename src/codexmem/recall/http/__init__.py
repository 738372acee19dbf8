"""Beyond the contracts: interfaces onto the whole memory, whatever kind a thing is."""

from codexmem.http.errors import REASONED
from codexmem.http.surface import Surface
from codexmem.kernel.model.memory import Kind
from codexmem.recall.http.routes import RecallRouteServices, routes

SURFACE: Surface[RecallRouteServices] = Surface(
    name="memory_api",
    prefixes=(
        "/api/brief", "/api/context", "/api/forget", "/api/import", "/api/lineage", "/api/memories", "/api/provenance",
        "/api/review", "/api/search/all", "/api/sessions", "/api/undo",
    ),
    kinds=frozenset(Kind),
    routes=routes,
    errors=REASONED,
)  # fmt: skip
