"""Audit lines that the server itself cannot change.

Why: whoever gets hold of the server, or of its login, must not be able to remove what it did.
Old rows: are kept as well. The roles that own tables, and superusers, may still remove them: so a tenant can be erased.
"""

from alembic import op

from codexmem.kernel.store.postgres import security

revision = "0016"
down_revision = "0015"

_KEPT = (
    "memory.erased", "delta.rolled_back", "workspace.erased", "knowledge.restored", "store.backed_up",
    "store.restored", "key.created", "key.revoked",
)  # fmt: skip


def upgrade() -> None:
    """Refuse it by policy; a file belongs to its one user, who may do what he likes with it."""
    if op.get_bind().dialect.name == "postgresql":
        security.keep("events", "type", _KEPT)
