"""Provenance as people read it: what it is, where it came from, who changed it, what belongs to it.

A part that is empty is left out. Texts of memories are one safe line each; only here, programs get them whole.

`codexmem why`: where a memory came from.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from codexmem.console.backend import Answer, backend
from codexmem.console.command import Command, current, option
from codexmem.console.dates import moment_of
from codexmem.console.input_text import path_of, spelled
from codexmem.console.memory_lines import status_of
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.scope import SHARED, Scope
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line
from codexmem.kernel.model.errors import NotFound

_Told = Mapping[str, Any]  # as a server tells it: domain.provenance
_TITLE = 80  # cells
_INDENT = "  "


def text(found: _Told) -> str:
    """The whole answer."""
    parts = [_head(found), table(_origin(found))]
    parts += _part("why.events_head", _events(found), more=found["more_events"])
    parts += _part("why.jobs_head", [_job(job) for job in found["jobs"]])
    parts += _part("why.versions_head", map(_version, found["versions"]), more=found["more_versions"])
    parts += _part("why.deltas_head", [
        [each["id"], each["cause"], one_line(each["subject"]), one_line(each["actor"]), each["status"],
         moment_of(each["created_ms"])]
        for each in found["deltas"]
    ])  # fmt: skip
    parts += _part("why.links_head", map(_relative, found["links"]))
    parts += _part("why.linked_by_head", map(_relative, found["linked_by"]))
    parts += _part("why.derived_head", map(_relative, found["derived"]), more=found["more_derived"])
    told = [[one_line(each["session"]), moment_of(each["at_ms"])] for each in found["told_to"]]
    parts += _part("why.told_head", told, more=found["more_told"])
    return "\n".join(parts)


def _head(found: _Told) -> str:
    memory = found["memory"]
    title = cut(one_line(memory["title"]), _TITLE)
    return f"{one_line(memory['label'])}  {title}".rstrip()


def _origin(found: _Told) -> list[list[str]]:
    memory, session = found["memory"], found["session"]
    rows = [
        [say("why.kind"), f"{memory['kind']}, {status_of(memory)}, {say('why.version', version=memory['version'])}"],
        [say("why.made"), f"{moment_of(memory['created_ms'])}, {say('why.by', origin=memory['origin'])}"],
    ]
    given = {
        "why.project": memory["project"],
        "why.addresses": ", ".join(memory["uris"]),
        "why.source": memory["source"] or "",
        "why.imported": memory["imported"],
        "why.run": found["run"] or "",
        "why.confirmed": say("why.times", count=memory["confirmed"]) if memory["confirmed"] else "",
        "why.unproven": " · ".join(memory["unproven"]),
    }
    if session is not None:
        number = f"session:{session['id']}" if session["id"] is not None else ""
        known = (session["key"], number, session["platform"], session["cwd"])
        given["why.session"] = ", ".join(part for part in known if part)
    if found["prompt"] is not None:
        given["why.prompt"] = f"{found['prompt']['label']}  {cut(one_line(found['prompt']['title']), _TITLE)}"
    return rows + [[say(key), one_line(value)] for key, value in given.items() if value]


def _events(found: _Told) -> list[list[str]]:
    return [
        [str(event["seq"]), moment_of(event["at_ms"]), one_line(event["tool"]) or event["kind"],
         say("why.turn", turn=event["turn"]), "" if event["kept"] else say("why.faded")]
        for event in found["events"]
    ]  # fmt: skip


def _job(job: _Told) -> list[str]:
    who = one_line(job["model"] or job["by"])
    by = say("why.by", origin=who) if who else ""
    if not job["kind"]:
        return [str(job["id"]), say("why.pruned"), "", by, "", ""]
    ended = moment_of(job["ended_ms"]) if job["ended_ms"] is not None else ""
    return [str(job["id"]), job["kind"], job["status"], by, ended, one_line(job["error"] or "")]


def _version(version: _Told) -> list[str]:
    changed = ", ".join(version["changed"])
    return [
        f"v{version['version']}", version["op"], moment_of(version["created_ms"]), one_line(version["actor"]),
        one_line(version["source"] or "") or "-", changed or "-", one_line(version["note"]),
    ]  # fmt: skip


def _relative(relative: _Told) -> list[str]:
    title = cut(one_line(relative["title"]), _TITLE)
    return [one_line(relative["relation"]) or relative["kind"], one_line(relative["label"]), status_of(relative), title]


def _part(key: str, rows: Iterable[Sequence[str]], *, more: bool = False) -> list[str]:
    found = list(rows)
    if not found:
        return []
    lines = [_INDENT + line for line in table(found).splitlines()]
    return [say(key), *lines, *([_INDENT + say("why.more")] if more else [])]


class _OtherProject(NotFound):
    """The memory is there, in another project; its text comes from the catalogue."""

    spoken = True


@click.command("why", cls=Command, key="why")
@click.argument("name", nargs=-1, required=True, metavar="REF")
@option("--versions", type=click.IntRange(1, 50), default=10, metavar="N", key="why.versions")
@option("--events", type=click.IntRange(1, 200), default=20, metavar="N", key="why.events")
@option("--all-projects", is_flag=True, key="scope.all_projects")
@tenant_option
@store_options
def why(name: tuple[str, ...], versions: int, events: int, all_projects: bool, **where: Any) -> None:
    """Say where a memory came from."""
    with backend(**where) as store:
        found: Answer = store.get(path_of("/api/provenance", name), versions=versions, events=events)
    scope = Scope(None, all_projects=all_projects)
    project = found["memory"]["project"]
    if scope.own and project not in {scope.own, SHARED}:
        raise _OtherProject(
            say("why.elsewhere", label=found["memory"]["label"], project=project, own=scope.own),
            hint=say("why.elsewhere_hint", command=f"codexmem why {spelled(name)} --all-projects"),
        )
    current().result(found, text(found))
