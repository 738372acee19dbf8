"""A standby that searches read: never older than asked for, never without one's own writes, and never missed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest import mock

import psycopg
import pytest

from codexmem.app.core import Core, open_core
from codexmem.kernel.jobs.job_kind import Done, JobContext, JobKind
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import Job, NewJob
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.store.database import acting_as
from codexmem.settings import Settings
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually

pytestmark = pytest.mark.postgresql
WITHIN_S = 3


@pytest.fixture
def pair() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """A primary with a store, and a standby that has repeated it."""
    with PostgresServer() as primary:
        primary.create_store("team")
        with closing(primary.standby()) as standby:
            yield primary, standby


@pytest.fixture
def here(pair: tuple[PostgresServer, PostgresServer], tmp_path: Path) -> Iterator[Core]:
    """A process that reads the standby."""
    primary, standby = pair
    with closing(opened(tmp_path, primary.url("team"), standby.url("team"))) as core, acting_as("acme"):
        yield core


@pytest.fixture
def elsewhere(pair: tuple[PostgresServer, PostgresServer], tmp_path: Path) -> Iterator[Core]:
    """Another process of the same store."""
    with closing(opened(tmp_path, pair[0].url("team"))) as core:
        yield core


def opened(folder: Path, url: str, replica: str = "") -> Core:
    return open_core(
        Settings(folder, url, embedder="none", database_replica_url=replica, database_replica_s=WITHIN_S)
    )  # fmt: skip


def save(core: Core, text: str) -> None:
    state = State(text, ObservationAttrs(), project="p")
    core.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.HUMAN), WriteContext("test"))


def found(core: Core, word: str) -> list[str]:
    answer = core.recall.search(SearchQuery(word, Filter(frozenset({Kind.OBSERVATION}))))
    return [each.memory.state.content for each in answer.results]


def pause(standby: PostgresServer, *, on: bool = True) -> None:
    with psycopg.connect(standby.url("team"), autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()" if on else "SELECT pg_wal_replay_resume()")


def reads(standby: PostgresServer) -> int:
    """Rows of memories that somebody has fetched there."""
    with psycopg.connect(standby.url("team"), autocommit=True) as connection:
        row = connection.execute(
            "SELECT coalesce(idx_scan, 0) + seq_scan FROM pg_stat_user_tables WHERE relname = 'memories'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def near(core: Core) -> bool:
    """Whether the standby could be read now."""
    replica = core.db.engine.replica
    assert replica is not None
    return replica.reading("acme", None) is not None


@pytest.mark.timeout(120)
def test_searches_read_the_standby_and_everything_else_the_primary(
    pair: tuple[PostgresServer, PostgresServer], here: Core
) -> None:
    save(here, "The kestrel port is 7417.")
    eventually(lambda: near(here))
    before = reads(pair[1])
    assert found(here, "kestrel") == ["The kestrel port is 7417."]
    eventually(lambda: reads(pair[1]) > before)


@pytest.mark.timeout(120)
def test_what_others_write_is_seen_later_but_not_later_than_promised(
    pair: tuple[PostgresServer, PostgresServer], here: Core, elsewhere: Core
) -> None:
    eventually(lambda: near(here))
    pause(pair[1])
    with acting_as("acme"):
        save(elsewhere, "The heron cache holds 90 entries.")
    assert found(here, "heron") == []  # from the standby, which stands still
    eventually(lambda: found(here, "heron"))
    assert not near(here)
    pause(pair[1], on=False)
    eventually(lambda: near(here))
    assert found(here, "heron") == ["The heron cache holds 90 entries."]


@pytest.mark.timeout(120)
def test_jobs_read_the_primary(pair: tuple[PostgresServer, PostgresServer], here: Core, elsewhere: Core) -> None:
    eventually(lambda: near(here))
    pause(pair[1])
    with acting_as("acme"):
        save(elsewhere, "The egret worker claims 4 jobs.")
    assert found(here, "egret") == []
    seen: list[list[str]] = []

    def look(_: Job, __: JobContext) -> Done:
        seen.append(found(here, "egret"))
        return Done()

    with mock.patch.object(here.worker, "_duties", {"test.look": JobKind(look)}):
        here.worker.start()
        with acting_as("acme"):
            elsewhere.queue.enqueue(NewJob("test.look", {}))
        eventually(lambda: seen)
        here.worker.stop(5.0)
    assert seen == [["The egret worker claims 4 jobs."]]


@pytest.mark.timeout(120)
def test_ones_own_writes_are_found_at_once(pair: tuple[PostgresServer, PostgresServer], here: Core) -> None:
    eventually(lambda: near(here))
    pause(pair[1])
    save(here, "The osprey queue retries 5 times.")
    assert found(here, "osprey") == ["The osprey queue retries 5 times."]
    with acting_as("other"):  # who wrote nothing is not held back
        replica = here.db.engine.replica
        assert replica is not None
        assert replica.reading("other", None) is not None


@pytest.mark.timeout(120)
def test_a_standby_that_dies_is_left_for_the_primary_and_taken_up_again(
    pair: tuple[PostgresServer, PostgresServer], here: Core
) -> None:
    save(here, "The plover timeout is 40 seconds.")
    eventually(lambda: near(here))
    pair[1].kill()
    assert found(here, "plover") == ["The plover timeout is 40 seconds."]
    assert not near(here)
    pair[1].start()
    eventually(lambda: near(here))
    assert found(here, "plover") == ["The plover timeout is 40 seconds."]


@pytest.mark.timeout(120)
def test_a_server_starts_without_its_standby(pair: tuple[PostgresServer, PostgresServer], tmp_path: Path) -> None:
    pair[1].kill()
    with closing(opened(tmp_path, pair[0].url("team"), pair[1].url("team"))) as core, acting_as("acme"):
        save(core, "The dunlin schema has 12 tables.")
        assert found(core, "dunlin") == ["The dunlin schema has 12 tables."]
