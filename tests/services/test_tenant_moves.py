"""A tenant between clusters while it is written to: nothing lost, nothing twice, and never two that answer."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from codexmem.kernel.events.live import Live
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import (
    CodexmemError,
    Conflict,
    InvalidArgument,
    NotFound,
    TenantElsewhere,
    Unavailable,
)
from codexmem.kernel.model.event import EventType, LogPosition, NewEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.store.cells import places, tenant_rows
from codexmem.kernel.store.cells.directory import Directory, TenantRoute
from codexmem.kernel.store.cells.places import Place, PlaceState
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.opening import open_database
from codexmem.kernel.store.schema import memories
from codexmem.operations.cells import Cells
from codexmem.operations.tenant_move import TenantMove
from codexmem.operations.tenants import Step, nothing
from tests._support import services
from tests._support.dying_moves import run_or_die
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually
from tests.services.tenant_stores import fill, held, tables_with_a_tenant

pytestmark = pytest.mark.postgresql

_names = itertools.count(1)
ME = WriteContext("test")


@dataclass
class Clusters:
    """Two stores that are cells of a directory, which the first one has."""

    urls: dict[str, str]

    @property
    def directory(self) -> str:
        return self.urls["a"]

    def move(self, tenant: str = "acme", *, step: Step = nothing, fence_ms: int = 30_000) -> TenantMove:
        return TenantMove(self.directory, tenant, SystemClock(), by="cli:test", step=step, fence_ms=fence_ms)

    def lives_in(self, tenant: str = "acme") -> str:
        return next(route.cell for route in Cells(self.directory).routes() if route.tenant == tenant)

    def place(self, cell: str, tenant: str = "acme") -> Place | None:
        with places.connected(self.urls[cell]) as connection:
            return places.of(connection, tenant)


@pytest.fixture
def clusters(postgres_server: PostgresServer) -> Clusters:
    number = next(_names)
    urls = {name: postgres_server.create_store(f"cell_{name}_{number}") for name in ("a", "b")}
    for name, url in urls.items():
        Cells(urls["a"]).add(name, url, f"https://{name}.example")
    return Clusters(urls)


@dataclass
class Traffic:
    """Writers and readers of one tenant that follow it, and what they know."""

    databases: dict[str, Database]
    tenant: str = "acme"
    acknowledged: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def write(self) -> None:
        """Save one text after the other, wherever the tenant is; one that is refused is tried again."""
        ways = {name: services.build(db).memories for name, db in self.databases.items()}
        cell, text = "a", ""
        while not self.stop.is_set() or text:
            text = text or f"text {next(self.numbers)}"
            try:
                with acting_as(self.tenant):
                    ways[cell].remember(
                        MemoryDraft(Kind.NOTE, State(content=text, attrs=NoteAttrs()), Origin.AGENT), ME
                    )  # fmt: skip
                self.acknowledged.append(text)
                self.answers[f"written in {cell}"] += 1
                text = ""
                self.stop.wait(0.05)  # the moves are what is tested, on a machine that has other things to do
            except TenantElsewhere as error:
                cell = str(error.details["cell"])
            except Unavailable:
                self.answers["held off"] += 1
                self.stop.wait(0.02)
            except Exception as error:
                self.errors.append(repr(error))
                return

    def read(self) -> None:
        """Ask every cell in turn: one that answers must have all that was acknowledged before."""
        count = sa.select(sa.func.count()).select_from(memories).where(memories.c.kind == "note")
        while not self.stop.is_set():
            for name, db in self.databases.items():
                known = len(self.acknowledged)
                try:
                    with acting_as(self.tenant), db.reading() as tx:
                        seen = tx.connection.execute(count).scalar_one()
                except CodexmemError:
                    self.answers[f"refused by {name}"] += 1
                    continue
                self.answers[f"read in {name}"] += 1
                if seen < known:
                    self.wrong.append(f"{name} answered with {seen} of {known}")
            self.stop.wait(0.05)

    def check(self, cell: str) -> None:
        """Exactly what was acknowledged is there, each once."""
        with acting_as(self.tenant), self.databases[cell].reading() as tx:
            rows = tx.connection.execute(sa.select(memories.c.content).where(memories.c.kind == "note")).scalars()
            found = Counter(row for row in rows if row.startswith("text "))
        assert not [text for text, count in found.items() if count > 1], "stored twice"
        assert set(self.acknowledged) == set(found), "lost, or never acknowledged"


@pytest.fixture
def traffic(clusters: Clusters) -> Iterator[Traffic]:
    """Two writers and a reader, until the test says enough or ends."""
    with psycopg.connect(clusters.directory) as connection:
        connection.execute(
            "INSERT INTO api_keys (tenant, id, hash, label, created_ms) VALUES ('acme', 'key_1', %s, 'ci', 1)",
            [f"hash of {clusters.directory}"],
        )
    with places.connected(clusters.urls["b"]) as connection:
        # Where the tenant has never been, no key of it leads; the reader has none and would be told of nothing.
        places.put(connection, Place("acme", PlaceState.GONE, "a"))
    databases = {name: open_database(url, pool_size=4) for name, url in clusters.urls.items()}
    made = Traffic(databases)
    threads = [threading.Thread(target=each) for each in (made.write, made.write, made.read)]
    for each in threads:
        each.start()
    try:
        eventually(lambda: len(made.acknowledged) > 5 or made.errors)
        yield made
    finally:
        made.stop.set()
        for each in threads:
            each.join(60)
        for db in databases.values():
            db.close()


def ended(traffic: Traffic, cell: str) -> None:
    """Let writers end what they are about, then compare."""
    before = len(traffic.acknowledged)
    eventually(lambda: len(traffic.acknowledged) > before + 3 or traffic.errors)
    traffic.stop.set()
    eventually(lambda: threading.active_count() == 1 or not any("write" in str(each) for each in threading.enumerate()))
    assert (traffic.errors, traffic.wrong) == ([], [])
    traffic.check(cell)


@pytest.mark.process
@pytest.mark.parametrize(
    "steps", [("arriving", "copied", "fenced", "followed"), ("compared", "sealed", "opened", "routed")], ids=" ".join
)
def test_a_move_goes_on_after_a_kill_at_every_step(
    clusters: Clusters, traffic: Traffic, tmp_path: Path, steps: tuple[str, ...]
) -> None:
    home, other = "a", "b"
    for at in steps:
        call = f"TenantMove({clusters.directory!r}, 'acme', clock, by='cli:test', step=step)"
        died, seen = run_or_die(f"{call}.run({other!r})", tmp_path, at)
        assert (died, seen[-1]) == (True, at)
        if at in {"copied", "sealed"}:
            clusters.move().undo(other)
            assert clusters.lives_in() == home
            assert held(clusters.urls[other], "acme") == {}
            continue
        clusters.move().run(other)
        assert clusters.lives_in() == other
        if at in {"arriving", "compared"}:
            assert run_or_die(f"{call}.commit({other!r})", tmp_path, {"arriving": "gone"}.get(at, "erased"))[0]
        if held(clusters.urls[home], "acme"):
            clusters.move().commit(other)
        assert held(clusters.urls[home], "acme") == {}
        home, other = other, home
    ended(traffic, home)
    assert traffic.answers["written in a"]
    assert traffic.answers["written in b"]


def test_a_fence_ends_by_itself_and_then_the_move_begins_its_last_step_again(
    clusters: Clusters, traffic: Traffic
) -> None:
    waited: list[str] = []

    def slow(name: str) -> None:
        if name == "compared" and not waited:
            waited.append(name)
            before = len(traffic.acknowledged)
            eventually(lambda: len(traffic.acknowledged) > before + 2)  # the fence has ended, and writers went on

    clusters.move(step=slow, fence_ms=3_000).run("b")
    assert (clusters.lives_in(), waited) == ("b", ["compared"])
    ended(traffic, "b")


def test_every_table_moves_and_comes_back_with_what_was_written_since(clusters: Clusters) -> None:
    fill(clusters.urls["a"], "acme")
    before = held(clusters.urls["a"], "acme")
    assert before.keys() == tables_with_a_tenant(clusters.urls["a"])
    clusters.move().run("b")
    assert held(clusters.urls["b"], "acme") == before
    db = open_database(clusters.urls["b"])
    with acting_as("acme"):
        new = services.build(db).memories.remember(
            MemoryDraft(Kind.NOTE, State(content="since", attrs=NoteAttrs()), Origin.AGENT), ME
        )
        with psycopg.connect(clusters.urls["b"]) as connection:
            connection.execute("UPDATE products SET folded = folded || ' renamed' WHERE tenant = 'acme'")
            connection.execute("DELETE FROM memory_links WHERE tenant = 'acme'")
            connection.execute("UPDATE jobs SET status = 'failed' WHERE tenant = 'acme'")
    with psycopg.connect(clusters.urls["a"]) as connection:
        assert new.seq > connection.execute("SELECT max(seq) FROM memories WHERE tenant = 'acme'").fetchone()[0]  # type: ignore[index]
    db.close()
    since = held(clusters.urls["b"], "acme")
    assert since != before
    clusters.move().undo("b")
    assert (held(clusters.urls["a"], "acme"), held(clusters.urls["b"], "acme")) == (since, {})
    assert (clusters.lives_in(), clusters.place("a")) == ("a", None)
    with pytest.raises(NotFound):
        clusters.move().undo("b")
    with pytest.raises(NotFound):
        clusters.move().commit("b")
    clusters.move().run("b")
    with psycopg.connect(clusters.urls["b"]) as connection:  # as after a restore of an older backup there
        for table in reversed(tenant_rows.TABLES):
            connection.execute(f"DELETE FROM {table.name} WHERE tenant = 'acme'")
    with pytest.raises(Conflict, match="has not arrived"):
        clusters.move().commit("b")
    assert held(clusters.urls["a"], "acme") == since


def test_what_is_in_the_way_is_said_and_changes_nothing(clusters: Clusters, postgres_server: PostgresServer) -> None:
    for cell in ("a", "b"):
        fill(clusters.urls[cell], "twice")
    with pytest.raises(Conflict, match="lives in a and b"):
        clusters.move("twice").run("b")
    with pytest.raises(NotFound):
        clusters.move("nobody").run("b")
    with pytest.raises(NotFound):
        clusters.move("twice").run("c")
    third = postgres_server.create_store(f"cell_c_{next(_names)}")
    with psycopg.connect(third) as connection:
        connection.execute(
            "INSERT INTO api_keys (tenant, id, hash, label, created_ms) VALUES ('acme', 'key_9', 'x', 'ci', 1)"
        )
    clusters.move("acme")
    with places.connected(clusters.directory) as connection:
        Directory(connection).put(TenantRoute("acme", "a", 1))
    with pytest.raises(Conflict, match="lives in another cell"):
        Cells(clusters.directory).add("c", third, "https://c.example")
    assert [cell.name for cell in Cells(clusters.directory).known()] == ["a", "b"]
    for wrong in ("no scheme", "ftp://x"):
        with pytest.raises(InvalidArgument):
            Cells(clusters.directory).add("c", third, wrong)
    with pytest.raises(InvalidArgument, match="no password"):
        Cells(clusters.directory).add("c", third.replace("postgres@", "postgres:secret@"), "https://c.example")


def test_a_stream_that_was_read_before_a_move_goes_on_without_a_gap(clusters: Clusters) -> None:
    def log(url: str, *subjects: str) -> Database:
        db = open_database(url)
        with acting_as("acme"):
            for subject in subjects:
                EventTable(db).append(NewEvent(EventType.MEMORY_WRITTEN, subject, {}), id=subject, at_ms=1)
        return db

    log(clusters.urls["a"], "one", "two", "three").close()
    clusters.move().run("b")
    db = log(clusters.urls["b"], "four")
    with acting_as("acme"):
        first = EventTable(db).after(LogPosition(0, 0), limit=1)[0]
        # The new cell's transactions may have higher numbers than the old one's, so this is not beyond its end.
        with Live(db, EventTable(db), LocalNotifier()).follow(key="k", resume=f"{first.seq}.1") as follower:
            assert [event.subject for event in follower.read()] == ["two", "three", "four"]
    db.close()
