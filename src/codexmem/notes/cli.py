"""`codexmem memory`: notes under addresses, by the same verbs that agents have.

What notes say was written by agents and tools, so none of it reaches a terminal as it stands (see `terminal_width`).
"""

import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.input_text import confirm, text_of
from codexmem.console.messages import say, say_note
from codexmem.console.output import UsageProblem, table
from codexmem.console.own_project import own_project
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cells, cut, one_line, printable
from codexmem.console.tools import Tools, tools
from codexmem.kernel.model.errors import Conflict, InvalidArgument
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.visibility import Visibility
from codexmem.notes import mcp_wire as wire
from codexmem.notes.model import Direction

_PRIORITY = click.IntRange(0, 10)
_VERSION = click.IntRange(1, 2**31 - 1)
_LEAST = 20  # cells of a summary, however narrow the terminal
_COLORS = {"+": "green", "-": "red", "@": "cyan"}
_SHOWN = 20  # addresses that are named
_IMPORTED = (
    "created", "changed", "skipped", "left_deleted", "left_core", "priority_not_taken_over", "addresses_not_taken_over",
)  # fmt: skip


@click.group(
    "memory", cls=Group, key="memory", no_args_is_help=True, also={"list": "ls", "rm": "delete", "show": "read"}
)
def memory() -> None:
    """Notes under addresses."""


