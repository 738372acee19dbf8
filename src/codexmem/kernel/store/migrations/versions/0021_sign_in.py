"""Which subject of an issuer a member is, and audit lines of signing in and out.

Why: people sign in with the issuer that their company has, and are known by what it calls them for good.
Old rows: no member is known to an issuer.
"""

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.store.postgres import security
from codexmem.kernel.store.postgres.roles import APP_ROLE

revision = "0021"
down_revision = "0020"
OLDEST_PROGRAM = "0019"  # older programs know no sessions, and list them among the keys

_KEPT = ("sign_in.accepted", "sign_in.refused", "sign_in.ended")


def upgrade() -> None:
    """Add the table, and on PostgreSQL its fence and what keeps the lines."""
    names = ("tenant", "issuer", "subject", "member")
    op.create_table(
        "member_subjects", *(sa.Column(name, sa.Text, nullable=False) for name in names),
        sa.Column("created_ms", sa.BigInteger, nullable=False), sa.PrimaryKeyConstraint("tenant", "issuer", "subject"),
    )  # fmt: skip
    if op.get_bind().dialect.name != "postgresql":
        return
    security.fence("member_subjects")
    # Beside the policies that keep other audit lines: all must agree before a line is changed.
    kept = ", ".join(f"'{each}'" for each in _KEPT)
    for change in ("UPDATE", "DELETE"):
        op.execute(f"DROP POLICY IF EXISTS sign_ins_kept_from_{change.lower()} ON events")
        op.execute(
            f"CREATE POLICY sign_ins_kept_from_{change.lower()} ON events AS RESTRICTIVE FOR {change} TO {APP_ROLE} "
            f"USING (type NOT IN ({kept}))"
        )
