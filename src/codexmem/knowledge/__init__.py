"""The knowledge base and workspaces (contract 003)."""
