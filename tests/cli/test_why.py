"""`codexmem why`: where a memory came from, for people and programs, beside a server and without one."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from codexmem.kernel.model.attrs import KnowledgeAttrs, NoteAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import acting_as
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually
from tests.cli.conftest import Call
from tests.cli.test_processes import ended, serving
from tests.cli.test_search import core_of

ALL = frozenset(Kind)
PERSON = WriteContext("person", origin=Origin.HUMAN)


@pytest.fixture
def call(call: Call) -> Call:
    """Of every project; `test_daily` is about the project it is called in."""
    return lambda *args: call(*args, *(["--all-projects"] if args[0] == "why" else []))


@pytest.fixture
def store(home: Path, data_dir: Path) -> Path:
    """A prompt, a note with three versions, and an entry that is linked to it."""
    with core_of() as core:
        core.intake.init(HookReport("s1", prompt="修复 the \x1b[31m login", project="商店", platform="codex", cwd="/w"))
        state = State("端口 8080", NoteAttrs(), "商店", uris=("project://config", "project://port"))
        note = core.memories.remember(
            MemoryDraft(Kind.NOTE, state, Origin.AGENT), WriteContext("agent", "session:1", note="first")
        )
        core.memories.patch(Seq(note.seq), ALL, "8080", "8081", WriteContext("person", note="because\nof the proxy"))
        entry = MemoryDraft(Kind.KNOWLEDGE, State("see the note", KnowledgeAttrs()), Origin.HUMAN, id="kb-001")
        made = core.memories.remember(entry, WriteContext("cli"))
        core.memories.link(Seq(made.seq), ALL, "explains", note.seq, WriteContext("cli"))
        core.memories.change(Seq(note.seq), ALL, lambda state: replace(state, priority=1), PERSON)
    return data_dir


@pytest.mark.sqlite
def test_people_read_it_as_a_page(call: Call, store: Path) -> None:
    said = call("why", "note", "project://config")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "note project://config  端口 8081"
    rows = {line.split()[0]: line.split(None, 1)[1] for line in lines[1:7]}
    assert rows["kind"] == "note, active, version 3"
    assert rows["project"] == "商店"
    assert rows["addresses"] == "project://config, project://port"
    assert rows["source"] == "session:1"
    versions = lines[lines.index("versions:") + 1 :][:3]
    assert [line.split()[0] for line in versions] == ["v3", "v2", "v1"]
    assert versions[1].split()[4:] == ["person", "-", "content", "because"]
    assert versions[2].endswith("first")
    assert lines[lines.index("linked from:") + 1].split() == ["explains", "kb-001", "active", "see", "the", "note"]
    assert "captured events:" not in said.out
    assert call("why", "project://port").out == said.out
    assert call("why", "kb-001").out.splitlines()[0] == "kb-001  see the note"


@pytest.mark.sqlite
def test_text_is_safe_to_print_and_chinese_on_request(call: Call, store: Path) -> None:
    said = call("why", "P1", "--lang", "zh")
    assert said.code == 0
    assert "\x1b" not in said.out
    assert said.out.splitlines()[0].startswith("#P1  修复 the")
    for head in ("种类", "产生于", "项目", "会话", "捕获的事件：", "版本："):
        assert head in said.out
    assert "s1, session:1, codex, /w" in said.out


@pytest.mark.sqlite
def test_programs_get_all_of_it(call: Call, store: Path) -> None:
    document = call("why", "project://config", "--json", "--versions", "2").json
    assert document["memory"]["label"] == "note project://config"
    assert [each["changed"] for each in document["versions"]] == [["priority"], ["content"]]
    assert document["more_versions"] is True
    assert document["versions"][1]["note"] == "because\nof the proxy"
    assert (document["events"], document["run"]) == ([], None)
    assert "… and more" in call("why", "project://config", "--versions", "1").out


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "args,code,told",
    [
        (["#999"], 3, "#999 is not remembered"),
        (["S999"], 3, "S999 is not remembered"),
        (["a name of nothing"], 2, "names no memory"),
        (["1", "--versions", "0"], 2, "--versions: "),
        (["1", "--events", "201"], 2, "--events: "),
        ([], 2, "REF"),
        (["1", "--tenant", "acme"], 2, "a SQLite store has only the tenant local"),
    ],
)
def test_what_is_wrong_is_said(call: Call, store: Path, args: list[str], code: int, told: str) -> None:
    said = call("why", *args)
    assert (said.code, said.out) == (code, "")
    assert told in said.err
    assert "hint: " in said.err
    if code == 3:
        assert call("why", *args, "--json").json["error"]["code"] == "not_found"
        assert "没有名为" in call("why", *args, "--lang", "zh").err


@pytest.mark.sqlite
def test_without_a_store_nothing_is_made(call: Call, data_dir: Path) -> None:
    assert call("why", "1").code == 3
    assert not data_dir.exists()


@pytest.mark.sqlite
def test_beside_a_server_it_says_what_the_endpoint_says(call: Call, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir, fork=True) as (program, url):
        told = {"contentSessionId": "s1", "project": "demo"}
        httpx.post(f"{url}/api/sessions/init", json={**told, "prompt": "run the tests 测试"}).raise_for_status()
        event = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_response": "1 failed"}
        httpx.post(f"{url}/api/sessions/observations", json={**told, **event}).raise_for_status()
        httpx.post(f"{url}/api/sessions/complete", json=told).raise_for_status()
        items = eventually(lambda: httpx.get(f"{url}/api/observations", params={"project": "demo"}).json()["items"])
        number = items[0]["id"]
        document = call("why", f"#{number}", "--json", "--events", "50").json
        assert document == httpx.get(f"{url}/api/provenance/{number}").json()
        said = call("why", str(number)).out
        assert "Bash" in said
        assert "capture.extract  completed  by rules" in said
        assert "run the tests 测试" in said
        program.send_signal(signal.SIGTERM)
        assert ended(program)[0] == 0
    assert call("why", str(number), "--json", "--events", "50").json == document


@pytest.mark.postgresql
def test_on_postgresql_for_the_tenant_that_is_named(call: Call, postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database("why")
    there = ("--database-url", url)
    assert call("db", "upgrade", *there).code == 0
    with core_of(database_url=url) as core, acting_as("acme"):
        state = State("端口 8080", NoteAttrs(), uris=("project://config",))
        core.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), WriteContext("agent"))
    assert call("why", "project://config", *there, "--tenant", "acme").code == 0
    assert call("why", "project://config", *there, "--tenant", "other").code == 3
    assert call("why", "project://config", *there).code == 2
