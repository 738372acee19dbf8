"""The vector indexes on an opened store, as the product builds them."""

from __future__ import annotations

import itertools

from codexmem.domain.breaker import Breaker
from codexmem.store.chroma.client import ChromaClient
from codexmem.store.chroma.vectors import ChromaVectors
from codexmem.store.database import Database
from codexmem.store.hybrid import HybridVectors
from codexmem.store.keeping import KeptVectors
from codexmem.store.postgres.vectors import PostgresVectors
from codexmem.store.sqlite.vectors import SqliteVectors
from codexmem.store.vector_table import TableVectors

_collections = itertools.count(1)
_clients: dict[str, ChromaClient] = {}


def table(db: Database) -> TableVectors:
    """In the store itself."""
    return SqliteVectors(db) if db.engine.name == "sqlite" else PostgresVectors(db)


def chroma(db: Database, url: str) -> ChromaVectors:
    """In a Chroma server, in collections of its own; a server that comes back is asked again at once."""
    if url not in _clients:
        _clients[url] = ChromaClient(url, breaker=Breaker(first_s=0.0))
    return ChromaVectors(db, _clients[url], f"test{next(_collections)}")


def close(url: str) -> None:
    """Give back the connections to this server."""
    if url in _clients:
        _clients.pop(url).close()


def build(name: str, db: Database, chroma_url: str) -> KeptVectors:
    """By name: table, chroma or hybrid."""
    if name == "table":
        return table(db)
    if name == "chroma":
        return chroma(db, chroma_url)
    return HybridVectors(table(db), chroma(db, chroma_url))
