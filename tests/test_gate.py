"""The gate's own promises: the lock covers what is declared, names no machine, and the test server leaves nothing."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import psycopg
import pytest

from codexmem.kernel.store.database import Database
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually

ROOT = Path(__file__).parents[1]
LOCKS = ("base", "container", "dev", "release")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def lock(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.txt").read_text()


def pins(name: str) -> dict[str, str]:
    return {_normal(package): version for package, version in PIN.findall(lock(name))}


def declared(*requirements: str) -> set[str]:
    names = (re.match(r"[A-Za-z0-9._-]+", requirement) for requirement in requirements)
    return {_normal(found.group()) for found in names if found}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_locks_hold_every_declared_dependency() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    base = declared(*project["dependencies"])
    extras = declared(*itertools.chain(*project["optional-dependencies"].values())) - {"codexmem-cli"}
    groups = pyproject["dependency-groups"]
    release = declared(*groups.pop("release"))
    dev = declared(*(each for group in groups.values() for each in group))
    build = declared(*pyproject["build-system"]["requires"])
    assert base <= pins("base").keys()
    assert base | extras | dev | build <= pins("dev").keys()
    assert release <= pins("release").keys()


def test_the_development_lock_repeats_the_runtime_lock() -> None:
    assert pins("base").items() <= pins("dev").items()


def test_the_lock_of_the_image_repeats_the_runtime_lock() -> None:
    assert pins("base").items() <= pins("container").items()


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_requirement_has_hashes(name: str) -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", lock(name).strip())
    assert len(blocks) == len(PIN.findall(lock(name)))
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("name", LOCKS)
def test_the_locks_name_no_registry_and_no_machine(name: str) -> None:
    named = re.compile(r"://|--(extra-)?index|--find-links|--trusted|(^|\s)[~.]?/|[A-Za-z]:\\", re.MULTILINE)
    assert [match.group() for match in named.finditer(lock(name))] == []


def test_the_gate_is_a_program() -> None:
    program = ROOT / ".ci" / "run"
    assert os.access(program, os.X_OK)
    subprocess.run(["bash", "-n", program], check=True)


def test_the_database_fixture_opens_the_engine_it_names(database: Database, engine_name: str, tenant: str) -> None:
    assert database.engine.name == engine_name
    with database.transaction() as transaction:
        assert transaction.tenant == tenant


@pytest.mark.postgresql
def test_postgres_keeps_committed_rows_when_killed() -> None:
    with PostgresServer(durable=True) as server:
        url = server.create_database("crash")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute("CREATE TABLE kept (n int)")
            connection.execute("INSERT INTO kept VALUES (1)")
        server.kill()
        assert not server.running
        server.start()
        server.restart("immediate")
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT n FROM kept").fetchall() == [(1,)]
            assert connection.execute("SHOW fsync").fetchone() == ("on",)


@pytest.mark.postgresql
def test_postgres_goes_when_its_parent_is_killed() -> None:
    program = (
        "import time; from tests._support.postgres import PostgresServer as S; s = S().start();"
        "print(s.pid, s.home, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, home = parent.stdout.readline().split()
        parent.send_signal(signal.SIGKILL)
    eventually(lambda: not Path(home).exists() and not _runs(int(pid)))


def _runs(pid: int) -> bool:
    try:
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
