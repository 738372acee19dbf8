"""Vectors in a Chroma server, as a copy that can be rebuilt from the store."""
