"""PostgreSQL behind several addresses or a pooler, read-only after a failover, frozen, or slow."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import psycopg
import pytest

from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.opening import open_database, schema_of, upgrade_store
from codexmem.kernel.store.postgres import connecting
from codexmem.kernel.store.postgres.notify import PostgresNotifier
from tests._support.pgbouncer import PgBouncer
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually

pytestmark = pytest.mark.postgresql


@pytest.fixture
def primary() -> Iterator[PostgresServer]:
    """One that this test may end."""
    with PostgresServer(settings={"hot_standby": "on"}) as made:
        upgrade_store(made.create_database("team"))
        yield made


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that these tests may freeze."""
    with PostgresServer() as made:
        upgrade_store(made.create_database("team"))
        yield made


@pytest.fixture
def quiet_s(monkeypatch: pytest.MonkeyPatch) -> float:
    """A second without an answer is long; `tests/cli/test_team_processes.py` waits the four that servers wait."""
    monkeypatch.setattr(connecting._Watched, "quiet_s", 1.0)
    return 1.0


def write(database: Database, name: str) -> None:
    with acting_as("acme"), database.transaction() as tx:
        tx.connection.exec_driver_sql(
            "INSERT INTO tallies (tenant, name, value) VALUES ('acme', %(name)s, 1)", {"name": name}
        )


def names(database: Database) -> set[str]:
    with acting_as("acme"), database.reading() as tx:
        return set(tx.connection.exec_driver_sql("SELECT name FROM tallies").scalars())


def test_an_address_may_name_several_hosts(postgres_server: PostgresServer, postgres_url: str) -> None:
    port, name = postgres_server.port, postgres_url.rpartition("/")[2]
    url = f"postgresql://postgres@127.0.0.1:1,127.0.0.1:{port}/{name}?target_session_attrs=read-write"
    assert schema_of(url) == schema_of(postgres_url)
    database = open_database(url)
    try:
        with database.dispatching() as tx:
            assert tx.connection.exec_driver_sql("SELECT 1").scalar() == 1
    finally:
        database.close()
    upgrade_store(url)
    notifier = PostgresNotifier(url)
    heard = threading.Event()
    try:
        notifier.listen("several-hosts", heard.set)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            while not heard.wait(0.1):
                connection.execute("SELECT pg_notify('codexmem', 'x several-hosts')")
    finally:
        notifier.close()


