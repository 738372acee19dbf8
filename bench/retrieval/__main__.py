"""Measure how well search finds what answers a question: `just bench-retrieval --data DIR`.

Public question sets are written into a SQLite store of the measurement's own as any client would write them; no model
is involved. `--out FILE` appends the figures as one line of JSON.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import report as lines
from bench.retrieval import report, run
from bench.retrieval.corpus import Split, keep
from bench.retrieval.suites import table as suites
from codexmem import __version__
from codexmem.kernel.model.ids import SystemClock

SHARES = ("any@1", "any@5", "all@5", "mean@5", "any@10", "all@10", "mean@10", "mean@20", "ndcg@10", "mrr")
MILLISECONDS = ("p50_ms", "p95_ms")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of the question sets")
    parser.add_argument("--suite", choices=[*suites.BY_NAME, suites.EVERY], default=suites.EVERY)
    parser.add_argument("--embedder", default="none", help="as in the setting; none searches by words only")
    parser.add_argument("--store", type=Path, metavar="DIR", help="keep the store here and write nothing twice")
    parser.add_argument("--recipe", default="default", help="search configuration")
    parser.add_argument("--limit", type=int, metavar="N", help="ask only so many questions of each set")
    parser.add_argument("--split", choices=[each.value for each in Split], default=Split.ALL.value)
    parser.add_argument("--out", type=Path, metavar="FILE", help="append the figures to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    options = parser.parse_args(argv)
    document = measure(options)
    if options.out is not None:
        report.append(options.out, document)
    print(json.dumps(document, ensure_ascii=False) if options.json else text(document))
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the chosen suites, each in a store of its own."""
    split = Split(options.split)
    document: dict[str, Any] = {}
    measured: dict[str, Any] = {}
    for suite in suites.chosen(options.suite, options.data):
        corpora = keep(suite.read(options.data), split, options.limit)
        with run.opened(options.embedder, options.store) as store:
            engine = store.core.db.engine
            conditions = report.Conditions(
                __version__, platform.python_version(), engine.name, engine.version, options.embedder, options.recipe,
                split, options.limit,
            )  # fmt: skip
            document = document or conditions.to_json(SystemClock().now_ms())
            written = run.write(store, suite.name, corpora, _progress)
            tasks = {
                task.name: report.judged(
                    task,
                    run.ask(store, suite.name, corpora, task, written, recipe=options.recipe, progress=_progress),
                )
                for task in suite.tasks
            }
        measured[suite.name] = {
            "projects": len(corpora),
            "memories": len(written.keys),
            "write_s": round(written.write_s, 2),
            "index_s": round(written.index_s, 2),
            "tasks": tasks,
            "data": suite.fingerprint(options.data),
        }
    return {**document, "suites": measured}


def _progress(step: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{step} {done:,} of {total:,}", end="", file=sys.stderr, flush=True)


def text(document: Mapping[str, Any]) -> str:
    """Render the table, and a line on calibration for each task."""
    tasks = [
        (f"{suite} {task}", judged)
        for suite, measured in document["suites"].items()
        for task, judged in measured["tasks"].items()
    ]
    heads = ("suite, group, split (percent)", "n", *SHARES, "p50 ms", "p95 ms", "tokens")
    rows = [(name, *_cells(figures)) for title, judged in tasks for name, figures in _rows(title, judged)]
    conditions = " · ".join(f"{key} {document[key]}" for key in ("version", "engine", "embedder", "recipe", "date"))
    verdicts = [line for title, judged in tasks for line in _verdicts(title, judged, document["embedder"])]
    return "\n".join([conditions, "", lines.table(heads, rows), "", *verdicts])


def _rows(title: str, judged: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """The headline, the other groups and splits, then the categories of the headline's split."""
    split, group, figures = report.headline(judged)
    yield f"{title}, {group}, {split}", figures
    for other, inside in judged["splits"].items():
        for name, each in inside["groups"].items():
            if (other, name) != (split, group):
                yield f"  {name}, {other}", each
    categories = judged["splits"].get(split, {}).get("categories", {})
    if len(categories) > 1:
        for name, each in categories.items():
            yield f"    {name}", each


def _cells(figures: Mapping[str, float]) -> Iterator[str]:
    yield f"{figures['n']:,.0f}"
    for name in SHARES:
        yield f"{100 * figures[name]:.1f}" if name in figures else "-"
    for name in MILLISECONDS:
        yield f"{figures[name]:.1f}" if name in figures else "-"
    yield f"{figures['tokens@10']:,.0f}" if "tokens@10" in figures else "-"


def _verdicts(title: str, judged: Mapping[str, Any], embedder: str) -> Iterator[str]:
    found = judged["calibration"]
    yield f"{title}: calibration error {100 * found['ece']:.1f} % over {found['results']:,} results ({found['split']})"
    lexical = judged["modes"].get("lexical-only", 0)
    if embedder != "none" and lexical:
        yield f"  {lexical:,} questions were searched by words only: the embedder was not used"
    best = report.refusal(judged["abstention"]["curve"])
    if best is not None and best["refused_rightly"] is not None:
        yield (
            f"  min_score {best['threshold']} rejects {100 * best['refused_rightly']:.1f} % of "
            f"{judged['abstention']['absent']} questions without an answer and "
            f"{100 * best['refused_wrongly']:.1f} % of those with one"
        )


if __name__ == "__main__":
    sys.exit(main())
