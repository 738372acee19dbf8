"""`codexmem lab`: what the lab's runs may read.

Documents are read here, by whoever calls the command, and their pieces are handed to the store or to the server that
owns it: a server opens no folder because somebody asks it to.
"""

import importlib.resources
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.input_text import confirm
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.progress import bar
from codexmem.console.store import StoreFlags, chosen, store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.lab.cli.api import LabApi, lab_api
from codexmem.lab.library_model import MAX_TOGETHER, Part, namespace_of
from codexmem.lab.wire.fields import LabPage
from codexmem.lab.wire.library import (
    DocumentsRemoved,
    DocumentWritten,
    FoundPassage,
    LibraryDocument,
    LibraryNamespace,
)

if TYPE_CHECKING:
    from codexmem.lab.service.syncing import SyncReport

SAMPLE = {"kb_principles": "principles", "kb_modulation": "modulation"}
MODES = ("hybrid", "words", "meaning")
_ALL = 1_000_000
_TITLE = 60  # cells
_TOLD = 20  # files that are named as left out


@click.group("lab", cls=Group, key="lab", no_args_is_help=True)
def lab() -> None:
    """The lab."""


@lab.group("kb", cls=Group, key="lab.kb", no_args_is_help=True, also={"list": "ls", "delete": "rm"})
def kb() -> None:
    """Its documents."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A namespace behind the lab's interface, which documents are written into."""

    api: LabApi
    namespace: str

    def known(self, folder: str) -> Mapping[str, str]:
        """The documents of a folder, and the digest of each."""
        return {each.document: each.digest for each in _documents(self.api, self.namespace, folder)}

    def put(self, part: Part, delta: str | None) -> str:
        """Write some pieces of a document."""
        given = {"namespace": self.namespace, "delta": delta, **asdict(part)}
        return self.api.send(DocumentWritten, "PUT", "kb", "documents", **given).delta

    def remove(self, folder: str, documents: Sequence[str], delta: str | None) -> str | None:
        """Archive documents."""
        given = {"namespace": self.namespace, "folder": folder, "documents": list(documents), "delta": delta}
        return self.api.send(DocumentsRemoved, "POST", "kb", "documents", "remove", **given).delta


def _documents(api: LabApi, namespace: str, folder: str) -> tuple[LibraryDocument, ...]:
    return api.items(LabPage[LibraryDocument], "kb", "documents", limit=_ALL, namespace=namespace, folder=folder).items


@kb.command("add", cls=Command, key="lab.kb.add")
@click.argument("namespace", required=False, metavar="[NAMESPACE")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="FOLDER]")
@option("--sample", is_flag=True, key="lab.kb.sample")
@tenant_option
@store_options
def add(namespace: str | None, folder: Path | None, sample: bool, **where: Unpack[StoreFlags]) -> None:
    """Read folders of documents."""
    wanted = _wanted(namespace, folder, sample, where)
    with lab_api(create=True, **where) as api:
        reports = [(name, _read(_Target(api, name), path, label)) for name, path, label in wanted]
    output = current()
    document = [{"namespace": name, **report.to_json()} for name, report in reports]
    output.result({"folders": document}, "\n".join(_line(name, report) for name, report in reports))
    for _, report in reports:
        _tell(report)


def _wanted(namespace: str | None, folder: Path | None, sample: bool, where: StoreFlags) -> list[tuple[str, Path, str]]:
    """Namespaces, what to read into each, and what documents will know that by; empty for the folder's own name."""
    if sample:
        home = Path(str(importlib.resources.files("codexmem.lab.service") / "sample_kb"))
        only = [namespace_of(namespace)] if namespace else list(SAMPLE)
        if folder is not None or not set(only) <= set(SAMPLE):
            raise UsageProblem(say("lab.kb.sample_only"), hint=say("lab.kb.sample_how"))
        return [(each, home / SAMPLE[each], f"sample:{SAMPLE[each]}") for each in only]
    if namespace and folder is not None:
        return [(namespace_of(namespace), folder.expanduser().resolve(), "")]
    if namespace:
        raise UsageProblem(say("usage.missing", name="FOLDER"), hint=say("lab.kb.add_how"))
    settings = chosen(data_dir=where["data_dir"], database_url=where["database_url"])
    found = [("kb_principles", settings.kb_principles_dir), ("kb_modulation", settings.kb_modulation_dir)]
    if not any(path for _, path in found):
        raise UsageProblem(say("lab.kb.none_configured"), hint=say("lab.kb.add_how"))
    return [(name, path.expanduser().resolve(), "") for name, path in found if path is not None]


def _read(target: _Target, path: Path, label: str) -> "SyncReport":
    from codexmem.lab.service.documents import Folder
    from codexmem.lab.service.syncing import sync

    folder = Folder(path)
    with bar(say("lab.kb.reading", namespace=target.namespace)) as progress:
        return sync(target, folder, label or folder.label, lambda: None, progress)


