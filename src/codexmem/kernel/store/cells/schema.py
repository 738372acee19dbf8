"""The tables that say where tenants live, as statements that may be run again.

They are in a schema of their own, which no dump contains: whoever restores a dump into a new database makes them, too,
because a policy of the jobs reads them.
"""

from codexmem.kernel.store.postgres.roles import APP_ROLE, DISPATCH_ROLE, MEMBER_ROLE

TABLES = tuple(f"codexmem_cells.{name}" for name in ("places", "moved_keys", "cells", "routes"))
STATEMENTS = (
    "CREATE SCHEMA IF NOT EXISTS codexmem_cells",
    """
    CREATE TABLE IF NOT EXISTS codexmem_cells.places (
        tenant text PRIMARY KEY,
        state text NOT NULL CHECK (state IN ('arriving', 'fenced', 'moved', 'gone', 'erasing')),
        cell text NOT NULL DEFAULT '',      -- the other cluster
        address text NOT NULL DEFAULT '',   -- of its servers
        version bigint NOT NULL DEFAULT 0,  -- of the route
        until_ms bigint,                    -- a fence ends by itself
        progress text,                      -- of an import
        changed_ms bigint NOT NULL
    )
    """,
    # Whom to send on who brings the key of a tenant that is no longer here.
    "CREATE TABLE IF NOT EXISTS codexmem_cells.moved_keys (hash text PRIMARY KEY, tenant text NOT NULL)",
    "CREATE INDEX IF NOT EXISTS moved_keys_tenant ON codexmem_cells.moved_keys (tenant)",
    """
    CREATE TABLE IF NOT EXISTS codexmem_cells.cells (
        name text PRIMARY KEY, store text NOT NULL UNIQUE, address text NOT NULL, added_ms bigint NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS codexmem_cells.routes (
        tenant text PRIMARY KEY, cell text NOT NULL REFERENCES codexmem_cells.cells (name), version bigint NOT NULL,
        changed_ms bigint NOT NULL
    )
    """,
    f"GRANT USAGE ON SCHEMA codexmem_cells TO {APP_ROLE}, {MEMBER_ROLE}, {DISPATCH_ROLE}",
    f"GRANT SELECT ON codexmem_cells.places TO {APP_ROLE}, {MEMBER_ROLE}, {DISPATCH_ROLE}",
    f"GRANT SELECT ON codexmem_cells.moved_keys TO {DISPATCH_ROLE}",
    "ALTER TABLE codexmem_cells.places ENABLE ROW LEVEL SECURITY",
    "DROP POLICY IF EXISTS own_tenant ON codexmem_cells.places",
    f"""
    CREATE POLICY own_tenant ON codexmem_cells.places TO {APP_ROLE}, {MEMBER_ROLE}
        USING (tenant = current_setting('codexmem.tenant'))
    """,
    "DROP POLICY IF EXISTS every_tenant ON codexmem_cells.places",
    f"CREATE POLICY every_tenant ON codexmem_cells.places TO {DISPATCH_ROLE} USING (true)",
)
