"""The MCP door without a server."""
