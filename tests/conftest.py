"""Fixtures every test may ask for: a PostgreSQL of our own, and an opened store on each engine.

A test that asks for `database` runs once per engine. It starts empty: on SQLite in a fresh file, copied from one that
was migrated once; on PostgreSQL as a fresh tenant of one shared database, which row-level security keeps apart.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import hypothesis
import pytest

from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store import opening
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.opening import open_database, sqlite_url, upgrade_store
from tests._support import disk, engines, gate, pgbouncer, statements, template, tiers, vectors
from tests._support.chroma import ChromaServer
from tests._support.postgres import PostgresServer
from tests._support.server import Server

# The gate repeats itself exactly; fresh randomness belongs to the soak programs, which print their seeds.
hypothesis.settings.register_profile("gate", derandomize=True, database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("gate")

# Whoever starts the tests in the background, or beyond the end of a session, has these ignored; a program that a test
# starts would inherit that, and not end by the signals that the test is about.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

Server.forks = True
gc.disable()  # until all tests are known, see below


def _about_the_store() -> bool:
    """Tests of `store` migrate their stores, and wait for the disk."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").startswith("tests/store/")


disk.skip_waits(unless=_about_the_store)
statements.compile_once()

ENGINES = [
    pytest.param("sqlite", marks=pytest.mark.sqlite),
    pytest.param("postgresql", marks=pytest.mark.postgresql),
]
TESTS = Path(__file__).parent
PREPARED = "GATE_PREPARED"  # names the file that .ci/run makes when everything is installed
LONG_S, WORTH_TELLING_S = 120, 5
_tenants, _stores = itertools.count(1), itertools.count(1)


def pytest_report_header() -> str:
    return engines.describe()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which the gate leaves every test out is not even read where only the gate's are asked for."""
    if collection_path.suffix != ".py" or "not full" not in config.getoption("markexpr"):
        return None
    path = collection_path.relative_to(TESTS.parent).as_posix()
    return True if any(each.whole(path) for each in gate.table()) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with what it starts, and as `full` where the gate leaves it out."""
    for item in items:
        starts = tiers.of(item)
        for mark in starts if starts & set(tiers.TIERS) else {"unit"} | starts:
            item.add_marker(mark)
        if gate.is_left(item.nodeid, {mark.name for mark in item.iter_markers()}):
            item.add_marker("full")
    items.sort(key=lambda item: item.get_closest_marker("prepared") is not None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What a test needs besides pip's packages may still be on its way; the gate ends if that fails."""
    if PREPARED in os.environ and item.get_closest_marker("prepared"):
        while not Path(os.environ[PREPARED]).exists():
            time.sleep(0.2)
    return (yield)


def pytest_collection_finish() -> None:
    """Ten thousand tests with all that they import stay to the end: no use in walking over them again and again."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with tiers.nothing_starts() if item.get_closest_marker("unit") else nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with tiers.nothing_starts() if item.get_closest_marker("unit") else nullcontext():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Logs of tests about broken text hold broken text, which does not pass between pytest's own processes."""
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]


_seconds: defaultdict[tuple[str, str], float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Seconds by what was started, and by folder, with setting up and taking down."""
    started = [tier for tier in reversed(tiers.TIERS) if tier in report.keywords]
    _seconds["tier", started[0] if started else "unit"] += report.duration
    _seconds["folder", report.nodeid.rpartition("/")[0]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the time of a long run went; with three processes the sum is three times the wall."""
    if sum(spent for (sort, _), spent in _seconds.items() if sort == "tier") > LONG_S:
        terminalreporter.section("seconds by what was started, and by folder")
        for (sort, name), spent in sorted(_seconds.items(), key=lambda each: -each[1]):
            if spent >= WORTH_TELLING_S:
                terminalreporter.write_line(f"{spent:8.0f}  {sort:6}  {name}")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running server for the whole session, without fsync; a test that stops or crashes one starts its own."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def address(postgres_server: PostgresServer) -> Iterator[Callable[[str], str]]:
    """How a database of the session's server is reached: through PgBouncer, if that was chosen."""
    if pgbouncer.CHOICE not in os.environ:
        yield postgres_server.url
        return
    with pgbouncer.PgBouncer(postgres_server) as pooler:
        yield pooler.url


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer, address: Callable[[str], str]) -> str:
    """The migrated database that tests share, each as its own tenant."""
    upgrade_store(postgres_server.create_database("codexmem"))
    return address("codexmem")


@pytest.fixture(scope="session")
def postgres_database(postgres_url: str) -> Iterator[Database]:
    """The shared database, opened; without a tenant until `acting_as`."""
    database = open_database(postgres_url)
    yield database
    database.close()


@pytest.fixture(scope="module")
def own_store(postgres_server: PostgresServer) -> str:
    """The name of an empty store of a module's own: another one if the module is left and entered again."""
    name = f"module{next(_stores)}"
    postgres_server.create_store(name)
    return name


@pytest.fixture(scope="module")
def own_database(own_store: str, address: Callable[[str], str]) -> Iterator[Database]:
    """That store, opened."""
    database = open_database(address(own_store))
    yield database
    database.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty store file, closed: to be copied, never opened."""
    return template.make(tmp_path_factory.mktemp("template") / "codexmem.db")


@pytest.fixture(scope="session", autouse=True)
def new_stores_are_copied(sqlite_template: Path) -> Iterator[None]:
    """A new SQLite store is a copy of the template, in a tenth of the time; tests of `store` make theirs."""
    made = template.copying(sqlite_template, opening.upgrade_store, unless=_about_the_store)
    with mock.patch.object(opening, "upgrade_store", made):
        yield


@pytest.fixture
def sqlite_database(sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
    """An empty store in a file of this test's own."""
    path = tmp_path / "codexmem.db"
    if _about_the_store():
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
