"""Whether both engines give the same answers: the same questions, the overlap of the first ten results.

The suites are written into a fresh store of each engine and asked by words alone, through the production search. Goal:
at least 0.95 of the first ten in common.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import report
from bench.retrieval import run
from bench.retrieval.corpus import Corpus
from bench.retrieval.run import MeasuredStore
from bench.retrieval.suites.table import SUITES
from bench.stores import stores
from codexmem.app import open_core
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.store.database import acting_as
from codexmem.settings import load

GOAL = 0.95
FIRST = 10

Answers = dict[tuple[str, str, str], list[str]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--suites", default="locomo,beam,memdaily,probe")
    parser.add_argument("--projects", type=int, default=20, help="of each suite, at most")
    options = parser.parse_args(argv)
    chosen = {
        suite.name: suite.read(options.data)[: options.projects]
        for suite in SUITES
        if suite.name in options.suites.split(",")
    }
    one, other = (answers(engine, chosen) for engine in ("sqlite", "postgresql"))
    figures: dict[str, Any] = {}
    for name in chosen:
        shares = [overlap(found, other[asked]) for asked, found in one.items() if asked[0] == name]
        figures[name] = {"questions": len(shares), "overlap@10": round(sum(shares) / len(shares), 4)}
    kept = all(each["overlap@10"] >= GOAL for each in figures.values())
    lines = [f"{name}: {each['questions']:,} questions, overlap@10 {each['overlap@10']:.3f}"
             for name, each in figures.items()]  # fmt: skip
    return report.conclude("agreement", figures, "\n".join(lines), kept=kept, as_json=options.json)


def answers(engine: str, suites: dict[str, list[Corpus]]) -> Answers:
    """What this engine gives for every question."""
    found: Answers = {}
    with stores(engine, durable=False) as made, tempfile.TemporaryDirectory() as folder:
        settings = replace(load({"data_dir": folder, "database_url": made.fresh()}, {}), embedder="none")
        core = open_core(settings)
        try:
            with acting_as("local"):
                for name, corpora in suites.items():
                    run.write(MeasuredStore(core), name, corpora, lambda *_: None)
                    for corpus in corpora:
                        wanted = Filter(run.KINDS, project=run.project(name, corpus))
                        for question in corpus.questions:
                            search = SearchQuery(question.text, wanted, limit=FIRST, asked_ms=question.asked_ms)
                            results = core.recall.search(search).results
                            found[name, corpus.name, question.text] = [each.memory.id for each in results]
        finally:
            core.close()
    return found


def overlap(one: list[str], other: list[str]) -> float:
    """The share that two lists have in common; two empty ones agree."""
    return len(set(one) & set(other)) / max(len(one), len(other)) if one or other else 1.0


if __name__ == "__main__":
    sys.exit(main())
