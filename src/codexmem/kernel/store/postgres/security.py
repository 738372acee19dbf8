"""Row-level security, as migrations apply it: FORCE on every table, and roles that own none.

A new table is fenced in the migration that creates it; a test fails if one is not.
"""

from collections.abc import Iterable, Sequence

from alembic import op

from codexmem.kernel.store.postgres import routines
from codexmem.kernel.store.postgres.roles import APP_ROLE, DISPATCH_ROLE, SEARCH_ROLE


def create_roles() -> None:
    """The roles that transactions and functions run under, granted to the login that migrates."""
    for statement in routines.roles():
        op.execute(statement)


def create_functions() -> None:
    """What runs inside the server."""
    for statement in routines.functions():
        op.execute(statement)


def show_schema_version() -> None:
    """Let a login that is only a member of the roles see which schema it has before it."""
    op.execute(f"GRANT SELECT ON alembic_version TO {APP_ROLE}")


def number_column(table: str, column: str) -> None:
    """Let a column draw its numbers from a sequence: unlike a counter row, it makes nobody wait."""
    op.execute(f"CREATE SEQUENCE {table}_{column} AS bigint OWNED BY {table}.{column}")
    op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT nextval('{table}_{column}')")
    op.execute(f"GRANT USAGE ON SEQUENCE {table}_{column} TO {APP_ROLE}")


def fence(table: str) -> None:
    """Only the transaction's own tenant is visible or writable; with no tenant set, nothing is."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    own = "tenant = current_setting('codexmem.tenant')"
    op.execute(f"CREATE POLICY own_tenant ON {table} TO {APP_ROLE} USING ({own}) WITH CHECK ({own})")
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {APP_ROLE}")


def keep(table: str, column: str, values: Sequence[str]) -> None:
    """Let nobody who acts for a tenant change or remove rows with one of these values; new ones may be added."""
    kept = ", ".join(f"'{value}'" for value in values)
    for change in ("UPDATE", "DELETE"):
        op.execute(f"DROP POLICY IF EXISTS kept_from_{change.lower()} ON {table}")
        op.execute(
            f"CREATE POLICY kept_from_{change.lower()} ON {table} AS RESTRICTIVE FOR {change} TO {APP_ROLE} "
            f"USING ({column} NOT IN ({kept}))"
        )


def open_to_dispatch(table: str, rights: str) -> None:
    """Let the dispatching role see this table across tenants."""
    op.execute(f"CREATE POLICY every_tenant ON {table} TO {DISPATCH_ROLE} USING (true) WITH CHECK (true)")
    op.execute(f"GRANT {rights} ON {table} TO {DISPATCH_ROLE}")


def open_to_search(table: str) -> None:
    """Let the search functions read this table across tenants; they restrict themselves to the transaction's own."""
    op.execute(f"CREATE POLICY every_tenant ON {table} TO {SEARCH_ROLE} USING (true)")
    op.execute(f"GRANT SELECT ON {table} TO {SEARCH_ROLE}")


def apply(statements: Iterable[str]) -> None:
    """Run them."""
    for statement in statements:
        op.execute(statement)
