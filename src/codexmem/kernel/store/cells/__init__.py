"""Clusters, which of them a tenant lives in, and its rows on the way between them."""
