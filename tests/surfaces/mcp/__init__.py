"""The MCP endpoint without a server."""
