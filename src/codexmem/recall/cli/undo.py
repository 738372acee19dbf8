"""`codexmem undo`: takes back what an import, a session or an earlier undo wrote. Nothing is lost by it."""

from collections.abc import Mapping
from typing import Any

import click

from codexmem.console.backend import Backend, backend
from codexmem.console.command import Command, current, option
from codexmem.console.confirm import confirm
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.progress import Progress, bar
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import Mode

_SHOWN = 10
_TITLE = 60  # cells


class _Nothing(NotFound):
    """Nothing is there that could be undone; its text comes from the catalogue."""

    spoken = True


@click.command("undo", cls=Command, key="undo")
@click.argument("what", metavar="WHAT")
@option("--strict", is_flag=True, key="undo.strict")
@option("--dry-run", is_flag=True, key="undo.dry_run")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def undo(what: str, strict: bool, dry_run: bool, yes: bool, **where: Any) -> None:
    """Take back what a source or a delta wrote."""
    whose = {"delta" if what.startswith("delta_") else "source": what}
    output = current()
    document: dict[str, Any] = {
        "what": what, "dry_run": dry_run, "delta": None, "restored": 0, "left": 0, "lost_uris": [],
    }  # fmt: skip
    with backend(write=True, **where) as store:
        outline = store.get("/api/undo/preview", **whose, shown=_SHOWN)
        document |= {"memories": outline["memories"], "written_since": outline["written_since"]}
        if not outline["memories"]:
            raise _Nothing(say("undo.nothing", what=one_line(what)), hint=say("undo.nothing_hint"))
        preview = _preview(outline, strict=strict)
        if dry_run:
            output.result(document | {"first": outline["first"]}, preview)
            return
        output.note(preview)
        if not yes:
            confirm(say("undo.confirm", count=f"{outline['memories']:,}"))
        with bar(say("undo.undoing")) as progress:
            document |= _taken_back(store, whose, Mode.STRICT if strict else Mode.SAFE, progress, outline["memories"])
    output.result(document, document["delta"] or "")
    output.note(say("undo.done", count=f"{document['restored']:,}"), good=True)
    if document["left"]:
        output.note(say("undo.left", count=f"{document['left']:,}"), good=False)
    if document["lost_uris"]:
        output.note(say("undo.lost", uris=", ".join(map(one_line, document["lost_uris"]))), good=False)
    if document["delta"]:
        output.note(say("undo.redo", command=f"codexmem undo {document['delta']}"))


def _taken_back(store: Backend, whose: Mapping[str, str], mode: Mode, progress: Progress, total: int) -> dict[str, Any]:
    restored = left = after = 0
    lost: list[str] = []
    into: str | None = None
    while True:
        done = store.post("/api/undo", {**whose, "mode": mode.value, "into": into, "after": after})
        restored, left, into = restored + done["restored"], left + done["left"], done["delta"] or into
        lost += done["lost_uris"]
        progress(restored + left, total)
        if done["after"] is None:
            return {"delta": into, "restored": restored, "left": left, "lost_uris": lost}
        after = done["after"]


def _preview(outline: Mapping[str, Any], *, strict: bool) -> str:
    count = f"{outline['memories']:,}{'+' if outline['more'] else ''}"
    rows = [
        [f"  #{each['seq']}", each["kind"], one_line(each["project"]) or "-", _fate(each, strict=strict),
         cut(one_line(each["title"]), _TITLE)]
        for each in outline["first"]
    ]  # fmt: skip
    lines = [say("undo.would", count=count), table(rows)]
    if outline["memories"] > len(rows):
        lines.append(say("undo.and_more", count=f"{outline['memories'] - len(rows):,}"))
    if outline["written_since"]:
        lines.append(say("undo.since", count=f"{outline['written_since']:,}"))
    return "\n".join(lines)


def _fate(change: Mapping[str, Any], *, strict: bool) -> str:
    if change["written_since"] and not strict:
        return say("undo.stays")
    return say("undo.hidden") if change["op"] == "delete" else say("undo.restored")
