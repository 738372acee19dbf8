"""`codexmem doctor --canary`: a memory goes in by every interface of a server, is found there, and leaves nothing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codexmem.agents import installable
from codexmem.agents.install import proof
from codexmem.console.store import chosen
from codexmem.kernel.store import inspection
from codexmem.kernel.store.opening import sqlite_url
from codexmem.operations.cli.doctor import canary
from codexmem.operations.cli.doctor.canary import PROJECT, through_interfaces
from codexmem.operations.cli.install.text import installer_of
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.cli.conftest import Call
from tests.services.restoring import fill

pytestmark = pytest.mark.sqlite
INTERFACES = {"canary:http", "canary:mcp", "canary:rpc", "canary:qa", "canary:hook"}
KEPT = ("memories", "memory_versions", "memory_texts", "memory_vectors", "captured_events", "sessions", "qa_signals")


@contextmanager
def started(data_dir: Path) -> Iterator[Server]:
    """A server that asks for its token."""
    with Server(data_dir, settings={"CODEXMEM_EMBEDDER": "none", "CODEXMEM_AUTH": "token"}) as server:
        server.key = (data_dir / "token").read_text().strip()
        yield server


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all of these but one."""
    with started(tmp_path_factory.mktemp("interfaces")) as server:
        yield server


@pytest.fixture
def server(shared: Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Its store is the command's, and no agent is here."""
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(shared.data_dir))
    monkeypatch.setenv("CODEXMEM_AUTH", "token")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return shared


def interfaces(document: Any) -> dict[str, dict[str, str]]:
    return {each["check"]: each for each in document["checks"] if each["check"].startswith("canary:")}


def rows(data_dir: Path) -> dict[str, int]:
    counts = inspection.row_counts(sqlite_url(data_dir / "codexmem.db"))
    return {name: counts[name] for name in KEPT}


def test_every_interface_finds_its_memory_and_nothing_of_it_stays(call: Call, server: Server) -> None:
    server.post("/api/memory/save", {"text": "kept by a person", "project": "shop"})
    before = rows(server.data_dir)
    said = call("doctor", "--canary", "--json")
    found = interfaces(said.json)
    assert {name: each["state"] for name, each in found.items()} == dict.fromkeys(INTERFACES, "ok")
    assert rows(server.data_dir) == before
    for project in (PROJECT, proof.PROJECT):
        assert server.post("/api/forget", {"project": project, "preview": True}).json["found"] == 0
    assert server.request("GET", "/api/projects").json == {"projects": ["shop"]}
    assert server.request("GET", "/api/search/all?query=canary").json.get("totalResults", 0) == 0
    assert "一条记忆经 MCP (/mcp) 写入并找到" in call("doctor", "--canary", "--lang", "zh").out


def traced(server: Server, count: int) -> list[str]:
    """What was searched for, newest first; it is noted down in order, behind the answers."""
    traces = server.request("GET", f"/api/ops/search-traces?limit={count}").json["traces"]
    return [trace["query"] for trace in traces]


def marked(server: Server, query: str) -> None:
    assert server.request("GET", f"/api/search?query={query}").status == 200
    eventually(lambda: traced(server, 1) == [query])


def test_plainly_called_it_writes_nothing_and_says_what_more_it_can_do(call: Call, server: Server) -> None:
    marked(server, "before")
    said = call("doctor")
    assert "a test memory sent" not in said.out
    assert said.err.endswith("to test every interface with a memory: codexmem doctor --canary\n")
    marked(server, "after")
    assert traced(server, 2) == ["after", "before"]


