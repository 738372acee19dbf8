"""The knowledge door in isolation."""
