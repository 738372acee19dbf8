"""Fixtures every test may ask for: a PostgreSQL of our own, and an opened store on each engine.

A test that asks for `database` runs once per engine. It starts empty: on SQLite in a fresh file, copied from one that
was migrated once; on PostgreSQL as a fresh tenant of one shared database, which row-level security keeps apart.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from codexmem.domain.tenant import LOCAL
from codexmem.store.database import Database, acting_as
from codexmem.store.opening import open_database, sqlite_url, upgrade_store
from tests._support import engines, vectors
from tests._support.chroma import ChromaServer
from tests._support.postgres import PostgresServer

# The gate repeats itself exactly; fresh randomness belongs to the soak programs, which print their seeds.
hypothesis.settings.register_profile("gate", derandomize=True, database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("gate")

ENGINES = [
    pytest.param("sqlite", marks=pytest.mark.sqlite),
    pytest.param("postgresql", marks=pytest.mark.postgresql),
]
TESTS = Path(__file__).parent
# Folders of tests that wait for real programs.
MEASURING = frozenset(
    {
        "agents",
        "bench",
        "cli",
        "client",
        "clients",
        "contracts",
        "docs",
        "events",
        "jobs",
        "packaging",
        "stories",
        "web",
    }
)
_tenants = itertools.count(1)


def pytest_report_header() -> str:
    return engines.describe()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A stalled machine can break a promise about time; what keeps failing is a failure, and each retry is reported."""
    for item in items:
        if item.get_closest_marker("clock") or item.path.relative_to(TESTS).parts[0] in MEASURING:
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=1))


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Logs of tests about broken text hold broken text, which does not pass between pytest's own processes."""
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running server for the whole session, without fsync; a test that stops or crashes one starts its own."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> str:
    """The migrated database that tests share, each as its own tenant."""
    url = postgres_server.create_database("codexmem")
    upgrade_store(url)
    return url


@pytest.fixture(scope="session")
def postgres_database(postgres_url: str) -> Iterator[Database]:
    """The shared database, opened; without a tenant until `acting_as`."""
    database = open_database(postgres_url)
    yield database
    database.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty store file, closed: to be copied, never opened."""
    path = tmp_path_factory.mktemp("template") / "codexmem.db"
    open_database(sqlite_url(path)).close()
    return path


@pytest.fixture
def sqlite_database(sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
    """An empty store in a file of this test's own."""
    path = tmp_path / "codexmem.db"
    shutil.copyfile(sqlite_template, path)
    database = open_database(sqlite_url(path))
    yield database
    database.close()


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    """The engine this run of the test is about."""
    return str(request.param)


@pytest.fixture
def tenant(engine_name: str) -> str:
    """Whom the test acts for; threads it starts must enter `acting_as(tenant)` themselves."""
    return LOCAL if engine_name == "sqlite" else f"test-{next(_tenants)}"


@pytest.fixture
def database(engine_name: str, tenant: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """An opened store, empty as far as the tenant can see, with the tenant entered."""
    opened: Database = request.getfixturevalue(f"{'postgres' if engine_name == 'postgresql' else 'sqlite'}_database")
    with acting_as(tenant):
        yield opened


@pytest.fixture(scope="session")
def chroma_server() -> Iterator[ChromaServer]:
    """A running Chroma for the whole session; a test that stops one starts its own."""
    with ChromaServer() as server:
        yield server
        vectors.close(server.url)
