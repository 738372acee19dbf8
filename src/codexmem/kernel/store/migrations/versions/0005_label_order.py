"""Labels in the order of their bytes on PostgreSQL, as on SQLite.

Why: labels that begin alike must stand together in the index, and in most languages' orders they do not. Old rows: the
same values; PostgreSQL builds the indexes of the column anew.
"""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Change the column's order."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute('ALTER TABLE memory_facets ALTER COLUMN value TYPE text COLLATE "C"')
