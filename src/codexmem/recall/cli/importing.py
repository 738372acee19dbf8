"""`codexmem import`: memories that another program kept. It may be broken off, repeated and taken back."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codexmem.console.backend import Backend, backend
from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.progress import bar
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.import_row import CLAUDE_MEM, ForeignMemory, source_of
from codexmem.kernel.model.memory import Kind
from codexmem.recall.cli.agent_files import agent_files

if TYPE_CHECKING:
    from codexmem.recall.claude_mem_store import Broken, ClaudeMem

_ROWS = 200  # of one batch
_CHARACTERS = 300_000  # of one batch, after which it is sent: a request has its limits
_SHOWN = 20  # projects
_REASONS = {
    "no_time": "import.no_time",
    "no_text": "import.no_text",
    "private": "import.private",
    "unfit": "import.unfit",
}
_KINDS = {
    Kind.OBSERVATION: "import.observations",
    Kind.SUMMARY: "import.summaries",
    Kind.PROMPT: "import.prompts",
}


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

    source = ClaudeMem(path.expanduser())
    try:
        name, tally = source_of(source.fingerprint()), _Tally()
        if dry_run:
            _count(source, names, tally)
        else:
            with backend(write=True, create=True, **where) as store:
                _import(store, source, names, tally)
    finally:
        source.close()
    _tell(tally, source, name, dry_run=dry_run)


def _count(source: "ClaudeMem", names: Mapping[str, str], tally: _Tally) -> None:
    with bar(say("import.reading")) as progress:
        total = sum(source.counts().values())
        for batch in _batches(source, names, tally):
            tally.kinds.update(row.kind.value for row in batch)
            progress(tally.rows, total)


def _import(store: Backend, source: "ClaudeMem", names: Mapping[str, str], tally: _Tally) -> None:
    fingerprint, total = source.fingerprint(), sum(source.counts().values())
    try:
        with bar(say("import.importing")) as progress:
            for batch in _batches(source, names, tally):
                body = {"program": CLAUDE_MEM, "fingerprint": fingerprint, "delta": tally.delta}
                tally.add(store.post("/api/import/batch", {**body, "rows": [_sent(row) for row in batch]}))
                progress(tally.rows, total)
    except (CodexmemError, KeyboardInterrupt):
        if imported := tally.kinds.total():
            current().note(say("import.broken_off", count=f"{imported:,}"), good=False)
            current().note(say("import.undo", command=_undo(source_of(fingerprint))))
        raise


def _sent(row: ForeignMemory) -> dict[str, Any]:
    """Only what differs from the default."""
    return {each.name: value for each in fields(row) if (value := getattr(row, each.name)) != each.default}


def _renaming(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not (sign and new.strip()):
        raise click.BadParameter(say("import.bad_rename", value=text[:40]), param_hint="--rename")
    return old, new.strip()


def _batches(source: "ClaudeMem", names: Mapping[str, str], tally: _Tally) -> Iterator[list[ForeignMemory]]:
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


def _sound(rows: "Iterable[ForeignMemory | Broken]", tally: _Tally) -> Iterator[ForeignMemory]:
    for row in rows:
        tally.rows += 1
        if isinstance(row, ForeignMemory):
            yield row
        else:
            tally.skipped[row.flaw.value] += 1


def _size(row: ForeignMemory) -> int:
    lists = (row.facts, row.concepts, row.files_read, row.files_modified)
    texts = (row.text, row.title, row.request, row.investigated, row.learned, row.completed, row.next_steps, row.notes)
    return sum(map(len, texts)) + sum(len(entry) for each in lists for entry in each)


def _tell(tally: _Tally, source: "ClaudeMem", name: str, *, dry_run: bool) -> None:
    output = current()
    imported = tally.kinds.total()
    undo = _undo(name) if imported and not dry_run else None
    output.result(
        {
            "program": CLAUDE_MEM, "path": str(source.path), "dry_run": dry_run, "source": name, "delta": tally.delta,
            "rows": tally.rows, "imported": {kind.value: tally.kinds[kind.value] for kind in _KINDS},
            "known": tally.known, "hidden": tally.hidden, "skipped": dict(tally.skipped),
            "projects": dict(tally.projects.most_common()), "undo": undo, "undone": tally.undone,
        },
        table([[say(key), f"{tally.kinds[kind.value]:,}"] for kind, key in _KINDS.items()]),
    )  # fmt: skip
    for project, count in tally.projects.most_common(_SHOWN) if dry_run else ():
        output.note(say("import.project", project=one_line(project) or "-", count=f"{count:,}"))
    for reason, count in tally.skipped.most_common():
        output.note(say("import.skipped", count=f"{count:,}", reason=say(_REASONS[reason])), good=False)
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
