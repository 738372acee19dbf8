"""Pieces of the lab's documents are shown by the lab alone; others show one only to whoever asks for chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.app import worker_api
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.knowledge import rpc
from codexmem.lab import http as lab_api
from codexmem.lab.library_model import DocumentPiece, Part
from tests._support.lab_endpoint import LabEndpoint, lab_endpoint
from tests._support.mcp_calls import Agent

WORD = "wolframite"
REF = "kb:kb_secretive__chunk-w"
PROJECT = "lab/kb_secretive"


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabEndpoint]:
    """A server whose store holds one piece of a document and nothing else."""
    home: Path = tmp_path_factory.mktemp("chunks")
    with lab_endpoint(home, None) as made:
        piece = DocumentPiece("chunk-w", 1, f"On {WORD}", f"{WORD} holds tungsten. 钨矿。")
        part = Part("folder", f"{WORD}.md", "s", "digest", (piece,), 1, 1, last=True)
        made.app.services.core.lab.shelving.library.put("kb_secretive", part, WriteContext("test"))
        yield made


def test_endpoints_that_do_not_name_chunks_cannot_show_them() -> None:
    assert Kind.CHUNK in lab_api.SURFACE.kinds
    assert Kind.CHUNK not in worker_api.SURFACE.kinds | rpc.SURFACE.kinds


PATHS = [
    f"/api/search?query={WORD}", f"/api/search?project={PROJECT}", "/api/search?limit=100", "/api/observations",
    f"/api/search/all?query={WORD}", f"/api/search/all?project={PROJECT}", "/api/search/all?orderBy=date_desc",
    f"/api/search/all?query={WORD}&format=markdown", f"/api/timeline?query={WORD}", "/api/summaries", "/api/prompts",
    "/api/projects", "/api/stats", f"/api/context?project={PROJECT}&query={WORD}", "/api/v1/memories",
    f"/api/v1/memories?query={WORD}", "/api/observation/1", "/api/session/1", "/api/prompt/1", "/api/ops/search-traces",
]  # fmt: skip


@pytest.mark.sqlite
@pytest.mark.parametrize("path", PATHS)
def test_no_list_and_no_search_shows_one(endpoint: LabEndpoint, path: str) -> None:
    reply = endpoint.request("GET", path)
    assert reply.status in {200, 404}, reply.body
    said = reply.body.decode()
    # The question may come back; what the piece says, and how it is called, may not.
    assert "holds tungsten" not in said
    assert REF not in said
    assert path != "/api/projects" or PROJECT not in said


@pytest.mark.sqlite
def test_tools_do_not_show_one_either(endpoint: LabEndpoint) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": WORD}), ("search", {"query": WORD, "scope": "all"}), ("search", {"project": PROJECT}),
        ("timeline", {"query": WORD}), ("get_observations", {"ids": [1]}), ("search_memory", {"query": WORD}),
        ("list_memories", {}), ("memory_query", {"query": WORD}), ("memory_dump", {"level": "kb"}),
    ]  # fmt: skip
    for name, arguments in calls:
        path = "/mcp/knowledge" if name in {"memory_query", "memory_dump"} else "/mcp"
        said = Agent(endpoint, "http-new", path).text(name, **arguments)
        assert "holds tungsten" not in said, name
        assert REF not in said, name


@pytest.mark.sqlite
def test_whoever_asks_for_it_by_name_gets_it(endpoint: LabEndpoint) -> None:
    (row,) = endpoint.request("GET", f"/api/search/all?query={WORD}&type=chunks").json["results"]
    assert (row["label"], row["kind"], row["project"]) == (REF, "chunk", PROJECT)
    told = endpoint.request("GET", f"/api/provenance/{REF}").json
    assert (told["memory"]["kind"], told["memory"]["source"]) == ("chunk", f"kb:{PROJECT}")
    assert told["deltas"][0]["cause"] == "sync"
