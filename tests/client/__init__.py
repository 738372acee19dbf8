"""The Python client, against a real server."""
