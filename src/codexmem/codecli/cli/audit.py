"""`mem-codecli audit`: what agents asked for and what was decided, from the log of this machine."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import click

from codexmem.codecli import project_context, surroundings
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.cli.configured import configured
from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import FAILURE, table
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.kernel.model.errors import NotFound

MOST_LOOKED_AT = 50_000  # rows that one list goes through
PATIENCE_MS = 15_000
_WIDE = 60  # cells
_NAME = 30
_PROBLEMS: Mapping[str, str] = {
    "altered": "codecli.audit.altered", "torn": "codecli.audit.torn", "missing": "codecli.audit.missing",
    "misplaced": "codecli.audit.misplaced", "cut": "codecli.audit.cut", "headless": "codecli.audit.headless",
    "forged": "codecli.audit.forged", "no head": "codecli.audit.no_head", "no key": "codecli.audit.no_key",
}  # fmt: skip


@click.group("audit", cls=Group, key="codecli.audit", no_args_is_help=True, also={"list": "ls"})
def audit() -> None:
    """What agents asked for."""


@audit.command("ls", cls=Command, key="codecli.audit.ls")
@option("--limit", type=click.IntRange(1, 1_000), default=20, metavar="N", key="codecli.audit.option_limit")
@option("--tool", default="", metavar="NAME", key="codecli.audit.option_tool")
@option("--decision", type=click.Choice(["allow", "deny"]), key="codecli.audit.option_decision")
@option("--run-id", default="", metavar="ID", key="codecli.audit.option_run")
@option("--project-id", default="", metavar="ID", key="codecli.audit.option_project")
def ls(limit: int, tool: str, decision: str | None, run_id: str, project_id: str) -> None:
    """List the newest requests with their results."""

    def keeps(row: Mapping[str, Any]) -> bool:
        pairs = ((decision, row.get("decision")), (run_id, row.get("run_id")), (project_id, row.get("project_id")))
        return all(not wanted or wanted == found for wanted, found in pairs) and (
            not tool or tool.casefold() == str(row.get("tool", "")).casefold()
        )

    rows = list(islice((row for row in _requests(_log()) if keeps(row)), limit))
    output = current()
    output.result({"items": rows, "count": len(rows)}, table([_line(row) for row in rows]) if rows else "")
    if not rows:
        output.note(say("codecli.audit.nothing"))


@audit.command("show", cls=Command, key="codecli.audit.show")
@click.argument("number", type=click.IntRange(min=1), metavar="NUMBER")
def show(number: int) -> None:
    """Show one row with all that is recorded of it."""
    log = _log()
    row = next((row for row in log.rows(number - 1) if row["seq"] >= number), None)
    if row is None or row["seq"] != number:
        raise NotFound(
            f"the audit log has no row {number}", hint="mem-codecli audit ls shows the newest",
            details={"reason": "codecli_no_row", "number": number},
        )  # fmt: skip
    result = next((each for each in islice(log.rows(number), MOST_LOOKED_AT) if _is_result_of(each, row)), None)
    if result is not None:
        row = {**row, "result": result.get("result"), "duration_ms": result.get("duration_ms")}
    text = "\n".join(f"{name}: {_shown(value)}" for name, value in row.items() if value not in (None, ""))
    current().result(row, text)


@audit.command("verify", cls=Command, key="codecli.audit.verify")
def verify() -> int:
    """Check every row; says which is the first that is not as it was written."""
    found = _log().verify()
    bad = found.bad
    document: dict[str, Any] = {"ok": found.ok, "rows": found.rows, "notes": list(found.notes), "bad": None}
    if bad is not None:
        document["bad"] = {"file": bad.file, "line": bad.line, "seq": bad.seq, "problem": bad.problem}
    output = current()
    if bad is None:
        output.result(document, say("codecli.audit.good", count=found.rows))
        if found.notes:
            output.note(say("codecli.audit.unfinished"), good=False)
        return 0
    where = say("codecli.audit.where", file=bad.file, line=bad.line, seq=bad.seq if bad.seq is not None else "?")
    output.result(document, f"{say(_PROBLEMS[bad.problem])} ({where})")
    output.note(say("codecli.audit.what_now", count=found.rows), good=False)
    return FAILURE


@audit.command("push", cls=Command, key="codecli.audit.push")
@option("--memory-url", metavar="URL", key="codecli.option.memory_url")
@option("--all", "anew", is_flag=True, key="codecli.audit.option_all")
def push(memory_url: str | None, anew: bool) -> int:
    """Send the server what it does not have yet."""
    from codexmem.codecli import audit_push
    from codexmem.codecli.memory_client import MemoryClient

    config = configured({"memory.base_url": memory_url}).config
    patience = max(config.memory.timeout_ms, PATIENCE_MS)
    client = MemoryClient(project_context.place(config, surroundings.environ()), patience)
    told = audit_push.push(_log(), client, anew=anew)
    document = {"sent": told.sent, "new": told.new, "broken": told.broken, "forked": told.forked, "upto": told.upto}
    output = current()
    output.result(document, say("codecli.audit.pushed", sent=told.sent, new=told.new))
    if told.broken or told.forked:
        numbers = ", ".join(map(str, (*told.broken, *told.forked)[:20]))
        output.note(say("codecli.audit.rewritten", numbers=numbers), good=False)
        return FAILURE
    return 0


def _log() -> AuditLog:
    return AuditLog(Path(surroundings.state_dir()) / "audit")


def _requests(log: AuditLog) -> Iterator[dict[str, Any]]:
    """Requests from the newest on, each with its result, which was written after it."""
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for row in islice(log.newest(), MOST_LOOKED_AT):
        call = (str(row.get("run_id", "")), str(row.get("call_id", "")))
        if row.get("kind") == "result":
            results[call] = row
        elif row.get("kind") in {"request", "started"}:
            ended = results.pop(call, {}) if call[1] else {}
            yield {**row, "result": ended.get("result"), "duration_ms": ended.get("duration_ms")}


def _is_result_of(each: Mapping[str, object], row: Mapping[str, Any]) -> bool:
    same = all(each.get(name) == row.get(name) for name in ("run_id", "call_id"))
    return each.get("kind") == "result" and row.get("kind") != "result" and bool(row.get("call_id")) and same


def _line(row: Mapping[str, Any]) -> list[str]:
    said = row.get("arguments") or {}
    about = said.get("command") or " ".join(map(str, (*said.get("paths", ()), *said.get("urls", ())))) or ""
    took = row.get("duration_ms")
    ended = str(row.get("result") or "") + (f" {took} ms" if took is not None else "")
    decided = str(row.get("decision") or say("codecli.audit.unasked"))
    tool = one_line(str(row.get("tool", "")))
    when = one_line(str(row.get("timestamp", "")))[:19]
    return [str(row["seq"]), when, decided, cut(tool, _NAME), cut(one_line(str(about)), _WIDE), ended]


def _shown(value: Any) -> str:
    return printable(value) if isinstance(value, str) else printable(json.dumps(value, ensure_ascii=False))
