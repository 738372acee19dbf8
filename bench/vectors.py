"""Search by meaning in scopes that are too large to compare whole: how fast it is, and what it misses.

Vectors lie in clusters, as those of texts do, with neighbours that are hard to tell apart. Each question is answered
once by comparing everything and once the way a large scope is answered: on SQLite a first pass over one bit per number,
on PostgreSQL the tenant's own approximate index. Recall is the share of the true first ten that the second way finds.
"""

from __future__ import annotations

import random
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from bench import report
from bench.stores import stores
from codexmem.kernel.embed.model import unit
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.ids import mint
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.index import Vectors
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.opening import open_database
from codexmem.kernel.store.postgres import pgvector
from codexmem.kernel.store.postgres.engine import migration_engine
from codexmem.kernel.store.postgres.vectors import PostgresVectors
from codexmem.kernel.store.sqlite.vectors import SqliteVectors
from codexmem.kernel.store.vector_table import TableVectors

MODEL = "bench"
LIMIT = 10
LEAST_RECALL = 0.95
_NOTES = Filter(frozenset({Kind.NOTE}))
_CLUSTER = 50
_SPREAD = 0.6  # of a member around its cluster's centre, whose numbers spread by one
_BATCH = 1_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="vectors")
    parser.add_argument("--dimension", type=int, default=512)
    parser.add_argument("--questions", type=int, default=50)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    figures: dict[str, dict[str, Any]] = {}
    for engine in report.chosen_engines(options.engine):
        with stores(engine, durable=False) as made:
            figures[engine] = measure(made.fresh(), options.size, options.dimension, options.questions, seed)
    text = "\n".join(f"{engine}\n{report.lines(of)}" for engine, of in figures.items())
    return report.conclude(
        "vectors", {"seed": seed, "size": options.size, "dimension": options.dimension, **figures},
        f"seed {seed}, {options.size:,} vectors of {options.dimension} numbers\n{text}",
        kept=all(of["recall"] >= LEAST_RECALL for of in figures.values()), as_json=options.json,
    )  # fmt: skip


def measure(url: str, size: int, dimension: int, count: int, seed: int) -> dict[str, Any]:
    """Load, build what the engine needs, and ask."""
    db = open_database(url)
    try:
        with acting_as("local"):
            exact, large = ways(db, size)
            started = time.perf_counter()
            questions = load(db, exact, size, dimension, count, random.Random(seed))
            loaded = time.perf_counter() - started
            started = time.perf_counter()
            if isinstance(exact, PostgresVectors):
                owner = migration_engine(url)
                pgvector.build(owner, "local", MODEL)
                with owner.begin() as connection:
                    connection.execute(sa.text("ANALYZE memory_vectors"))
                owner.dispose()
            built = time.perf_counter() - started
            return {"load_s": round(loaded, 1), "build_s": round(built, 1), **compare(exact, large, questions)}
    finally:
        db.close()


def ways(db: Database, size: int) -> tuple[TableVectors, TableVectors]:
    """Comparing everything, and as a large scope is searched."""
    if db.engine.name == "sqlite":
        return SqliteVectors(db, exact=size), SqliteVectors(db, exact=0)
    return PostgresVectors(db, exact=size), PostgresVectors(db, exact=0)


def load(
    db: Database, index: TableVectors, size: int, dimension: int, count: int, chance: random.Random
) -> list[bytes]:
    """Fill the store; returns questions that lie near clusters."""
    table = MemoryTable(db)
    centres = [array("f", (chance.gauss(0, 1) for _ in range(dimension))) for _ in range(max(1, size // _CLUSTER))]
    noise = array("f", (chance.gauss(0, _SPREAD) for _ in range(100_003)))

    def near(centre: Sequence[float]) -> bytes:
        start = chance.randrange(len(noise) - dimension)
        return unit(value + noise[start + n] for n, value in enumerate(centre))

    def batches() -> Iterator[range]:
        for first in range(0, size, _BATCH):
            yield range(first, min(size, first + _BATCH))

    progress = report.Progress("loading")
    for batch in batches():
        items = []
        with db.transaction():
            for number in batch:
                draft = MemoryDraft(Kind.NOTE, State(content="x", attrs=NoteAttrs(), project="p"), Origin.AGENT)
                memory = table.insert(draft, id=mint(Kind.NOTE), source=None, now_ms=number)
                items.append(Vectors(memory.seq, "p", "note", 1, (near(centres[number % len(centres)]),)))
        index.put(MODEL, items)
        progress.tell(f"{batch.stop:,} vectors")
    progress.close()
    return [near(chance.choice(centres)) for _ in range(count)]


def compare(exact: TableVectors, large: TableVectors, questions: Sequence[bytes]) -> dict[str, Any]:
    """Recall of the second way, and how long each takes."""
    shares: list[float] = []
    took: dict[str, list[float]] = {"whole": [], "large": []}
    for question in questions:
        found = {}
        for name, index in (("whole", exact), ("large", large)):
            started = time.perf_counter()
            found[name] = {hit.seq for hit in index.find(MODEL, question, _NOTES, limit=LIMIT)}
            took[name].append((time.perf_counter() - started) * 1_000)
        shares.append(len(found["whole"] & found["large"]) / len(found["whole"]))
    return {
        "recall": round(sum(shares) / len(shares), 4),
        **{f"{name}_p{share}_ms": round(report.percentile(ms, share / 100), 1)
           for name, ms in took.items() for share in (50, 95)},
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
