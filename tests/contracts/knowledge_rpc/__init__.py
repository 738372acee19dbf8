"""Contract 003 over HTTP, over stdio and as MCP tools."""
