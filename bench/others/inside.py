"""One of the other memories, driven in its own environment: `python inside.py NAME JOB.json` prints JSON.

It is run by the interpreter that has that library, so that it imports nothing of ours. Each saves one text at a time,
as an agent does, and answers with the places of the texts that it found.
"""

from __future__ import annotations

import importlib
import json
import sqlite3
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

Save = Callable[[int, str], None]
Search = Callable[[str, int], list[int]]


def embed(url: str, texts: list[str]) -> list[list[float]]:
    """Vectors from the encoder that all share."""
    body = json.dumps({"model": "shared", "input": texts}).encode()
    asked = urllib.request.Request(f"{url}/embeddings", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return [row["embedding"] for row in json.load(answer)["data"]]


def chroma(job: dict[str, Any]) -> tuple[Save, Search]:
    """Chroma as a library, with vectors that it is given."""
    chromadb = importlib.import_module("chromadb")
    client = chromadb.PersistentClient(job["folder"], settings=chromadb.Settings(anonymized_telemetry=False))
    kept = client.create_collection("memories", metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def save(place: int, text: str) -> None:
        kept.add(ids=[str(place)], documents=[text], embeddings=embed(job["encoder"], [text]))

    def search(question: str, count: int) -> list[int]:
        found = kept.query(query_embeddings=embed(job["encoder"], [question]), n_results=count, include=[])
        return [int(each) for each in found["ids"][0]]

    return save, search


def langgraph(job: dict[str, Any]) -> tuple[Save, Search]:
    """LangGraph's store on SQLite."""
    connection = sqlite3.connect(Path(job["folder"]) / "store.db", check_same_thread=False, isolation_level=None)
    index = {"dims": job["dimension"], "embed": lambda texts: embed(job["encoder"], list(texts)), "fields": ["text"]}
    store = importlib.import_module("langgraph.store.sqlite").SqliteStore(connection, index=index)
    store.setup()

    def save(place: int, text: str) -> None:
        store.put(("memories",), str(place), {"text": text})

    def search(question: str, count: int) -> list[int]:
        return [int(each.key) for each in store.search(("memories",), query=question, limit=count)]

    return save, search


def mem0(job: dict[str, Any]) -> tuple[Save, Search]:
    """mem0 with Qdrant in a folder, texts kept as they are: no model is asked."""
    folder = Path(job["folder"])
    shared = {"model": "shared", "openai_base_url": job["encoder"], "api_key": "none"}
    memory = importlib.import_module("mem0").Memory.from_config({
        "vector_store": {"provider": "qdrant", "config": {
            "path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": job["dimension"]}},
        "embedder": {"provider": "openai", "config": {**shared, "embedding_dims": job["dimension"]}},
        "llm": {"provider": "openai", "config": shared},
        "history_db_path": str(folder / "history.db"),
    })  # fmt: skip

    def save(place: int, text: str) -> None:
        memory.add(text, user_id="ana", infer=False, metadata={"place": place})

    def search(question: str, count: int) -> list[int]:
        found = memory.search(question, filters={"user_id": "ana"}, top_k=count)
        return [int(each["metadata"]["place"]) for each in found["results"]]

    return save, search


SYSTEMS = {"chroma": chroma, "langgraph": langgraph, "mem0": mem0}


def drive(job: dict[str, Any], save: Save, search: Search) -> dict[str, Any]:
    """Save everything, then ask everything."""
    saved, asked, found = [], [], []
    for place, text in enumerate(job["texts"]):
        began = time.perf_counter()
        save(place, text)
        saved.append(time.perf_counter() - began)
    for question in job["questions"]:
        began = time.perf_counter()
        found.append(search(question, job["count"]))
        asked.append(time.perf_counter() - began)
    return {"saved_s": saved, "asked_s": asked, "found": found}


def main(name: str, path: str) -> None:
    """Run one."""
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    print(json.dumps(drive(job, *SYSTEMS[name](job))))


if __name__ == "__main__":
    main(*sys.argv[1:])
