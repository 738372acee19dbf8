"""Addresses of notes in the order of their bytes on PostgreSQL, as on SQLite.

Why: what lies under an address is read from the index as one stretch, and in most languages' orders it is none. Old
rows: the same values; PostgreSQL builds the index of the column anew.
"""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Change the column's order."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute('ALTER TABLE memory_uris ALTER COLUMN uri TYPE text COLLATE "C"')
