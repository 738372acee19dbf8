"""Search beside the bare queries it stands on: what reading the query, ranking and fetching results add.

Stores are filled in bulk (`bench/filling.py` says what that leaves out) and asked through the product's own search, in
one project and in all. The statements that the text index and the vector index send for a question are overheard once,
then sent again as they are on a driver's connection of the same kind, with nothing made of the answer. Both take turns,
question by question, so that a slow moment of the machine strikes both. A ratio of 95th percentiles above two is
flagged. The encoder is a stand-in that costs nothing; a real one adds its time to the product, and to nothing else.
"""

from __future__ import annotations

import functools
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import sqlalchemy as sa

from bench import report
from bench.corpus import KINDS, Corpus, Made, Question, SeededEmbedder
from bench.filling import fill
from bench.stores import Stores, stores
from codexmem.app.core import Core, open_core
from codexmem.kernel.embed import choice
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.index import IndexHit, TextIndex, VectorIndex
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.postgres import engine as postgres
from codexmem.kernel.store.postgres.roles import APP_ROLE
from codexmem.kernel.store.sqlite import engine as sqlite
from codexmem.settings import Settings

LIMIT_RATIO = 2.0
SCOPES = ("project", "all")
_WARM = 10  # questions that are asked for nothing, so that plans and statements are prepared
_STEPS = ("query", "embed", "lexical", "vectors", "candidates", "rank", "rows")


@dataclass(slots=True)
class Overheard:
    """What one lookup in an index sent, and what it made of the answers."""

    index: str  # lexical or vectors
    statements: list[tuple[str, Any]] = field(default_factory=list)
    hits: list[IndexHit] = field(default_factory=list)


class Listener:
    """Notes every statement that a store's readers send while somebody listens on the same thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._listening = threading.local()
        sa.event.listen(engine, "before_cursor_execute", self._note)

    def _note(self, _c: object, _k: object, statement: str, values: Any, _x: object, _many: bool) -> None:
        overheard: Overheard | None = getattr(self._listening, "to", None)
        if overheard is not None:
            overheard.statements.append((statement, values))

    def finding(
        self, name: str, find: Callable[..., list[IndexHit]], into: list[Overheard]
    ) -> Callable[..., list[IndexHit]]:
        """The same search of an index, overheard."""

        @functools.wraps(find)
        def found(*args: Any, **named: Any) -> list[IndexHit]:
            self._listening.to = overheard = Overheard(name)
            try:
                overheard.hits = find(*args, **named)
            finally:
                self._listening.to = None
            into.append(overheard)
            return overheard.hits

        return found


class Product:
    """The product on one filled store."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._listener = Listener(_readers(core))
        finder = core.recall._finder
        self._indexes: dict[str, TextIndex | VectorIndex] = {"lexical": finder._text, "vectors": finder._vectors}

    def search(self, question: Question, scope: str) -> SearchAnswer:
        """As every endpoint does."""
        wanted = Filter(KINDS, project=question.project if scope == "project" else None)
        return self._core.recall.search(SearchQuery(question.text, wanted))

    def overhear(self, question: Question, scope: str) -> list[Overheard]:
        """What the text index and the vector index send for this question; the text index may be asked twice."""
        heard: list[Overheard] = []
        with ExitStack() as overheard:
            for name, index in self._indexes.items():
                find = self._listener.finding(name, index.find, heard)
                overheard.enter_context(mock.patch.object(index, "find", find))
            self.search(question, scope)
        return heard


def _readers(core: Core) -> sa.Engine:
    engine: Any = core.db.engine
    found: sa.Engine = engine._readers if core.db.engine.name == "sqlite" else engine._engine
    return found


class Bare:
    """A connection of the driver, as the product's own are made, and nothing on top of it."""

    def __init__(self, url: str) -> None:
        path = sqlite_path(url)
        if path is not None:
            self._engine = sqlite.plain_engine(path, read_only=True)
            self._begin = "BEGIN"
        else:
            self._engine = postgres.plain_engine(url, pool_size=1)
            self._begin = (
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                f"SET LOCAL ROLE {APP_ROLE}; SET LOCAL codexmem.tenant = '{{tenant}}'"
            )
        self._pooled = self._engine.raw_connection()
        self._connection: Any = self._pooled.driver_connection

    def ask(self, heard: Sequence[Overheard], tenant: str = LOCAL) -> tuple[list[float], list[list[Any]]]:
        """Send the statements of each lookup; returns the milliseconds and the rows of each."""
        took, found = [], []
        self._connection.execute(self._begin.format(tenant=tenant))
        for overheard in heard:
            began = time.perf_counter()
            rows = [self._rows(statement, values) for statement, values in overheard.statements]
            took.append((time.perf_counter() - began) * 1_000)
            found.append(rows)
        self._connection.execute("COMMIT")
        return took, found

    def _rows(self, statement: str, values: Any) -> list[Any]:
        cursor = self._connection.execute(statement, values or ())
        return list(cursor.fetchall()) if cursor.description else []

    def close(self) -> None:
        """Give the connection back."""
        self._pooled.close()
        self._engine.dispose()


@contextmanager
def opened(url: str, corpus: Corpus, size: int) -> Iterator[tuple[Product, Bare]]:
    """The store under the product, with the stand-in for an encoder, and bare."""
    path = sqlite_path(url)
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(path.parent if path is not None else Path(scratch), url)
        with mock.patch.object(choice, "choose", return_value=SeededEmbedder(corpus.vectors, size)):
            core = open_core(settings)
        bare = Bare(url)
        try:
            yield Product(core), bare
        finally:
            bare.close()
            core.close()


