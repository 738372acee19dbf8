"""`codexmem forget`: erases memories for good, with their versions and what was captured for them.

`codexmem undo`: takes back what an import, a session or an earlier undo wrote. Nothing is lost by it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from codexmem.console.backend import LONG_S, Backend, backend
from codexmem.console.command import Command, current, option
from codexmem.console.input_text import confirm, path_of
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.progress import Progress, bar
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import Mode

_AT_ONCE = 1_000  # numbers in one request
_TITLE = 60  # cells
_NAMES = ("ids", "session", "project", "source")


class _Nothing(NotFound):
    """Nothing is there that could be erased; its text comes from the catalogue."""

    spoken = True


@click.command("forget", cls=Command, key="forget")
@click.argument("refs", nargs=-1, metavar="[REF]...")
@option("--id", "ids", type=int, multiple=True, metavar="N", key="forget.id")
@option("--session", metavar="SESSION", key="forget.session")
@option("--project", metavar="PROJECT", key="forget.project")
@option("--source", metavar="SOURCE", key="forget.source")
@option("--follow", is_flag=True, key="forget.follow")
@option("--all-after", is_flag=True, key="forget.all_after")
@option("--include-mine", is_flag=True, key="forget.include_mine")
@option("--dry-run", is_flag=True, key="forget.dry_run")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def forget(refs: Sequence[str], ids: Sequence[int], session: str | None, project: str | None, source: str | None,
           follow: bool, all_after: bool, include_mine: bool, dry_run: bool, yes: bool,
           **where: Any) -> None:  # fmt: skip
    """Erase memories for good."""
    wanted = _wanted([*refs, *ids], session, project, source)
    output = current()
    with backend(write=True, **where) as store:
        if "ids" in wanted:
            wanted["ids"] = list(dict.fromkeys([*(_number(store, ref) for ref in refs), *ids]))
        further = {"follow": True, "all_after": all_after} if follow or all_after else {}
        parts = [{**part, **further, "include_mine": include_mine} for part in _parts(wanted)]
        counted = [store.post("/api/forget", {**part, "preview": True}, timeout_s=LONG_S) for part in parts]
        found, more = sum(int(each["found"]) for each in counted), any(each["more"] for each in counted)
        kept = [memory for each in counted for memory in each["kept"]]
        if kept:
            output.note("\n".join([say("forget.kept", count=len(kept)), *_rows(kept)]))
        if not found:
            raise _Nothing(say("forget.nothing", what=_spelled(wanted)), hint=say("forget.nothing_hint"))
        trails = [each["trail"] for each in counted if each.get("trail")]
        along = sum(trail["quoting"] + (trail["after"] if all_after else 0) for trail in trails)
        asked = {"count": f"{found + along:,}{'+' if more else ''}", "what": _spelled(wanted, along)}
        for trail in trails:
            output.note(_trail(trail, all_after=all_after))
        first = [memory for each in counted for memory in each["first"]]
        rest = [say("undo.and_more", count=f"{found - len(first):,}")] if found > len(first) else []
        goes = "\n".join([say("forget.would", **asked), *_rows(first), *rest])
        if dry_run:
            document = {"found": found, "erased": 0, **wanted, "dry_run": True, "trails": trails}
            output.result(document | {"first": first, "kept": kept}, goes)
            return
        output.note(goes)
        if not yes:
            confirm(say("forget.confirm", **asked))
        done = [store.post("/api/forget", part, timeout_s=LONG_S) for part in parts]
    erased = sum(int(each["erased"]) for each in done)
    gone = {"trails": [each["trail"] for each in done]} if further else {}
    output.result({"found": found, "erased": erased, **wanted, **gone}, str(erased + along))
    output.note(say("forget.done", count=f"{erased + along:,}", what=_spelled(wanted, along)), good=True)


def _number(store: Backend, ref: str) -> int:
    """The number of a memory; only one that is named otherwise is asked for."""
    if (bare := ref.removeprefix("#")).isdecimal():
        return int(bare)
    return int(store.get(path_of("/api/memories/named", [ref]))["seq"])


def _trail(trail: Mapping[str, Any], *, all_after: bool) -> str:
    """Where it went: what goes with it, what stays, and which backups still hold it."""
    lines = [say("forget.quoting", count=trail["quoting"])] if trail["quoting"] else [say("forget.not_quoted")]
    lines += _rows(trail["first_quoting"])
    after = say("forget.after_goes" if all_after else "forget.after", count=trail["after"])
    lines += [after, *_rows(trail["first_after"])] if trail["after"] else []
    elsewhere = (trail["events"], trail["captured"], trail["spooled"])
    if any(elsewhere):
        lines.append(say("forget.elsewhere", events=elsewhere[0], captured=elsewhere[1], spooled=elsewhere[2]))
    for backup in trail["backups"]:
        held = say("forget.unknown") if backup["memories"] is None else f"{backup['memories']:,}"
        lines.append(say("forget.backup", name=one_line(backup["name"]), count=held))
    if trail["more"]:
        lines.append(say("forget.more"))
    return "\n".join(lines)


def _rows(memories: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        [f"  {each['ref']}", each["kind"], one_line(each["project"]) or "-",
         cut(one_line(each["title"] or each["snippet"]), _TITLE)]
        for each in memories
    ]  # fmt: skip
    return table(rows).splitlines() if rows else []


def _wanted(*values: Any) -> dict[str, Any]:
    given = {name: value for name, value in zip(_NAMES, values, strict=True) if value}
    if len(given) != 1:
        command = click.get_current_context().command_path
        raise UsageProblem(say("forget.one_of"), hint=say("usage.see_help", command=command))
    return given


def _parts(wanted: dict[str, Any]) -> list[dict[str, Any]]:
    ids = wanted.get("ids")
    if ids is None:
        return [wanted]
    return [{"ids": ids[start : start + _AT_ONCE]} for start in range(0, len(ids), _AT_ONCE)]


def _spelled(wanted: dict[str, Any], along: int = 0) -> str:
    """What was named, and how many go along with it."""
    ((name, value),) = wanted.items()
    if name == "ids":
        said = " ".join(f"#{number}" for number in value[:10]) + (" …" if len(value) > 10 else "")
    else:
        said = f"{name} {one_line(value)}"
    return say("forget.along", what=said, count=f"{along:,}") if along else said


_SHOWN = 100
_LETTERS = {"summary": "S", "prompt": "P"}  # in the names of memories of these kinds


class _NothingToUndo(NotFound):
    """Nothing is there that could be undone; its text comes from the catalogue."""

    spoken = True


@click.command("undo", cls=Command, key="undo")
@click.argument("what", metavar="WHAT")
@option("--strict", is_flag=True, key="undo.strict")
@option("--follow", is_flag=True, key="undo.follow")
@option("--all-after", is_flag=True, key="undo.all_after")
@option("--include-mine", is_flag=True, key="undo.include_mine")
@option("--dry-run", is_flag=True, key="undo.dry_run")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def undo(what: str, strict: bool, follow: bool, all_after: bool, include_mine: bool, dry_run: bool, yes: bool,
         **where: Any) -> None:  # fmt: skip
    """Take back what a source or a delta wrote."""
    whose = {"delta" if what.startswith("delta_") else "source": what}
    mine = {"include_mine": True} if include_mine else {}
    output = current()
    document: dict[str, Any] = {
        "what": what, "dry_run": dry_run, "delta": None, "restored": 0, "left": 0, "lost_uris": [],
    }  # fmt: skip
    with backend(write=True, **where) as store:
        outline = store.get("/api/undo/preview", **whose, **mine, shown=_SHOWN)
        document |= {"memories": outline["memories"], "written_since": outline["written_since"]}
        if not outline["memories"]:
            undone = outline.get("undone") or []
            hint = say("undo.undone_hint", command=f"codexmem undo {undone[0]}") if undone else say("undo.nothing_hint")
            raise _NothingToUndo(say("undo.nothing", what=one_line(what)), hint=hint)
        preview = _preview(outline, strict=strict)
        if follow or all_after:
            trail = store.get("/api/undo/trail", **whose)
            document |= {"trail": trail}
            preview += "\n" + _undo_trail(trail, all_after=all_after)
        if dry_run:
            output.result(document | {"first": outline["first"]}, preview)
            return
        output.note(preview)
        if not yes:
            confirm(say("undo.confirm", count=f"{outline['memories']:,}"))
        with bar(say("undo.undoing")) as progress:
            asked = {**whose, **mine, "mode": (Mode.STRICT if strict else Mode.SAFE).value}
            document |= _taken_back(store, asked, progress, outline["memories"])
        if follow or all_after:
            done = store.post("/api/undo/follow", {**whose, "all_after": all_after}, timeout_s=LONG_S)
            document |= {"followed": done["hidden"], "followed_delta": done["delta"]}
    output.result(document, document["delta"] or "")
    output.note(say("undo.done", count=f"{document['restored']:,}"), good=True)
    if document["left"]:
        output.note(say("undo.left", count=f"{document['left']:,}"), good=False)
    if document["lost_uris"]:
        output.note(say("undo.lost", uris=", ".join(map(one_line, document["lost_uris"]))), good=False)
    if document.get("followed_delta"):
        output.note(
            say("undo.followed", count=document["followed"], command=f"codexmem undo {document['followed_delta']}")
        )
    if document["delta"]:
        output.note(say("undo.redo", command=f"codexmem undo {document['delta']}"))


def _taken_back(store: Backend, asked: Mapping[str, object], progress: Progress, total: int) -> dict[str, Any]:
    restored = left = after = 0
    lost: list[str] = []
    into: str | None = None
    while True:
        done = store.post("/api/undo", {**asked, "into": into, "after": after})
        restored, left, into = restored + done["restored"], left + done["left"], done["delta"] or into
        lost += done["lost_uris"]
        progress(restored + left, total)
        if done["after"] is None:
            return {"delta": into, "restored": restored, "left": left, "lost_uris": lost}
        after = done["after"]


def _preview(outline: Mapping[str, Any], *, strict: bool) -> str:
    count = f"{outline['memories']:,}{'+' if outline['more'] else ''}"
    rows = [[*_changed_row(each)[:-1], _fate(each, strict=strict), _changed_row(each)[-1]] for each in outline["first"]]
    lines = [say("undo.would", count=count), table(rows)]
    if outline["kept"]:
        lines += [say("undo.kept", count=len(outline["kept"])), table([_changed_row(each) for each in outline["kept"]])]
    if outline["memories"] > len(rows):
        lines.append(say("undo.and_more", count=f"{outline['memories'] - len(rows):,}"))
    if outline["written_since"]:
        lines.append(say("undo.since", count=f"{outline['written_since']:,}"))
    return "\n".join(lines)


def _changed_row(change: Mapping[str, Any]) -> list[str]:
    label = f"  #{_LETTERS.get(change['kind'], '')}{change['seq']}"
    return [label, change["kind"], one_line(change["project"]) or "-", cut(one_line(change["title"]), _TITLE)]


def _undo_trail(trail: Mapping[str, Any], *, all_after: bool) -> str:
    after = say("undo.after_goes" if all_after else "undo.after", count=trail["after"])
    named = (*trail["first_quoting"], *(trail["first_after"] if all_after else ()))
    rows = [[f"  {each['ref']}", each["kind"], cut(one_line(each["title"] or each["snippet"]), _TITLE)]
            for each in named]  # fmt: skip
    return "\n".join([say("undo.quoting", count=trail["quoting"]), after, *([table(rows)] if rows else [])])


def _fate(change: Mapping[str, object], *, strict: bool) -> str:
    if change["written_since"] and not strict:
        return say("undo.stays")
    return say("undo.hidden") if change["op"] == "delete" else say("undo.restored")
