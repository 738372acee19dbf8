"""The knowledge endpoint in isolation."""
