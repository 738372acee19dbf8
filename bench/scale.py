"""Reads and lists in a small store and in one a hundred times as large: the same question must cost about the same.

Both stores are loaded in bulk with the rows that the service would have left, then asked through the services, question
by question in turn, so that a slow moment of the machine strikes both. A ratio above two is flagged.
"""

from __future__ import annotations

import functools
import hashlib
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from bench import drafts, report, rows
from bench.stores import Stores, stores
from codexmem.kernel.model.memory import Kind, MemoryDraft
from codexmem.kernel.model.query import Filter, Id, PageRequest, RowCursor, Seq, Uri
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.opening import open_database, sqlite_path
from codexmem.kernel.store.sqlite.engine import plain_engine
from tests._support import services

BATCH = 5_000
LIMIT_RATIO = 2.0
NOTES_EVERY = 100  # one memory in so many has an address
PAGES = 20
_FIRST_MS = 1_780_000_000_000
_STEP_MS = 1_500
_KINDS = frozenset({Kind.OBSERVATION, Kind.NOTE})
_OBSERVATIONS = frozenset({Kind.OBSERVATION})


@dataclass(frozen=True)
class Loaded:
    """A store of known content."""

    url: str
    size: int
    load_s: float
    bytes: int

    @property
    def files(self) -> int:
        """How many files there are labels for: each labels about as many memories in every store."""
        return files_for(self.size)


