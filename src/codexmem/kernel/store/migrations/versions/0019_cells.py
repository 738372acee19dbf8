"""Where a tenant lives when it is not simply here, which clusters there are, and audit lines of moves.

Why: a tenant moves from one cluster to another while it is written to, and must never be answered by the wrong one.
In a schema of its own, because none of it is a tenant's data: a backup does not contain it and a restore does not
change it. Old rows: every tenant lives where it is, which takes no row.
"""

from alembic import op

from codexmem.kernel.store.cells import schema
from codexmem.kernel.store.postgres.roles import APP_ROLE, DISPATCH_ROLE

revision = "0019"
down_revision = "0018"

_KEPT = ("tenant.exported", "tenant.imported", "tenant.moved", "tenant.erased")

_JOBS = (
    # Jobs of a tenant that is elsewhere, or just being moved, are nobody's to run.
    "DROP POLICY IF EXISTS only_here ON jobs",
    f"""
    CREATE POLICY only_here ON jobs AS RESTRICTIVE TO {DISPATCH_ROLE} USING (NOT EXISTS (
        SELECT FROM codexmem_cells.places p WHERE p.tenant = jobs.tenant
        AND (p.state <> 'fenced' OR p.until_ms > extract(epoch FROM clock_timestamp()) * 1000)
    ))
    """,  # noqa: S608  our own names
)


def upgrade() -> None:
    """A file has one tenant, which goes nowhere."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for statement in (*schema.STATEMENTS, *_JOBS):
        op.execute(statement)
    # Beside the policies that keep other audit lines: all must agree before a line is changed.
    kept = ", ".join(f"'{each}'" for each in _KEPT)
    for change in ("UPDATE", "DELETE"):
        op.execute(f"DROP POLICY IF EXISTS moves_kept_from_{change.lower()} ON events")
        op.execute(
            f"CREATE POLICY moves_kept_from_{change.lower()} ON events AS RESTRICTIVE FOR {change} TO {APP_ROLE} "
            f"USING (type NOT IN ({kept}))"
        )
