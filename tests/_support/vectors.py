"""The vector indexes on an opened store, as the product builds them."""

from __future__ import annotations

import itertools

from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.store.chroma.client import ChromaClient
from codexmem.kernel.store.chroma.vectors import ChromaVectors
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.hybrid import HybridVectors
from codexmem.kernel.store.postgres.vectors import PostgresVectors
from codexmem.kernel.store.sqlite.vectors import SqliteVectors
from codexmem.kernel.store.vector_table import TableVectors
from codexmem.kernel.store.writable_index import WritableVectorIndex

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


def build(name: str, db: Database, chroma_url: str) -> WritableVectorIndex:
    """By name: table, chroma or hybrid."""
    if name == "table":
        return table(db)
    if name == "chroma":
        return chroma(db, chroma_url)
    return HybridVectors(table(db), chroma(db, chroma_url))
