"""One tenant into a file, into another store, and out of a store for good: every row of every table."""

from __future__ import annotations

import gzip
import itertools
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.event import EventType, LogPosition
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.cells import tenant_rows
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.opening import open_database
from codexmem.operations.keys import Keys
from codexmem.operations.tenants import Tenants
from tests._support.dying_moves import run_or_die
from tests._support.postgres import PostgresServer
from tests.services.tenant_stores import fill, held, tables_with_a_tenant

pytestmark = pytest.mark.postgresql

_names = itertools.count(1)


@pytest.fixture(scope="module")
def full(postgres_server: PostgresServer, own_store: str) -> str:
    """A store in which `acme` and `other` have a row in every table."""
    url = postgres_server.url(own_store)
    fill(url, "acme")
    with psycopg.connect(url, autocommit=True) as connection:
        # The other one has the same rows under its own name, but for what one store has only once.
        for table in tenant_rows.tables(connection):
            columns = [name for name in tenant_rows.columns(table) if name != "tenant"]
            listed, given = ", ".join(columns), ", ".join("'x' || hash" if each == "hash" else each for each in columns)
            connection.execute(
                f"INSERT INTO {table.name} (tenant, {listed}) SELECT 'other', {given} FROM {table.name}"
                " WHERE tenant = 'acme'"
            )
    return url


@pytest.fixture
def empty(postgres_server: PostgresServer) -> str:
    return postgres_server.create_store(f"whole_tenants_{next(_names)}")


def of(url: str) -> Tenants:
    return Tenants(url, SystemClock(), by="cli:test", forgotten_s=0)


def audited(url: str, type: EventType) -> list[dict[str, object]]:
    db = open_database(url)
    try:
        with acting_as(LOCAL):
            found = EventTable(db).after(LogPosition(0, 0), limit=500)
            return [event.payload or {} for event in found if event.type == type]
    finally:
        db.close()


def test_every_table_with_a_tenant_takes_part(full: str) -> None:
    taking_part = {table.name for table in tenant_rows.TABLES}
    assert taking_part == tables_with_a_tenant(full)
    assert held(full, "acme").keys() == taking_part, "the test's own tenant must have a row in each"
    assert held(full, "other").keys() == taking_part
    with psycopg.connect(full) as connection:  # the check must be able to fail
        connection.execute("CREATE TABLE planted (tenant text)")
        connection.commit()
        try:
            assert taking_part != tables_with_a_tenant(full)
        finally:
            connection.execute("DROP TABLE planted")
            connection.commit()


def test_an_exported_tenant_is_the_same_elsewhere_and_goes_on(full: str, empty: str, tmp_path: Path) -> None:
    file, earlier = tmp_path / "acme.gz", len(audited(full, EventType.TENANT_EXPORTED))
    made = of(full).export("acme", file)
    assert (file.stat().st_mode & 0o777, made.rows) == (0o600, sum(each.rows for each in held(full, "acme").values()))
    assert not any(line.startswith(b"other\t") for line in gzip.decompress(file.read_bytes()).splitlines())
    with pytest.raises(Conflict):
        of(full).export("acme", file)
    assert of(empty).take_in(file).sha256 == made.sha256
    assert held(empty, "acme") == held(full, "acme")
    assert held(empty, "other") == {}
    assert [each["rows"] for each in audited(empty, EventType.TENANT_IMPORTED)] == [made.rows]
    assert [each["sha256"] for each in audited(full, EventType.TENANT_EXPORTED)[earlier:]] == [made.sha256]
    with psycopg.connect(empty) as connection, psycopg.connect(full) as origin:
        assert connection.execute("SELECT count(*) FROM events WHERE position <> 0 AND tenant = 'acme'").fetchone() == (
            0,
        )
        given, before = tenant_rows.numbers(connection), tenant_rows.numbers(origin)
    assert all(given[name] >= before[name] for name in before if name != "events")
    assert given["events"] > before["events"] - 5
    # Words are found without being made anew, and what is written now has a number of its own.
    db = open_database(empty)
    with acting_as("acme"), db.reading() as tx:
        assert tx.connection.exec_driver_sql("SELECT count(*) FROM memory_texts").scalar()
    db.close()
    with pytest.raises(Conflict, match="already"):
        of(empty).take_in(file)
    assert of(empty).erase("acme").rows == made.rows
    assert held(empty, "acme") == {}
    assert [each["status"] for each in audited(empty, EventType.TENANT_ERASED)] == ["begun", "done"]
    with pytest.raises(NotFound):
        of(empty).erase("acme")
    assert of(empty).take_in(file).rows == made.rows, "an erased tenant may come back"


