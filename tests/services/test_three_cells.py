"""Three real clusters, a real server in front of each: a tenant is answered by its own and sent on by the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.store.cells import places
from codexmem.kernel.store.cells.places import Place, PlaceState
from tests._support import warm
from tests._support.postgres import PostgresServer
from tests._support.server import Server, create_key, environment
from tests._support.waiting import eventually

pytestmark = [pytest.mark.postgresql, pytest.mark.process]


@pytest.fixture
def urls() -> Iterator[dict[str, str]]:
    """An empty database in each of three clusters."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(PostgresServer()).create_database("codexmem") for name in ("one", "two", "three")
        }


def command(folder: Path, url: str, *arguments: str, fails: bool = False) -> Any:
    """What `codexmem … --json` prints."""
    done = warm.run(["--json", *arguments], env=environment(folder, CODEXMEM_DATABASE_URL=url))
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_tenant_is_answered_by_the_cell_it_lives_in_and_by_no_other(urls: dict[str, str], tmp_path: Path) -> None:
    first = urls["one"]
    command(tmp_path, first, "db", "upgrade")  # the directory; each cell's own schema is made as it is added
    for name, url in urls.items():
        address = f"https://{name}.example"
        said = command(tmp_path, first, "cell", "add", name, "--store", url, "--address", address)
        assert (said["cell"], said["tenants"], said["upgraded"]) == (name, 0, name != "one")
    key = create_key(tmp_path, first, "acme")
    with ExitStack() as stack:
        servers = {}
        for name, url in urls.items():
            (tmp_path / name).mkdir()
            server = Server(tmp_path / name, database_url=url, key=key, settings={"CODEXMEM_EMBEDDER": "none"})
            servers[name] = stack.enter_context(server)

        def save(name: str, text: str) -> int:
            return servers[name].post("/api/memory/save", {"text": text, "project": "p"}).status

        def found(name: str) -> int:
            return len(servers[name].request("GET", "/api/observations?limit=50").json["items"])

        assert [save(name, "the first memory") for name in urls] == [200, 401, 401]
        for source, target in (("one", "two"), ("two", "three")):
            moved = command(tmp_path, first, "tenant", "move", "acme", "--to", target)
            assert (moved["source"], moved["target"], moved["state"]) == (source, target, "moved")
            before = found(target)
            assert (save(target, f"written in {target}"), found(target)) == (200, before + 1)
            for uncommitted in (True, False):
                refused = servers[source].post("/api/memory/save", {"text": "not here", "project": "p"})
                assert (refused.status, refused.headers["codexmem-cell"]) == (421, target)
                assert refused.headers["codexmem-cell-address"] == f"https://{target}.example"
                assert servers[source].request("GET", "/api/observations?limit=5").status == 421
                if uncommitted:
                    done = command(tmp_path, first, "tenant", "move", "acme", "--to", target, "--commit")
                    assert done["rows"] > 0
        listed = command(tmp_path, first, "cell", "ls")
        assert listed["routes"] == [{"tenant": "acme", "cell": "three", "version": listed["routes"][0]["version"]}]
        states = [command(tmp_path, url, "tenant", "ls")["tenants"] for url in urls.values()]
        assert states == [[{"tenant": "acme", "state": each}] for each in ("gone", "gone", "here")]
        # Jobs of the tenant came along, and run where it lives; a fence holds writers off with a time to wait.
        with places.connected(urls["three"]) as connection:
            place = Place("acme", PlaceState.FENCED, "one", "https://one.example", 9)
            until_ms = places.fence(connection, place, for_ms=30_000)
            held_off = servers["three"].post("/api/memory/save", {"text": "now", "project": "p"})
            assert (held_off.status, held_off.headers["retry-after"]) == (503, "1")
            assert servers["three"].request("GET", "/api/observations?limit=5").status == 200
            assert until_ms
            with places.alone(connection, "acme"):
                places.remove(connection, "acme")
        eventually(lambda: save("three", "after the fence") == 200)
        assert found("three") == 4
        assert save("three", "its key is known to the server now") == 200
        erased = command(tmp_path, urls["three"], "tenant", "erase", "acme", "--yes")
        assert erased["rows"] > 0
        assert save("three", "too late, and by a key that was known a moment ago") == 401
        left = command(tmp_path, first, "tenant", "erase", "acme", "--yes")
        assert left["rows"] == 0, "what is left in a cell that a tenant left is whose keys went along"
        assert servers["one"].request("GET", "/api/observations").status == 401
