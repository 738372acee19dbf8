"""`codexmem doctor --canary`: a memory goes in by every door of a server, is found there, and leaves nothing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.cli.doctor import canary
from codexmem.cli.doctor.canary import PROJECT, through_doors
from codexmem.cli.install.installed import installer_of
from codexmem.cli.store import chosen
from codexmem.clients.install import proof
from codexmem.clients.install.agents.table import BY_NAME
from codexmem.store import inspection
from codexmem.store.opening import sqlite_url
from tests._support.server import Server
from tests.cli.conftest import Call
from tests.services.restoring import fill

pytestmark = pytest.mark.sqlite
DOORS = {"door:http", "door:mcp", "door:rpc", "door:qa", "door:hook"}
KEPT = ("memories", "memory_versions", "memory_texts", "memory_vectors", "captured_events", "sessions", "qa_signals")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all of these, which asks for its token."""
    data_dir = tmp_path_factory.mktemp("doors")
    with Server(data_dir, settings={"CODEXMEM_EMBEDDER": "none", "CODEXMEM_AUTH": "token"}) as server:
        server.key = (data_dir / "token").read_text().strip()
        yield server


@pytest.fixture
def server(shared: Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Its store is the command's, and no agent is here."""
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(shared.data_dir))
    monkeypatch.setenv("CODEXMEM_AUTH", "token")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return shared


def doors(document: Any) -> dict[str, dict[str, str]]:
    return {each["check"]: each for each in document["checks"] if each["check"].startswith("door:")}


def rows(data_dir: Path) -> dict[str, int]:
    counts = inspection.row_counts(sqlite_url(data_dir / "codexmem.db"))
    return {name: counts[name] for name in KEPT}


def test_every_door_finds_its_memory_and_nothing_of_it_stays(call: Call, server: Server) -> None:
    server.post("/api/memory/save", {"text": "kept by a person", "project": "shop"})
    before = rows(server.data_dir)
    said = call("doctor", "--canary", "--json")
    found = doors(said.json)
    assert {name: each["state"] for name, each in found.items()} == dict.fromkeys(DOORS, "ok")
    assert rows(server.data_dir) == before
    for project in (PROJECT, proof.PROJECT):
        assert server.post("/api/forget", {"project": project, "preview": True}).json["found"] == 0
    assert server.request("GET", "/api/projects").json == {"projects": ["shop"]}
    assert server.request("GET", "/api/search/all?query=canary").json.get("totalResults", 0) == 0
    assert "一条记忆经 MCP (/mcp) 写入并找到" in call("doctor", "--canary", "--lang", "zh").out


def test_plainly_called_it_writes_nothing_and_says_what_more_it_can_do(call: Call, server: Server) -> None:
    newest = server.request("GET", "/api/ops/search-traces?limit=1").json
    said = call("doctor")
    assert "went in by" not in said.out
    assert said.err.endswith("to send a memory through every door: codexmem doctor --canary\n")
    assert server.request("GET", "/api/ops/search-traces?limit=1").json == newest