def test_erasing_one_leaves_the_others_as_they_are(full: str, empty: str, tmp_path: Path) -> None:
    for name in ("acme", "other"):
        of(full).export(name, tmp_path / name)
        of(empty).take_in(tmp_path / name)
    of(empty).erase("acme")
    assert held(empty, "acme") == {}
    assert held(empty, "other") == held(full, "other")


def test_a_damaged_file_changes_nothing(full: str, empty: str, tmp_path: Path) -> None:
    file = tmp_path / "acme.gz"
    of(full).export("acme", file)
    whole = gzip.decompress(file.read_bytes())
    middle = whole.index(b"memory_facets") + 300
    for name, content in {
        "cut": whole[: len(whole) // 2],
        "changed": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "longer": whole + b"{}\n",
        "other": b'{"format":"zip"}\n',
        "newer": whole.replace(b'"version":1', b'"version":2', 1),
        "nothing": b"",
    }.items():
        (tmp_path / name).write_bytes(gzip.compress(content))
        with pytest.raises(InvalidArgument):
            of(empty).take_in(tmp_path / name)
    (tmp_path / "plain").write_bytes(b"hello")
    with pytest.raises(InvalidArgument):
        of(empty).take_in(tmp_path / "plain")
    assert held(empty, "acme") == {}
    assert of(empty).list() == []


@pytest.mark.process
def test_import_and_erasure_go_on_after_a_kill_at_any_step(full: str, empty: str, tmp_path: Path) -> None:
    file = tmp_path / "acme.gz"
    of(full).export("acme", file)
    verbs = {"import": f"take_in(Path({str(file)!r}), step=step)", "erase": "erase('acme', step=step)"}
    for verb, call in verbs.items():
        seen: Counter[str] = Counter()
        for at in itertools.count(1):
            died, steps = run_or_die(f"Tenants({empty!r}, clock, by='cli:test', forgotten_s=0).{call}", tmp_path, at)
            seen.update(each.partition(" ")[0] for each in steps)
            if not died:
                break
            if verb == "import" and "arriving" in steps and steps[-1] != "visible":
                db = open_database(empty)
                with pytest.raises(Unavailable, match="being moved"), acting_as("acme"), db.reading():
                    pass
                db.close()
        assert held(empty, "acme") == (held(full, "acme") if verb == "import" else {})
        assert seen.keys() == {"import": {"verified", "arriving", "loaded", "compared", "visible"},
                               "erase": {"erasing", "erased"}}[verb]  # fmt: skip


def test_keys_open_the_tenant_where_it_is(empty: str, postgres_server: PostgresServer, tmp_path: Path) -> None:
    there = postgres_server.create_store(f"whole_tenants_{next(_names)}")
    db = open_database(empty)
    secret = Keys(db, lambda _: None, SystemClock()).create("acme", "ci").secret
    db.close()
    of(empty).export("acme", tmp_path / "file")
    of(there).take_in(tmp_path / "file")
    db = open_database(there)
    found = Keys(db, lambda _: None, SystemClock()).authenticate(secret)
    db.close()
    assert found is not None
    assert found.tenant == "acme"
    with pytest.raises(InvalidArgument):
        of(there).erase(LOCAL)
