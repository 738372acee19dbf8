"""From every schema there was to the newest, by the product's own command: nothing is lost, and all of it is found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from codexmem.cli.root import cli
from codexmem.console.command import run
from codexmem.kernel.store import inspection, upgrade
from codexmem.kernel.store.schema import metadata
from tests._support.postgres import PostgresServer
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.store.written import DERIVED, LATER, in_order, make, migrating, revisions, rows_of

FIRST = "0001"
# The gate starts from the first; `just soak-upgrades` from each.
WHOLE = os.environ.get("CODEXMEM_UPGRADE_TESTS_WHOLE") == "1"
TENANT = {"sqlite": "local", "postgresql": "team"}


@pytest.fixture
def address(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place for a store, which the commands are told of."""
    for name in [name for name in os.environ if name.startswith("CODEXMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if engine_name == "sqlite":
        return f"sqlite:///{tmp_path / 'codexmem.db'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database(f"old_{abs(hash(request.node.name)) % 10**9}")
    monkeypatch.setenv("CODEXMEM_DATABASE_URL", url)
    return url


@pytest.mark.parametrize("revision", revisions()[:-1] if WHOLE else [FIRST])
@pytest.mark.slow
def test_no_row_is_lost(
    revision: str, engine_name: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = make(address, revision, TENANT[engine_name])
    assert all(before.values()), "every table of that schema has rows"
    assert run(cli, ["db", "status"]) == 6
    capsys.readouterr()
    assert run(cli, ["db", "upgrade", "--json"]) == 0
    told = {"vectors": True, "problem": None} if engine_name == "postgresql" else {}
    assert json.loads(capsys.readouterr().out) == {
        "before": revision, "after": upgrade.newest(), "changed": True, **told
    }  # fmt: skip
    assert in_order(rows_of(address, before)) == in_order(before)
    assert (run(cli, ["db", "status"]), inspection.integrity(address)) == (0, None)
    backups = list((tmp_path / "backups").glob(f"*-schema-{revision}"))
    assert len(backups) == (1 if engine_name == "sqlite" else 0)


@pytest.mark.slow
def test_the_rows_are_of_every_table(tmp_path: Path) -> None:
    rows = make(f"sqlite:///{tmp_path / 'codexmem.db'}", upgrade.newest(), "local")
    assert rows.keys() == metadata.tables.keys() - DERIVED - set(LATER)
    assert all(rows.values())


def test_what_the_first_schema_held_is_found_and_goes_on(
    engine_name: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant, on_server = TENANT[engine_name], engine_name == "postgresql"
    held = make(address, FIRST, tenant)
    # A SQLite store is upgraded by the server that opens it.
    assert not on_server or run(cli, ["db", "upgrade"]) == 0
    key = _key(capsys, tenant) if on_server else None
    settings = {"CODEXMEM_EMBEDDER": "none"}
    with Server(tmp_path, database_url=address if on_server else None, key=key, settings=settings) as server:
        wanted = "Checkout timed out because the connection pool was exhausted"
        eventually(lambda: wanted in _search(server, "checkout connection pool"))
        eventually(lambda: "对账文件按北京时间切分" in _search(server, "对账文件"))
        observed = server.post("/api/observations/batch", {"ids": [2]}).json
        assert [each["title"] for each in observed] == [wanted]
        listed = server.request("GET", "/api/notes?limit=50").json
        notes = {uri for row in held["memories"] if row["kind"] == "note" for uri in json.loads(row["uris"])[:1]}
        assert {note["uri"] for note in listed["items"]} == notes
        # Numbers go on where they were.
        about = {"contentSessionId": "after", "project": "later", "prompt": "What came after the upgrade?"}
        assert server.post("/api/sessions/init", about).status == 200
        assert "What came after the upgrade?" in _search(server, "came after the upgrade")


def test_what_dry_runs_taught_is_hidden_until_it_is_undone(
    engine_name: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lessons as 0.1.0 learned them from a dry run, which archived one as well; a person has edited one since."""
    tenant, on_server = TENANT[engine_name], engine_name == "postgresql"
    held = make(address, upgrade.newest(), tenant)
    lessons = {row["title"]: row for row in held["memories"] if row["kind"] == "lesson"}
    added, edited = lessons["Loading of copper"]["id"], lessons["Stability"]["id"]
    key = _key(capsys, tenant) if on_server else None
    place: dict[str, Any] = {
        "database_url": address if on_server else None,
        "key": key,
        "settings": {"CODEXMEM_EMBEDDER": "none"},
    }
    with Server(tmp_path, **place) as server:
        # The words of all lessons are indexed, and a person has changed what one of them says.
        eventually(lambda: added in _found(server, "loading of copper"))
        changed = {"content": "Cu–Mo fails after the third cycle: I have seen it."}
        assert server.request("PATCH", f"/api/v1/memories/{edited}", changed).status == 200
        note = server.post("/api/v1/memories", {"content": "Washing with ethanol"}).json["memory"]["mem_id"]
    seqs = _taught_by_dry_runs(address, tenant, added, note)
    assert run(cli, ["db", "upgrade"]) == 0
    with Server(tmp_path, **place) as server:
        assert added not in _found(server, "loading of copper")
        assert server.request("GET", f"/api/v1/memories/{added}").json["memory"]["status"] == "deleted"
        assert {edited, note} <= _found(server, "third cycle") | _found(server, "washing with ethanol")
        back = server.request("GET", f"/api/v1/memories/{note}").json["memory"]
        assert (back["status"], back["content"]) == ("active", "Washing with ethanol")
        capsys.readouterr()
        whose = ["--tenant", tenant] if on_server else []
        assert run(cli, ["undo", "delta_dry_runs", "--yes", "--json", *whose]) == 0
        assert json.loads(capsys.readouterr().out)["restored"] == len(seqs)
        assert added in _found(server, "loading of copper")
        assert server.request("GET", f"/api/v1/memories/{note}").json["memory"]["status"] == "archived"


@pytest.mark.slow
def test_what_nobody_knew_to_have_passed_is_corrected_until_it_is_undone(
    engine_name: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = TENANT[engine_name]
    make(address, "0022", tenant)
    refused = {"input": {"command": "python3 -m pytest -q"}, "response": "/usr/bin/python3: No module named pytest"}
    printed = {"input": {"command": "pytest -q | tail"}, "response": {"output": "11 passed in 0.2s", "exit_code": 0}}
    known = {"input": {"command": "pytest -q"}, "response": {"stdout": "3 passed in 0.2s", "interrupted": False}}
    said = {"output": "[main 99ff] Fix the wrong tax\n 1 file changed", "exit_code": 0}
    commit = {"input": {"command": "git commit -F msg"}, "response": said}
    seqs = _remembered(address, tenant, [
        ("codex", refused, "pytest passed", "pytest passed. Request: does it work?", "does it work?"),
        ("claude-code", printed, "pytest passed: 11 tests", "pytest passed: 11 tests.", ""),
        ("claude-code", known, "pytest passed: 3 tests", "pytest passed: 3 tests.", ""),
        ("codex", None, "编辑 a.py", "编辑 a.py。之后 cargo test 通过：4 项测试。", "改一下"),
        ("claude-code", None, "pytest passed", "pytest passed.", ""),
        ("gemini-cli", commit, "Committed: ?", "Committed: ?", ""),
    ])  # fmt: skip
    before = _said(address, seqs)
    assert run(cli, ["db", "upgrade"]) == 0
    assert _said(address, seqs) == [
        ("pytest failed", "pytest failed. Request: does it work?", 2),
        ("pytest ran, result unknown (it printed 11 passed)", "pytest ran, result unknown (it printed 11 passed).", 2),
        before[2],
        ("编辑 a.py", "编辑 a.py。之后 cargo test 已运行，结果未知（输出为 4 项通过）。", 2),
        before[4],
        ("Committed: Fix the wrong tax", "Committed: Fix the wrong tax", 2),
    ]  # fmt: skip
    capsys.readouterr()
    whose = ["--tenant", tenant] if engine_name == "postgresql" else []
    assert run(cli, ["undo", "delta_unknown_results", "--yes", "--json", *whose]) == 0
    assert json.loads(capsys.readouterr().out)["restored"] == 4
    assert [each[:2] for each in _said(address, seqs)] == [each[:2] for each in before]


def _remembered(url: str, tenant: str, told: list[tuple[str, dict[str, Any] | None, str, str, str]]) -> list[int]:
    """Observations as rules wrote them before, each of a session and an event of its own."""
    engine = migrating(url)
    seqs = []
    with engine.begin() as connection:
        tables = sa.MetaData()
        tables.reflect(connection, only=["sessions", "captured_events", "memories"])
        sessions, events, memories = (tables.tables[name] for name in ("sessions", "captured_events", "memories"))
        for at, (platform, body, title, content, subtitle) in enumerate(told, 1):
            session = 900 + at
            connection.execute(sa.insert(sessions).values(
                tenant=tenant, id=session, key=f"old-{at}", project="shop", platform=platform, cwd="/shop", turn=1,
                status="completed", private=False, gathered=0, started_ms=at, last_ms=at, rules_only=False,
            ))  # fmt: skip
            connection.execute(sa.insert(events).values(
                tenant=tenant, seq=session, session=session, turn=1, kind="tool", key=f"k{at}", tool="Bash",
                body=json.dumps(body) if body else None, at_ms=at, created_ms=at,
            ))  # fmt: skip
            attrs = {"subtitle": subtitle, "facts": [content], "concepts": ["how-it-works"], "events": [session]}
            seqs.append(9_000 + at)
            connection.execute(sa.insert(memories).values(
                tenant=tenant, seq=9_000 + at, id=f"obs_{at}", kind="observation", project="shop", status="active",
                session=f"old-{at}", type="discovery", title=title, content=content, priority=5, confidence=0.5,
                origin="tool", source=f"session:{session}", attrs=json.dumps(attrs), version=1, created_ms=at,
                updated_ms=at,
            ))  # fmt: skip
    engine.dispose()
    return seqs


def _said(url: str, seqs: list[int]) -> list[tuple[str, str, int]]:
    engine = migrating(url)
    with engine.connect() as connection:
        found = connection.execute(
            sa.text("SELECT title, content, version FROM memories WHERE seq IN :seqs ORDER BY seq").bindparams(
                sa.bindparam("seqs", expanding=True)
            ),
            {"seqs": seqs},
        )
        rows = [(row.title, row.content, row.version) for row in found]
    engine.dispose()
    return rows


def _taught_by_dry_runs(url: str, tenant: str, added: str, archived: str) -> list[int]:
    """Make the run that taught a dry one and let its learning archive a lesson, as under the schema before this."""
    engine = migrating(url)
    numbers = []
    with engine.begin() as connection:
        tables = sa.MetaData()
        tables.reflect(connection, only=["batches", "runs", "memories", "memory_versions", "deltas", "alembic_version"])
        t = tables.tables
        v, m = t["memory_versions"], t["memories"]
        heads = {row.id: row for row in connection.execute(sa.select(m).where(m.c.id.in_([added, archived])))}
        (delta,) = connection.execute(sa.select(v.c.delta_id).where(v.c.seq == heads[added].seq)).scalars()
        subject = sa.select(t["deltas"].c.subject).where(t["deltas"].c.id == delta).scalar_subquery()
        batch = sa.select(t["runs"].c.batch_id).where("run:" + t["runs"].c.id == subject).scalar_subquery()
        connection.execute(sa.update(t["batches"]).where(t["batches"].c.id == batch).values(dry_run=True))
        (state,) = connection.execute(sa.select(v.c.state).where(v.c.seq == heads[archived].seq)).scalars()
        put_away = json.dumps(json.loads(state) | {"status": "archived"}, ensure_ascii=False)
        connection.execute(sa.insert(v).values(
            tenant=tenant, seq=heads[archived].seq, version=2, op="archive", state=put_away, delta_id=delta,
            actor="lab.learn", note="disproved", created_ms=heads[archived].created_ms + 1,
        ))  # fmt: skip
        connection.execute(sa.update(m).where(m.c.id == archived).values(status="archived", version=2))
        connection.execute(sa.update(t["alembic_version"]).values(version_num="0010"))
        # And what later schemas brought; on PostgreSQL policies go with what they are about.
        too = " CASCADE" if engine.dialect.name == "postgresql" else ""
        for table in LATER:
            connection.execute(sa.text(f"DROP TABLE {table}{too}"))
        connection.execute(sa.text("DROP INDEX memories_put_away"))
        connection.execute(sa.text("ALTER TABLE memories DROP COLUMN marks"))
        connection.execute(sa.text("DROP INDEX sessions_rules_only"))
        connection.execute(sa.text("ALTER TABLE sessions DROP COLUMN rules_only"))
        brought = {
            "api_keys": ("role", "expires_ms", "used_ms", "member", "visibility"), "memories": ("visibility", "owner"),
            "sessions": ("visibility", "owner"), "events": ("owner",),
        }  # fmt: skip
        for table, columns in brought.items():
            for column in columns:
                connection.execute(sa.text(f"ALTER TABLE {table} DROP COLUMN {column}{too}"))
        numbers = [row.seq for row in heads.values()]
    engine.dispose()
    return numbers


def _found(server: Server, query: str) -> set[str]:
    """Lessons that a run would be shown."""
    items = server.request("GET", f"/api/v1/memories?status=active&query={quote(query)}").json["items"]
    return {each["mem_id"] for each in items}


def _key(capsys: pytest.CaptureFixture[str], tenant: str) -> str:
    capsys.readouterr()
    assert run(cli, ["key", "create", "--tenant", tenant, "--label", "test", "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["secret"])


def _search(server: Server, query: str) -> str:
    found = server.request("GET", f"/api/search?query={quote(query)}&limit=20").json
    return str(found["content"][0]["text"])
