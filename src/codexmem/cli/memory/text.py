"""Notes as people read them in a terminal: one in full, many as lines or as a tree, histories and differences.

What notes say was written by agents and tools, so none of it reaches a terminal as it stands (see `cells`).
"""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from codexmem.cli.cells import cells, cut, one_line, printable
from codexmem.cli.messages import say
from codexmem.cli.output import table

Note = Mapping[str, Any]
_LEAST = 20  # cells of a summary, however narrow the terminal
_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def whole(note: Note) -> str:
    """A note with what is known of it, its links and its latest versions."""
    rows = [
        [say("memory.state"), f"P{note['priority']}, {note['status']}, {say('why.version', version=note['version'])}"],
        [say("memory.changed"), _moment(note["updated_at"])],
        [say("memory.reads"), str(note["access_count"])],
    ]
    if note["aliases"]:
        rows.append([say("memory.aliases"), ", ".join(map(one_line, note["aliases"]))])
    if note["disclosure"]:
        rows.append([say("memory.disclosure"), one_line(note["disclosure"])])
    parts = [one_line(note["uri"]), table(rows), "", printable(note["content"])]
    if note.get("relations"):
        parts += ["", say("memory.links"), table([_relation(each) for each in note["relations"]])]
    if note.get("versions"):
        parts += ["", say("why.versions_head"), versions(note["versions"])]
    return "\n".join(parts)


def view(shown: Note) -> str:
    """What a view such as system://boot holds."""
    if not shown["memories"]:
        return ""
    if "summary" in shown["memories"][0]:
        return lines(shown["memories"])
    return "\n\n".join(
        f"{one_line(each['uri'])}  P{each['priority']}\n{printable(each['content'])}" for each in shown["memories"]
    )


def lines(notes: Sequence[Note]) -> str:
    """One line for each."""
    if not notes:
        return ""
    heads = table([
        [one_line(each["uri"]), f"P{each['priority']}", f"v{each['version']}", each["status"], each["updated_at"][:10]]
        for each in notes
    ]).splitlines()  # fmt: skip
    width = max(map(cells, heads))
    return "\n".join(
        f"{head}{' ' * (width - cells(head))}  {_fitting(one_line(each['summary']), width + 2)}".rstrip()
        for head, each in zip(heads, notes, strict=True)
    )


def versions(found: Sequence[Note]) -> str:
    """A history, the newest first."""
    return table([
        [f"v{each['version']}{' *' if each['current'] else ''}", each["operation"], _moment(each["created_at"]),
         one_line(each["actor"]), one_line(each["note"]) or "-"]
        for each in found
    ])  # fmt: skip


def diff(unified: str, *, paint: bool) -> str:
    """A unified diff, in colour where that is wanted."""
    shown = printable(unified).splitlines()
    if not paint:
        return "\n".join(shown)
    # The first two lines name the versions; they begin like a change and are none.
    return "\n".join(
        click.style(line, bold=True) if place < 2 else click.style(line, fg=_COLORS.get(line[:1]))
        for place, line in enumerate(shown)
    )


def tree(notes: Iterable[Note]) -> str:
    """Addresses by domain and path; an alias says what it stands for."""
    roots: dict[str, Any] = {}
    for each in notes:
        for uri in (each["uri"], *each["aliases"]):
            domain, separator, path = uri.partition("://")
            if not separator:
                continue  # a note that lost every address has no place in a tree
            told = f"P{each['priority']}  {one_line(each['summary'])}" if uri == each["uri"] else f"= {each['uri']}"
            place = roots.setdefault(f"{domain}://", {})
            for segment in path.split("/"):
                place = place.setdefault(segment, {})
            place[""] = told  # no segment is empty
    drawn: list[str] = []
    for root in sorted(roots):
        drawn.append(root)
        _draw(roots[root], "", drawn)
    return "\n".join(drawn)


def _draw(place: dict[str, Any], indent: str, drawn: list[str]) -> None:
    # Paths are at most some hundreds of segments deep, by the length of an address.
    names = sorted(name for name in place if name)
    for name in names:
        last = name == names[-1]
        under = place[name]
        head = f"{indent}{'└── ' if last else '├── '}{one_line(name)}{'/' if len(under) > ('' in under) else ''}"
        told = under.get("")
        drawn.append(f"{head}  {_fitting(told, cells(head) + 2)}" if told else head)
        _draw(under, indent + ("    " if last else "│   "), drawn)


def _relation(each: Note) -> list[str]:
    there = one_line(each["summary"]) if each["exists"] else say("memory.nothing_there")
    return ["  →" if each["direction"] == "to" else "  ←", one_line(each["relation"]), one_line(each["uri"]), there]


def _moment(iso: str) -> str:
    return iso[:19].replace("T", " ")


def _fitting(text: str, used: int) -> str:
    if not sys.stdout.isatty():
        return text
    return cut(text, max(_LEAST, shutil.get_terminal_size().columns - used))
