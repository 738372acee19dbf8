"""`codexmem import`: memories that another program kept, and the history of a repository. It may be broken off,
repeated and taken back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol

import click

from codexmem.console.backend import Backend, backend
from codexmem.console.command import Command, Group, current, option
from codexmem.console.dates import DateRange, stretch
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.progress import bar
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.import_row import CLAUDE_MEM, GIT, Broken, Flaw, ForeignMemory, source_of
from codexmem.kernel.model.memory import Kind
from codexmem.recall.cli.agent_files import agent_files

_ROWS = 200  # of one batch
_CHARACTERS = 300_000  # of one batch, after which it is sent: a request has its limits
_SHOWN = 20  # projects
_REASONS = {
    "no_time": "import.no_time",
    "no_text": "import.no_text",
    "private": "import.private",
    "unfit": "import.unfit",
    "routine": "import.routine",
}
_KINDS = {
    Kind.OBSERVATION: "import.observations",
    Kind.SUMMARY: "import.summaries",
    Kind.PROMPT: "import.prompts",
}
_COMMITS = {Kind.OBSERVATION: "import.commits"}


class ForeignSource(Protocol):
    """What is imported from, opened."""

    program: str
    path: Path

    def fingerprint(self) -> str: ...
    def total(self) -> int: ...
    def rows(self) -> Iterator[ForeignMemory | Broken]: ...
    def close(self) -> None: ...


@dataclass
class _Tally:
    """What became of the rows so far."""

    rows: int = 0
    kinds: Counter[str] = field(default_factory=Counter)  # imported; on a dry run, to be imported
    projects: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    known: int = 0
    hidden: int = 0
    delta: str | None = None
    undone: str | None = None

    def add(self, answer: Mapping[str, Any]) -> None:
        """What the store says of one batch."""
        self.kinds.update(answer["imported"])
        self.skipped.update(answer["refused"])
        self.known += answer["known"]
        self.hidden += answer["hidden"]
        self.delta = answer["delta"] or self.delta
        self.undone = answer["undone"] or self.undone


@click.group("import", cls=Group, key="import", no_args_is_help=True,
             lazy={"transcripts": "codexmem.capture.cli.transcripts:transcripts"})  # fmt: skip
def importing() -> None:
    """Memories of other programs."""


importing.add_command(agent_files)


@importing.command(CLAUDE_MEM, cls=Command, key="import.claude-mem")
@click.argument("path", type=click.Path(path_type=Path), metavar="PATH")
@option("--rename", "renames", multiple=True, metavar="OLD=NEW", key="import.rename")
@option("--dry-run", is_flag=True, key="import.dry_run")
@tenant_option
@store_options
def claude_mem(path: Path, renames: Sequence[str], dry_run: bool, **where: Any) -> None:
    """Import the database of claude-mem."""
    names = dict(_renaming(each) for each in renames)
    from codexmem.recall.claude_mem_store import ClaudeMem

    _run(ClaudeMem(path.expanduser()), names, dry_run=dry_run, where=where)


@importing.command(GIT, cls=Command, key="import.git")
@click.argument("path", type=click.Path(path_type=Path), metavar="[PATH]", default=Path())
@option("--since", type=stretch, metavar="DATE", key="import.since")
@option("--project", metavar="PROJECT", key="import.into_project")
@option("--dry-run", is_flag=True, key="import.dry_run")
@tenant_option
@store_options
def git(path: Path, since: DateRange | None, project: str | None, dry_run: bool, **where: Any) -> None:
    """Import the history of a repository."""
    from codexmem.recall.git_history import GitHistory

    since_ms = since.first_ms if since is not None else None
    _run(GitHistory(path, project_name=project, since_ms=since_ms), {}, dry_run=dry_run, where=where)


def _run(source: ForeignSource, names: Mapping[str, str], *, dry_run: bool, where: Mapping[str, Any]) -> None:
    tally = _Tally()
    try:
        name = source_of(source.program, source.fingerprint())
        if dry_run:
            _count(source, names, tally)
        else:
            with backend(write=True, create=True, **where) as store:
                _import(store, source, names, tally)
    finally:
        source.close()
    _tell(tally, source, name, dry_run=dry_run)


def _count(source: ForeignSource, names: Mapping[str, str], tally: _Tally) -> None:
    with bar(say("import.reading")) as progress:
        total = source.total()
        for batch in _batches(source, names, tally):
            tally.kinds.update(row.kind.value for row in batch)
            progress(tally.rows, total)


def _import(store: Backend, source: ForeignSource, names: Mapping[str, str], tally: _Tally) -> None:
    fingerprint, total = source.fingerprint(), source.total()
    try:
        with bar(say("import.importing")) as progress:
            for batch in _batches(source, names, tally):
                body = {"program": source.program, "fingerprint": fingerprint, "delta": tally.delta}
                tally.add(store.post("/api/import/batch", {**body, "rows": [_sent(row) for row in batch]}))
                progress(tally.rows, total)
    except (CodexmemError, KeyboardInterrupt):
        if imported := tally.kinds.total():
            current().note(say("import.broken_off", count=f"{imported:,}"), good=False)
            current().note(say("import.undo", command=_undo(source_of(source.program, fingerprint))))
        raise


def _sent(row: ForeignMemory) -> dict[str, Any]:
    """Only what differs from the default."""
    return {each.name: value for each in fields(row) if (value := getattr(row, each.name)) != each.default}


def _renaming(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not (sign and new.strip()):
        raise click.BadParameter(say("import.bad_rename", value=text[:40]), param_hint="--rename")
    return old, new.strip()


def _batches(source: ForeignSource, names: Mapping[str, str], tally: _Tally) -> Iterator[list[ForeignMemory]]:
    batch: list[ForeignMemory] = []
    size = 0
    for row in _sound(source.rows(), tally):
        batch.append(replace(row, project=names.get(row.project, row.project)))
        tally.projects[batch[-1].project] += 1
        size += _size(row)
        if len(batch) == _ROWS or size > _CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _sound(rows: Iterable[ForeignMemory | Broken], tally: _Tally) -> Iterator[ForeignMemory]:
    for row in rows:
        tally.rows += 1
        if isinstance(row, ForeignMemory):
            yield row
        else:
            tally.skipped[row.flaw.value] += 1


def _size(row: ForeignMemory) -> int:
    lists = (row.facts, row.concepts, row.files_read, row.files_modified, row.blobs)
    texts = (row.text, row.title, row.request, row.investigated, row.learned, row.completed, row.next_steps, row.notes)
    return sum(map(len, texts)) + sum(len(entry) for each in lists for entry in each)


def _tell(tally: _Tally, source: ForeignSource, name: str, *, dry_run: bool) -> None:
    output = current()
    imported = tally.kinds.total()
    kinds = _COMMITS if source.program == GIT else _KINDS
    undo = _undo(name) if imported and not dry_run else None
    output.result(
        {
            "program": source.program, "path": str(source.path), "dry_run": dry_run, "source": name,
            "delta": tally.delta, "rows": tally.rows,
            "imported": {kind.value: tally.kinds[kind.value] for kind in kinds},
            "known": tally.known, "hidden": tally.hidden, "skipped": dict(tally.skipped),
            "projects": dict(tally.projects.most_common()), "undo": undo, "undone": tally.undone,
        },
        table([[say(key), f"{tally.kinds[kind.value]:,}"] for kind, key in kinds.items()]),
    )  # fmt: skip
    for project, count in tally.projects.most_common(_SHOWN) if dry_run else ():
        output.note(say("import.project", project=one_line(project) or "-", count=f"{count:,}"))
    for reason, count in tally.skipped.most_common():
        skipped = say("import.skipped", count=f"{count:,}", reason=say(_REASONS[reason]))
        output.note(skipped, good=None if reason == Flaw.ROUTINE else False)
    if tally.known:
        output.note(say("import.known", count=f"{tally.known:,}"))
    if tally.hidden:
        output.note(say("import.hidden", count=f"{tally.hidden:,}"))
    if tally.undone is not None:
        output.note(say("import.redo", command=_undo(tally.undone)))
    if dry_run:
        output.note(say("import.would", count=f"{imported:,}"))
    else:
        output.note(say("import.done", count=f"{imported:,}"), good=True)
    if undo is not None:
        output.note(say("import.undo", command=undo))


def _undo(name: str) -> str:
    return f"codexmem undo {name}"