def _narrowing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which notes; the options of every list."""
    for decorate in (
        option("--priority-max", type=_PRIORITY, metavar="N", key="memory.priority_max"),
        option("--priority-min", type=_PRIORITY, metavar="N", key="memory.priority_min"),
        option("--domain", metavar="DOMAIN", key="memory.domain"),
    ):
        command = decorate(command)
    return command


@memory.command("read", cls=Command, key="memory.read")
@click.argument("uri", metavar="URI")
@option("--bare", is_flag=True, key="memory.bare")
@tenant_option
@store_options
def read(uri: str, bare: bool, **where: Any) -> None:
    """Show one note, or a view."""
    with tools("notes", **where) as called:
        answer = called.call("read_memory", uri=uri)
    output = current()
    if "content" in answer:
        note = wire.ReadNote.model_validate(answer)
        # To the letter for a program that reads it; a terminal would act upon some letters.
        bare_text = printable(note.content) if sys.stdout.isatty() else note.content
        output.result(note.document(), bare_text if bare else _whole(note), exact=bare)
        return
    view = wire.ReadView.model_validate(answer)
    output.result(view.document(), _view(view))
    _more(view)


@memory.command("create", cls=Command, key="memory.create")
@click.argument("uri", metavar="URI")
@click.argument("content", required=False, metavar="[CONTENT]")
@option("--file", metavar="FILE", key="given.file")
@option("--priority", type=_PRIORITY, default=5, metavar="N", key="memory.priority")
@option("--disclosure", metavar="TEXT", key="memory.disclosure_option")
@option("--project", metavar="PROJECT", key="memory.project")
@option("--visibility", type=click.Choice(list(Visibility)), key="visibility.option")
@tenant_option
@store_options
def create(uri: str, content: str | None, file: str | None, priority: int, disclosure: str | None, project: str | None,
           visibility: str | None, **where: Any) -> None:  # fmt: skip
    """Keep something under an address."""
    text = text_of(content, file)
    with tools("notes", create=True, project=own_project() if project is None else project, **where) as called:
        answer = called.call(
            "create_memory", uri=uri, content=text, priority=priority, disclosure=disclosure, visibility=visibility
        )
    made = wire.CreatedNote.model_validate(answer)
    output = current()
    output.result(made.document(), one_line(made.uri))
    output.note(say("memory.revived" if made.revived else "memory.created", uri=one_line(made.uri)), good=True)
    if made.proposed:
        output.note(say("memory.proposed"))


@memory.command("update", cls=Command, key="memory.update")
@click.argument("uri", metavar="URI")
@click.argument("content", required=False, metavar="[CONTENT]")
@option("--file", metavar="FILE", key="given.file")
@option("--append", is_flag=True, key="memory.append")
@option("--old", metavar="TEXT", key="memory.old")
@option("--new", metavar="TEXT", key="memory.new")
@option("--priority", type=_PRIORITY, metavar="N", key="memory.priority")
@option("--disclosure", metavar="TEXT", key="memory.disclosure_option")
@option("--status", type=click.Choice(("active", "deprecated", "archived")), key="memory.status_option")
@tenant_option
@store_options
def update(uri: str, content: str | None, file: str | None, append: bool, old: str | None, new: str | None,
           priority: int | None, disclosure: str | None, status: str | None, **where: Any) -> None:  # fmt: skip
    """Change what a note says, or what is said about it."""
    if (old is None) != (new is None):
        command = click.get_current_context().command_path
        raise UsageProblem(say("memory.old_and_new"), hint=say("usage.see_help", command=command))
    wants_text = content is not None or file is not None or append
    beside = any(each is not None for each in (old, priority, disclosure, status))
    text = text_of(content, file) if wants_text or not beside else None
    with tools("notes", **where) as called:
        answer = called.call(
            "update_memory", uri=uri, content=text, old_string=old, new_string=new, append=append or None,
            priority=priority, disclosure=disclosure, status=status,
        )  # fmt: skip
    made = wire.UpdatedNote.model_validate(answer)
    output = current()
    output.result(made.document(), one_line(made.uri))
    output.note(say("memory.updated", uri=one_line(made.uri), version=made.version), good=True)
    if made.proposed:
        output.note(say("memory.proposed"))
    _way_back(made.uri, made.previous_version)


@memory.command("delete", cls=Command, key="memory.delete")
@click.argument("uri", metavar="URI")
@option("--force", is_flag=True, key="memory.force")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def delete(uri: str, force: bool, yes: bool, **where: Any) -> None:
    """Hide a note, or erase it for good."""
    with tools("notes", **where) as called:
        if force and not yes:
            confirm(say("memory.confirm_erase", uri=one_line(uri)))
        gone = wire.DeletedNote.model_validate(called.call("delete_memory", uri=uri, force=force or None))
    output = current()
    output.result(gone.document(), one_line(gone.uri))
    output.note(say("memory.erased" if gone.erased else "memory.deleted", uri=one_line(gone.uri)), good=True)
    if not gone.erased:
        _way_back(gone.uri, gone.restorable_version)


@memory.command("alias", cls=Command, key="memory.alias")
@click.argument("target", metavar="URI")
@click.argument("alias_uri", metavar="ALIAS")
@tenant_option
@store_options
def alias(target: str, alias_uri: str, **where: Any) -> None:
    """Give a note one more address."""
    with tools("notes", **where) as called:
        made = wire.AliasedNote.model_validate(called.call("add_alias", target_uri=target, alias_uri=alias_uri))
    output = current()
    output.result(made.document(), one_line(made.alias_uri))
    output.note(say("memory.aliased", alias=one_line(made.alias_uri), uri=one_line(made.uri)), good=True)


@memory.command("search", cls=Command, key="memory.search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@_narrowing
@option("--limit", type=click.IntRange(1, 100), default=10, metavar="N", key="memory.limit")
@tenant_option
@store_options
def search(query: Sequence[str], domain: str | None, priority_min: int | None, priority_max: int | None, limit: int,
           **where: Any) -> None:  # fmt: skip
    """Find notes."""
    with tools("notes", **where) as called:
        answer = called.call(
            "search_memory", query=" ".join(query), domain=domain, priority_min=priority_min,
            priority_max=priority_max, limit=limit,
        )  # fmt: skip
    found = wire.FoundNotes.model_validate(answer)
    output = current()
    output.result(found.document(), _lines(found.memories))
    for note in found.notes:
        output.note(say_note(note))
    _more(found)


@memory.command("ls", cls=Command, key="memory.ls")
@_narrowing
@option("--status", type=click.Choice(["active", "deprecated", "archived", "deleted"]), key="memory.status")
@option("--limit", type=click.IntRange(1, 200), default=20, metavar="N", key="memory.limit")
@tenant_option
@store_options
def ls(domain: str | None, priority_min: int | None, priority_max: int | None, status: str | None, limit: int,
       **where: Any) -> None:  # fmt: skip
    """List notes, the newest first."""
    with tools("notes", **where) as called:
        answer = called.call(
            "list_memories", domain=domain, status=status, priority_min=priority_min, priority_max=priority_max,
            limit=limit,
        )  # fmt: skip
    found = wire.ListedNotes.model_validate(answer)
    current().result(found.document(), _lines(found.memories))
    _more(found)


@memory.command("tree", cls=Command, key="memory.tree")
@option("--domain", metavar="DOMAIN", key="memory.domain")
@tenant_option
@store_options
def tree(domain: str | None, **where: Any) -> None:
    """Draw the addresses as a tree."""
    named = (domain or "").strip().partition("://")[0]
    with tools("notes", **where) as called:
        answer = called.call("read_memory", uri=f"system://index/{named}" if named else "system://index")
    index = wire.ReadView.model_validate(answer)
    current().result(index.document(), _tree(index))
    _more(index)


@memory.command("stats", cls=Command, key="memory.stats")
@tenant_option
@store_options
def stats(**where: Any) -> None:
    """Count notes."""
    with tools("notes", **where) as called:
        counted = wire.CountedNotes.model_validate(called.call("get_memory_stats"))
    rows = [[say("memory.total"), str(counted.total)]]
    rows += [[f"  {status}", str(count)] for status, count in sorted(counted.by_status.items())]
    rows += [[f"  {one_line(domain)}://", str(count)] for domain, count in counted.by_domain.items()]
    rows.append([say("memory.reads"), str(counted.access.total)])
    rows += [[f"  {one_line(each.uri)}", str(each.access_count)] for each in counted.access.most_read]
    current().result(counted.document(), table(rows))


@memory.command("versions", cls=Command, key="memory.versions")
@click.argument("uri", metavar="URI")
@option("--limit", type=click.IntRange(1, 100), default=10, metavar="N", key="memory.limit")
@tenant_option
@store_options
def versions(uri: str, limit: int, **where: Any) -> None:
    """List the versions of a note, the newest first."""
    with tools("notes", **where) as called:
        past = wire.NotePast.model_validate(called.call("get_memory_versions", uri=uri, limit=limit))
    output = current()
    output.result(past.document(), _versions(past.versions))
    if past.status is Status.DELETED:
        output.note(say("memory.is_deleted", uri=one_line(past.uri)), good=False)


@memory.command("diff", cls=Command, key="memory.diff")
@click.argument("uri", metavar="URI")
@click.argument("before", type=_VERSION, required=False, metavar="[VERSION]")
@click.argument("after", type=_VERSION, required=False, metavar="[VERSION]")
@tenant_option
@store_options
def diff(uri: str, before: int | None, after: int | None, **where: Any) -> None:
    """Compare two versions: by default the last two, with one version it and the present one."""
    with tools("notes", **where) as called:
        if before is None or after is None:
            after = _current(called, uri)
            before = before if before is not None else max(1, after - 1)
        found = _compared(called, uri, before, after)
    output = current()
    output.result(found.document(), _diff(found.diff, paint=output.paint))
    for change in _beside(found):
        output.note(change)
    if not found.changes:
        output.note(say("memory.same", before=before, after=after))


@memory.command("rollback", cls=Command, key="memory.rollback")
@click.argument("uri", metavar="URI")
@click.argument("version", type=_VERSION, metavar="VERSION")
@option("--dry-run", is_flag=True, key="memory.dry_run")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def rollback(uri: str, version: int, dry_run: bool, yes: bool, **where: Any) -> None:
    """Let a note say again what it said in an earlier version."""
    output = current()
    with tools("notes", **where) as called:
        shown = _compared(called, uri, _current(called, uri), version)
        if dry_run:
            output.result({"dry_run": True, **shown.document()}, _diff(shown.diff, paint=output.paint))
            for change in _beside(shown):
                output.note(change)
            return
        if not yes:
            for change in (_diff(shown.diff, paint=output.color), *_beside(shown)):
                output.note(change)
            confirm(say("memory.confirm_rollback", uri=one_line(uri), version=version))
        made = wire.RolledBackNote.model_validate(called.call("rollback_memory", uri=uri, version=version))
    output.result(made.document(), one_line(made.uri))
    output.note(say("memory.rolled_back", uri=one_line(made.uri), version=version, now=made.version), good=True)
    _way_back(made.uri, made.previous_version)


@memory.command("export", cls=Command, key="memory.export")
@option("--domain", metavar="DOMAIN", key="memory.domain")
@option("--versions", is_flag=True, key="memory.with_versions")
@option("--relations", is_flag=True, key="memory.with_relations")
@option("--output", "target", metavar="FILE", key="memory.output")
@tenant_option
@store_options
def export(domain: str | None, versions: bool, relations: bool, target: str | None, **where: Any) -> None:
    """Write notes as one document."""
    with tools("notes", **where) as called:
        # Not read into models: of an export nothing is left out that a newer server says.
        document = called.call(
            "export_memories", domain=domain, include_versions=versions or None, include_relations=relations or None
        )
    output = current()
    text = json.dumps(document, ensure_ascii=False, indent=2)
    if target is None:
        output.result(document, text)
    else:
        _write(Path(target), text + "\n")
        output.result({"path": target, "count": document["count"]}, target)
    output.note(say("memory.exported", count=document["count"]), good=True)


@memory.command("import", cls=Command, key="memory.import")
@click.argument("file", metavar="FILE")
@option("--strategy", type=click.Choice(["skip", "overwrite", "merge"]), default="skip", key="memory.strategy")
@option("--keep-priority", is_flag=True, key="memory.keep_priority")
@tenant_option
@store_options
def take_in(file: str, strategy: str, keep_priority: bool, **where: Any) -> None:
    """Take in what `export` wrote, as one delta."""
    try:
        document = json.loads(text_of(None, file))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidArgument(
            f"{file} is not an export of notes", hint="use a file written by codexmem memory export",
            details={"reason": "no_note_document", "path": file},
        )  # fmt: skip
    with tools("notes", create=True, **where) as called:
        answer = called.call("import_memories", data=document, strategy=strategy, keep_priority=keep_priority or None)
    taken = wire.ImportedNotes.model_validate(answer)
    output = current()
    lists: list[tuple[str, Sequence[str]]] = [(name, getattr(taken, name)) for name in _IMPORTED]
    rows = [[name, str(len(uris)), _named(uris)] for name, uris in lists if uris]
    output.result(taken.document(), table(rows) if rows else "")
    output.note(say("memory.imported", created=len(taken.created), changed=len(taken.changed)), good=True)
    if taken.delta:
        output.note(say("import.undo", command=f"codexmem undo {taken.delta}"))


def _current(called: Tools, uri: str) -> int:
    return wire.NotePast.model_validate(called.call("get_memory_versions", uri=uri, limit=1)).current_version


def _compared(called: Tools, uri: str, before: int, after: int) -> wire.ComparedVersions:
    answer = called.call("diff_versions", uri=uri, version1=before, version2=after)
    return wire.ComparedVersions.model_validate(answer)


def _beside(found: wire.ComparedVersions) -> list[str]:
    """What differs beside the content, which the diff shows."""
    return [one_line(change) for change in found.changes if not change.startswith("content:")]


def _way_back(uri: str, version: int | None) -> None:
    command = f"codexmem memory rollback {one_line(uri)} {version}"
    current().note(say("memory.take_back", command=command))


def _more(found: wire.ReadView | wire.FoundNotes | wire.ListedNotes) -> None:
    output = current()
    if not found.memories:
        output.note(say("memory.none"))
    if found.more:
        output.note(say("memory.more", count=found.count))


def _named(uris: Sequence[str]) -> str:
    more = " …" if len(uris) > _SHOWN else ""
    return " ".join(map(one_line, uris[:_SHOWN])) + more


def _write(path: Path, text: str) -> None:
    try:
        # Never over something: an export is often a backup.
        with path.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        raise Conflict(
            f"{path} exists", hint="choose another file", details={"reason": "target_exists", "path": str(path)}
        ) from None
    except OSError as error:
        raise InvalidArgument(
            f"{path} cannot be written: {error.strerror}",
            details={"reason": "bad_target", "path": str(path), "problem": error.strerror},
        ) from None


def _whole(note: wire.ReadNote) -> str:
    """A note with what is known of it, its links and its latest versions."""
    rows = [
        [say("memory.state"), f"P{note.priority}, {note.status}, {say('why.version', version=note.version)}"],
        [say("memory.changed"), _moment(note.updated_at)],
        [say("memory.reads"), str(note.access_count)],
    ]
    if note.aliases:
        rows.append([say("memory.aliases"), ", ".join(map(one_line, note.aliases))])
    if note.disclosure:
        rows.append([say("memory.disclosure"), one_line(note.disclosure)])
    parts = [one_line(note.uri), table(rows), "", printable(note.content)]
    if note.relations:
        parts += ["", say("memory.links"), table([_link(each) for each in note.relations])]
    if note.versions:
        parts += ["", say("why.versions_head"), _versions(note.versions)]
    return "\n".join(parts)


def _view(view: wire.ReadView) -> str:
    """What a view such as system://boot holds."""
    whole = [each for each in view.memories if isinstance(each, wire.WholeNote)]
    if not whole:
        return _lines(_rows(view))
    return "\n\n".join(f"{one_line(each.uri)}  P{each.priority}\n{printable(each.content)}" for each in whole)


