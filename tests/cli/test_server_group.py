"""Several servers behind one port: replaced, killed and stopped while clients ask."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from codexmem.kernel.store.opening import upgrade_store
from tests._support import warm
from tests._support.postgres import PostgresServer
from tests._support.saving import Clients, stored
from tests._support.server import Server, create_key, environment
from tests._support.waiting import eventually

pytestmark = pytest.mark.postgresql
DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with PostgresServer() as made:
        upgrade_store(made.create_database("group"))
        yield made.url("group")


@pytest.fixture(scope="module")
def group(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("group")
    key = create_key(folder, url, "acme")
    with started(folder, url, key, "tests._support.forked_group") as server:
        yield server


@contextlib.contextmanager
def started(folder: Path, url: str, key: str, program: str, embedder: str = "none") -> Iterator[Server]:
    """Two processes that answer."""
    settings = {"CODEXMEM_EMBEDDER": embedder, "CODEXMEM_TENANT_RATE": "0"}
    server = Server(
        folder, database_url=url, key=key, settings=settings, options=("--processes", "2"), program=program
    )  # fmt: skip
    with server:
        eventually(lambda: figures(server)["codexmem_processes_answering", ""] == 2, within_s=120)
        yield server


def figures(server: Server) -> dict[tuple[str, str], float]:
    """Each series by its name and process; those with further labels are summed."""
    found: dict[tuple[str, str], float] = {}
    for family in text_string_to_metric_families(server.request("GET", "/metrics").body.decode()):
        for sample in family.samples:
            place = sample.name, sample.labels.get("process", "")
            found[place] = found.get(place, 0) + sample.value
    return found


def begun(server: Server) -> dict[str, float]:
    """When each process began."""
    return {process: at for (name, process), at in figures(server).items() if name == "process_start_time_seconds"}


def members(server: Server) -> list[int]:
    return [int(each) for each in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()]


def test_processes_are_replaced_one_by_one_without_a_failed_request(group: Server, url: str) -> None:
    before = begun(group)
    assert set(before) == {"1", "2"}
    with Clients(group, 3) as clients, contextlib.closing(http.client.HTTPConnection("127.0.0.1", group.port)) as line:
        line.request("GET", "/api/events", headers={"Authorization": f"Bearer {group.key}"})
        stream = line.getresponse()
        clients.wait_for(20)
        os.kill(group.pid, signal.SIGHUP)
        # It is told when to come back and from where, and then it ends.
        told = stream.read().decode()
        retry, place = told.rstrip().splitlines()[-2:]
        assert (retry.split(":")[0], place.split(":")[0], stream.isclosed()) == ("retry", "id", True)
        eventually(lambda: len(now := begun(group)) == 2 and not set(now.values()) & set(before.values()), within_s=120)
        clients.wait_for(20)
    assert clients.failed == []
    held = stored(url)
    assert {text: held.get(text) for text in clients.acknowledged} == dict.fromkeys(clients.acknowledged, 1)


def test_when_one_is_killed_the_others_serve_and_nothing_acknowledged_is_lost(group: Server, url: str) -> None:
    with Clients(group, 3) as clients:
        clients.wait_for(20)
        victim = members(group)[0]
        os.kill(victim, signal.SIGKILL)
        clients.wait_for(20)
        eventually(lambda: victim not in members(group) and figures(group)["codexmem_processes_answering", ""] == 2)
    # Only what the killed one was doing fails; what comes after that is the other's.
    assert all("Error" in each or "RemoteDisconnected" in each for each in clients.failed), clients.failed
    assert len(clients.failed) <= 8, clients.failed
    held = stored(url)
    assert {text: held.get(text) for text in clients.acknowledged} == dict.fromkeys(clients.acknowledged, 1)


def test_who_takes_the_place_of_a_dead_one_accepts_with_its_encoder_loaded(url: str, tmp_path: Path) -> None:
    key = create_key(tmp_path, url, "acme")
    with started(tmp_path, url, key, "codexmem", "local") as group:
        before = members(group)
        os.kill(before[0], signal.SIGKILL)
        eventually(
            lambda: before[0] not in members(group) and figures(group)["codexmem_processes_answering", ""] == 2,
            within_s=120,
        )
        (fresh,) = set(members(group)) - set(before)
        assert "numpy" in Path(f"/proc/{fresh}/maps").read_text()  # what the encoder is made of, and nothing else is


def test_one_scrape_tells_of_all_processes_and_of_the_store_once(group: Server) -> None:
    seen = figures(group)
    assert seen["codexmem_processes_wanted", ""] == seen["codexmem_processes_answering", ""] == 2
    assert {process for name, process in seen if name == "codexmem_ready"} == {"1", "2"}
    assert {process for name, process in seen if name == "codexmem_jobs"} == {""}

    def asked() -> float:
        return sum(value for (name, _), value in figures(group).items() if name == "codexmem_http_requests_total")

    before = asked()
    for _ in range(10):
        assert group.request("GET", "/api/version").status == 200
    assert asked() >= before + 10


def offered(server: Server) -> dict[str, set[str]]:
    """The labels of each series that a scrape gives."""
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(server.request("GET", "/metrics").body.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def queries() -> Iterator[str]:
    """Every expression of the rules and of the dashboard."""
    for group in yaml.safe_load((DEPLOY / "prometheus" / "rules.yaml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads((DEPLOY / "grafana" / "codexmem.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_rules_and_dashboard_name_figures_that_exist_and_leave_none_out(group: Server) -> None:
    group.request("GET", "/api/version")
    series, wrong = offered(group), list[str]()
    named = set[str]()
    asked = list(queries())
    assert len(asked) > 25
    for query in asked:
        used = re.findall(r"\b((?:codexmem|process)_\w+)(?:\{([^}]*)\})?", query)
        assert used, query
        labels = {"instance", "job"}.union(*(series.get(name, set()) for name, _ in used))
        wrong += [f"{name}: no such figure" for name, _ in used if name not in series]
        wrong += [
            f"{name} has no {label}"
            for name, inside in used
            for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inside)
            if label not in series.get(name, set()) | {"instance", "job"}
        ]
        by = [each.strip() for found in re.findall(r"\bby\s*\(([^)]*)\)", query) for each in found.split(",")]
        wrong += [f"{query}: by {label}" for label in by if label not in labels]
        named.update(name for name, _ in used)
    assert wrong == []
    ours = {name for name in series if name.startswith("codexmem_") and not name.endswith("_created")}
    assert ours - named == set()


def test_the_group_is_one_server_to_who_stops_it(url: str, tmp_path: Path) -> None:
    """With real programs."""
    key = create_key(tmp_path, url, "acme")
    with started(tmp_path, url, key, "codexmem") as group:
        assert group.request("GET", "/api/health").json["pid"] == group.pid
        told = json.loads((tmp_path / "server.json").read_text())
        assert (told["pid"], told["url"]) == (group.pid, f"http://127.0.0.1:{group.port}")
        running = members(group)
        assert len(running) == 2
        assert group.stop() == 0
    assert not any(Path(f"/proc/{each}").exists() for each in running)
    assert not (tmp_path / "server.json").exists()


def test_what_keeps_the_first_from_starting_ends_the_group_with_the_reason(url: str, tmp_path: Path) -> None:
    env = environment(tmp_path, CODEXMEM_DATABASE_URL=url.replace("/group", "/empty"), CODEXMEM_EMBEDDER="none")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE empty")
    with (tmp_path / "said").open("w+b") as said:
        ran = warm.start(
            ["serve", "--processes", "2", "--port", "0"], env=env, out=said.fileno(), err=said.fileno(),
            program="tests._support.forked_group",
        )  # fmt: skip
        assert ran.wait(90) == 6
    assert b"codexmem db upgrade" in (tmp_path / "said").read_bytes()


def test_sqlite_has_one_process(tmp_path: Path) -> None:
    done = warm.run(["serve", "--processes", "2", "--port", "0"], env=environment(tmp_path))
    assert done.returncode == 2
    assert b"PostgreSQL" in done.stderr
