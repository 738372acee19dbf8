"""codexmem: one versioned memory behind every coding agent."""

__version__ = "0.1.0"
