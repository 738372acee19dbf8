"""Beyond the contracts: GET /api/search/all, and the recall tool's scope: every kind at once, each with its label."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.model.attrs import (
    ChunkAttrs,
    KnowledgeAttrs,
    LessonAttrs,
    NoteAttrs,
    ObservationAttrs,
    PromptAttrs,
    QaAttrs,
    SummaryAttrs,
)
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from codexmem.recall import http as memory_api
from codexmem.recall.lookup import Lookup
from tests._support import services
from tests._support.mcp_calls import Agent, text_of
from tests._support.one_app import app_on
from tests._support.server import Server
from tests.surfaces._kit import asgi

STATES = {
    Kind.OBSERVATION: State("The port was 8080 端口", ObservationAttrs(), "shop", type="bugfix", title="Port fixed"),
    Kind.SUMMARY: State("moved the port 端口", SummaryAttrs(request="Move the port"), "shop", title="Move the port"),
    Kind.PROMPT: State("which port 端口?", PromptAttrs(), "shop"),
    Kind.NOTE: State("port 端口 = 37877\n第二行", NoteAttrs(), "shop", uris=("project://config", "project://alias")),
    Kind.QA: State("The port 端口 is 37877", QaAttrs(question="Which port?"), "shop", title="Which port?"),
    Kind.KNOWLEDGE: State("A port 端口 below 1024 needs rights", KnowledgeAttrs(), "", title="Low | ports"),
    Kind.LESSON: State("Ask for the port 端口 first", LessonAttrs(), "lab", title="Ports"),
    Kind.CHUNK: State("Every port 端口 has a number", ChunkAttrs("kb_ports", "ports.md", "chunk-1"), "lab/kb_ports"),
}


@dataclass(frozen=True)
class Only:
    """What the search needs, and nothing else."""

    lookup: Lookup


class Endpoint:
    """The endpoint on an opened store."""

    def __init__(self, db: Database, tenant: str, encoder: Embedder | None) -> None:
        self.real = services.build(db, embedder=encoder)
        only = Only(Lookup(self.real.memories, Labels(db), self.real.search))
        self.app = app_on(memory_api.SURFACE, only, tenant)
        self.made = {kind: self.write(MemoryDraft(kind, state, Origin.AGENT)) for kind, state in STATES.items()}

    def write(self, draft: MemoryDraft) -> Memory:
        return self.real.memories.remember(draft, WriteContext("test", "session:1"))

    def get(self, **query: Any) -> Any:
        return asgi.call(self.app, "GET", "/api/search/all", query=urlencode(query, doseq=True).encode())

    def rows(self, **query: Any) -> Any:
        reply = self.get(**query)
        assert reply.status == 200, reply.body
        return reply.json


@pytest.fixture
def endpoint(database: Database, tenant: str, encoder: Embedder | None) -> Iterator[Endpoint]:
    made = Endpoint(database, tenant, encoder)
    yield made
    made.real.traces.close()


@pytest.mark.slow
def test_every_kind_is_found_at_once_and_bears_its_label(endpoint: Endpoint, encoder: Embedder | None) -> None:
    rows = endpoint.rows(query="port 端口", limit=20)
    made = endpoint.made
    assert {row["kind"]: row["label"] for row in rows["results"]} == {
        "observation": f"#{made[Kind.OBSERVATION].seq}",
        "summary": f"#S{made[Kind.SUMMARY].seq}",
        "prompt": f"#P{made[Kind.PROMPT].seq}",
        "note": "note project://config",
        "qa": f"qa {made[Kind.QA].id}",
        "knowledge": made[Kind.KNOWLEDGE].id,
        "lesson": f"mem:{made[Kind.LESSON].id}",
    }
    assert (rows["totalResults"], rows["hasMore"], rows["query"], rows["mode"]) == (
        7, False, "port 端口", "hybrid" if encoder else "lexical-only",
    )  # fmt: skip
    assert rows["kinds"] == {kind.value: 1 for kind in Kind if kind is not Kind.CHUNK}
    scores = [row["score"] for row in rows["results"]]
    assert scores == sorted(scores, reverse=True)
    note = next(row for row in rows["results"] if row["kind"] == "note")
    assert (note["uri"], note["source"], note["origin"], note["excerpt"]) == (
        "project://config", "session:1", "agent", "port 端口 = 37877 第二行",
    )  # fmt: skip


@pytest.mark.parametrize(
    "query,kinds",
    [
        ({"type": "notes"}, {"note"}),
        ({"type": "qa,knowledge"}, {"qa", "knowledge"}),
        ({"type": ["kb", "lesson"]}, {"knowledge", "lesson"}),
        ({"type": "chunks"}, {"chunk"}),
        ({"project": "lab/kb_ports"}, set()),
        ({"type": "bugfix"}, {"observation"}),
        ({"project": "shop"}, {"observation", "summary", "prompt", "note", "qa"}),
        ({"project": "lab"}, {"lesson"}),
        ({"dateStart": "2999-01-01"}, set()),
    ],
)
@pytest.mark.parametrize("text", ["port", ""])
def test_filters_hold_with_and_without_a_query(
    endpoint: Endpoint, query: dict[str, Any], kinds: set[str], text: str
) -> None:
    assert {row["kind"] for row in endpoint.rows(query=text, **query)["results"]} == kinds


def test_pages_and_order(endpoint: Endpoint) -> None:
    first = endpoint.rows(query="port", limit=3)
    assert (first["totalResults"], first["hasMore"]) == (3, True)
    rest = endpoint.rows(query="port", limit=20, offset=3)["results"]
    assert not {row["seq"] for row in first["results"]} & {row["seq"] for row in rest}
    listed = [row["seq"] for row in endpoint.rows(orderBy="date_asc")["results"]]
    assert listed == sorted(listed)


def test_what_is_hidden_is_not_found(endpoint: Endpoint) -> None:
    endpoint.write(MemoryDraft(Kind.NOTE, State("port", NoteAttrs(), status=Status.ARCHIVED), Origin.AGENT))
    endpoint.real.memories.delete(Seq(endpoint.made[Kind.QA].seq), frozenset(Kind), WriteContext("test"))
    assert {row["kind"] for row in endpoint.rows(query="port", type="qa,notes")["results"]} == {"note"}


def test_the_table_for_models_says_how_to_read_on(endpoint: Endpoint) -> None:
    (content,) = endpoint.rows(query="端口", format="markdown")["content"]
    text = content["text"]
    first, _, head, _, *rest = text.splitlines()
    assert first.startswith('Found 7 result(s) matching "端口" in every kind of memory (')
    assert head == "| Memory | Date | Title | Project |"
    assert f"| {endpoint.made[Kind.KNOWLEDGE].id} | " in text
    assert "| Low \\| ports: A port 端口 below 1024 needs rights | - |" in text
    assert "| note project://config | " in text
    assert rest[-1].startswith("Read more: ")
    assert endpoint.rows(query="zebra", format="markdown")["content"][0]["text"].startswith("No results found matching")


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 201}, {"offset": -1}, {"dateStart": "soon"}, {"format": "x"}]
)
def test_bad_questions_are_400(endpoint: Endpoint, query: dict[str, Any]) -> None:
    assert endpoint.get(query="port", **query).status == 400


def test_the_tool_widens_only_when_asked(api: Server, project: str) -> None:
    api.post("/api/memory/save", {"text": f"宽 wide {project}", "title": "Wide", "project": project})
    agent = Agent(api, "http-new")
    usual = agent.text("search", query="wide", project=project)
    assert usual.splitlines()[0].endswith("(1 obs, 0 sessions, 0 prompts)")
    result = agent.call("search", {"query": "wide", "project": project, "scope": "all", "format": "json"})
    (row,) = json.loads(text_of(result))["results"]
    assert (row["label"], row["title"], row["project"]) == (f"#{row['seq']}", "Wide", project)
    assert result.structured_content == json.loads(text_of(result))
    assert "in every kind of memory (1 observation)" in agent.text("search", query="wide", project=project, scope="all")
    assert agent.call("search", {"query": "wide", "scope": "some"}).is_error


def test_the_running_server_answers(api: Server, project: str) -> None:
    api.post("/api/memory/save", {"text": "all 全部", "project": project})
    rows = api.request("GET", f"/api/search/all?project={project}").json
    assert (rows["totalResults"], rows["kinds"], "mode" in rows) == (1, {"observation": 1}, False)
