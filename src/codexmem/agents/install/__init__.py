"""Putting our hooks and our MCP server into the configuration of coding agents, proving them, taking them out.

What an agent's files look like is in the agent's own module; here are only entries in files.
"""
