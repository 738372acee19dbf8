"""Schema history: ordered Alembic steps, each saying why, run forward only."""
