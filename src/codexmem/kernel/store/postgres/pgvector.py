"""The extension behind vectors, and the table that needs its type.

A server may lack the extension, or this login the right to create it. Then everything but vectors works, and the next
`codexmem db upgrade` tries again. The index for scopes that are too large to be compared whole belongs to one tenant
and one model: an index over all tenants would find mostly others' rows.
"""

import hashlib
import logging
from collections.abc import Callable
from typing import NamedTuple

import sqlalchemy as sa

from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.model.tenant import tenant_name
from codexmem.kernel.store.postgres import member_policies
from codexmem.kernel.store.postgres.roles import APP_ROLE

HINT = "install pgvector 0.7 or newer on the server, then run: codexmem db upgrade"
CREATE_HINT = "as a superuser, in this database: CREATE EXTENSION vector; then run: codexmem db upgrade"
EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector"
MAX_DIMENSION = 4_000  # of an index over half-precision vectors

_log = logging.getLogger(__name__)

_TABLE = """
    CREATE TABLE memory_vectors (
        tenant text NOT NULL, seq bigint NOT NULL, model text NOT NULL, part integer NOT NULL,
        version integer NOT NULL, project text NOT NULL, kind text NOT NULL, code bytea, embedding halfvec NOT NULL,
        PRIMARY KEY (tenant, seq, model, part),
        FOREIGN KEY (tenant, seq) REFERENCES memories (tenant, seq) ON DELETE CASCADE
    )
"""
_OWN = "tenant = current_setting('codexmem.tenant')"
_STEPS = (
    _TABLE,
    # A vector outside its row costs a second look for each row of a scan.
    "ALTER TABLE memory_vectors ALTER COLUMN embedding SET STORAGE MAIN",
    "CREATE INDEX memory_vectors_scope ON memory_vectors (tenant, model, project, kind, seq, part, code)",
    "ALTER TABLE memory_vectors ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE memory_vectors FORCE ROW LEVEL SECURITY",
    f"CREATE POLICY own_tenant ON memory_vectors TO {APP_ROLE} USING ({_OWN}) WITH CHECK ({_OWN})",
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON memory_vectors TO {APP_ROLE}",
)


class Installed(NamedTuple):
    """How the table of vectors stands after trying to make it."""

    version: str | None  # of the extension; None where there are no vectors
    made: bool = False  # now, and not before
    problem: str = ""
    hint: str = ""


def install(connection: sa.Connection) -> Installed:
    """Create what is missing; nothing is changed where the server or the login does not allow it."""
    if (version := installed(connection)) is not None:
        return Installed(version)
    attempt = connection.begin_nested()
    try:
        connection.exec_driver_sql(EXTENSION)
        if connection.exec_driver_sql("SELECT to_regtype('halfvec')").scalar() is None:
            raise Unavailable("the server's pgvector is too old", hint=HINT)
        # Before the migration that brings visibility, a new store has no table for it; it goes over this one again.
        knows = connection.exec_driver_sql("SELECT to_regclass('memory_visibility')").scalar() is not None
        for step in (*_STEPS, *(visible() if knows else member_policies.by_project("memory_vectors"))):
            connection.exec_driver_sql(step)
    except (sa.exc.DBAPIError, Unavailable) as error:
        attempt.rollback()
        said = str(error.orig if isinstance(error, sa.exc.DBAPIError) else error).partition("\n")[0]
        available = isinstance(error, sa.exc.DBAPIError) and connection.exec_driver_sql(_AVAILABLE).scalar()
        return Installed(None, problem=said, hint=CREATE_HINT if available else HINT)
    attempt.commit()
    return Installed(installed(connection), made=True)


def visible() -> list[str]:
    """Who may see vectors: whoever may see the memory."""
    return [*member_policies.by_project_or_everyone("memory_vectors"), *member_policies.hidden("memory_vectors", "seq")]


def installed(connection: sa.Connection) -> str | None:
    """The extension's version where the table of vectors rests on it, None where there is no such table."""
    if connection.exec_driver_sql("SELECT to_regclass('memory_vectors')").scalar() is None:
        return None
    return str(connection.exec_driver_sql("SELECT extversion FROM pg_extension WHERE extname = 'vector'").scalar())


def index_name(tenant: str, model: str) -> str:
    """The index of this tenant and model."""
    return "memory_vectors_near_" + hashlib.sha256(f"{tenant}/{model}".encode()).hexdigest()[:16]


def build(engine: sa.Engine, tenant: str, model: str, *, tell: Callable[[str], None] = _log.info) -> str | None:
    """Make or renew the tenant's index for large scopes, while writers go on; returns its name, None without vectors.

    Runs with the rights of the table's owner and outside a transaction: the roles of ordinary transactions own nothing,
    so no request or job can do it.
    """
    name, owner = index_name(tenant_name(tenant), model), engine.execution_options(isolation_level="AUTOCOMMIT")
    with owner.connect() as connection:
        if connection.exec_driver_sql("SELECT to_regclass('memory_vectors')").scalar() is None:
            raise Unavailable("this PostgreSQL server has no pgvector", hint=HINT)
        dimension = connection.execute(_dimension, {"of_tenant": tenant, "model": model}).scalar()
        if dimension is None:
            return None
        if dimension > MAX_DIMENSION:
            raise InvalidArgument(f"vectors of {dimension} numbers cannot be indexed, at most {MAX_DIMENSION} can")
        # What an interrupted build left is not used and only slows writers down.
        connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        tell(f"building {name}")
        quoted = model.replace("'", "''")
        connection.exec_driver_sql(
            f"CREATE INDEX CONCURRENTLY {name} ON memory_vectors "
            f"USING hnsw ((embedding::halfvec({int(dimension)})) halfvec_cosine_ops) "
            f"WHERE tenant = '{tenant}' AND model = '{quoted}'".replace("%", "%%")
        )
    return name


_AVAILABLE = (
    "SELECT 1 FROM pg_available_extension_versions WHERE name = 'vector' AND NOT installed"
    " AND string_to_array(version, '.')::int[] >= '{0,7}'"
)
_dimension = sa.text(
    "SELECT vector_dims(embedding) FROM memory_vectors WHERE tenant = :of_tenant AND model = :model LIMIT 1"
)
