"""The SQLite engine: one file, one writer, no server."""
