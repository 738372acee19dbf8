"""The knowledge base and workspaces as services."""
