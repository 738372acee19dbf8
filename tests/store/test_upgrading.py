"""From every schema there was to the newest, by the product's own command: nothing is lost, and all of it is found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from codexmem.cli.frame import run
from codexmem.cli.root import cli
from codexmem.store import inspection, upgrade
from codexmem.store.schema import metadata
from tests._support.postgres import PostgresServer
from tests._support.server import Server
from tests.jobs.stores import wait_until
from tests.store.written import DERIVED, in_order, make, revisions, rows_of

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


def test_the_rows_are_of_every_table(tmp_path: Path) -> None:
    rows = make(f"sqlite:///{tmp_path / 'codexmem.db'}", upgrade.newest(), "local")
    assert rows.keys() == metadata.tables.keys() - DERIVED
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
        wait_until(lambda: wanted in _search(server, "checkout connection pool"), 20)
        wait_until(lambda: "对账文件按北京时间切分" in _search(server, "对账文件"), 20)
        observed = server.post("/api/observations/batch", {"ids": [2]}).json
        assert [each["title"] for each in observed] == [wanted]
        listed = server.request("GET", "/api/notes?limit=50").json
        notes = {uri for row in held["memories"] if row["kind"] == "note" for uri in json.loads(row["uris"])[:1]}
        assert {note["uri"] for note in listed["items"]} == notes
        # Numbers go on where they were.
        about = {"contentSessionId": "after", "project": "later", "prompt": "What came after the upgrade?"}
        assert server.post("/api/sessions/init", about).status == 200
        assert "What came after the upgrade?" in _search(server, "came after the upgrade")


def _key(capsys: pytest.CaptureFixture[str], tenant: str) -> str:
    capsys.readouterr()
    assert run(cli, ["key", "create", "--tenant", tenant, "--label", "test", "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["secret"])


def _search(server: Server, query: str) -> str:
    found = server.request("GET", f"/api/search?query={quote(query)}&limit=20").json
    return str(found["content"][0]["text"])
