"""`codexmem bench`: measures this installation on public question sets.

The store is made for the measurement and goes away with it. A PostgreSQL address is taken from the command line only,
never from the settings: nobody wants thousands of foreign conversations beside their own memories by accident.

A measurement as people read it: one table for all suites, and what the scores are worth.
"""

import io
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codexmem import __version__
from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import chosen
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Memory, MemoryDraft
from codexmem.kernel.model.query import Id
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery
from codexmem.measure.corpus import Corpus, Split, keep
from codexmem.measure.report import headline, refusal
from codexmem.measure.suites import table as suites

if TYPE_CHECKING:
    from codexmem.app import Core
    from codexmem.measure.run import Progress

_NAMES = [*suites.BY_NAME, suites.EVERY]


@click.group("bench", cls=Group, key="bench", no_args_is_help=True)
def bench() -> None:
    """Measure this installation."""


@bench.command("retrieval", cls=Command, key="bench.retrieval")
@option("--suite", type=click.Choice(_NAMES), default=suites.EVERY, key="bench.suite")
@option("--data", "folder", type=click.Path(path_type=Path), required=True, metavar="PATH", key="bench.data")
@option("--engine", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", key="bench.engine")
@option("--database-url", metavar="URL", key="bench.database_url")
@option("--embedder", default="none", metavar="NAME", key="bench.embedder")
@option("--store", "kept", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", key="bench.store")
@option("--recipe", default="default", metavar="NAME", key="bench.recipe")
@option("--limit", type=click.IntRange(min=1), metavar="N", key="bench.limit")
@option("--split", type=click.Choice([each.value for each in Split]), default=Split.ALL.value, key="bench.split")
@option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", key="bench.out")
def retrieval(suite: str, folder: Path, engine: str, database_url: str | None, embedder: str, kept: Path | None,
              recipe: str, limit: int | None, split: str, out: Path | None) -> None:  # fmt: skip
    """Measure how well recall finds what answers a question."""
    if (engine == "postgresql") != (database_url or "").startswith(("postgresql://", "postgres://")):
        raise UsageProblem(say("bench.needs_url"), hint=say("bench.needs_url_hint"))
    if out is not None and not out.absolute().parent.is_dir():
        raise UsageProblem(say("bench.no_folder", path=out.absolute().parent), hint=say("bench.no_folder_hint"))
    from codexmem.kernel.model.ids import SystemClock
    from codexmem.measure import report

    asked = Split(split)
    document: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for each in suites.chosen(suite, folder):
        corpora = keep(each.read(folder), asked, limit)
        with opened(database_url, embedder, kept) as store:
            if not document:
                conditions = report.Conditions(
                    __version__, platform.python_version(), store.core.db.engine.name, store.core.db.engine.version,
                    embedder, recipe, asked, limit,
                )  # fmt: skip
                document = conditions.to_json(SystemClock().now_ms())
            with _bar(each.name) as progress:
                found[each.name] = _measured(store, each, corpora, recipe, progress)
            found[each.name]["data"] = each.fingerprint(folder)
    document["suites"] = found
    if out is not None:
        report.append(out, document)
    output = current()
    output.result(document, "" if output.as_json else text(document, color=output.color))
    if out is not None:
        output.note(say("bench.appended", path=out), good=True)


def _measured(store: "Opened", suite: suites.Suite, corpora: Sequence[Corpus], recipe: str,
              progress: "Progress") -> dict[str, Any]:  # fmt: skip
    from codexmem.measure import report, run

    written = run.write(store, suite.name, corpora, progress)
    tasks = {}
    for task in suite.tasks:
        outcomes = run.ask(store, suite.name, corpora, task, written, recipe=recipe, progress=progress)
        tasks[task.name] = report.judged(task, outcomes)
    return {
        "projects": len(corpora),
        "memories": len(written.keys),
        "write_s": round(written.write_s, 2),
        "index_s": round(written.index_s, 2),
        "tasks": tasks,
    }


@dataclass(frozen=True, slots=True)
class Opened:
    """The services of an open store, as a measurement calls them."""

    core: "Core"

    def remember(self, draft: MemoryDraft, by: WriteContext) -> Memory:
        """Write one memory."""
        return self.core.memories.remember(draft, by)

    def knows(self, id: str) -> bool:
        """Whether a memory of this id is there."""
        from codexmem.kernel.model.errors import NotFound
        from codexmem.measure.run import KINDS

        try:
            self.core.memories.get(Id(id), KINDS)
        except NotFound:
            return False
        return True

    def together(self) -> AbstractContextManager[object]:
        """One transaction around several writes."""
        return self.core.db.transaction()

    def catch_up(self) -> None:
        """Index everything written so far."""
        self.core.indexer.catch_up(lambda: None)

    def search(self, search: SearchQuery) -> SearchAnswer:
        """Ask."""
        return self.core.recall.search(search)


@contextmanager
def opened(database_url: str | None, embedder: str, kept: Path | None = None) -> Iterator[Opened]:
    """A store of our own: a file, temporary unless it is to be kept, or a tenant of our own in the database."""
    import tempfile
    from contextlib import nullcontext

    from codexmem.app import open_core
    from codexmem.kernel.model import ids
    from codexmem.kernel.model.tenant import LOCAL
    from codexmem.kernel.store.database import acting_as
    from codexmem.measure.run import BY

    place: AbstractContextManager[str] = tempfile.TemporaryDirectory(prefix="codexmem-bench-")
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        place = nullcontext(str(kept))
    with place as folder:
        settings = chosen(embedder=embedder, database_url=database_url)
        url = settings.database_url if database_url is not None else f"sqlite:///{Path(folder) / 'codexmem.db'}"
        core = open_core(replace(settings, data_dir=Path(folder), database_url=url))
        try:
            with acting_as(LOCAL if database_url is None else f"measure-{ids.secret(8)}"):
                try:
                    yield Opened(core)
                finally:
                    if database_url is not None:
                        core.history.forget_all(BY, source=BY.source)
        finally:
            core.close()


@contextmanager
def _bar(suite: str) -> Iterator["Progress"]:
    """A bar on the terminal, nothing elsewhere."""
    output = current()
    if output.quiet or output.as_json or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    steps = {"writing": say("bench.writing"), "indexing": say("bench.indexing"), "asking": say("bench.asking")}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True, no_color=not output.color), transient=True) as bars:
        task = bars.add_task(suite)

        def progress(step: str, done: int, total: int) -> None:
            bars.update(task, description=f"{suite}: {steps[step]}", completed=done, total=total or None)

        yield progress


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


def _title(document: Mapping[str, object]) -> str:
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
