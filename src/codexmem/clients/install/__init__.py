"""Putting our hooks and our MCP server into the configuration of coding agents, proving them, taking them out.

What an agent's files look like is one module each under `agents`; everything else knows only entries in files.
"""
