"""`codexmem import agent-files`: what agents already know, from the files that are written for them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from codexmem import agents
from codexmem.console.backend import Backend, backend
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.own_project import own_project
from codexmem.console.store import chosen, place_of, store_options, tenant_option
from codexmem.console.terminal_width import one_line

if TYPE_CHECKING:
    from codexmem.agents.install.targets import UserHome
    from codexmem.recall.agent_file_discovery import CheckoutRoot, FoundFiles
    from codexmem.recall.agent_files import AgentFileText

_HEADS = {
    "added": "agent_files.added",
    "updated": "agent_files.updated",
    "hidden": "agent_files.hidden",
    "unchanged": "agent_files.unchanged",
}
_REASONS = {
    "outside": "agent_files.outside",
    "large": "agent_files.large",
    "no_file": "agent_files.no_file",
    "name": "agent_files.name",
    "many": "agent_files.many",
    "unreadable": "agent_files.unreadable",
}
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass
class _Run:
    """What one run reads, and what became of it."""

    checkout: "CheckoutRoot"
    project: str
    personal: bool
    agents: Sequence[agents.CodingAgent]
    found: "FoundFiles"
    texts: Sequence["AgentFileText"]
    files: list[dict[str, Any]] = field(default_factory=list)
    total: Counter[str] = field(default_factory=Counter)
    delta: str | None = None
    source: str | None = None
    undone: str | None = None

    def add(self, file: str, answer: Mapping[str, Any]) -> None:
        """What the store says of one file."""
        counts = {name: answer[name] for name in (*_HEADS, "kept")}
        self.files.append({"file": file, **counts})
        self.total.update(counts)
        self.delta = answer["delta"] or self.delta
        self.source, self.undone = answer["source"], answer["undone"] or self.undone


@click.command("agent-files", cls=Command, key="import.agent-files")
@click.argument("path", type=click.Path(path_type=Path), metavar="[PATH]", default=None, required=False)
@option("--agent", "names", multiple=True, type=click.Choice(agents.NAMES), metavar="AGENT",
        key="agent_files.agent")  # fmt: skip
@option("--personal/--no-personal", default=None, key="agent_files.personal")
@option("--project", metavar="PROJECT", key="agent_files.project")
@option("--dry-run", is_flag=True, key="agent_files.dry_run")
@tenant_option
@store_options
def agent_files(
    path: Path | None, names: Sequence[str], personal: bool | None, project: str | None, dry_run: bool, **where: Any
) -> None:
    """Import files that are written for agents."""
    folder = (path or Path.cwd()).expanduser()
    if not folder.is_dir():
        raise UsageProblem(
            say("agent_files.no_folder", path=one_line(str(folder))),
            hint=say("agent_files.no_folder_hint"),
        )
    here = _is_here(where)
    run = _looked(folder, names, here if personal is None else personal, project)
    if dry_run:
        _tell_dry(run)
    else:
        with backend(write=True, create=True, **where) as store:
            _import(store, run)
        _tell(run)
    if personal is None and not here:
        current().note(say("agent_files.not_personal"))


def _is_here(where: Mapping[str, object]) -> bool:
    """Whether the store is on this machine, and this person's own."""
    settings = chosen(data_dir=where["data_dir"], database_url=where["database_url"])
    host = urlsplit(place_of(settings).url).hostname
    return (host is None or host in _LOCAL) and not settings.on_postgres


def _looked(folder: Path, names: Sequence[str], personal: bool, project: str | None) -> _Run:
    from codexmem.recall import agent_file_discovery as discovery

    meant = [agents.agent_of(name) for name in names or agents.NAMES]
    checkout = discovery.checkout_of(folder)
    found = discovery.find(checkout, meant, _person() if personal else None)
    texts = discovery.read(found, checkout.folders)
    return _Run(checkout, project or own_project(checkout.root), personal, meant, found, texts)


def _person() -> "UserHome":
    from codexmem.agents.install.targets import UserHome
    from codexmem.hook.surroundings import environment

    return UserHome(Path.home(), dict(environment()))


def _import(store: Backend, run: _Run) -> None:
    from codexmem.recall import agent_file_discovery as discovery
    from codexmem.recall.agent_files import AgentFileText, KnownFile

    listed = store.get("/api/import/agent-files", project=run.project)["files"]
    known = [KnownFile(**each) for each in listed]
    lost = discovery.gone(run.checkout, run.agents, known, run.found, personal=run.personal)
    for text in (*run.texts, *(AgentFileText(file, "", 0) for file in lost)):
        body = {**asdict(text), "project": run.project, "delta": run.delta}
        run.add(text.file, store.post("/api/import/agent-file", body))


def _tell_dry(run: _Run) -> None:
    from codexmem.recall.agent_block import sections

    rows: list[dict[str, Any]] = [{"file": each.file, "sections": len(sections(each.file, each.text, each.folders)),
             "read_by": _readers((each.file, *each.aliases))} for each in run.texts]  # fmt: skip
    output = current()
    head = [say("agent_files.file"), say("agent_files.sections"), say("agent_files.read_by")]
    lines = [[one_line(row["file"]), str(row["sections"]), ", ".join(row["read_by"]) or "-"] for row in rows]
    output.result(_document(run, rows, dry_run=True), table([head, *lines]) if lines else "")
    _tell_skipped(run)
    count = sum(row["sections"] for row in rows)
    if not rows:
        output.note(say("agent_files.nothing", root=str(run.checkout.root)))
        return
    output.note(say(
        "agent_files.would", count=f"{count:,}", files=f"{len(rows):,}", project=one_line(run.project)
    ))  # fmt: skip


def _tell(run: _Run) -> None:
    output = current()
    head = [say("agent_files.file"), *map(say, _HEADS.values())]
    lines = [[one_line(row["file"]), *(f"{row[name]:,}" for name in _HEADS)] for row in run.files]
    output.result(_document(run, run.files, dry_run=False), table([head, *lines]) if lines else "")
    _tell_skipped(run)
    if not run.files:
        output.note(say("agent_files.nothing", root=str(run.checkout.root)))
        return
    counts = {name: f"{run.total[name]:,}" for name in _HEADS}
    output.note(say("agent_files.done", project=one_line(run.project), **counts), good=True)
    if run.total["kept"]:
        output.note(say("agent_files.kept", count=f"{run.total['kept']:,}"))
    if run.undone is not None:
        output.note(say("import.redo", command=f"codexmem undo {run.undone}"))
    if run.delta is not None:
        output.note(say("import.undo", command=_undo(run)))


def _tell_skipped(run: _Run) -> None:
    for file, reason in run.found.skipped.items():
        text = say("agent_files.skipped", file=one_line(file), reason=say(_REASONS[reason]))
        current().note(text, good=False)


def _document(run: _Run, files: Sequence[Mapping[str, object]], *, dry_run: bool) -> dict[str, Any]:
    return {
        "root": str(run.checkout.root), "project": run.project, "personal": run.personal, "dry_run": dry_run,
        "source": run.source, "delta": run.delta, "files": list(files), "skipped": run.found.skipped,
        "undo": _undo(run) if run.delta else None, "undone": run.undone,
    }  # fmt: skip


def _undo(run: _Run) -> str:
    import shlex

    return f"codexmem undo {shlex.quote(run.source or '')}"


def _readers(names: Sequence[str]) -> list[str]:
    """The agents that read such a file by themselves."""
    known = [agents.agent_of(name) for name in agents.NAMES]
    return [agent.title for agent in known if any(agent.reads_itself(file) for file in names)]
