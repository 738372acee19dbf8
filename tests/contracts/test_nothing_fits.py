"""What has nothing to do with anything stored finds nothing: every interface, two languages, the shipped encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests._support.facts import CHINESE, ENGLISH, FOREIGN, KNOWN, STRANGE
from tests._support.mcp_calls import Agent, text_of
from tests._support.rpc_calls import Rpc
from tests._support.server import Server
from tests._support.waiting import eventually

LARGE = (*ENGLISH, *CHINESE)
SMALL = LARGE[3::5]
SIZES = {"small": SMALL, "large": LARGE}
ALLOWED = 0.05  # share of the foreign queries that something may be found for


@pytest.fixture(scope="module", params=SIZES)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that knows each fact as an observation, a note, an entry and an answer, all with vectors."""
    facts = SIZES[request.param]
    with Server(tmp_path_factory.mktemp("facts"), settings={"CODEXMEM_EMBEDDER": "local"}) as server:
        for number, fact in enumerate(facts):
            answered = [
                server.post("/api/memory/save", {"text": fact, "title": fact[:20], "project": "shop"}),
                server.post("/api/notes", {"uri": f"project://facts/n{number}", "content": fact}),
                server.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "memory_add", "params": [fact, fact[:20]]}),
                server.post(
                    "/v1/qa/candidates", {"project_id": "shop", "question": fact, "answer": f"{number}: {fact}"}
                ),
            ]
            assert all(reply.status in {200, 201} for reply in answered), [reply.body for reply in answered]

        def indexed() -> bool:
            status = server.request("GET", "/api/ops/index-status").json
            return bool(status["complete"]) and status["sqlite"]["embeddings"] >= 4 * len(facts)

        eventually(indexed)
        yield server


def interfaces(server: Server) -> dict[str, Callable[[str], list[Any]]]:
    """What each interface answers to a query."""
    rpc = Rpc(server)

    def get(path: str, name: str, key: str) -> Callable[[str], list[Any]]:
        return lambda query: server.request("GET", f"{path}{urlencode({name: query})}").json[key]

    def qa(query: str) -> list[Any]:
        body = {"project_id": "shop", "query": query, "min_score": 0}
        found: list[Any] = server.post("/v1/qa/search", body).json["items"]
        return found

    def context(query: str) -> list[Any]:
        given = server.request("GET", f"/api/context?{urlencode({'project': 'shop', 'prompt': query})}").body.decode()
        return [line for line in given.splitlines() if line.startswith("- ")]

    return {
        "search": get("/api/search?project=shop&format=json&", "query", "observations"),
        "search all": get("/api/search/all?", "query", "results"),
        "notes": get("/api/notes?", "q", "items"),
        "memory_query": lambda query: list(rpc.result("memory_query", {"query": query, "top_k": 10})["results"]),
        "memory_search": lambda query: list(rpc.result("memory_search", {"query": query, "level": "kb"})["results"]),
        "qa": qa,
        "context": context,
    }


def test_what_is_known_is_found(filled: Server) -> None:
    asked = interfaces(filled)
    known = {query: fact for query, fact in KNOWN.items() if fact in SMALL or filled_with(filled) == len(LARGE)}
    assert known
    for name in ("search", "search all", "notes", "memory_query", "qa"):
        for query, fact in known.items():
            assert fact[:10] in str(asked[name](query)), (name, query)


@pytest.mark.parametrize("query", STRANGE)
def test_nonsense_finds_nothing_anywhere(filled: Server, query: str) -> None:
    for name, ask in interfaces(filled).items():
        assert ask(query) == [], name
    said = Agent(filled, "http-new").text("search", query=query)
    assert said.splitlines()[0] == f'No results found matching "{query}"'
    noted = Agent(filled, "http-new", "/mcp/notes").call("search_memory", {"query": query})
    assert text_of(noted).startswith(f'No memory fits "{query}".')
    assert noted.structured_content["count"] == 0


def test_what_is_foreign_finds_nothing(filled: Server) -> None:
    everything = interfaces(filled)["search all"]
    answered = [query for query in FOREIGN if everything(query)]
    assert len(answered) <= ALLOWED * len(FOREIGN), answered


def filled_with(server: Server) -> int:
    found = Rpc(server).result("memory_dump", {"level": "kb"})["data"]
    return len(found)
