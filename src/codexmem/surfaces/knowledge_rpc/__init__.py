"""The knowledge door (contract 003): ten methods over JSON-RPC 2.0, which a bridge brings to stdio."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.knowledge import Services
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.knowledge_rpc.routes import ERRORS, routes

SURFACE: Surface[Services] = Surface(
    name="knowledge_rpc",
    prefixes=("/rpc",),
    kinds=frozenset({Kind.KNOWLEDGE}),
    routes=routes,
    errors=ERRORS,
)
