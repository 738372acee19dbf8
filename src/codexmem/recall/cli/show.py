"""`codexmem show`: the whole text of one memory, of whatever kind."""

from typing import Any

import click

from codexmem.console.backend import Answer, backend
from codexmem.console.command import Command, current
from codexmem.console.dates import moment_of
from codexmem.console.input_text import path_of
from codexmem.console.memory_lines import marks_of, status_of
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import one_line, printable

_INNER = frozenset({"blobs", "events", "discovery_tokens", "prompt_number"})  # for `why`, `stale` and programs


@click.command("show", cls=Command, key="show")
@click.argument("name", nargs=-1, required=True, metavar="REF")
@tenant_option
@store_options
def show(name: tuple[str, ...], **where: Any) -> None:
    """Print one memory."""
    with backend(**where) as store:
        found = store.get(path_of("/api/memories/named", name))
    current().result(found, _text(found))


def _text(found: Answer) -> str:
    content = printable(found["content"])
    title = one_line(found["title"])
    head = one_line(found["label"]) + (f"  {title}" if title and title != content.strip() else "")
    kind = f"{found['kind']}/{one_line(found['type'])}" if found["type"] else found["kind"]
    version = say("why.version", version=found["version"])
    rows = [
        [say("why.kind"), f"{kind}, {status_of(found)}, {version}"],
        *([[say("show.marks"), ", ".join(told)]] if (told := _life(found)) else []),
        [say("why.made"), moment_of(found["created_ms"])],
        [say("why.project"), one_line(found["project"]) or say("scope.no_project")],
        *([[say("why.addresses"), ", ".join(map(one_line, found["uris"]))]] if found["uris"] else []),
        *([name, value] for name, value in _more(found)),
    ]
    return "\n".join((head, table(rows), "", content))


def _life(found: Answer) -> list[str]:
    """What its status does not say: that another memory took its place, and what a person decided about it."""
    superseded = [say("life.superseded")] if found.get("life") == "superseded" else []
    return superseded + marks_of(found)


def _more(found: Answer) -> list[tuple[str, str]]:
    """What its kind has beside the text, unless the text says it."""
    told = []
    for name, value in found["attrs"].items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if name not in _INNER and text.strip() and text not in found["content"]:
            told.append((name.replace("_", " "), one_line(text)))
    return told
