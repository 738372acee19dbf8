"""Every route and tool × a member of another project, and × colleagues of whoever keeps something private in theirs:
nothing of it comes out, and nothing goes in.

A route or tool that is new has to say whether it is by project or about the whole tenant, and if by project, what a
request for something of another project looks like.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from codexmem.app import SURFACES, Services
from codexmem.app.core import Core, open_core
from codexmem.app.mcp import TOOLSETS
from codexmem.http import long_replies, rights
from codexmem.http.assemble import build_asgi
from codexmem.http.errors import ErrorTable
from codexmem.http.guard import Guard, GuardSettings
from codexmem.http.tool import ToolInvocation
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.project_scope import acting_within
from codexmem.kernel.model.tenant import Identity, ProjectRights, TenantRole
from codexmem.kernel.model.visibility import Viewer, Visibility, as_server, viewing
from codexmem.kernel.services.status import ServerStatus
from codexmem.kernel.store.database import acting_as
from codexmem.settings import load
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually
from tests.surfaces._kit import asgi
from tests.surfaces.test_guard_on_every_route import Entered, routes

SECRET = "zebrafish"
ALL_OF_IT = Identity("acme", "key:admin")
RIGHTS = ProjectRights.of("mbr_eve", [("alpha", TenantRole.ADMIN)], TenantRole.ADMIN)
EVE = Identity("acme", "key:eve", role=TenantRole.ADMIN, rights=RIGHTS)
# What Ann keeps to herself, and who else may do everything where she keeps it.
PRIVATE = "narwhal"
HERS = "narwhal in winter"  # what she alone asks
ANN = Identity(
    "acme", "key:ann", role=TenantRole.ADMIN, viewer=Viewer.of("mbr_ann", Visibility.MINE),
    rights=ProjectRights.of("mbr_ann", [("gamma", TenantRole.ADMIN)], TenantRole.ADMIN),
)  # fmt: skip
COLLEAGUES = {
    "of the project": Identity(
        "acme", "key:bob", role=TenantRole.ADMIN, viewer=Viewer.of("mbr_bob", Visibility.PROJECT),
        rights=ProjectRights.of("mbr_bob", [("gamma", TenantRole.ADMIN)], TenantRole.ADMIN),
    ),
    "of every project": Identity(
        "acme", "key:bill", role=TenantRole.ADMIN, viewer=Viewer.of("mbr_bill", Visibility.PROJECT)
    ),
    "a key of no member": ALL_OF_IT,
}  # fmt: skip
TOOL_NAMES = {tool.name for toolset in TOOLSETS.values() for tool in toolset.tools}
STREAMS = {"GET /api/events", "GET /stream"}  # what they tell is read from the log, which tests/store fences


@dataclass
class Team:
    """A server with something of each project, called as whoever is set."""

    app: ASGIApp
    core: Core
    services: Services
    caller: list[Identity]
    known: dict[str, Any]

    def ask(self, who: Identity, method: str, path: str, query: Any = None, body: Any = None) -> asgi.Answer:
        self.caller[0] = who
        sent = json.dumps(body).encode() if body is not None else b""
        return asgi.call(
            self.app, method, path, query=urlencode(query or {}, doseq=True).encode(), body=sent,
            headers=(asgi.JSON,) if sent else (),
        )  # fmt: skip


@pytest.fixture(scope="module")
def team(postgres_server: PostgresServer, own_store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder: Path = tmp_path_factory.mktemp("team")
    url = postgres_server.url(own_store)
    core = open_core(load({"database_url": url, "data_dir": str(folder)}, {"CODEXMEM_EMBEDDER": "none"}, folder))
    services = Services(ServerStatus(version="test", clock=SystemClock()))
    services.opened(core)
    caller = [ALL_OF_IT]
    guard = GuardSettings(lambda _: caller[0], acting_as)
    found = Team(build_asgi(SURFACES, services, guard, version="test"), core, services, caller, {})
    for project, word in (("beta", SECRET), ("alpha", "apple")):
        found.known |= {f"{project}_{name}": value for name, value in _filled(found, project, word, ALL_OF_IT).items()}
    found.known |= {f"gamma_{name}": value for name, value in _filled(found, "gamma", PRIVATE, ANN).items()}
    assert found.ask(ANN, "POST", "/api/memories/search", body={"query": HERS}).status == 200
    core.traces.flush()
    yield found
    core.close()


def _filled(team: Team, project: str, word: str, who: Identity) -> dict[str, Any]:
    def done(method: str, path: str, body: Any = None, query: Any = None) -> Any:
        answer = team.ask(who, method, path, query, body)
        assert answer.status < 300, (path, answer.body)
        return answer.json

    uri = f"project://{project}/{word}"
    for content in (f"A {word} is kept in {project}", f"A {word} lives in {project}"):
        done("POST", "/api/notes" if "kept" in content else "/api/notes/update", {"uri": uri, "content": content} | (
            {"project": project, "title": word} if "kept" in content else {}))  # fmt: skip
    done("POST", "/api/memory/save", {"text": f"The {word} eats at noon", "project": project})
    done("POST", "/v1/qa/candidates", {
        "project_id": project, "question": f"How is the {word} fed?", "answer": f"The {word} is fed by hand at noon."
    })  # fmt: skip
    done("POST", "/api/sessions/init", {"contentSessionId": f"s-{project}", "project": project, "platform": "claude",
                                        "prompt": f"Where is the {word}?"})  # fmt: skip
    listed = done("GET", "/api/memories", query={"project": project})["items"]
    session = done("GET", "/api/sessions", query={"project": project})["items"][0]
    qa = done("GET", "/v1/qa/items", query={"project_id": project})["items"][0]
    return {"uri": uri, "memories": listed, "session": session, "qa": qa}


def requests_for(known: dict[str, Any], project: str, word: str) -> dict[str, tuple[dict[str, Any], Any, bool]]:
    """By rule: the query, the body, and whether the answer to somebody with rights tells the word."""
    uri, memories, qa = known[f"{project}_uri"], known[f"{project}_memories"], known[f"{project}_qa"]
    ref, seqs = str(memories[0]["ref"]), [each["seq"] for each in memories]
    own, note = {"project": project}, {"uri": uri}
    said = {"contentSessionId": f"s-{project}", "project": project, "platform": "claude", "cwd": "/"}
    two = {"before": 1, "after": 2}
    asked = {"project_id": project, "query": f"How is the {word} fed?"}
    reads = {
        "GET /api/context": (own | {"prompt": f"the {word}?", "cwd": "/"}, None, True),
        "GET /api/context/block": (own, None, False),
        "GET /api/context/preview": (own | {"prompt": f"the {word}?"}, None, True),
        "GET /api/lineage": ({"session": f"s-{project}"}, None, False),
        "GET /api/lineage/counts": ({"session": f"s-{project}"}, None, False),
        "GET /api/memories": (own, None, True),
        "GET /api/memories/count": (own, None, False),
        "GET /api/memories/diff": ({"ref": uri} | two, None, True),
        "GET /api/memories/named/{ref}": ({}, None, True),
        "GET /api/memories/rollback/preview": ({"ref": uri, "version": 1}, None, True),
        "GET /api/memories/stamped": (own, None, False),
        "GET /api/memories/timeline": (own, None, True),
        "GET /api/memories/versions": ({"ref": uri}, None, True),
        "GET /api/notes": ({"q": word}, None, True),
        "GET /api/notes/diff": (note | two, None, True),
        "GET /api/notes/read": (note, None, True),
        "GET /api/notes/rollback/preview": (note | {"version": 1}, None, True),
        "GET /api/notes/stats": ({}, None, False),
        "GET /api/notes/tree": ({"prefix": f"project://{project}"}, None, True),
        "GET /api/notes/version": (note | {"version": 1}, None, True),
        "GET /api/notes/versions": (note, None, False),
        "GET /api/notes/view": ({"uri": "system://recent"}, None, True),
        "GET /api/observation/{number}": ({}, None, True),
        "GET /api/observations": (own, None, True),
        "GET /api/projects": ({}, None, False),
        "GET /api/prompt/{number}": ({}, None, False),
        "GET /api/prompts": (own, None, True),
        "GET /api/provenance/{ref}": ({}, None, True),
        "GET /api/review": (own, None, False),
        "GET /api/search": ({"q": word, **own}, None, True),
        "GET /api/search/all": ({"q": word}, None, True),
        "GET /api/session/{number}": ({}, None, False),
        "GET /api/sessions": (own, None, False),
        "GET /api/sessions/{number}": ({}, None, False),
        "GET /api/sessions/{number}/events/{seq}": ({}, None, False),
        "GET /api/sessions/{number}/turns": ({}, None, False),
        "GET /api/summaries": (own, None, False),
        "GET /api/timeline": ({"anchor": seqs[0], **own}, None, False),
        "GET /api/whoami": ({}, None, False),
        "GET /v1/qa/counts": ({"project_id": project}, None, False),
        "GET /v1/qa/items": ({"project_id": project}, None, True),
        "GET /v1/qa/items/{qa_id}": ({}, None, True),
        "GET /v1/qa/items/{qa_id}/similar": ({}, None, False),
        "POST /api/memories/search": ({}, {"query": f"the {word}"}, True),
        "POST /api/observations/batch": ({}, {"ids": seqs}, True),
        "POST /api/transcripts/known": ({}, {"sessions": [f"s-{project}"]}, False),
        "POST /v1/qa/search": ({}, asked, True),
    }
    writes = {
        "PATCH /v1/qa/items/{qa_id}": {"project_id": project, "summary": "changed", "version": 1},
        "POST /api/memories/act": {"act": "hide", "ids": seqs},
        "POST /api/memories/renew": {"items": [{"ref": ref, "stamps": []}]},
        "POST /api/memories/rollback": {"ref": uri, "version": 1},
        "POST /api/memory/save": {"text": "An intruder was here", "project": project},
        "POST /api/notes": {"uri": f"project://{project}/intruder", "content": "x", "project": project},
        "POST /api/notes/aliases": {**note, "alias": f"project://{project}/alias"},
        "POST /api/notes/aliases/remove": {**note, "alias": uri},
        "POST /api/notes/delete": note,
        "POST /api/notes/restore": note,
        "POST /api/notes/rollback": {**note, "version": 1},
        "POST /api/notes/update": {**note, "append": "x"},
        "POST /api/review/decide": {"decision": "approve", "seq": seqs[0]},
        "POST /api/sessions/complete": said,
        "POST /api/sessions/init": {**said, "prompt": "intruder"},
        "POST /api/sessions/observations": {**said, "tool_name": "Bash", "tool_input": {"command": "ls"},
                                            "tool_response": "intruder"},
        "POST /api/sessions/summarize": {**said, "last_assistant_message": "intruder"},
        "POST /api/sign-in/device": {},
        "POST /api/sign-in/device/token": {"device_code": "x", "machine": "intruder"},
        "POST /api/sign-in/out": {},
        "POST /api/transcripts": {**said, "first": 0, "turns": []},
        "POST /v1/qa/candidates": {"project_id": project, "question": "An intruder?", "answer": "An intruder."},
        "POST /v1/qa/hit": {"project_id": project, "references": [{"qa_id": qa["qa_id"]}]},
        "POST /v1/qa/items/{qa_id}/approve": {},
        "POST /v1/qa/items/{qa_id}/merge": {"into": qa["qa_id"], "project_id": project},
        "POST /v1/qa/items/{qa_id}/reject": {},
        "POST /v1/qa/validate": {"project_id": project, "qa_id": qa["qa_id"], "result": "pass"},
    }  # fmt: skip
    return reads | {rule: ({}, body, False) for rule, body in writes.items()}


def path_of(rule: str, known: dict[str, Any], project: str) -> str:
    memory = next(each for each in known[f"{project}_memories"] if each["kind"] == "observation")
    session = known[f"{project}_session"]["number"]
    numbered = session if "session" in rule else memory["seq"]
    return (
        rule.partition(" ")[2].replace("{ref}", known[f"{project}_uri"]).replace("{number}", str(numbered))
        .replace("{seq}", "1").replace("{qa_id}", known[f"{project}_qa"]["qa_id"])
    )  # fmt: skip


def test_every_route_says_whether_it_is_by_project() -> None:
    unknown = {("POST", "/api/nothing"), ("DELETE", "/api/health"), ("GET", "/openapi.json")}
    listed = {each for each in routes() if "/mcp" not in each[1] and each not in unknown}
    closed = {each for each in listed if each[1] not in GuardSettings(None, acting_as).open_paths}
    assert [each for each in closed if not rights.has_rule(*each)] == []
    assert not rights.BY_PROJECT & rights.ABOUT_THE_TENANT
    known = {f"{method} {path}" for method, path in listed} | {"GET /stream"}
    assert known >= (rights.BY_PROJECT | rights.ABOUT_THE_TENANT)
    named = {"uri": "", "memories": [{"ref": "#1", "seq": 1}], "qa": {"qa_id": "q"}}
    table = requests_for({f"beta_{name}": value for name, value in named.items()}, "beta", SECRET)
    assert set(table) == rights.BY_PROJECT - STREAMS


def test_what_is_about_the_whole_tenant_is_refused_and_enters_no_handler() -> None:
    entered = Entered()
    app = build_asgi(SURFACES, cast(Services, entered), GuardSettings(lambda _: EVE, acting_as), version="test")
    for rule in rights.ABOUT_THE_TENANT | {"GET /api/v1/runs", "POST /api/v1/batches", "PUT /api/v1/kb/documents"}:
        method, _, path = rule.partition(" ")
        before = entered.count
        answer = asgi.call(app, method, path, body=b"{}" if method != "GET" else b"",
                           headers=(asgi.JSON,) if method != "GET" else ())  # fmt: skip
        assert (answer.status, entered.count) == (403, before), rule
        assert b"whole tenant" in answer.body, rule


def test_a_reply_that_goes_on_ends_when_a_grant_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_replies, "RECHECK_S", 0.01)
    caller, heard = [EVE], []
    looks: list[str | None] = []

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"his", "more_body": True})
        await asyncio.to_thread(eventually, lambda: len(looks) > 3)
        await send({"type": "http.response.body", "body": b" still", "more_body": True})
        caller[0] = replace(EVE, role=TenantRole.READER, rights=ProjectRights("mbr_eve"))
        heard.append((await asyncio.wait_for(receive(), 60))["type"])
        await send({"type": "http.response.body", "body": b" no more", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def look(bearer: str | None) -> Identity:
        looks.append(bearer)
        return caller[0]

    guard = Guard(stream, GuardSettings(look, acting_as), ErrorTable())
    assert asgi.call(guard, "GET", "/api/events").body == b"his still"
    assert heard == ["http.disconnect"]


def test_nothing_of_another_project_comes_out_or_goes_in(team: Team) -> None:
    before = _everything(team)
    wrong = []
    for rule, (query, body, tells) in requests_for(team.known, "beta", SECRET).items():
        method, path = rule.partition(" ")[0], path_of(rule, team.known, "beta")
        if tells:  # the request is a real one: whoever has rights is told
            answer = team.ask(ALL_OF_IT, method, path, query, body)
            if answer.status != 200 or SECRET not in answer.body.decode():
                wrong.append(("is not told", rule, answer.status, answer.body[:300]))
        refused = team.ask(EVE, method, path, query, body)
        # What was asked for may be quoted.
        answered = refused.body.decode().replace(path, "").replace(f"beta/{SECRET}", "").replace(f"the {SECRET}", "")
        answered = answered.replace(f'"{SECRET}"', "")
        if refused.status >= 500 or SECRET in answered:
            wrong.append(("tells", rule, refused.status, refused.body[:600]))
        if _everything(team) != before:
            wrong.append(("changes", rule, refused.status, refused.body[:300]))
            before = _everything(team)
    assert not wrong, "\n".join(map(str, wrong))


def _everything(team: Team) -> Any:
    """What the other project holds, down to the number of versions, its sessions and what was captured."""
    counted = {}
    with acting_as("acme"), team.core.db.reading() as tx:
        for name, statement in {
            "memories": "SELECT seq, version, status, content FROM memories WHERE project = 'beta' ORDER BY seq",
            "versions": "SELECT count(*) FROM memory_versions v JOIN memories m USING (tenant, seq)"
                        " WHERE m.project = 'beta'",
            "addresses": "SELECT uri, seq FROM memory_uris WHERE uri LIKE 'project://beta/%%' ORDER BY uri",
            "sessions": "SELECT id, turn, status FROM sessions WHERE project = 'beta' ORDER BY id",
            "captured": "SELECT count(*) FROM captured_events c JOIN sessions s ON s.id = c.session"
                        " WHERE s.project = 'beta'",
            "beliefs": "SELECT seq, good, bad FROM qa_beliefs ORDER BY seq",
        }.items():  # fmt: skip
            counted[name] = [tuple(row) for row in tx.connection.exec_driver_sql(statement)]
    return counted


def test_figures_that_are_kept_for_a_while_are_kept_for_each_scope(team: Team) -> None:
    first, his, again = (team.ask(who, "GET", "/api/notes/stats").json for who in (ALL_OF_IT, EVE, ALL_OF_IT))
    assert first == again != his


def test_a_member_works_in_his_own_project(team: Team) -> None:
    """Last, because it writes: the same requests, about the project that was granted."""
    failed = []
    for rule, (query, body, tells) in requests_for(team.known, "alpha", "apple").items():
        answer = team.ask(EVE, rule.partition(" ")[0], path_of(rule, team.known, "alpha"), query, body)
        if answer.status in {401, 403} or answer.status >= 500 or (tells and "apple" not in answer.body.decode()):
            failed.append((rule, answer.status, answer.body[:300]))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.parametrize("name", sorted(rights.TOOLS_BY_PROJECT))
def test_a_tool_tells_nothing_of_another_project(team: Team, name: str) -> None:
    tool = next(each for toolset in TOOLSETS.values() for each in toolset.tools if each.name == name)
    uri, seqs = team.known["beta_uri"], [each["seq"] for each in team.known["beta_memories"]]
    arguments = {"uri": uri, "query": SECRET, "ids": seqs, "anchor": seqs[0], "project": "beta", "content": "x",
                 "text": "x", "alias": "project://beta/other", "version": 1, "before": 1, "after": 2, "act": "hide",
                 "summary": "x", "append": "x"}  # fmt: skip
    before = _everything(team)
    with acting_as("acme"), acting_within(RIGHTS, tool.role):
        try:
            said = tool.answer(team.services, ToolInvocation(arguments, "key:eve", project="beta")).text
        except CodexmemError as error:
            said = error.message
    assert SECRET not in said.replace(uri, "").replace(f'"{SECRET}"', "").replace(f"'{SECRET}'", "")
    assert _everything(team) == before


def _own(team: Team) -> Any:
    """What Ann keeps to herself, down to the number of versions and what was captured."""
    counted = {}
    own = "JOIN memories m USING (tenant, seq) WHERE m.owner = 'mbr_ann'"
    with acting_as("acme"), as_server(), team.core.db.reading() as tx:
        for name, statement in {
            "memories": "SELECT seq, version, status, content, visibility, project FROM memories"
                        " WHERE owner = 'mbr_ann' ORDER BY seq",
            "versions": f"SELECT count(*) FROM memory_versions {own}",
            "addresses": f"SELECT uri FROM memory_uris {own} ORDER BY uri",
            "facets": f"SELECT count(*) FROM memory_facets {own}",
            "links": "SELECT count(*) FROM memory_links l JOIN memories m ON m.seq = l.from_seq"
                     " WHERE m.owner = 'mbr_ann'",
            "sessions": "SELECT id, turn, status FROM sessions WHERE owner = 'mbr_ann' ORDER BY id",
            "captured": "SELECT count(*) FROM captured_events c JOIN sessions s ON s.id = c.session"
                        " WHERE s.owner = 'mbr_ann'",
            "beliefs": f"SELECT good, bad FROM qa_beliefs {own}",
        }.items():  # fmt: skip
            counted[name] = [tuple(row) for row in tx.connection.exec_driver_sql(statement)]
    assert counted["memories"]
    assert {row[4] for row in counted["memories"]} == {"mine"}
    return counted


def _tells(answer: asgi.Answer, path: str) -> bool:
    """Whether it tells more than it was asked."""
    asked = (path, f"gamma/{PRIVATE}", f"the {PRIVATE}", f'"{PRIVATE}"', f'"{PRIVATE}\\"')
    text = answer.body.decode()
    for each in asked:
        text = text.replace(each, "")
    return PRIVATE in text


@pytest.mark.parametrize("who", COLLEAGUES)
def test_nothing_private_comes_out_to_colleagues_and_nothing_of_it_is_changed(team: Team, who: str) -> None:
    before, wrong = _own(team), []
    for rule, (query, body, tells) in requests_for(team.known, "gamma", PRIVATE).items():
        method, path = rule.partition(" ")[0], path_of(rule, team.known, "gamma")
        if tells and who == "of the project":  # the request is a real one: its owner is told
            answer = team.ask(ANN, method, path, query, body)
            if answer.status != 200 or PRIVATE not in answer.body.decode():
                wrong.append(("is not told", rule, answer.status, answer.body[:300]))
        refused = team.ask(COLLEAGUES[who], method, path, query, body)
        if refused.status >= 500 or _tells(refused, path):
            wrong.append(("tells", rule, refused.status, refused.body[:600]))
        if (now := _own(team)) != before and not tells:
            wrong.append(("changes", rule, refused.status, refused.body[:300]))
        before = now
    assert not wrong, "\n".join(map(str, wrong))


def test_what_is_about_the_whole_tenant_tells_its_admin_nothing_private(team: Team) -> None:
    """Every such route that reads, and those that look before they write; forgetting counts, and shows nothing."""
    known, session = team.known, team.known["gamma_session"]
    seqs = [each["seq"] for each in known["gamma_memories"]]
    every = {
        "project": "gamma", "q": PRIVATE, "query": f"the {PRIVATE}", "source": f"session:{session['number']}",
        "session": session["number"], "ref": known["gamma_uri"],
    }  # fmt: skip
    traces = team.ask(ALL_OF_IT, "GET", "/api/ops/search-traces", {"limit": 200}).json
    asked: list[tuple[str, dict[str, Any], Any]] = [
        (rule, every, None) for rule in sorted(rights.ABOUT_THE_TENANT) if rule.startswith("GET ")
    ]
    asked += [
        ("POST /api/forget", {}, {"project": "gamma", "preview": True}),
        ("POST /api/forget", {}, {"ids": seqs, "preview": True}),
        ("POST /api/undo", {}, {"source": f"session:{session['number']}", "mode": "safe"}),
        ("POST /api/undo/follow", {}, {"source": f"session:{session['number']}"}),
        ("POST /api/review/scan", {}, {"project": "gamma"}),
        ("POST /api/sampling/next", {}, {"bridge": "b", "holding": ""}),
    ]
    before, wrong = _own(team), []
    for rule, query, body in asked:
        method, path = rule.partition(" ")[0], rule.partition(" ")[2].replace("{trace_id}", "1")
        answer = team.ask(ALL_OF_IT, method, path, query, body)
        if answer.status >= 500 or _tells(answer, path):
            wrong.append(("tells", rule, answer.status, answer.body[:600]))
        if _own(team) != before:
            wrong.append(("changes", rule, answer.status, answer.body[:300]))
    assert not wrong, "\n".join(map(str, wrong))
    assert traces["traces"]
    assert HERS not in json.dumps(traces)


@pytest.mark.parametrize("who", COLLEAGUES)
@pytest.mark.parametrize("name", sorted(TOOL_NAMES - {"forget"}))
def test_a_tool_tells_nothing_private(team: Team, name: str, who: str) -> None:
    tool = next(each for toolset in TOOLSETS.values() for each in toolset.tools if each.name == name)
    caller = COLLEAGUES[who]
    if caller.rights is not None and name not in rights.TOOLS_BY_PROJECT:
        return  # refused before it is called, as `test_rights` shows
    uri, seqs = team.known["gamma_uri"], [each["seq"] for each in team.known["gamma_memories"]]
    arguments = {"uri": uri, "query": PRIVATE, "ids": seqs, "anchor": seqs[0], "project": "gamma", "content": "x",
                 "text": "x", "alias": "project://gamma/other", "version": 1, "before": 1, "after": 2, "act": "hide",
                 "summary": "x", "append": "x"}  # fmt: skip
    before = _own(team)
    with acting_as("acme"), acting_within(caller.rights, tool.role), viewing(caller.viewer):
        try:
            said = tool.answer(team.services, ToolInvocation(arguments, caller.actor, project="gamma")).text
        except CodexmemError as error:
            said = error.message
    assert PRIVATE not in said.replace(uri, "").replace(f'"{PRIVATE}"', "").replace(f"'{PRIVATE}'", "")
    assert _own(team) == before


SAID = "We decided to always indent with tabs in this project."
OWN_SESSIONS = "SELECT id FROM sessions WHERE key IN ('own', 'own again')"
OF_OWN = (
    f"SELECT owner FROM events WHERE subject IN (SELECT 'session:' || id FROM ({OWN_SESSIONS}) s) OR subject IN"
    f" (SELECT 'job:' || id FROM jobs WHERE subject IN (SELECT 'session:' || id FROM ({OWN_SESSIONS}) s))"
)


def _talk(team: Team, who: Identity, key: str) -> None:
    """One turn of a session, and what a real worker makes of it."""
    session = {"contentSessionId": key, "project": "gamma", "platform": "claude", "cwd": "/work"}
    for path, more in (
        ("init", {"prompt": SAID}),
        ("observations", {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_response": "1 failed"}),
        ("summarize", {"last_assistant_message": "I ran the tests."}),
        ("complete", {}),
    ):
        assert team.ask(who, "POST", f"/api/sessions/{path}", body=session | more).status == 200
    with acting_as("acme"):
        eventually(lambda: not (counts := team.core.queue.counts())[JobStatus.QUEUED] and not counts[JobStatus.RUNNING])
        assert not team.core.queue.counts()[JobStatus.FAILED]


def _rows(team: Team, statement: str) -> list[tuple[Any, ...]]:
    with acting_as("acme"), as_server(), team.core.db.reading() as tx:
        return [tuple(row) for row in tx.connection.exec_driver_sql(statement)]


def test_what_is_made_of_a_private_session_is_as_private_and_made_of_nothing_else(team: Team) -> None:
    """Beside a colleague who says the same, and who is confirmed by nobody."""
    team.core.worker.start()
    try:
        for who, key in ((ANN, "own"), (COLLEAGUES["of the project"], "team"), (ANN, "own again")):
            _talk(team, who, key)
    finally:
        team.core.worker.stop(5.0)
    made = _rows(team, "SELECT session, owner, visibility, kind FROM memories WHERE session IN ('own', 'team')")
    for session in ("own", "team"):
        assert {row[3] for row in made if row[0] == session} == {"prompt", "observation", "summary"}
    assert {row[:3] for row in made} == {("own", "mbr_ann", "mine"), ("team", "mbr_bob", None)}
    # Each said it first where he said it; said again in private it is confirmed there, and only there.
    stated = _rows(
        team, f"SELECT session, valid, status FROM memories WHERE content = '{SAID}' AND kind = 'observation'"
    )
    assert sorted(stated) == [("own", 1, "active"), ("team", 0, "active")]
    assert set(_rows(team, OF_OWN)) == {("mbr_ann",)}


def test_forgetting_takes_what_is_private_with_the_rest_and_tells_only_how_much(team: Team) -> None:
    """Last, because it erases."""
    count = len(_own(team)["memories"])
    shown = team.ask(ALL_OF_IT, "POST", "/api/forget", body={"project": "gamma", "preview": True})
    assert not _tells(shown, "/api/forget")
    done = team.ask(ALL_OF_IT, "POST", "/api/forget", body={"project": "gamma"})
    assert done.status == 200, done.body
    with acting_as("acme"), as_server(), team.core.db.reading() as tx:
        left = tx.connection.exec_driver_sql("SELECT count(*) FROM memories WHERE owner = 'mbr_ann'").scalar_one()
    assert (left, count > 0) == (0, True)


def test_every_tool_says_whether_it_is_by_project() -> None:
    about_the_tenant = {
        "important_workflow", "export_memories", "import_memories", "forget", "memory_init_workspace", "memory_add",
        "memory_query", "memory_delete", "memory_cleanup", "memory_get_status", "memory_dump", "memory_search",
        "memory_backup", "memory_restore",
    }  # fmt: skip
    names = {tool.name for toolset in TOOLSETS.values() for tool in toolset.tools}
    assert names - about_the_tenant == rights.TOOLS_BY_PROJECT
