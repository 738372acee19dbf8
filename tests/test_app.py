"""The server as a whole: it answers before its store is open, guards who may call, drains and leaves nothing behind."""

from __future__ import annotations

import itertools
import json
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from codexmem.app import App, handlers, open_app, open_core
from codexmem.app import server as module
from codexmem.app.worker_api import SURFACE
from codexmem.capture.author_queue import AUTHOR
from codexmem.capture.consolidation import CONSOLIDATE
from codexmem.capture.service import EXTRACT, SUMMARIZE
from codexmem.kernel.model.errors import InvalidArgument, NotReady, Unavailable
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock, SystemClock
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.services.housekeeping import CHORES
from codexmem.kernel.services.indexing import CATCH_UP
from codexmem.kernel.services.status import Phase
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database, upgrade_store
from codexmem.recall.agent_file_discovery import FOLLOW
from codexmem.recall.commit_watch import NEW_COMMITS
from codexmem.recall.review_scan import REVIEW
from codexmem.settings import Settings, load
from tests._support.clock import StepClock
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually
from tests.services.restoring import transfer_of

pytestmark = pytest.mark.process

_names = itertools.count(1)


@contextmanager
def running(
    settings: Settings, *, work: bool = True, ready: bool = True, clock: Clock | None = None
) -> Iterator[tuple[App, str]]:
    """A server in a thread, ready or not yet."""
    app = open_app(settings, work=work, clock=clock)
    bound = threading.Event()
    url = ""
    failure: list[BaseException] = []

    def on_bound(where: str) -> None:
        nonlocal url
        url = where
        bound.set()

    def run() -> None:
        try:
            app.run(on_bound=on_bound)
        except BaseException as error:
            failure.append(error)
            bound.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert bound.wait(20)
        if ready:
            eventually(lambda: app.status.readiness().ready or bool(failure))
            assert not failure
        yield app, url
    finally:
        app.stop()
        thread.join(20)
    if failure:
        raise failure[0]


def local(data_dir: Path, **more: object) -> Settings:
    return load({"data_dir": str(data_dir), "port": 0, **more}, {}, data_dir)


@pytest.fixture
def team(postgres_server: PostgresServer, tmp_path: Path) -> Settings:
    url = postgres_server.create_store(f"app{next(_names)}")
    return local(tmp_path, database_url=url)