def filled(
    made: Stores, corpus: Corpus, size: int, count: int, progress: report.Progress
) -> tuple[str, list[Question]]:
    """A store of that size, and questions about what is in it."""
    url = made.fresh()
    numbers = set(random.Random(size).sample(range(1, size + 1), min(count, size)))
    asked: list[Made] = []
    fill(url, noted(corpus.memories(size), numbers, asked), corpus.vectors, progress)
    return url, corpus.questions(asked)


def noted(made: Iterable[Made], numbers: set[int], into: list[Made]) -> Iterator[Made]:
    """The same, while those of these numbers are also kept."""
    for each in made:
        if each.memory.seq in numbers:
            into.append(each)
        yield each


def measure(product: Product, bare: Bare, questions: Sequence[Question], scope: str,
            progress: report.Progress) -> dict[str, Any]:  # fmt: skip
    """Ask every question of both, in turn."""
    times: dict[str, list[float]] = {"product": [], "bare": [], "lexical": [], "vectors": []}
    steps: dict[str, list[float]] = {step: [] for step in _STEPS}
    statements = results = 0
    for number, question in enumerate([*questions[:_WARM], *questions]):
        product.search(question, scope)  # afterwards it is known how common its words are
        heard = product.overhear(question, scope)
        took: list[float] = []
        if number % 2:
            took, _ = bare.ask(heard)
        began = time.perf_counter()
        answer = product.search(question, scope)
        spent = (time.perf_counter() - began) * 1_000
        if not took:
            took, _ = bare.ask(heard)
        if number < _WARM:
            continue
        times["product"].append(spent)
        times["bare"].append(sum(took))
        for index in ("lexical", "vectors"):
            times[index].append(sum(ms for ms, each in zip(took, heard, strict=True) if each.index == index))
        for step in _STEPS:
            steps[step].append(answer.timings_ms.get(step, 0.0))
        statements += sum(len(each.statements) for each in heard)
        results += len(answer.results)
        progress.tell(f"{scope}: {number:,} questions")
    shares = {
        name: {share: report.percentile(taken, share / 100) for share in (50, 95)} for name, taken in times.items()
    }
    ratio = shares["product"][95] / max(1e-6, shares["bare"][95])
    return {
        "scope": scope,
        **{f"{name}_p{share}_ms": round(value, 2) for name, of in shares.items() for share, value in of.items()},
        "ratio_p95": round(ratio, 2),
        "kept": ratio <= LIMIT_RATIO,
        "steps_p50_ms": {step: round(report.percentile(taken, 0.5), 2) for step, taken in steps.items()},
        "statements": round(statements / len(questions), 1),
        "results": round(results / len(questions), 1),
    }


def run(engine: str, sizes: Sequence[int], *, queries: int, seed: int, parent: Path | None) -> list[dict[str, Any]]:
    """Fill and ask, one size after the other; each store is gone before the next."""
    progress = report.Progress(f"search {engine}")
    found = []
    with acting_as(LOCAL), stores(engine, durable=False, parent=parent, settings={"max_wal_size": "4GB"}) as made:
        for size in sizes:
            corpus, began = Corpus(seed), time.monotonic()
            url, questions = filled(made, corpus, size, queries, progress)
            fill_s = round(time.monotonic() - began, 1)
            with opened(url, corpus, size) as (product, bare):
                rows = [measure(product, bare, questions, scope, progress) for scope in SCOPES]
            made.discard(url)
            found.append(
                {"memories": size, "fill_s": fill_s, "load_average": round(os.getloadavg()[0], 1), "rows": rows}
            )
    progress.close()
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="memories")
    parser.add_argument("--queries", type=int, default=200, help="per size and scope")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()),
                        help="where the stores lie; 7 GB for a million memories")  # fmt: skip
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {
        engine: run(engine, options.sizes, queries=options.queries, seed=seed, parent=options.dir)
        for engine in report.chosen_engines(options.engine)
    }
    text = "\n".join(_text(engine, seed, figures) for engine, figures in results.items())
    kept = all(row["kept"] for figures in results.values() for size in figures for row in size["rows"])
    return report.conclude("search", {"seed": seed, "engines": results}, text, kept=kept, as_json=options.json)


def _text(engine: str, seed: int, figures: Sequence[dict[str, Any]]) -> str:
    heads = ["memories, scope", "search p50", "p95", "bare p50", "p95", "words p50", "p95", "vectors p50", "p95",
             "p95 ratio", ""]  # fmt: skip
    names = [f"{name}_p{share}_ms" for name in ("product", "bare", "lexical", "vectors") for share in (50, 95)]
    rows = [(size, row) for size in figures for row in size["rows"]]
    cells = [
        [_place(size, row), *(row[name] for name in names), row["ratio_p95"], "" if row["kept"] else "ABOVE 2"]
        for size, row in rows
    ]
    steps = [
        [_place(size, row), *row["steps_p50_ms"].values(), row["statements"], row["results"]] for size, row in rows
    ]
    stored = "\n".join(
        f"  {size['memories']:>9,} memories filled in {size['fill_s']:,} s, load average {size['load_average']}"
        for size in figures
    )
    return (
        f"{engine}, seed {seed} (milliseconds)\n{stored}\n{report.table(heads, cells)}\n  steps of a search, p50\n"
        f"{report.table(['memories, scope', *_STEPS, 'statements', 'results'], steps)}"
    )


def _place(size: dict[str, Any], row: dict[str, Any]) -> str:
    return f"{size['memories']:,} {row['scope']}"


if __name__ == "__main__":
    sys.exit(main())
