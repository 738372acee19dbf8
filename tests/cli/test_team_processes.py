"""A team's servers and workers as processes, on a PostgreSQL that hangs or stands behind a pooler."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import psycopg
import pytest

from codexmem.kernel.store.opening import upgrade_store
from tests._support import warm
from tests._support.pgbouncer import PgBouncer
from tests._support.postgres import PostgresServer
from tests._support.server import Server, create_key, environment
from tests._support.waiting import eventually

pytestmark = pytest.mark.postgresql


Answer = TypeVar("Answer")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that these tests may freeze."""
    with PostgresServer() as made:
        upgrade_store(made.create_database("team"))
        yield made


@pytest.fixture(scope="module")
def key(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    return create_key(tmp_path_factory.mktemp("key"), server.url("team"), "acme")


def timed(ask: Callable[[], int]) -> tuple[int, float]:
    began = time.monotonic()
    return ask(), time.monotonic() - began


def get(url: str, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def saves(up: Server) -> Callable[[], int]:
    return lambda: up.post("/api/memory/save", {"text": "The port is 8080.", "project": "shop"}).status


@contextmanager
def asked_while_frozen(
    server: PostgresServer, key: str, folder: Path, ask: Callable[[Callable[[], int]], Answer]
) -> Iterator[tuple[Server, Callable[[], list[Answer]]]]:
    """A server while PostgreSQL does not move and many save something; what comes of that can be waited for."""
    with Server(folder, database_url=server.url("team"), key=key, settings={"CODEXMEM_EMBEDDER": "none"}) as up:
        assert saves(up)() == 200
        server.freeze()
        try:
            answers: list[Answer] = []
            clients = [threading.Thread(target=lambda: answers.append(ask(saves(up)))) for _ in range(60)]
            for client in clients:
                client.start()

            def all_answers() -> list[Answer]:
                for client in clients:
                    client.join()
                return answers

            eventually(lambda: up.request("GET", "/api/readiness").status == 503)
            yield up, all_answers
        finally:
            server.thaw()
        eventually(lambda: saves(up)() == 200)
        assert up.request("GET", "/api/readiness").status == 200


def test_while_postgresql_is_frozen_servers_say_so_and_recover(
    server: PostgresServer, key: str, tmp_path: Path
) -> None:
    with asked_while_frozen(server, key, tmp_path, lambda save: save()) as (up, answers):
        assert up.request("GET", "/api/health").status == 200
        # Some begin before it is known that the database is away; of the others, the line takes only a few.
        assert set(answers()) <= {429, 503}
        assert up.request("GET", "/api/readiness").status == 503


def test_while_postgresql_is_frozen_nobody_waits_long(server: PostgresServer, key: str, tmp_path: Path) -> None:
    with asked_while_frozen(server, key, tmp_path, lambda save: timed(save)[1]) as (up, took):
        assert timed(lambda: up.request("GET", "/api/readiness").status)[1] < 5.0
        assert max(took()) < 10.0, sorted(took())


def test_searches_and_captures_work_through_a_pooler_in_transaction_mode(
    server: PostgresServer, key: str, tmp_path: Path
) -> None:
    failed: list[tuple[int, bytes]] = []

    def client(up: Server, number: int) -> None:
        for each in range(15):
            event = {"contentSessionId": f"s{number}", "cwd": "/w/shop", "tool_name": "Bash",
                     "tool_input": {"command": f"make {each}"}, "tool_response": "ok"}  # fmt: skip
            replies = (
                up.post("/api/sessions/observations", event),
                up.request("GET", "/api/search?query=port&project=shop"),
            )
            failed.extend((reply.status, reply.body) for reply in replies if reply.status != 200)

    with (
        PgBouncer(server) as pooler,
        Server(
            tmp_path, database_url=pooler.url("team"), key=key, settings={"CODEXMEM_EMBEDDER": "none"}
        ) as up,
    ):  # fmt: skip
        clients = [threading.Thread(target=client, args=(up, number)) for number in range(8)]
        for each in clients:
            each.start()
        for each in clients:
            each.join(120)
        assert failed == []
        # Jobs are found by looking where no wake-up is heard.
        with psycopg.connect(server.url("team"), autocommit=True) as connection:
            waiting = "SELECT count(*) FROM jobs WHERE status IN ('queued', 'running') AND kind = 'capture.extract'"
            eventually(lambda: connection.execute(waiting).fetchone() == (0,))


def test_a_worker_answers_probes_and_tells_its_figures(server: PostgresServer, tmp_path: Path) -> None:
    said = tmp_path / "worker.log"
    with said.open("wb") as log:
        worker = subprocess.Popen(
            [warm.program("codexmem"), "worker", "--port", "0"],
            env=environment(tmp_path, CODEXMEM_DATABASE_URL=server.url("team"), CODEXMEM_EMBEDDER="none"),
            stderr=log, stdout=log,
        )  # fmt: skip
    try:
        url = eventually(lambda: re.findall(r"http://\S+", said.read_text()))[0]
        assert get(url, "/api/health")[0] == 200
        assert get(url, "/api/readiness")[0] == 200
        status, figures = get(url, "/metrics")
        assert status == 200
        for name in ("codexmem_worker_running", 'codexmem_jobs{status="queued"}', "codexmem_queue_oldest_seconds"):
            assert name in figures
        server.freeze()
        try:
            eventually(lambda: get(url, "/api/readiness")[0] != 200)
            status, body = get(url, "/api/readiness")
            assert (status, json.loads(body)["status"]) == (503, "unavailable")
            assert get(url, "/api/health")[0] == 200  # to start anew would not help
        finally:
            server.thaw()
        eventually(lambda: get(url, "/api/readiness")[0] == 200)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    finally:
        if worker.poll() is None:
            worker.kill()
        worker.wait()