def save(url: str, text: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/api/memory/save", json={"text": text}, headers=headers, timeout=20)


@pytest.mark.sqlite
def test_a_local_server_serves_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with running(local(tmp_path)) as (app, url):
        facts = json.loads((tmp_path / "server.json").read_text())
        assert (facts["url"], facts["pid"]) == (url, os.getpid())
        assert stat.S_IMODE((tmp_path / "server.json").stat().st_mode) == 0o600
        assert httpx.get(f"{url}/api/readiness").json() == {"status": "ready"}
        reply = save(url, "remember this")
        assert reply.status_code == 200
        number = reply.json()["id"]
        eventually(lambda: app.services.queue.counts()[JobStatus.COMPLETED] >= len(CHORES))
        metrics = httpx.get(f"{url}/metrics").text
        assert "codexmem_ready 1.0" in metrics
        assert 'codexmem_jobs{status="failed"} 0.0' in metrics
    assert not (tmp_path / "server.json").exists()
    core = open_core(local(tmp_path))
    try:
        assert core.memories.many([number], SURFACE.kinds)[number].state.content
    finally:
        core.close()


@pytest.mark.postgresql
def test_a_server_whose_workers_are_away_stays_ready_and_tells_the_stall(team: Settings) -> None:
    clock = StepClock(SystemClock().now_ms())
    with running(team, work=False, clock=clock) as (app, url):
        key = app.services.core.keys.create("acme", "ops").secret
        authorized = {"Authorization": f"Bearer {key}"}
        assert save(url, "remember this", **authorized).status_code == 200  # and the tenant's chores are queued
        clock.advance(300_000)
        reply = httpx.get(f"{url}/api/readiness")
        assert (reply.status_code, reply.json()["status"]) == (200, "stalled")
        assert "none was started" in reply.json()["reason"]
        assert save(url, "and this", **authorized).status_code == 200
        figures = httpx.get(f"{url}/metrics", headers=authorized).text
        assert "codexmem_ready 1.0" in figures
        assert "codexmem_queue_stalled 1.0" in figures
        waiting = [line for line in figures.splitlines() if line.startswith('codexmem_jobs{status="queued"}')]
        assert float(waiting[0].split()[-1]) >= len(CHORES)
    assert not (team.data_dir / "server.json").exists()  # it stops in order without a worker too


@pytest.mark.sqlite
def test_health_answers_while_the_store_is_still_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_open = threading.Event()

    def slow(*args: object) -> object:
        assert may_open.wait(20)
        return open_core(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "open_core", slow)
    with running(local(tmp_path), ready=False) as (app, url):
        health = httpx.get(f"{url}/api/health")
        assert (health.status_code, health.json()["initialized"]) == (200, False)
        readiness = httpx.get(f"{url}/api/readiness")
        assert (readiness.status_code, readiness.json()) == (503, {"status": "initializing"})
        early = save(url, "too early")
        assert (early.status_code, early.headers["retry-after"]) == (503, "1")
        assert not (tmp_path / "server.json").exists()
        may_open.set()
        eventually(lambda: app.status.readiness().ready)
        assert save(url, "now").status_code == 200


@pytest.mark.sqlite
def test_a_second_server_on_one_file_is_refused_before_it_listens(tmp_path: Path) -> None:
    with running(local(tmp_path)) as (_, url):
        told: list[str] = []
        with pytest.raises(Unavailable, match="in use by another codexmem process"):
            open_app(local(tmp_path)).run(on_bound=told.append)
        assert told == []
        assert json.loads((tmp_path / "server.json").read_text())["url"] == url


@pytest.mark.sqlite
def test_a_store_that_cannot_be_opened_ends_the_server_with_its_reason(tmp_path: Path) -> None:
    settings = local(tmp_path)
    db = open_database(settings.database_url)
    with db.transaction() as tx:
        tx.connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    db.close()
    with pytest.raises(NotReady, match="newer codexmem"), running(settings, ready=False) as (app, _):
        eventually(lambda: app.status.readiness().phase is Phase.FAILED)
    assert not (tmp_path / "server.json").exists()


@pytest.mark.sqlite
def test_an_open_bind_without_authentication_is_refused(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "0"):
        with pytest.raises(InvalidArgument):
            open_app(local(tmp_path, host=host)).run()
    assert not (tmp_path / "codexmem.db").exists()


@pytest.mark.sqlite
def test_token_mode_asks_for_the_token_or_a_key(tmp_path: Path) -> None:
    settings = local(tmp_path, auth="token")
    core = open_core(settings)
    made = core.keys.create("local", "ci")
    core.close()
    with running(settings, ready=True) as (_, url):
        token = (tmp_path / "token").read_text().strip()
        assert httpx.get(f"{url}/api/health").status_code == 200
        assert httpx.get(f"{url}/metrics").status_code == 401
        assert save(url, "no").status_code == 401
        assert save(url, "no", Authorization="Bearer " + "0" * 64).status_code == 401
        assert save(url, "yes", Authorization=f"Bearer {token}").status_code == 200
        assert save(url, "yes", Authorization=f"Bearer {made.secret}").status_code == 200


@pytest.mark.sqlite
def test_a_backup_made_beside_a_running_server_is_told_in_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NOTICES_S", 0.05)
    with running(local(tmp_path)) as (app, url):
        save(url, "one")
        made = transfer_of(tmp_path).backup()
        assert made.manifest.counts["memories"] == 1
        eventually(lambda: app.services.report.newest(EventType.STORE_BACKED_UP))
        with pytest.raises(Unavailable, match="in use"):
            transfer_of(tmp_path).restore(made.folder)


@pytest.mark.postgresql
def test_a_team_server_asks_for_a_key_that_tells_the_tenant(team: Settings) -> None:
    core = open_core(team)
    acme, umbrella = core.keys.create("acme", "ci"), core.keys.create("umbrella", "ci")
    core.close()
    with running(team) as (app, url):
        assert httpx.get(f"{url}/api/health").status_code == 200
        assert save(url, "no").status_code == 401
        number = save(url, "ours", Authorization=f"Bearer {acme.secret}").json()["id"]
        batch = {"ids": [number]}
        for key, count in ((acme, 1), (umbrella, 0)):
            reply = httpx.post(
                f"{url}/api/observations/batch", json=batch, headers={"Authorization": f"Bearer {key.secret}"}
            )
            assert len(reply.json()) == count
        with acting_as("acme"):
            eventually(lambda: app.services.queue.counts()[JobStatus.COMPLETED] >= len(CHORES))


@pytest.mark.postgresql
def test_a_team_server_waits_for_its_database(tmp_path: Path) -> None:
    with PostgresServer() as server:
        settings = local(tmp_path, database_url=server.create_database("late"))
        upgrade_store(settings.database_url)
        server.stop()
        with running(settings, ready=False) as (app, url):
            eventually(lambda: app.status.readiness().reason is not None)
            assert httpx.get(f"{url}/api/health").json()["initialized"] is False
            server.start()
            eventually(lambda: app.status.readiness().ready)


@pytest.mark.postgresql
def test_a_team_server_refuses_a_schema_it_must_not_upgrade_itself(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    settings = local(tmp_path, database_url=postgres_server.create_database(f"app{next(_names)}"))
    with pytest.raises(NotReady) as caught, running(settings, ready=False) as (app, _):
        eventually(lambda: app.status.readiness().phase is Phase.FAILED)
    assert caught.value.hint == "run: codexmem db upgrade"


@pytest.mark.sqlite
def test_every_chore_has_a_handler_and_comes_round(tmp_path: Path) -> None:
    core = open_core(local(tmp_path))
    try:
        job_kinds = handlers(
            core.housekeeping,
            core.indexing,
            core.extraction,
            core.authoring,
            core.consolidation,
            core.follower,
            core.commits,
            core.review_scan,
            core.lab,
        )
        own = {*CHORES, CATCH_UP, AUTHOR, CONSOLIDATE, EXTRACT, SUMMARIZE, FOLLOW, NEW_COMMITS, REVIEW}
        assert set(job_kinds) == {*own, *core.lab.job_kinds()}
        core.housekeeping.begin()
        core.housekeeping.begin()
        assert core.queue.counts()[JobStatus.QUEUED] == len(CHORES)
        core.begin()
        eventually(lambda: core.queue.counts()[JobStatus.COMPLETED] >= len(CHORES))
        core.stop(5.0)
        waiting = core.queue.list(JobStatus.QUEUED)
        assert {job.kind for job in waiting} == set(CHORES)
    finally:
        core.close()
