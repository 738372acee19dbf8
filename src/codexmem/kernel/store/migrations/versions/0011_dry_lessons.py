"""What was learned from dry runs is taken back, as one delta for each tenant that `codexmem undo` can take back.

Why: a dry run's recipes are placeholders that nobody tried, yet real runs were shown lessons from them as experience.
Old rows: a lesson that only dry runs wrote is hidden; one that they changed or archived says again what it said before.
What a person or a real run has written since stays as it is.
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store.postgres.roles import APP_ROLE

revision = "0011"
down_revision = "0010"

DELTA = "delta_dry_runs"
_STATE = ("project", "status", "type", "title", "content", "priority", "confidence")
_JSON = ("attrs", "uris", "links")

# Lessons whose newest versions, without a gap, are those that learning from dry runs wrote.
_TAUGHT = """
    SELECT m.seq, m.version, min(v.version) AS first FROM batches b
    JOIN runs r ON r.tenant = b.tenant AND r.batch_id = b.id
    JOIN deltas d ON d.tenant = r.tenant AND d.subject = 'run:' || r.id AND d.cause = 'learn' AND d.status = 'applied'
    JOIN memory_versions v ON v.tenant = d.tenant AND v.delta_id = d.id
    JOIN memories m ON m.tenant = v.tenant AND m.seq = v.seq AND m.kind = 'lesson'
    WHERE b.tenant = :tenant AND b.dry_run
    GROUP BY m.seq, m.version
    HAVING m.version - min(v.version) + 1 = count(*)
    ORDER BY m.seq
"""
_KEPT = "SELECT state FROM memory_versions WHERE tenant = :tenant AND seq = :seq AND version = :version"
_SAVE = """
    UPDATE memories SET version = :version, updated_ms = :now_ms, project = :project, status = :status, type = :type,
        title = :title, content = :content, priority = :priority, confidence = :confidence, attrs = :attrs,
        uris = :uris, links = :links
    WHERE tenant = :tenant AND seq = :seq
"""
_WRITE = """
    INSERT INTO memory_versions (tenant, seq, version, op, state, delta_id, actor, source, note, created_ms)
    VALUES (:tenant, :seq, :version, :op, :state, :delta, 'upgrade', NULL, 'a dry run teaches nothing', :now_ms)
"""
_OPEN = """
    INSERT INTO deltas (tenant, id, subject, cause, actor, status, reverts, created_ms)
    VALUES (:tenant, :delta, 'upgrade:0011', 'dry_runs', 'upgrade', 'applied', NULL, :now_ms)
"""
# Until the index has caught up, its words must not find what is hidden.
_INDEX = "UPDATE memory_texts SET status = :status WHERE tenant = :tenant AND seq = :seq AND to_ms IS NULL"
_CATCH_UP = """
    UPDATE vector_targets SET complete = false, position = CASE WHEN position < :before THEN position ELSE :before END
    WHERE tenant = :tenant AND index_name = 'text' AND model = 'words'
"""
_UNLABEL = "DELETE FROM memory_facets WHERE tenant = :tenant AND seq = :seq AND facet = 'run' AND value = :run"


def upgrade() -> None:
    """Take it back, tenant by tenant."""
    bind = op.get_bind()
    on_server = bind.dialect.name == "postgresql"
    for tenant in _tenants(bind, on_server=on_server):
        if on_server:
            op.execute(f"SET LOCAL ROLE {APP_ROLE}")
            bind.execute(sa.text("SELECT set_config('codexmem.tenant', :tenant, true)"), {"tenant": tenant})
        _take_back(bind, tenant)
        if on_server:
            op.execute("RESET ROLE")


def _tenants(bind: sa.Connection, *, on_server: bool) -> list[str]:
    if on_server:
        # The login that migrates owns the table and is kept from its rows by nothing else.
        op.execute("ALTER TABLE batches NO FORCE ROW LEVEL SECURITY")
    found = list(bind.execute(sa.text("SELECT DISTINCT tenant FROM batches WHERE dry_run ORDER BY tenant")).scalars())
    if on_server:
        op.execute("ALTER TABLE batches FORCE ROW LEVEL SECURITY")
    return found


def _take_back(bind: sa.Connection, tenant: str) -> None:
    taught = bind.execute(sa.text(_TAUGHT), {"tenant": tenant}).all()
    if not taught:
        return
    now_ms = SystemClock().now_ms()
    bind.execute(sa.text(_OPEN), {"tenant": tenant, "delta": DELTA, "now_ms": now_ms})
    for row in taught:
        _write(bind, tenant, row, now_ms)
    bind.execute(sa.text(_CATCH_UP), {"tenant": tenant, "before": taught[0].seq - 1})


def _write(bind: sa.Connection, tenant: str, row: Any, now_ms: int) -> None:
    """The state before dry runs wrote there; what they added is hidden."""
    key = {"tenant": tenant, "seq": row.seq}
    now, added = _state(bind, key, row.version), row.first == 1
    then = {**now, "status": "deleted"} if added else _state(bind, key, row.first - 1)
    if then == now:
        return
    version = {**key, "version": row.version + 1, "now_ms": now_ms}
    columns = {name: then[name] for name in _STATE} | {name: _text(then[name]) for name in _JSON}
    bind.execute(sa.text(_SAVE), version | columns)
    written = {"op": "delete" if added else "restore", "state": _text(then), "delta": DELTA}
    bind.execute(sa.text(_WRITE), version | written)
    bind.execute(sa.text(_INDEX), key | {"status": then["status"]})
    for run in set(now["attrs"].get("runs", ())) - set(then["attrs"].get("runs", ())):
        bind.execute(sa.text(_UNLABEL), key | {"run": run})


def _state(bind: sa.Connection, key: dict[str, Any], version: int) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(bind.execute(sa.text(_KEPT), key | {"version": version}).scalar_one())
    return kept


def _text(value: Any) -> str | None:
    # Addresses and links are null where there are none; attributes are an object, however empty.
    return None if value == [] else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
