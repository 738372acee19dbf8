"""`codexmem review`: what waits for a person, of all kinds, and the decisions about it.

What memories say was written by agents and models, so none of it reaches a terminal as it stands (see
`terminal_width`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import click

from codexmem.console.backend import LONG_S, Answer, backend
from codexmem.console.command import Command, Group, current, option
from codexmem.console.dates import day_of
from codexmem.console.memory_lines import width
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.scope import Scope, scope_options
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line
from codexmem.kernel.model.errors import NotFound

_REASONS = ("proposed", "duplicate", "contradiction")
_SIDES = ("newer", "older")
_ONE = re.compile(r"#?([0-9]{1,18})")
_PAIR = re.compile(r"#?([0-9]{1,18}):#?([0-9]{1,18})")
_INDENT = " " * 4
_WORDS = {
    "proposed": "review.is_proposed", "duplicate": "review.is_duplicate", "contradiction": "review.is_contradiction",
    "newer": "review.newer", "older": "review.older",
}  # fmt: skip
_FIELDS = {
    "content": "review.field_text", "title": "review.field_title", "type": "review.field_type",
    "project": "review.field_project", "priority": "review.field_priority", "disclosure": "review.field_disclosure",
}  # fmt: skip
_SIDE = 60  # characters of a value that are shown, before and after
_DONE = {
    "approve": "review.done_approve", "reject": "review.done_reject", "keep": "review.done_keep",
    "reopen": "review.done_reopen", "merge": "review.done_merge", "supersede": "review.done_supersede",
    "hide": "review.done_hide",
}  # fmt: skip


class _NotWaiting(NotFound):
    """No such memory or pair ever waited; its text comes from the catalogue."""

    spoken = True


@click.group("review", cls=Group, key="review", invoke_without_command=True, also={"ls": "list"})
@click.pass_context
def review(context: click.Context) -> None:
    """What waits for a person; the list, unless a command is given."""
    if context.invoked_subcommand is None:
        context.invoke(listed)


@review.command("list", cls=Command, key="review.list")
@scope_options
@option("--reason", "reasons", multiple=True, type=click.Choice(_REASONS), key="review.reason")
@option("-n", "--limit", type=click.IntRange(1, 100), default=20, metavar="N", key="review.limit")
@option("--after", default="", metavar="PLACE", key="review.after")
@tenant_option
@store_options
def listed(project: str | None = None, all_projects: bool = False, reasons: Sequence[str] = (), limit: int = 20,
           after: str = "", **where: Any) -> None:  # fmt: skip
    """List what waits."""
    scope = Scope(project, all_projects=all_projects)
    with backend(**where) as store:
        found: Answer = store.get(
            "/api/review", project=scope.projects, reason=list(reasons), limit=limit, cursor=after
        )  # fmt: skip
    output = current()
    output.result(found, "\n".join(line for item in found["items"] for line in _lines(item)))
    counts = found["counts"]
    if not found["items"]:
        output.note(say("review.nothing"))
    if counts["qa_candidates"]:
        output.note(say("review.qa", count=_counted(counts, "qa_candidates")))
    if found["next_cursor"]:
        totals = {name: _counted(counts, name) for name in _REASONS}
        output.note(say("review.totals", **totals))
        output.note(say("review.more", place=found["next_cursor"]))


@review.command("scan", cls=Command, key="review.scan")
@tenant_option
@store_options
def scan(**where: Any) -> None:
    """Look at what is new now, as the job does some minutes after it was written."""
    claims = found = merged = 0
    deltas: list[str] = []
    with backend(write=True, **where) as store:
        while True:
            done = store.post("/api/review/scan", {}, timeout_s=LONG_S)
            claims, found, merged = claims + done["claims"], found + done["found"], merged + done["merged"]
            deltas += [done["delta"]] if done["delta"] else []
            if not done["more"]:
                break
    output = current()
    output.result({"claims": claims, "found": found, "merged": merged, "deltas": deltas}, "\n".join(deltas))
    output.note(say("review.scanned", claims=claims, found=found, merged=merged), good=True)
    for delta in deltas:
        output.note(say("memory.take_back", command=f"codexmem undo {delta}"))


@review.command("approve", cls=Command, key="review.approve")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@option("--because", default="", metavar="TEXT", key="review.because")
@tenant_option
@store_options
def approve(ids: Sequence[str], because: str, **where: Any) -> None:
    """Agree to what was proposed."""
    _decide("approve", [{"seq": number} for number in _numbers(ids)], because, where)


@review.command("reject", cls=Command, key="review.reject")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@option("--because", default="", metavar="TEXT", key="review.because")
@tenant_option
@store_options
def reject(ids: Sequence[str], because: str, **where: Any) -> None:
    """Hide what was proposed."""
    _decide("reject", [{"seq": number} for number in _numbers(ids)], because, where)


@review.command("keep", cls=Command, key="review.keep")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@option("--off", is_flag=True, key="review.keep_off")
@tenant_option
@store_options
def keep(ids: Sequence[str], off: bool, **where: Any) -> None:
    """Keep both of a pair, or open it again."""
    _decide("reopen" if off else "keep", [{"seq": newer, "other": older} for newer, older in _pairs(ids)], "", where)


@review.command("merge", cls=Command, key="review.merge")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@option("--into", type=click.Choice(_SIDES), default="older", key="review.into")
@option("--because", default="", metavar="TEXT", key="review.because")
@tenant_option
@store_options
def merge(ids: Sequence[str], into: str, because: str, **where: Any) -> None:
    """Let one of a pair take the other over."""
    _decide("merge", _sided(ids, into), because, where)


@review.command("supersede", cls=Command, key="review.supersede")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@option("--because", default="", metavar="TEXT", key="review.because")
@tenant_option
@store_options
def supersede(ids: Sequence[str], because: str, **where: Any) -> None:
    """Let the newer of a pair take the older one's place."""
    _decide("supersede", [{"seq": newer, "other": older} for newer, older in _pairs(ids)], because, where)


