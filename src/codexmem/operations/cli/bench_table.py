"""A measurement as people read it: one table for all suites, and what the scores are worth."""

import io
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from codexmem.console.messages import say
from codexmem.kernel.model.search import SearchMode
from codexmem.measure.calibration import refusal
from codexmem.measure.report import headline

SHARES = ("any@1", "any@5", "all@5", "mean@5", "any@10", "all@10", "mean@10", "mean@20", "ndcg@10", "mrr")
MILLISECONDS = ("p50_ms", "p95_ms")
_WIDE = 160  # columns where there is no terminal to ask


def text(document: Mapping[str, Any], *, color: bool) -> str:
    """The table, and a line on calibration for each task."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=_title(document), title_justify="left", box=None, pad_edge=False)
    table.add_column(say("bench.column_what"), no_wrap=True)
    for name in ("n", *SHARES, "p50 ms", "p95 ms", say("bench.column_tokens")):
        table.add_column(name, justify="right", no_wrap=True)
    for suite, measured in document["suites"].items():
        for task, judged in measured["tasks"].items():
            for at, (name, figures) in enumerate(_rows(f"{suite} {task}", judged)):
                table.add_row(name, *_cells(figures), style="bold" if at == 0 else None)
    width = None if sys.stdout.isatty() else _WIDE
    console = Console(file=io.StringIO(), width=width, no_color=not color, force_terminal=color, highlight=False)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    return "\n".join([*lines, "", *_verdicts(document)])


def _title(document: Mapping[str, Any]) -> str:
    return say(
        "bench.title", version=document["version"], engine=document["engine"],
        engine_version=document["engine_version"], embedder=document["embedder"], recipe=document["recipe"],
        date=document["date"],
    )  # fmt: skip


def _rows(title: str, judged: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """The headline, the other groups and splits, then the categories of the headline's split."""
    split, group, figures = headline(judged)
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


def _verdicts(document: Mapping[str, Any]) -> Iterator[str]:
    for suite, measured in document["suites"].items():
        for task, judged in measured["tasks"].items():
            found = judged["calibration"]
            yield say(
                "bench.calibrated", task=f"{suite} {task}", error=f"{100 * found['ece']:.1f}", split=found["split"],
                results=f"{found['results']:,}",
            )  # fmt: skip
            lexical = judged["modes"].get(SearchMode.LEXICAL.value, 0)
            if document["embedder"] != "none" and lexical:
                yield say("bench.degraded", count=f"{lexical:,}")
            best = refusal(judged["abstention"]["curve"])
            if best is not None and best["refused_rightly"] is not None:
                yield say(
                    "bench.abstains", threshold=best["threshold"], right=f"{100 * best['refused_rightly']:.1f}",
                    wrong=f"{100 * best['refused_wrongly']:.1f}", absent=judged["abstention"]["absent"],
                )  # fmt: skip
