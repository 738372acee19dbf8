"""`/api/sync`."""
