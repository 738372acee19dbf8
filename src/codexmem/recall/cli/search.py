"""`codexmem search`: the one search, from a terminal. To find nothing is an answer, not a failure.

`codexmem recent`: what was remembered last.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from codexmem.console import memory_lines
from codexmem.console.backend import Answer, Backend, backend
from codexmem.console.command import Command, current, option
from codexmem.console.dates import DateRange, day_of, moment_of, stretch
from codexmem.console.memory_lines import FAIR, strength
from codexmem.console.messages import say, say_note
from codexmem.console.output import table
from codexmem.console.scope import Scope, scope_options
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cells, one_line
from codexmem.kernel.model.memory import Kind, Status

_LIMIT = 10
_FACETS = ("type", "concept", "file", "tag", "role")
_HYBRID = "hybrid"
_WHERE = ("tenant", "data_dir", "database_url")


@click.command("search", cls=Command, key="search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@scope_options
@option("--kind", "kinds", multiple=True, type=click.Choice([each.value for each in Kind]), key="search.kind")
@option("--type", "type", multiple=True, metavar="TYPE", key="search.type")
@option("--concept", multiple=True, metavar="CONCEPT", key="search.concept")
@option("--file", multiple=True, metavar="FILE", key="search.file")
@option("--tag", multiple=True, metavar="TAG", key="search.tag")
@option("--role", multiple=True, metavar="ROLE", key="search.role")
@option("--status", "statuses", multiple=True, type=click.Choice([each.value for each in Status]), key="search.status")
@option("--session", metavar="SESSION", key="search.session")
@option("--since", type=stretch, metavar="DATE", key="search.since")
@option("--until", type=stretch, metavar="DATE", key="search.until")
@option("--as-of", type=stretch, metavar="DATE", key="search.as_of")
@option("--min-score", type=float, metavar="X", key="search.min_score")
@option("-n", "--limit", type=int, default=_LIMIT, metavar="N", key="search.limit")
@option("--offset", type=int, default=0, metavar="N", key="search.offset")
@option("--unit", type=click.Choice(["memory", "session"]), default="memory", key="search.unit")
@option("--recipe", default="default", metavar="NAME", key="search.recipe")
@option("--explain", is_flag=True, key="search.explain")
@tenant_option
@store_options
def search(query: Sequence[str], project: str | None, all_projects: bool, **given: Any) -> None:
    """Find memories."""
    scope = Scope(project, all_projects=all_projects)
    asked = _asked(" ".join(query), scope, **{name: given[name] for name in given if name not in _WHERE})
    with backend(**{name: given[name] for name in _WHERE}) as store:
        answer = store.post("/api/memories/search", asked)
        barren = [] if answer["results"] else scope.nothing(store)
    words = memory_lines.pattern(asked["query"])
    for entry in answer["results"]:
        entry["snippet"] = memory_lines.snippet(entry, words, memory_lines.SNIPPET)
    output = current()
    output.result(answer, _lines(answer, paint=output.paint))
    for note in barren or _notes(asked, answer, scope):
        output.note(note)


def _asked(text: str, scope: Scope, *, since: DateRange | None, until: DateRange | None, as_of: DateRange | None,
           **rest: Any) -> dict[str, Any]:  # fmt: skip
    times = {
        "created_from_ms": since.first_ms if since else None,
        "created_to_ms": until.last_ms if until else None,
        "as_of_ms": as_of.last_ms if as_of else None,
    }
    # Any text is legal to ask for; what no memory can hold finds nothing and cannot be sent.
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    return {"query": text, "projects": scope.projects, **times, **rest}


def _lines(answer: Answer, *, paint: bool) -> str:
    """Each result with what shows why it was found, and with what speaks for it where that was asked for."""
    results = answer["results"]
    shown: list[str] = []
    widest = max((cells(strength(entry["score"])) for entry in results), default=0)
    for entry in results:
        rank, said = str(entry["rank"]).rjust(len(str(results[-1]["rank"]))), strength(entry["score"])
        head = f"{rank}  {said}{' ' * (widest - cells(said))}  "
        shown += memory_lines.listed(head, entry, *memory_lines.facts_of(entry), *memory_lines.marks_of(entry))
        shown += memory_lines.snippet_lines(entry, answer["query"], paint=paint)
        shown += _signals(entry["signals"])
    return "\n".join(shown)


def _signals(signals: Mapping[str, float]) -> list[str]:
    """The signals that count most first, each with its part of the sum that decided the place."""
    if not signals:
        return []
    ordered = sorted(signals.items(), key=lambda each: (-abs(each[1]), each[0]))
    return [f"      {line}" for line in table([[name, f"{share:+.3f}"] for name, share in ordered]).splitlines()]


def _notes(asked: Mapping[str, Any], answer: Answer, scope: Scope) -> list[str]:
    """What a person should know beside the results: whether and how they were found, and what to try next."""
    by_both, results = answer["mode"] == _HYBRID, answer["results"]
    notes = [say("search.by_both" if by_both else "search.by_words"), *map(say_note, answer["notes"])]
    if scope.own:
        notes[0] = say("scope.in_project", found=notes[0], project=scope.own)
    if asked["explain"]:
        sources = ", ".join(f"{name} {count}" for name, count in answer["sources"].items())
        notes.append(say("search.effort", sources=sources, ms=f"{answer['timings_ms'].get('total', 0.0):.0f}"))
    if results:
        best = max(found["score"] for found in results)
        if best < FAIR and not asked["offset"]:
            notes.append(say("search.unlikely"))
        if answer["more"]:
            notes.append(say("search.more", offset=asked["offset"] + asked["limit"]))
        return notes
    if asked["offset"]:
        return [*notes, say("search.beyond", offset=asked["offset"])]
    notes.append(say("search.nothing"))
    if scope.own:
        notes.append(say("scope.look_elsewhere"))
    if filters := _narrowing(asked, scope):
        notes.append(say("search.try_filters", filters=filters))
    if asked["min_score"]:
        notes.append(say("search.try_score", score=asked["min_score"]))
    elif asked["min_score"] is None:
        notes.append(say("search.try_all"))
    if not by_both:
        notes.append(say("search.try_words"))
    return notes


def _narrowing(asked: Mapping[str, Any], scope: Scope) -> str:
    """The filters in force, as they were given on the command line."""
    given: list[tuple[str, str]] = [] if scope.own else [("project", each) for each in scope.projects]
    given += [("kind", each) for each in sorted(asked["kinds"])]
    given += [("status", each) for each in sorted(asked["statuses"])]
    given += [(facet, value) for facet in _FACETS for value in sorted(asked[facet])]
    if asked["session"] is not None:
        given.append(("session", asked["session"]))
    for name, field in (("since", "created_from_ms"), ("until", "created_to_ms")):
        if asked[field] is not None:
            given.append((name, day_of(asked[field])))
    return " ".join(f"--{name} {one_line(value)}" for name, value in given)


_KINDS = ("observation", "summary", "prompt", "note", "qa", "knowledge", "lesson")
_WRITTEN = tuple(kind for kind in _KINDS if kind != "prompt")  # what somebody asked is not what is known


@click.command("recent", cls=Command, key="recent")
@scope_options
@option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), key="recent.kind")
@option("--life", "lives", multiple=True, type=click.Choice(list(memory_lines.LIVES)), key="recent.life")
@option("--mark", "marks", multiple=True, type=click.Choice(list(memory_lines.MARKS)), key="recent.mark")
@option("-n", "--limit", type=click.IntRange(1, 200), default=10, metavar="N", key="recent.limit")
@tenant_option
@store_options
def recent(project: str | None, all_projects: bool, kinds: tuple[str, ...], lives: tuple[str, ...],
           marks: tuple[str, ...], limit: int, **where: Any) -> None:  # fmt: skip
    """List the newest memories."""
    scope = Scope(project, all_projects=all_projects)
    with backend(**where) as store:
        rows, more = _newest(store, scope, list(kinds or _WRITTEN), list(lives), list(marks), limit)
        barren = [] if rows else scope.nothing(store)
    document = {"projects": scope.projects, "kinds": list(kinds or _WRITTEN), "memories": rows, "more": more}
    output = current()
    output.result(document, "\n".join(line for row in rows for line in _recent_lines(row)))
    for note in barren if not rows else [say("recent.in_project", project=scope.own)] if scope.own else []:
        output.note(note)
    if not rows and not barren:
        output.note(say("search.nothing"))
    if more:
        output.note(say("recent.more", limit=limit))


def _newest(store: Backend, scope: Scope, kinds: list[str], lives: list[str], marks: list[str], limit: int
            ) -> tuple[list[Answer], bool]:  # fmt: skip
    wanted: list[dict[str, Any]] = [{"shared": True} if not each else {"project": each} for each in scope.projects]
    asked = {"kind": kinds, "life": lives, "mark": marks}
    pages = [_page(store, {**asked, **each}, limit) for each in wanted or [{}]]
    rows = sorted((row for page, _ in pages for row in page), key=lambda row: (-row["created_ms"], -row["seq"]))
    return rows[:limit], len(rows) > limit or any(more for _, more in pages)


def _page(store: Backend, asked: Mapping[str, object], limit: int) -> tuple[list[Answer], bool]:
    """So many rows, if there are; the server looks at some thousands of memories at a time."""
    rows: list[Answer] = []
    cursor: str | None = ""
    while cursor is not None and len(rows) < limit:
        page = store.get("/api/memories", **asked, limit=limit - len(rows), cursor=cursor)
        rows, cursor = rows + page["items"], page["next_cursor"]
    return rows, cursor is not None


def _recent_lines(row: Answer) -> list[str]:
    entry = {**row, "label": row["ref"], "content": row["snippet"]}
    kind, _, project = memory_lines.facts_of(entry)
    told = [say(memory_lines.LIVES[row["life"]])] if row["life"] not in {"active", "proposed"} else []
    told += memory_lines.marks_of(row)
    return memory_lines.listed("", entry, kind, moment_of(row["created_ms"]), project, *told)