@review.command("hide", cls=Command, key="review.hide")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@option("--which", type=click.Choice(_SIDES), default="newer", key="review.which")
@option("--because", default="", metavar="TEXT", key="review.because")
@tenant_option
@store_options
def hide(ids: Sequence[str], which: str, because: str, **where: Any) -> None:
    """Hide one of a pair."""
    _decide("hide", _sided(ids, which), because, where)


def _decide(decision: str, bodies: Sequence[dict[str, Any]], because: str, where: dict[str, Any]) -> None:
    """Send the decisions, each a delta of its own."""
    done: list[Answer] = []
    with backend(write=True, **where) as store:
        for body in bodies:
            try:
                answer = store.post("/api/review/decide", {**body, "decision": decision, "reason": because})
            except NotFound:
                raise _NotWaiting(say("review.unknown", id=_id(body)), hint=say("review.see_list")) from None
            done.append({**body, "decision": decision, **answer})
    output = current()
    output.result({"decided": done, "count": len(done)}, "\n".join(each["delta"] for each in done if each["delta"]))
    for each in done:
        if not each["delta"] and decision not in {"keep", "reopen"}:
            output.note(say("review.settled", id=_id(each)))
            continue
        kept = decision == "reject" and any(row["life"] != "hidden" for row in each["changed"])
        output.note(say("review.done_reject_change" if kept else _DONE[decision], id=_id(each)), good=True)
        if decision != "reopen":
            undo = f"codexmem undo {each['delta']}" if each["delta"] else f"codexmem review keep {_id(each)} --off"
            output.note(say("memory.take_back", command=undo))


def _id(body: Answer) -> str:
    return f"{body['seq']}:{body['other']}" if body.get("other") else str(body["seq"])


def _numbers(ids: Sequence[str]) -> list[int]:
    return [int(_matched(_ONE, given, "review.bad_number")[1]) for given in dict.fromkeys(ids)]


def _pairs(ids: Sequence[str]) -> list[tuple[int, int]]:
    found = (_matched(_PAIR, given, "review.bad_pair") for given in dict.fromkeys(ids))
    return [(int(match[1]), int(match[2])) for match in found]


def _sided(ids: Sequence[str], side: str) -> list[dict[str, Any]]:
    return [
        {"seq": newer, "other": older, "target": newer if side == "newer" else older} for newer, older in _pairs(ids)
    ]


def _matched(pattern: re.Pattern[str], given: str, problem: str) -> re.Match[str]:
    found = pattern.fullmatch(given.strip())
    if found is None:
        command = click.get_current_context().command_path
        raise UsageProblem(say(problem, id=one_line(given)[:40]), hint=say("usage.see_help", command=command))
    return found


def _counted(counts: Answer, name: str) -> str:
    return f"{counts[name]:,}{'+' if counts[name] >= counts['most'] else ''}"


def _lines(item: Answer) -> Iterator[str]:
    """The item's name and reason, and a line for each of its memories."""
    project = one_line(item["newer"]["project"]) or say("scope.no_project")
    share = f"  {item['score']:.0%}" if item["older"] is not None else ""
    yield f"{item['id']}  {say(_WORDS[item['reason']])}{share}  {project}"
    sentences = item["sentences"] or ("", "")
    for side, memory, said in zip(_SIDES, (item["newer"], item["older"]), sentences, strict=True):
        if memory is None:
            continue
        about = f"{one_line(memory['ref'])} · {memory['kind']} · {memory['origin']} · {day_of(memory['created_ms'])}"
        named = f"{say(_WORDS[side])} {about}" if item["older"] is not None else about
        for line in (named, one_line(said or memory["content"])):
            room = width()
            yield f"{_INDENT}{line if room is None else cut(line, room - len(_INDENT))}"
    for change in item["changes"]:
        name = say(_FIELDS[change["field"]]) if change["field"] in _FIELDS else one_line(change["field"])
        before, after = (one_line(_text(change[side])) or say("review.empty") for side in ("before", "after"))
        line = say("review.change", name=name, before=cut(before, _SIDE), after=cut(after, _SIDE))
        room = width()
        yield f"{_INDENT}{line if room is None else cut(line, room - len(_INDENT))}"


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
