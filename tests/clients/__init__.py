"""The programs that speak to the server."""