def test_a_wrong_key_is_told_at_every_interface(call: Call, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEXMEM_API_KEY", "no-such-key")
    before = rows(server.data_dir)
    said = call("doctor", "--canary", "--json")
    found = interfaces(said.json)
    assert said.code == 1
    assert {name for name, each in found.items() if each["state"] == "failure"} == INTERFACES - {"canary:hook"}
    # Its event would arrive, and we could not take it out again.
    assert (found["canary:hook"]["state"], rows(server.data_dir)) == ("skipped", before)
    assert found["canary:mcp"]["what"].startswith("a test memory could not be sent through MCP (/mcp): ")
    assert "token" in found["canary:http"]["how"]


def test_the_hook_is_fired_by_the_command_in_each_agents_own_files(call: Call, server: Server, home: Path) -> None:
    installer_of(chosen()).install(installable()["qwen-code"])
    installer_of(chosen()).install(installable()["cursor"])
    hooks = home / ".cursor" / "hooks.json"
    settings = json.loads(hooks.read_text())
    settings["hooks"]["beforeSubmitPrompt"][0]["command"] = "/nowhere/codexmem-hook cursor session-init"
    hooks.write_text(json.dumps(settings))
    before = rows(server.data_dir)
    said = call("doctor", "--canary", "--json")
    found = interfaces(said.json)
    assert found["canary:hook:qwen-code"]["state"] == "ok"
    assert found["canary:hook:qwen-code"]["what"] == "a test memory sent through the hook of Qwen Code was found again"
    assert found["canary:hook:cursor"]["state"] == "failure"
    assert "/nowhere/codexmem-hook" in found["canary:hook:cursor"]["what"]
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
    assert "canary:mcp" in found["doctor.json"]
    assert server.key
    secrets = ("penguin", memory, project, server.key)
    assert [(name, each) for name, text in found.items() for each in secrets if each in text] == []


@pytest.mark.slow
def test_without_a_server_the_store_itself_is_tried_and_the_interfaces_are_skipped(
    call: Call, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    nothing = interfaces(call("doctor", "--canary", "--json").json)
    assert {each["state"] for each in nothing.values()} == {"skipped"}
    assert not data_dir.exists()
    fill(data_dir, ["one"])
    before = rows(data_dir)
    said = call("doctor", "--canary")
    assert (
        "[ok]   a test memory sent through the store itself was found again\n[skip] HTTP (/api) was not tested"
        in said.out
    )
    assert said.out.count("fix: codexmem start, then codexmem doctor --canary") == 1
    assert rows(data_dir) == before


def test_another_stores_server_on_the_given_port_is_left_alone(
    call: Call, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CODEXMEM_PORT", str(server.port))
    fill(tmp_path / "data", ["one"])
    before = rows(server.data_dir)
    found = interfaces(call("doctor", "--canary", "--json").json)
    assert (found["canary:store"]["state"], found["canary:http"]["state"]) == ("ok", "skipped")
    assert rows(server.data_dir) == before
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(server.data_dir))
    own = interfaces(call("doctor", "--canary", "--json").json)
    assert {name: each["state"] for name, each in own.items()} == dict.fromkeys(INTERFACES, "ok")


def test_a_memory_that_is_not_found_again_and_a_strange_answer_are_failures() -> None:
    said: dict[str, str] = {}
    lost, strange = (
        canary.tried("canary:x", "X", lambda: False),
        canary.tried("canary:x", "X", lambda: bool(said["id"])),
    )
    assert (lost.key, lost.document()["what"]) == (
        "doctor.interface_lost",
        "a test memory sent through X was not found again",
    )
    assert strange.document()["what"] == "a test memory could not be sent through X: unexpected answer (KeyError: 'id')"
    assert strange.document()["how"].startswith("codexmem logs shows")


@pytest.mark.usefixtures("server")
def test_what_could_not_be_erased_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server, another one, goes away between the first interface and the last."""
    data_dir = tmp_path / "mortal"
    data_dir.mkdir()
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(data_dir))
    with started(data_dir) as mortal:
        told = through_interfaces(chosen(), sound=True)
        assert next(told).state == "ok"
        assert mortal.stop() == 0
        left = {finding.check: finding for finding in told}
    assert {left[name].key for name in ("canary:mcp", "canary:rpc", "canary:qa")} == {"doctor.interface_failed"}
    assert left["canary:hook"].state == "skipped"
    assert not (data_dir / "server.json").exists()  # and nothing has started another
    assert (left["canary"].state, left["canary"].values["project"]) == ("failure", PROJECT)
    assert "codexmem forget --project codexmem-doctor" in left["canary"].document()["how"]