def files_for(size: int) -> int:
    """About a hundred memories per file."""
    return max(1, size // 50)


def identity(number: int) -> str:
    """The id of a loaded memory: spread like a UUID, and known without asking."""
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()


def uri(number: int) -> str:
    """The address of a loaded note."""
    return f"project://notes/{number}"


def draft(number: int, size: int) -> MemoryDraft:
    """The memory with this number."""
    chance = random.Random(number)
    content = f"{number} {chance.choice(_texts())}"
    if number % NOTES_EVERY == 0:
        made = drafts.note(chance, content=content, uri=uri(number))
    else:
        made = drafts.observation(chance, content=content, files=files_for(size))
    return MemoryDraft(made.kind, made.state, made.origin, made.session, id=identity(number))


@functools.cache
def _texts() -> list[str]:
    chance = random.Random(0)
    return [drafts.text(chance, chance.randrange(300, 900)) for _ in range(2_000)]


def batches(size: int) -> Iterator[list[list[tuple[Any, ...]]]]:
    """For each batch, the rows of each table."""
    for start in range(1, size + 1, BATCH):
        tables: list[list[tuple[Any, ...]]] = [[] for _ in rows.TABLES]
        for number in range(start, min(start + BATCH, size + 1)):
            now = _FIRST_MS + number * _STEP_MS
            written = rows.remembered(draft(number, size), tenant=LOCAL, seq=number, event=number, now_ms=now)
            for table, values in zip(tables, written, strict=True):
                table.extend(values)
        yield tables


def load_sqlite(url: str, size: int, progress: report.Progress) -> None:
    """Large transactions on one connection; durability is not what is measured here."""
    path = sqlite_path(url)
    assert path is not None
    engine = plain_engine(path)
    pooled = engine.raw_connection()
    connection: Any = pooled.driver_connection
    for pragma in ("synchronous=OFF", "foreign_keys=OFF", "cache_size=-1000000", "wal_autocheckpoint=100000"):
        connection.execute(f"PRAGMA {pragma}")
    statements = [rows.insert_statement(table, "?") for table in rows.TABLES]
    for number, tables in enumerate(batches(size)):
        connection.execute("BEGIN IMMEDIATE")
        for statement, values in zip(statements, tables, strict=True):
            connection.executemany(statement, values)
        connection.execute("COMMIT")
        progress.tell(f"loading {(number + 1) * BATCH:,} of {size:,}")
    for name in ("memories", "events"):
        connection.execute("INSERT INTO counters VALUES (?, ?, ?)", (LOCAL, name, size))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pooled.close()
    engine.dispose()


def load_postgres(url: str, size: int, progress: report.Progress) -> None:
    """COPY, foreign keys unchecked; then what autovacuum would do by itself a little later."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        for number, tables in enumerate(batches(size)):
            with connection.transaction(), connection.cursor() as cursor:
                for table, values in zip(rows.TABLES, tables, strict=True):
                    into = sql.SQL("COPY {} ({}) FROM STDIN").format(
                        sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, rows.columns(table)))
                    )
                    with cursor.copy(into) as copy:
                        for row in values:
                            copy.write_row(row)
            progress.tell(f"loading {(number + 1) * BATCH:,} of {size:,}")
        for name in ("memories_seq", "events_seq"):
            connection.execute("SELECT setval(%s, %s)", [name, size])
        progress.tell("vacuum analyze")
        connection.execute("VACUUM ANALYZE")


def load(made: Stores, size: int, *, analyze: bool, progress: report.Progress) -> Loaded:
    """A store with so many memories."""
    url, began = made.fresh(), time.monotonic()
    path = sqlite_path(url)
    if path is not None:
        load_sqlite(url, size, progress)
        if analyze:
            engine = plain_engine(path)
            with engine.connect() as connection:
                connection.exec_driver_sql("ANALYZE")
            engine.dispose()
        return Loaded(url, size, time.monotonic() - began, path.stat().st_size)
    load_postgres(url, size, progress)
    seconds = time.monotonic() - began
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return Loaded(url, size, seconds, int(row[0]) if row else 0)


Question = Callable[[random.Random], int]  # asks once and says how many rows came


def questions(db: Database, store: Loaded) -> dict[str, Question]:
    """What is asked, each with handles and labels drawn anew."""
    real = services.build(db)
    page = PageRequest(limit=50)
    last_note = store.size // NOTES_EVERY

    def one(memory: object) -> int:
        return int(memory is not None)

    def pages(facet: tuple[str, frozenset[str]]) -> Iterator[Callable[[], int]]:
        place: list[RowCursor | None] = [None]

        def ask() -> int:
            listing = real.memories.page(Filter(_OBSERVATIONS, facets=(facet,)), PageRequest(limit=50, after=place[0]))
            place[0] = listing.after
            return len(listing.items)

        for _ in range(PAGES):
            yield ask

    walks: dict[str, Iterator[Callable[[], int]]] = {}

    def next_page(chance: random.Random) -> int:
        ask = next(walks.get("walk", iter(())), None)
        if ask is None:
            walks["walk"] = pages(("concept", frozenset({chance.choice(drafts.CONCEPTS)})))
            ask = next(walks["walk"])
        return ask()

    def listed(limit: int = 50, **wanted: Any) -> int:
        kinds = wanted.pop("kinds", _OBSERVATIONS)
        return len(real.memories.page(Filter(kinds, **wanted), PageRequest(limit=limit)).items)

    def concept(chance: random.Random) -> tuple[tuple[str, frozenset[str]], ...]:
        return (("concept", frozenset({chance.choice(drafts.CONCEPTS)})),)

    def files(chance: random.Random) -> tuple[tuple[str, frozenset[str]], ...]:
        return (("file", frozenset({drafts.file(chance.randrange(store.files))})),)

    def two(chance: random.Random) -> tuple[tuple[str, frozenset[str]], ...]:
        return (*concept(chance), ("type", frozenset({chance.choice(drafts.TYPES)})))

    def project(chance: random.Random) -> str:
        return drafts.project(chance.randrange(drafts.PROJECTS))

    return {
        "read by seq": lambda c: one(real.memories.get(Seq(c.randrange(store.size) + 1), _KINDS)),
        "read by id": lambda c: one(real.memories.get(Id(identity(c.randrange(store.size) + 1)), _KINDS)),
        "read by URI": lambda c: one(real.memories.get(Uri(uri(c.randrange(1, last_note + 1) * NOTES_EVERY)), _KINDS)),
        "read 20 by seq": lambda c: len(real.memories.many([c.randrange(store.size) + 1 for _ in range(20)], _KINDS)),
        "versions of one": lambda c: len(real.history.versions(Seq(c.randrange(store.size) + 1), _KINDS)),
        "list newest": lambda _: len(real.memories.page(Filter(_KINDS), page).items),
        "list project": lambda c: listed(limit=20, project=project(c)),
        "list concept": lambda c: listed(facets=concept(c)),
        "list file": lambda c: listed(facets=files(c)),
        "list concept and type": lambda c: listed(facets=two(c)),
        "list concept in project": lambda c: listed(limit=10, facets=concept(c), project=project(c)),
        f"walk {PAGES} pages of a concept": next_page,
    }


def measure(stores_: Sequence[Loaded], *, samples: int, seed: int, progress: report.Progress) -> list[dict[str, Any]]:
    """Ask both stores each question so many times, in turn."""
    opened = [open_database(store.url) for store in stores_]
    try:
        asked = [questions(db, store) for db, store in zip(opened, stores_, strict=True)]
        found = []
        for name in asked[0]:
            chances = [random.Random(f"{seed} {name}") for _ in asked]
            times: list[list[float]] = [[] for _ in asked]
            got: list[list[int]] = [[] for _ in asked]
            for sample in range(-50, samples):  # the first fifty warm caches and plans
                for at, questions_ in enumerate(asked):
                    began = time.perf_counter()
                    count = questions_[name](chances[at])
                    spent = (time.perf_counter() - began) * 1000
                    if sample >= 0:
                        times[at].append(spent)
                        got[at].append(count)
            progress.tell(name)
            found.append(_answer(name, stores_, times, got))
        return found
    finally:
        for db in opened:
            db.close()


def _answer(
    name: str, stores_: Sequence[Loaded], times: Sequence[Sequence[float]], got: Sequence[Sequence[int]]
) -> dict[str, Any]:
    sizes = [
        {
            "memories": store.size,
            "p50_ms": round(report.percentile(taken, 0.5), 3),
            "p95_ms": round(report.percentile(taken, 0.95), 3),
            "rows": round(sum(counts) / len(counts), 1),
        }
        for store, taken, counts in zip(stores_, times, got, strict=True)
    ]
    ratio = sizes[-1]["p95_ms"] / max(1e-6, sizes[0]["p95_ms"])
    return {"question": name, "sizes": sizes, "ratio_p95": round(ratio, 2), "kept": ratio <= LIMIT_RATIO}


@contextmanager
def loaded(engine: str, sizes: Sequence[int], *, analyze: bool, parent: Path | None) -> Iterator[list[Loaded]]:
    """Stores of these sizes."""
    progress = report.Progress(f"scale {engine}")
    # Loading a million rows needs room in the write-ahead log; reads are measured with the server's defaults.
    with stores(engine, durable=False, parent=parent, settings={"max_wal_size": "4GB"}) as made:
        yield [load(made, size, analyze=analyze, progress=progress) for size in sizes]
    progress.close()


def run(engine: str, sizes: Sequence[int], *, samples: int, seed: int, analyze: bool,
        parent: Path | None) -> dict[str, Any]:  # fmt: skip
    """Load and ask."""
    with acting_as(LOCAL), loaded(engine, sizes, analyze=analyze, parent=parent) as made:
        progress = report.Progress(f"scale {engine}")
        answers = measure(made, samples=samples, seed=seed, progress=progress)
        progress.close()
        return {
            "stores": [
                {"memories": store.size, "load_s": round(store.load_s, 1), "megabytes": round(store.bytes / 1e6)}
                for store in made
            ],
            "answers": answers,
            "load_average": round(os.getloadavg()[0], 1),  # a busy machine shows in the 95th percentile first
        }


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--rows", type=int, nargs=2, default=[10_000, 1_000_000], metavar=("SMALL", "LARGE"))
    parser.add_argument("--samples", type=int, default=1_000, help="per question and store")
    parser.add_argument("--analyze", action="store_true", help="SQLite: gather statistics after loading")
    parser.add_argument(
        "--dir", type=Path, default=Path(tempfile.gettempdir()), help="where the stores lie; 4 GB per engine"
    )
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {
        engine: run(engine, options.rows, samples=options.samples, seed=seed, analyze=options.analyze,
                    parent=options.dir)
        for engine in report.chosen_engines(options.engine)
    }  # fmt: skip
    text = "\n".join(_text(engine, seed, figures) for engine, figures in results.items())
    kept = all(answer["kept"] for figures in results.values() for answer in figures["answers"])
    return report.conclude("scale", {"seed": seed, "engines": results}, text, kept=kept, as_json=options.json)


def _text(engine: str, seed: int, figures: dict[str, Any]) -> str:
    stored = "\n".join(
        f"  {store['memories']:>9,} memories loaded in {store['load_s']:,} s, {store['megabytes']:,} MB"
        for store in figures["stores"]
    )
    heads = ["question", "p50 small", "p95 small", "rows", "p50 large", "p95 large", "rows", "p95 ratio", ""]
    cells = [
        [
            answer["question"],
            *(value for size in answer["sizes"] for value in (size["p50_ms"], size["p95_ms"], size["rows"])),
            answer["ratio_p95"],
            "" if answer["kept"] else "ABOVE 2",
        ]
        for answer in figures["answers"]
    ]
    title = f"{engine}, seed {seed} (milliseconds; load average {figures['load_average']})"
    return f"{title}\n{stored}\n{report.table(heads, cells)}"


if __name__ == "__main__":
    sys.exit(main())
