"""`codexmem edit`, `hide`, `pin`, `withhold`, `deprecate`, `share`, `supersede`, `merge` and `split`: acts on memories
of every kind.

Each is one request and one delta: what it did is told with the command that takes it back.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from codexmem.console.backend import Answer, backend
from codexmem.console.command import Command, current, option
from codexmem.console.input_text import text_of
from codexmem.console.memory_lines import LIVES, marks_of
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.kernel.model.visibility import Visibility

_BETWEEN = "---"  # the line between the parts of a file

_refs = click.argument("refs", nargs=-1, required=True, metavar="REF...")
_reason = option("--reason", metavar="TEXT", default="", key="life.reason")


@click.command("edit", cls=Command, key="edit")
@click.argument("ref", metavar="REF")
@click.argument("text", required=False, metavar="[TEXT]")
@option("--file", metavar="FILE", key="given.file")
@option("--title", metavar="TITLE", key="edit.title")
@option("--type", "kind", metavar="TYPE", key="edit.type")
@option("--seen", type=click.IntRange(1), metavar="VERSION", key="edit.seen")
@_reason
@tenant_option
@store_options
def edit(ref: str, text: str | None, file: str | None, title: str | None, kind: str | None, seen: int | None,
         reason: str, **where: Any) -> None:  # fmt: skip
    """Change what one memory says."""
    words = text_of(text, file) if (text, file) != (None, None) or (title, kind) == (None, None) else None
    _act("edit", [ref], {"text": words, "title": title, "type": kind, "seen": seen, "reason": reason}, where)


def _marking(name: str, on: str, off: str, key: str) -> click.Command:
    """A command that does one act or, with --off, its opposite."""

    @click.command(name, cls=Command, key=name)
    @_refs
    @option("--off", is_flag=True, key=key)
    @_reason
    @tenant_option
    @store_options
    def command(refs: Sequence[str], *, reason: str, **rest: Any) -> None:
        where = {key: value for key, value in rest.items() if key != "off"}
        _act(off if rest["off"] else on, refs, {"reason": reason}, where)

    return command


hide = _marking("hide", "hide", "unhide", "hide.off")
pin = _marking("pin", "pin", "unpin", "pin.off")
withhold = _marking("withhold", "withhold", "release", "withhold.off")
deprecate = _marking("deprecate", "deprecate", "unhide", "deprecate.off")


@click.command("share", cls=Command, key="share")
@_refs
@option("--visibility", type=click.Choice(list(Visibility)), required=True, key="share.visibility")
@_reason
@tenant_option
@store_options
def share(refs: Sequence[str], visibility: str, reason: str, **where: Any) -> None:
    """Say who may see memories."""
    _act("share", refs, {"visibility": visibility, "reason": reason}, where)


@click.command("supersede", cls=Command, key="supersede")
@_refs
@option("--by", "newer", required=True, metavar="REF", key="supersede.by")
@_reason
@tenant_option
@store_options
def supersede(refs: Sequence[str], newer: str, reason: str, **where: Any) -> None:
    """Put one memory in the place of others."""
    _act("supersede", refs, {"into": newer, "reason": reason}, where)


@click.command("merge", cls=Command, key="merge")
@_refs
@option("--into", required=True, metavar="REF", key="merge.into")
@option("--text", metavar="TEXT", key="merge.text")
@option("--file", metavar="FILE", key="merge.file")
@_reason
@tenant_option
@store_options
def merge(refs: Sequence[str], into: str, text: str | None, file: str | None, reason: str, **where: Any) -> None:
    """Let one memory take others over."""
    words = text_of(text, file) if (text, file) != (None, None) else None
    _act("merge", refs, {"into": into, "text": words, "reason": reason}, where)


@click.command("split", cls=Command, key="split")
@click.argument("ref", metavar="REF")
@click.argument("parts", nargs=-1, metavar="[TEXT]...")
@option("--file", metavar="FILE", key="split.file")
@_reason
@tenant_option
@store_options
def split(ref: str, parts: tuple[str, ...], file: str | None, reason: str, **where: Any) -> None:
    """Make several memories of one."""
    if parts and file is not None:
        raise UsageProblem(say("given.one"), hint=say("usage.see_help", command="codexmem split"))
    texts = list(parts) if parts else _parts(text_of(None, file))
    _act("split", [ref], {"parts": texts, "reason": reason}, where)


def _parts(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        parts.append([]) if line.strip() == _BETWEEN else parts[-1].append(line)
    return [part for lines in parts if (part := "\n".join(lines).strip())]


def _act(act: str, refs: Sequence[str], more: Mapping[str, Any], where: Mapping[str, Any]) -> None:
    given = {name: value for name, value in more.items() if value is not None}
    with backend(write=True, **where) as store:
        done = store.post("/api/memories/act", {"act": act, "ids": list(refs), **given})
    output = current()
    output.result({"act": act, **done}, "\n".join(map(_line, done["changed"])))
    if done["unchanged"]:
        numbers = " ".join(f"#{seq}" for seq in done["unchanged"])
        output.note(say("life.unchanged", numbers=numbers))
    if done["delta"] is not None:
        output.note(say("life.done", count=len(done["changed"])), good=True)
        output.note(say("undo.redo", command=f"codexmem undo {done['delta']}"))


def _line(changed: Answer) -> str:
    words = [say(LIVES[changed["life"]]), *marks_of(changed)]
    return f"{one_line(changed['ref'])}  {', '.join(words)}"