def test_a_wrong_key_is_told_at_every_door(call: Call, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEXMEM_API_KEY", "no-such-key")
    before = rows(server.data_dir)
    said = call("doctor", "--canary", "--json")
    found = doors(said.json)
    assert said.code == 1
    assert {name for name, each in found.items() if each["state"] == "failure"} == DOORS - {"door:hook"}
    # Its event would arrive, and we could not take it out again.
    assert (found["door:hook"]["state"], rows(server.data_dir)) == ("skipped", before)
    assert found["door:mcp"]["what"].startswith("no memory goes in by MCP (/mcp): ")
    assert "token" in found["door:http"]["how"]


def test_the_hook_is_fired_by_the_command_in_each_agents_own_files(call: Call, server: Server, home: Path) -> None:
    installer_of(chosen()).install(BY_NAME["qwen-code"])
    installer_of(chosen()).install(BY_NAME["cursor"])
    hooks = home / ".cursor" / "hooks.json"
    settings = json.loads(hooks.read_text())
    settings["hooks"]["beforeSubmitPrompt"][0]["command"] = "/nowhere/codexmem-hook cursor session-init"
    hooks.write_text(json.dumps(settings))
    before = rows(server.data_dir)
    said = call("doctor", "--canary", "--json")
    found = doors(said.json)
    assert found["door:hook:qwen-code"]["state"] == "ok"
    assert found["door:hook:qwen-code"]["what"] == "a memory went in by the hook of Qwen Code and was found"
    assert found["door:hook:cursor"]["state"] == "failure"
    assert "/nowhere/codexmem-hook" in found["door:hook:cursor"]["what"]
    assert rows(server.data_dir) == before
    assert call("uninstall", "qwen-code", "cursor", "--yes").code == 0


def test_a_bundle_holds_what_the_server_says_of_itself_and_no_memory(
    call: Call, server: Server, tmp_path: Path
) -> None:
    memory, project = "the penguin parade starts at the blue shelf", "acme-takeover"
    saved = server.post("/api/memory/save", {"text": memory, "project": project, "title": "penguin"}).json["id"]
    assert server.request("GET", f"/api/search?query=penguin&project={project}").status == 200
    assert call("doctor", "--canary", "--bundle", str(tmp_path / "report.zip")).code == 0
    server.post("/api/forget", {"ids": [saved]})
    with zipfile.ZipFile(tmp_path / "report.zip") as bundle:
        found = {name: bundle.read(name).decode() for name in bundle.namelist()}
    assert json.loads(found["server.json"])["readiness"] == {"status": "ready"}
    assert "codexmem_ready 1.0" in found["metrics.txt"]
    assert "POST /api/memory/save 200" in found["server.log"]
    assert "door:mcp" in found["doctor.json"]
    assert server.key
    secrets = ("penguin", memory, project, server.key)
    assert [(name, each) for name, text in found.items() for each in secrets if each in text] == []


def test_without_a_server_the_store_itself_is_tried_and_the_doors_are_skipped(
    call: Call, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    nothing = doors(call("doctor", "--canary", "--json").json)
    assert {each["state"] for each in nothing.values()} == {"skipped"}
    assert not data_dir.exists()
    fill(data_dir, ["one"])
    before = rows(data_dir)
    said = call("doctor", "--canary")
    assert "[ok]   a memory went in by the store itself and was found\n[skip] HTTP (/api) was not tried" in said.out
    assert said.out.count("mend: codexmem start, then codexmem doctor --canary") == 1
    assert rows(data_dir) == before


def test_another_stores_server_on_the_given_port_is_left_alone(
    call: Call, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CODEXMEM_PORT", str(server.port))
    fill(tmp_path / "data", ["one"])
    before = rows(server.data_dir)
    found = doors(call("doctor", "--canary", "--json").json)
    assert (found["door:store"]["state"], found["door:http"]["state"]) == ("ok", "skipped")
    assert rows(server.data_dir) == before
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(server.data_dir))
    own = doors(call("doctor", "--canary", "--json").json)
    assert {name: each["state"] for name, each in own.items()} == dict.fromkeys(DOORS, "ok")


def test_a_memory_that_is_not_found_again_and_a_strange_answer_are_failures() -> None:
    said: dict[str, str] = {}
    lost, strange = canary.tried("door:x", "X", lambda: False), canary.tried("door:x", "X", lambda: bool(said["id"]))
    assert (lost.key, lost.document()["what"]) == ("doctor.door_lost", "a memory went in by X and was not found again")
    assert strange.document()["what"] == "no memory goes in by X: an answer that nobody expects (KeyError: 'id')"
    assert strange.document()["how"].startswith("codexmem logs shows")


def test_what_could_not_be_erased_is_told(server: Server, shared: Server) -> None:
    """The server goes away between the first door and the last; it is the last test that needs it."""
    told = through_doors(chosen(), sound=True)
    assert next(told).state == "ok"
    assert shared.stop() == 0
    left = {finding.check: finding for finding in told}
    assert {left[name].key for name in ("door:mcp", "door:rpc", "door:qa")} == {"doctor.door_failed"}
    assert left["door:hook"].state == "skipped"
    assert not (shared.data_dir / "server.json").exists()  # and nothing has started another
    assert (left["canary"].state, left["canary"].values["project"]) == ("failure", PROJECT)
    assert "codexmem forget --project codexmem-doctor" in left["canary"].document()["how"]