@pytest.mark.parametrize("url", ["postgresql://me:p@ss@host/db", "postgresql://me:p%zz@host/db"])
def test_an_address_that_cannot_be_read_is_told_with_how_to_write_one(url: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        open_database(url)
    assert "ss" not in refused.value.message.replace("address", "")
    assert "%XX" in (refused.value.hint or "")


def test_where_an_address_leads_is_told_without_the_password() -> None:
    assert connecting.place("postgresql://me:secret@a:1,b:2/team") == "a:1,b:2/team"
    assert connecting.place("postgresql://me:secret@a,b/team?password=x") == "a:5432,b:5432/team"


def test_a_pooler_in_transaction_mode_breaks_nothing(postgres_server: PostgresServer, postgres_url: str) -> None:
    name = postgres_url.rpartition("/")[2]
    with PgBouncer(postgres_server) as pooler:
        database = open_database(pooler.url(name))
        failures: list[Exception] = []

        def work(number: int) -> None:
            try:
                for each in range(60):
                    with acting_as(f"pooled-{number}"), database.transaction() as tx:
                        value = f"{number}-{each}"
                        tx.connection.exec_driver_sql(
                            "INSERT INTO tallies (tenant, name, value) VALUES (%(t)s, %(n)s, 1)",
                            {"t": f"pooled-{number}", "n": value},
                        )
                    with acting_as(f"pooled-{number}"), database.reading() as tx:
                        seen = tx.connection.exec_driver_sql("SELECT count(*), min(tenant) FROM tallies").one()
                        assert seen == (each + 1, f"pooled-{number}")
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        database.close()
    assert failures == []


def test_through_a_pooler_wake_ups_go_out_and_looking_replaces_hearing(
    postgres_server: PostgresServer, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = postgres_url.rpartition("/")[2]
    heard = threading.Event()
    direct = PostgresNotifier(postgres_url)
    direct.listen("through-a-pooler", heard.set)
    with PgBouncer(postgres_server) as pooler:
        pooled = PostgresNotifier(pooler.url(name))
        try:
            pooled.listen("anything", lambda: None)
            while not heard.wait(0.1):
                pooled.notify("through-a-pooler")
            eventually(lambda: "CODEXMEM_DATABASE_DIRECT_URL" in caplog.text)
            assert caplog.text.count("CODEXMEM_DATABASE_DIRECT_URL") == 1
        finally:
            pooled.close()
            direct.close()


def test_after_a_failover_the_next_attempt_reaches_the_new_primary(primary: PostgresServer) -> None:
    with primary.standby() as standby:
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        database = open_database(f"postgresql://postgres@{hosts}/team?target_session_attrs=read-write")
        try:
            write(database, "before")
            with psycopg.connect(standby.url("team"), autocommit=True) as follower:
                eventually(lambda: follower.execute("SELECT 1 FROM tallies").fetchone())
            # Demoted, and alive: pooled connections to it still answer.
            with psycopg.connect(primary.url(), autocommit=True) as old:
                old.execute("ALTER SYSTEM SET default_transaction_read_only = on")
                old.execute("SELECT pg_reload_conf()")
            standby.promote()
            numbers = itertools.count()

            def refusal() -> Unavailable | None:
                try:
                    write(database, f"between-{next(numbers)}")
                except Unavailable as error:
                    return error
                return None

            refused = eventually(refusal)  # once the reload has reached our connection
            assert refused is not None
            assert "only reads" in refused.message
            assert "target_session_attrs" in (refused.hint or "")
            write(database, "after")
            assert {"before", "after"} <= names(database)
            with psycopg.connect(standby.url("team")) as new:
                assert new.execute("SELECT count(*) FROM tallies WHERE name = 'after'").fetchone() == (1,)
        finally:
            database.close()


@pytest.mark.usefixtures("quiet_s")
def test_a_frozen_server_fails_soon_and_works_again_when_it_goes_on(server: PostgresServer) -> None:
    database = open_database(server.url("team"))
    try:
        write(database, "before")
        server.freeze()
        with pytest.raises(Unavailable):
            write(database, "frozen")
        with pytest.raises(Unavailable):
            names(database)  # the pooled connections are gone, a new one gets no answer
        server.thaw()
        write(database, "after")
        assert names(database) >= {"before", "after"}
    finally:
        server.thaw()
        database.close()


@pytest.mark.usefixtures("quiet_s")
def test_a_frozen_server_is_noticed_through_a_pooler_too(server: PostgresServer) -> None:
    with PgBouncer(server) as pooler:
        database = open_database(pooler.url("team"))
        try:
            write(database, "pooled")
            server.freeze()
            with pytest.raises(Unavailable):
                write(database, "frozen")
        finally:
            server.thaw()
            database.close()


def test_a_slow_statement_of_a_living_server_is_let_work(server: PostgresServer, quiet_s: float) -> None:
    database = open_database(server.url("team"), statement_s=20)
    try:
        with acting_as("acme"), database.reading() as tx:
            slept = tx.connection.exec_driver_sql(f"SELECT 'done' FROM pg_sleep({quiet_s + 1})").scalar()
        assert slept == "done"
    finally:
        database.close()


def test_a_statement_and_a_lock_have_limits(server: PostgresServer) -> None:
    database = open_database(server.url("team"), statement_s=1, lock_s=1)
    try:
        with pytest.raises(Unavailable) as slow, acting_as("acme"), database.reading() as tx:
            tx.connection.exec_driver_sql("SELECT pg_sleep(30)")
        assert "CODEXMEM_STATEMENT_TIMEOUT_S" in (slow.value.hint or "")
        database.close()
        database = open_database(server.url("team"), statement_s=3_600, lock_s=1)
        with psycopg.connect(server.url("team")) as other:
            other.execute("LOCK TABLE tallies IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(Unavailable):
                write(database, "locked")
        write(database, "free")
    finally:
        database.close()