def _rows(view: wire.ReadView) -> list[wire.NoteLine]:
    return [each for each in view.memories if isinstance(each, wire.NoteLine)]


def _lines(notes: Sequence[wire.NoteLine]) -> str:
    """One line for each."""
    if not notes:
        return ""
    heads = table([
        [one_line(each.uri), f"P{each.priority}", f"v{each.version}", each.status, each.updated_at[:10]]
        for each in notes
    ]).splitlines()  # fmt: skip
    width = max(map(cells, heads))
    return "\n".join(
        f"{head}{' ' * (width - cells(head))}  {_fitting(one_line(each.summary), width + 2)}".rstrip()
        for head, each in zip(heads, notes, strict=True)
    )


def _versions(found: Iterable[wire.NoteVersionLine]) -> str:
    """A history, the newest first."""
    return table([
        [f"v{each.version}{' *' if each.current else ''}", each.operation, _moment(each.created_at),
         one_line(each.actor), one_line(each.note) or "-"]
        for each in found
    ])  # fmt: skip


def _diff(unified: str, *, paint: bool) -> str:
    """A unified diff, in colour where that is wanted."""
    shown = printable(unified).splitlines()
    if not paint:
        return "\n".join(shown)
    # The first two lines name the versions; they begin like a change and are none.
    return "\n".join(
        click.style(line, bold=True) if place < 2 else click.style(line, fg=_COLORS.get(line[:1]))
        for place, line in enumerate(shown)
    )


