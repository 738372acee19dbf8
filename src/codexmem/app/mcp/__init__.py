"""The MCP interface: tools that agents call over streamable HTTP; a bridge takes them to agents that speak stdio."""

from codexmem.app.mcp.routes import ERRORS, routes
from codexmem.app.mcp.toolsets import ToolServices
from codexmem.http.surface import Surface
from codexmem.kernel.model.memory import Kind

SURFACE: Surface[ToolServices] = Surface(
    name="mcp",
    prefixes=("/mcp",),
    kinds=frozenset(Kind),
    routes=routes,
    errors=ERRORS,
)
