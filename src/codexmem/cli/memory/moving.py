"""`codexmem memory export` and `import`: notes as one document, out of a store and into one."""

import json
from pathlib import Path
from typing import Any

import click

from codexmem.cli.cells import one_line
from codexmem.cli.frame import Command, current, option
from codexmem.cli.given import text_of
from codexmem.cli.messages import say
from codexmem.cli.output import table
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.tools import tools
from codexmem.domain.errors import Conflict, InvalidArgument

_SHOWN = 20  # addresses that are named
_TOLD = ("created", "changed", "skipped", "left_deleted", "left_core", "priority_not_taken_over",
         "addresses_not_taken_over")  # fmt: skip


@click.command("export", cls=Command, key="memory.export")
@option("--domain", metavar="DOMAIN", key="memory.domain")
@option("--versions", is_flag=True, key="memory.with_versions")
@option("--relations", is_flag=True, key="memory.with_relations")
@option("--output", "target", metavar="FILE", key="memory.output")
@tenant_option
@store_options
def export(domain: str | None, versions: bool, relations: bool, target: str | None, **where: Any) -> None:
    """Write notes as one document."""
    with tools("notes", **where) as called:
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


@click.command("import", cls=Command, key="memory.import")
@click.argument("file", metavar="FILE")
@option("--strategy", type=click.Choice(["skip", "overwrite", "merge"]), default="skip", key="memory.strategy")
@tenant_option
@store_options
def take_in(file: str, strategy: str, **where: Any) -> None:
    """Take in what `export` wrote, as one delta."""
    try:
        document = json.loads(text_of(None, file))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidArgument(
            f"{file} holds no document of notes", hint="give what codexmem memory export wrote",
            details={"reason": "no_note_document", "path": file},
        )  # fmt: skip
    with tools("notes", create=True, **where) as called:
        taken = called.call("import_memories", data=document, strategy=strategy)
    output = current()
    rows = [[name, str(len(taken[name])), _named(taken[name])] for name in _TOLD if taken[name]]
    output.result(taken, table(rows) if rows else "")
    output.note(say("memory.imported", created=len(taken["created"]), changed=len(taken["changed"])), good=True)
    if taken["delta"]:
        output.note(say("import.undo", command=f"codexmem undo {taken['delta']}"))


def _named(uris: list[str]) -> str:
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
