"""Embedders: what turns text into vectors, on this machine or behind an API."""
