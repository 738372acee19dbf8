"""The MCP door: the tools that agents call, over streamable HTTP; a bridge brings them to agents that speak stdio."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.mcp.routes import ERRORS, routes
from codexmem.surfaces.mcp.toolsets import Services

SURFACE: Surface[Services] = Surface(
    name="mcp",
    prefixes=("/mcp",),
    kinds=frozenset(Kind),
    routes=routes,
    errors=ERRORS,
)