def _line(namespace: str, report: "SyncReport") -> str:
    return say(
        "lab.kb.line", namespace=namespace, added=report.added, changed=report.changed, removed=report.removed,
        unchanged=report.unchanged, pieces=report.pieces,
    )  # fmt: skip


def _tell(report: "SyncReport") -> None:
    output = current()
    for each in report.told[:_TOLD]:
        output.note(say("lab.kb.left", document=one_line(each.name), reason=each.reason), good=False)
    if report.left > _TOLD:
        output.note(say("lab.kb.left_more", count=f"{report.left - _TOLD:,}"), good=False)
    if report.cut:
        output.note(say("lab.kb.cut", reason=report.cut), good=False)
    if not report.added + report.changed + report.removed + report.unchanged:
        output.note(say("lab.kb.no_documents", folder=one_line(report.folder)), good=False)
    if report.delta:
        output.note(say("lab.kb.undo", command=f"codexmem undo {report.delta}"))


@kb.command("ls", cls=Command, key="lab.kb.ls")
@click.argument("namespace", required=False, metavar="[NAMESPACE]")
@option("--limit", type=click.IntRange(1, _ALL), default=100, metavar="N", key="lab.kb.limit")
@tenant_option
@store_options
def ls(namespace: str | None, limit: int, **where: Unpack[StoreFlags]) -> None:
    """List namespaces, or the documents of one."""
    output = current()
    with lab_api(**where) as api:
        if namespace is None:
            spaces = api.get(LabPage[LibraryNamespace], "kb")
            rows = [[each.kb_namespace, str(each.documents), str(each.pieces)] for each in spaces.items]
            head = [say("lab.kb.namespace"), say("lab.kb.documents"), say("lab.kb.pieces")]
            output.result({"namespaces": spaces.document()["items"]}, table([head, *rows]) if rows else "")
            if not rows:
                output.note(say("lab.kb.empty"))
            return
        found = api.items(LabPage[LibraryDocument], "kb", "documents", limit=limit, namespace=namespace)
    rows = [
        [one_line(each.document), str(each.pieces), cut(one_line(each.title), _TITLE), one_line(each.folder)]
        for each in found.items
    ]
    output.result({"documents": found.document()["items"], "more": found.has_more}, table(rows) if rows else "")
    if not rows:
        output.note(say("lab.kb.empty"))
    if found.has_more:
        output.note(say("lab.kb.more", limit=limit))


@kb.command("search", cls=Command, key="lab.kb.search")
@click.argument("namespace", metavar="NAMESPACE")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@option("--mode", type=click.Choice(MODES), default="hybrid", key="lab.kb.mode")
@option("--top", type=click.IntRange(1, 50), default=5, metavar="N", key="lab.kb.top")
@tenant_option
@store_options
def search(namespace: str, query: Sequence[str], mode: str, top: int, **where: Unpack[StoreFlags]) -> None:
    """Show the pieces that fit best."""
    with lab_api(**where) as api:
        asked = {"namespace": namespace, "query": " ".join(query), "mode": mode, "top_k": top}
        found = api.get(LabPage[FoundPassage], "kb", "search", **asked)
    shown = [
        f"{each.ref}  {one_line(each.title)}\n  {one_line(each.source)}\n{_indented(each.content)}"
        for each in found.items
    ]
    output = current()
    output.result({"results": found.document()["items"]}, "\n\n".join(shown))
    if not shown:
        output.note(say("lab.kb.nothing"))


@kb.command("rm", cls=Command, key="lab.kb.rm")
@click.argument("namespace", metavar="NAMESPACE")
@click.argument("documents", nargs=-1, metavar="[DOCUMENT...]")
@option("--folder", default="", metavar="FOLDER", key="lab.kb.folder")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def rm(namespace: str, documents: Sequence[str], folder: str, yes: bool, **where: Unpack[StoreFlags]) -> None:
    """Remove documents, or all of a namespace or folder."""
    output = current()
    with lab_api(**where) as api:
        known = _documents(api, namespace, folder)
        gone = [each for each in known if not documents or each.document in documents]
        if not gone:
            output.result({"removed": 0, "delta": None})
            output.note(say("lab.kb.nothing_to_remove"))
            return
        if not yes:
            confirm(say("lab.kb.confirm", count=f"{len(gone):,}", namespace=one_line(namespace)))
        target, delta = _Target(api, namespace), None
        for place in dict.fromkeys(each.folder for each in gone):
            names = [each.document for each in gone if each.folder == place]
            for start in range(0, len(names), MAX_TOGETHER):
                delta = target.remove(place, names[start : start + MAX_TOGETHER], delta)
    output.result({"removed": len(gone), "delta": delta}, delta or "")
    output.note(say("lab.kb.removed", count=f"{len(gone):,}"), good=True)
    output.note(say("lab.kb.undo", command=f"codexmem undo {delta}"))


def _indented(content: str) -> str:
    return "\n".join(f"  {line}" for line in printable(content).splitlines())