@dataclass(slots=True)
class _AddressTree:
    """What stands at an address, and the addresses below it."""

    shown: str = ""
    under: dict[str, "_AddressTree"] = field(default_factory=dict)


def _tree(index: wire.ReadView) -> str:
    """Addresses by domain and path; an alias says what it stands for."""
    roots: defaultdict[str, _AddressTree] = defaultdict(_AddressTree)
    for each in _rows(index):
        for uri in (each.uri, *each.aliases):
            domain, separator, path = uri.partition("://")
            if not separator:
                continue  # a note that lost every address has no place in a tree
            shown = f"P{each.priority}  {one_line(each.summary)}" if uri == each.uri else f"= {each.uri}"
            place = roots[f"{domain}://"]
            for segment in path.split("/"):
                place = place.under.setdefault(segment, _AddressTree())
            place.shown = shown
    drawn: list[str] = []
    for root in sorted(roots):
        drawn.append(root)
        _draw(roots[root], "", drawn)
    return "\n".join(drawn)


def _draw(place: _AddressTree, indent: str, drawn: list[str]) -> None:
    # Paths are at most some hundreds of segments deep, by the length of an address.
    names = sorted(place.under)
    for name in names:
        last = name == names[-1]
        under = place.under[name]
        head = f"{indent}{'└── ' if last else '├── '}{one_line(name)}{'/' if under.under else ''}"
        drawn.append(f"{head}  {_fitting(under.shown, cells(head) + 2)}" if under.shown else head)
        _draw(under, indent + ("    " if last else "│   "), drawn)


def _link(each: wire.NoteLink) -> list[str]:
    there = one_line(each.summary) if each.exists else say("memory.nothing_there")
    return ["  →" if each.direction is Direction.TO else "  ←", one_line(each.relation), one_line(each.uri), there]


def _moment(iso: str) -> str:
    return iso[:19].replace("T", " ")


def _fitting(text: str, used: int) -> str:
    if not sys.stdout.isatty():
        return text
    return cut(text, max(_LEAST, shutil.get_terminal_size().columns - used))
