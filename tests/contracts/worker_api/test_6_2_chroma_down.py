"""Contract 000 §6 with §2.3 and §3.5: each vector backend while Chroma goes and comes back, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests._support.chroma import ChromaServer
from tests._support.embedding_server import EmbeddingServer
from tests._support.waiting import eventually
from tests.test_app import local, running


@pytest.fixture
def embedding() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


class Client:
    """What an agent and an operator ask."""

    def __init__(self, url: str) -> None:
        self._url = url

    def get(self, path: str, **query: str) -> Any:
        reply = httpx.get(self._url + path, params=query, timeout=20)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def save(self, text: str) -> int:
        reply = httpx.post(f"{self._url}/api/memory/save", json={"text": text, "project": "shop"}, timeout=20)
        assert reply.status_code == 200, reply.text
        number: int = reply.json()["id"]
        return number

    def search(self, text: str) -> tuple[set[int], dict[str, Any], str]:
        """What was found, the trace that the search left, and what a model reads."""
        found = self.get("/api/search", query=text, format="json")
        eventually(lambda: self.get("/api/ops/search-traces", query=text)["traces"])
        trace: dict[str, Any] = self.get("/api/ops/search-traces", query=text, limit="1")["traces"][0]
        read: str = self.get("/api/search", query=text)["content"][0]["text"]
        return {row["id"] for row in found["observations"]}, trace, read

    def index(self) -> Any:
        return self.get("/api/ops/index-status")


@pytest.mark.timeout(150)
@pytest.mark.clause("000 §6.2", "CODEXMEM_VECTOR_BACKEND sqlite, chroma and hybrid, and Chroma goes and comes back")
@pytest.mark.clause("000 §6.4", "without vectors search is lexical-only, with the reason, and no failure")
@pytest.mark.clause("000 §2.3", "a search whose vectors are unavailable answers by words and says so")
@pytest.mark.parametrize("backend", ["sqlite", "chroma", "hybrid"])
def test_searches_go_on_and_tell_the_truth_while_chroma_is_down(
    backend: str, tmp_path: Path, embedding: EmbeddingServer
) -> None:
    with ChromaServer() as chroma:
        settings = local(
            tmp_path, vector_backend=backend, chroma_url=chroma.url, embedder="openai", openai_embedding_model="toy",
            openai_embedding_base_url=embedding.url, openai_api_key="k",
        )  # fmt: skip
        with running(settings) as (_, url):
            client = Client(url)
            first = client.save("write ahead log 崩溃 恢复")
            eventually(lambda: client.index()["waiting"] == 0)
            found, trace, read = client.search("ahead log 崩溃")
            assert found == {first}
            assert (trace["mode"], trace["vectorSource"], trace["notes"]) == ("hybrid", backend, [])
            assert "Note:" not in read

            chroma.stop()
            second = client.save("write ahead log 回滚")
            found, trace, read = client.search("write ahead log")
            assert found == {first, second}
            assert trace["mode"] == ("lexical-only" if backend == "chroma" else "hybrid")
            assert trace["vectorSource"] == (None if backend == "chroma" else backend)
            assert any("Chroma" in note for note in trace["notes"]) is (backend != "sqlite")
            assert ("Chroma" in read) is (backend != "sqlite")
            told = client.index()
            assert told["mode"] == backend
            if backend == "sqlite":
                eventually(lambda: client.index()["waiting"] == 0)
                assert told["chroma"] == {
                    "configured": False, "reachable": None, "embeddings": None, "error": None,
                }  # fmt: skip
                return
            assert (told["chroma"]["configured"], told["chroma"]["reachable"]) == (True, False)
            assert told["chroma"]["error"]
            assert told["waiting"] == 1
            reply = httpx.post(f"{url}/api/ops/backfill/chroma", json={}, timeout=20)
            assert reply.status_code == 503

            chroma.start()
            eventually(lambda: client.index()["waiting"] == 0)
            told = client.index()
            assert told["chroma"] == {"configured": True, "reachable": True, "embeddings": 2, "error": None}
            found, trace, read = client.search("ahead write log 恢复")
            assert found == {first, second}
            assert (trace["mode"], trace["vectorSource"], trace["notes"]) == ("hybrid", backend, [])
            assert "Note:" not in read
            sent = httpx.post(f"{url}/api/ops/backfill/chroma", json={"project": "shop"}, timeout=20).json()
            assert (sent["observations"], sent["skipped"]) == (2, False)
