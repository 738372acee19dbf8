"""Changing the schema of a store on PostgreSQL: nobody is kept waiting for long, and nobody writes meanwhile."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from codexmem.kernel.model.errors import NotReady, Unavailable
from codexmem.kernel.store import upgrade
from codexmem.kernel.store.opening import open_database, upgrade_telling
from codexmem.kernel.store.postgres.engine import migration_engine
from tests._support import warm
from tests._support.pgbouncer import PgBouncer
from tests._support.postgres import PostgresServer
from tests._support.server import environment

pytestmark = pytest.mark.postgresql
_STEPS = Path(upgrade.__file__).parent / "migrations" / "versions"
_CREATE_INDEX = re.compile(r"create_index\((?:[^()]|\([^()]*\))*\)")


@pytest.fixture
def short_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second for a lock instead of three, and as long between two tries."""
    monkeypatch.setattr(upgrade, "LOCK_S", 1)
    monkeypatch.setattr(upgrade, "_PAUSE_S", 0.7)


@pytest.fixture
def older(postgres_server: PostgresServer) -> str:
    """A store of the schema 0009; the step after it changes a table that is there."""
    name = f"older{time.monotonic_ns()}"
    url = postgres_server.create_database(name)
    engine = migration_engine(url)
    with engine.connect() as connection:
        upgrade._run(connection, "0009", upgrade.tell_log)
    engine.dispose()
    return url


@pytest.mark.usefixtures("short_tries")
def test_a_step_waits_for_a_table_in_short_tries_so_that_others_go_on(older: str) -> None:
    told: list[str] = []
    done: list[object] = []
    with psycopg.connect(older, application_name="a long dump") as holder:
        holder.execute("SELECT count(*) FROM events")  # as pg_dump does, for hours
        migrating = threading.Thread(
            target=lambda: done.append(upgrade_telling(older, tell=lambda what, _: told.append(what)))
        )
        migrating.start()
        with psycopg.connect(older, autocommit=True) as reader:
            while "locked" not in told:
                reader.execute("SELECT count(*) FROM events")
        assert not done
    migrating.join(60)
    assert done


@pytest.mark.usefixtures("short_tries")
def test_a_table_that_stays_in_use_is_told_with_who_uses_it(older: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "LOCK_TRIES", 2)
    with psycopg.connect(older, application_name="a long dump") as holder:
        holder.execute("SELECT count(*) FROM events")
        with pytest.raises(Unavailable) as refused:
            upgrade_telling(older)
        assert f"a long dump (pid {holder.info.backend_pid}" in refused.value.message
    assert upgrade_telling(older).before == "0009"


def test_the_schema_does_not_change_under_a_server(older: str) -> None:
    told: list[tuple[str, Mapping[str, object]]] = []
    with psycopg.connect(older, application_name="codexmem"):
        with pytest.raises(Unavailable) as refused:
            upgrade_telling(older, wait_s=1.0, tell=lambda *said: told.append(said))
        assert refused.value.details["reason"] == "store_in_use"
        assert told == [("in_use", {"count": 1, "seconds": 1})]
    serving = psycopg.connect(older, application_name="codexmem")
    ending = threading.Timer(1.5, serving.close)
    ending.start()
    assert upgrade_telling(older, wait_s=30.0).before == "0009"
    ending.join()
    with psycopg.connect(older, application_name="codexmem"):
        upgrade_telling(older, wait_s=0.0)  # nothing to change, so nobody is in the way


def test_a_pooler_is_no_way_to_change_the_schema(postgres_server: PostgresServer, older: str) -> None:
    with PgBouncer(postgres_server) as pooler, pytest.raises(NotReady) as refused:
        upgrade_telling(pooler.url(older.rpartition("/")[2]))
    assert "CODEXMEM_DATABASE_DIRECT_URL" in (refused.value.hint or "")


def test_missing_vectors_are_told_once_with_what_helps_and_so_is_their_coming(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    name = f"smaller{os.getpid()}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as superuser:
        superuser.execute(f"CREATE ROLE {name} LOGIN SUPERUSER")  # roles of the cluster may be there already
        superuser.execute(f"CREATE DATABASE {name} OWNER {name}")
        for role in ("codexmem_app", "codexmem_dispatch", "codexmem_member", "codexmem_search"):
            if superuser.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
                superuser.execute(f"GRANT {role} TO {name} WITH ADMIN OPTION")
        superuser.execute(f"ALTER ROLE {name} NOSUPERUSER CREATEROLE BYPASSRLS")

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [warm.program("codexmem"), *options, "db", "upgrade"], text=True, capture_output=True,
            env=environment(tmp_path, CODEXMEM_DATABASE_URL=postgres_server.url(name, name), LANG="C.UTF-8"),
            timeout=120, check=False,
        )  # fmt: skip

    first = run()
    assert first.returncode == 0, first.stderr
    assert first.stdout.strip() == upgrade.newest()
    assert first.stderr.count("permission denied to create extension") == 1
    assert first.stderr.count("CREATE EXTENSION vector") == 1
    assert "search uses words only" in first.stderr
    told = json.loads(run("--json").stdout)
    assert (told["changed"], told["vectors"]) == (False, False)
    with psycopg.connect(postgres_server.url(name), autocommit=True) as superuser:
        superuser.execute("CREATE EXTENSION vector")
    made = run()
    assert "created the vector table" in made.stderr
    assert "already up to date" not in made.stderr
    assert "already up to date" in run().stderr


def locking_indexes(file: Path) -> list[str]:
    """The indexes that a step builds on a table that is there, with its writers locked out."""
    text = file.read_text(encoding="utf-8")
    made = set(re.findall(r"create_table\(\s*\"(\w+)\"", text))
    online = "postgresql_concurrently=True"
    calls = [re.findall(r"\"([\w{}]+)\"", call) for call in _CREATE_INDEX.findall(text) if online not in call]
    return [each[0] for each in calls if not made & set(each[1:2])]


def test_steps_after_the_first_release_build_indexes_while_writers_go_on() -> None:
    found = {file.name[:4]: locking_indexes(file) for file in _STEPS.glob("0*.py") if file.name > "0010"}
    assert found["0010"] == ["jobs_learn{name}", "deltas_run"]  # released: it runs on stores that are empty or small
    assert not any(names for step, names in found.items() if step > "0010"), found


def test_requests_have_limits_and_long_work_has_none(postgres_url: str) -> None:
    engine = migration_engine(postgres_url)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SHOW statement_timeout")).scalar() == "0"
    engine.dispose()
    database = open_database(postgres_url)
    with database.dispatching() as tx:
        assert tx.connection.exec_driver_sql("SHOW statement_timeout").scalar() == "30s"
        assert tx.connection.exec_driver_sql("SHOW lock_timeout").scalar() == "10s"
    database.close()
