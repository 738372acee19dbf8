"""What a transaction may see and change of each table besides its tenant, as statements for migrations: members what is
of their projects, and everybody what is not private to somebody else.

Members act under a role of their own: a table that is not opened here does not exist for them, and those who see a
whole tenant pay nothing. What the transaction says of its member stands in settings; each is read in a query of its
own, which is answered once per statement and not once per row. Where a setting is missing the statement fails, and an
empty one names no project.
"""

from codexmem.kernel.store.postgres.roles import APP_ROLE, MEMBER_ROLE, SEARCH_ROLE

_OWN_TENANT = "tenant = current_setting('codexmem.tenant')"
_ALL = "SELECT, INSERT, UPDATE, DELETE"
EVERYTHING = "true"  # of the tenant
# Who looks: a member's id, the server itself, or nobody. A program that does not say it sees nothing private.
VIEWER = "coalesce(current_setting('codexmem.viewer', true), '')"
_SEES_ALL = f"(SELECT {VIEWER} = '*')"


def among(which: str, project: str = "project") -> str:
    """The condition that a project is among those that may be read (`reads`) or written (`writes`)."""
    every = f"(SELECT current_setting('codexmem.{which}_every')) = 'on'"
    return f"({every} OR {project} = ANY ((SELECT current_setting('codexmem.{which}')::text[])::text[]))"


def by_project(table: str) -> list[str]:
    """Let members see the rows of the projects that they may read, and change those that they may write."""
    return opened(table, among("reads"), among("writes"), _ALL)


def by_project_or_everyone(table: str) -> list[str]:
    """The same, and see as well what its owner gave to everyone."""
    everyones = of_everyone(f"{table}.tenant", f"{table}.seq")
    return opened(table, f"({among('reads')} OR {everyones})", among("writes"), _ALL)


def of_everyone(tenant: str, seq: str) -> str:
    """The condition that everyone may see this memory."""
    return f"EXISTS (SELECT FROM memory_visibility v WHERE v.tenant = {tenant} AND v.seq = {seq} AND v.owner IS NULL)"


def hidden(table: str, *columns: str) -> list[str]:
    """Hide from all but its owner what belongs to a private memory; one query of a small table for each statement."""
    open_ = " AND ".join(
        f"NOT EXISTS (SELECT FROM memory_visibility v WHERE v.tenant = {table}.tenant AND v.seq = {table}.{column}"
        f" AND v.owner <> (SELECT {VIEWER}))" for column in columns
    )  # fmt: skip
    return private(table, open_)


def private(table: str, open_: str = f"owner IS NULL OR owner = (SELECT {VIEWER})", *,
            roles: str = f"{APP_ROLE}, {MEMBER_ROLE}") -> list[str]:  # fmt: skip
    """Hide rows that are private to somebody else; by default those that say whose they are."""
    return [
        f"DROP POLICY IF EXISTS private ON {table}",
        f"CREATE POLICY private ON {table} AS RESTRICTIVE TO {roles} USING ({_SEES_ALL} OR {open_})",
    ]


def by_memory(table: str, *columns: str, told: bool = False) -> list[str]:
    """The same for rows that belong to a memory, or to several; `told`: whoever reads the memory may add to them."""
    reads = " AND ".join(_of_memory(table, each, "reads") for each in columns)
    writes = reads if told else " AND ".join(_of_memory(table, each, "writes") for each in columns)
    return opened(table, reads, writes, _ALL)


def opened(table: str, reads: str, writes: str, rights: str) -> list[str]:
    """Policies for members under these conditions, and these rights to the table."""
    own = f"({_OWN_TENANT} AND {writes})"
    clauses = {
        "SELECT": f"USING ({_OWN_TENANT} AND {reads})", "INSERT": f"WITH CHECK {own}",
        "UPDATE": f"USING {own} WITH CHECK {own}", "DELETE": f"USING {own}",
    }  # fmt: skip
    policies = [
        statement for verb, clause in clauses.items() if verb in rights for statement in (
            # A table that was made a moment ago by this program has them already.
            f"DROP POLICY IF EXISTS member_{verb.lower()} ON {table}",
            f"CREATE POLICY member_{verb.lower()} ON {table} FOR {verb} TO {MEMBER_ROLE} {clause}",
        )
    ]  # fmt: skip
    return [*policies, f"GRANT {rights} ON {table} TO {MEMBER_ROLE}"]


def numbered(table: str, column: str) -> list[str]:
    """Let members draw numbers of this table too."""
    return [f"GRANT USAGE ON SEQUENCE {table}_{column} TO {MEMBER_ROLE}"]


def projects_to_search() -> list[str]:
    """Let the search functions see of which project a memory is, and nothing else of it."""
    return [
        "DROP POLICY IF EXISTS every_tenant ON memories",
        f"CREATE POLICY every_tenant ON memories FOR SELECT TO {SEARCH_ROLE} USING (true)",
        f"GRANT SELECT (tenant, seq, project) ON memories TO {SEARCH_ROLE}",
    ]


def _of_memory(table: str, column: str, which: str) -> str:
    # Row-level security holds in the inner query too, so the memory is one that may be read.
    written = f" AND {among('writes', 'm.project')}" if which == "writes" else ""
    return f"EXISTS (SELECT FROM memories m WHERE m.tenant = {table}.tenant AND m.seq = {table}.{column}{written})"
