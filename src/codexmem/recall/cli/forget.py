"""`codexmem forget`: erases memories for good, with their versions and what was captured for them."""

from collections.abc import Sequence
from typing import Any

import click

from codexmem.console.backend import LONG_S, backend
from codexmem.console.command import Command, current, option
from codexmem.console.confirm import confirm
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.kernel.model.errors import NotFound

_AT_ONCE = 1_000  # numbers in one request
_NAMES = ("ids", "session", "project", "source")


class _Nothing(NotFound):
    """Nothing is there that could be erased; its text comes from the catalogue."""

    spoken = True


@click.command("forget", cls=Command, key="forget")
@option("--id", "ids", type=int, multiple=True, metavar="N", key="forget.id")
@option("--session", metavar="SESSION", key="forget.session")
@option("--project", metavar="PROJECT", key="forget.project")
@option("--source", metavar="SOURCE", key="forget.source")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def forget(ids: Sequence[int], session: str | None, project: str | None, source: str | None, yes: bool,
           **where: Any) -> None:  # fmt: skip
    """Erase memories for good."""
    wanted = _wanted(list(dict.fromkeys(ids)), session, project, source)
    output = current()
    with backend(write=True, **where) as store:
        parts = _parts(wanted)
        counted = [store.post("/api/forget", {**part, "preview": True}) for part in parts]
        found, more = sum(int(each["found"]) for each in counted), any(each["more"] for each in counted)
        if not found:
            raise _Nothing(say("forget.nothing", what=_spelled(wanted)), hint=say("forget.nothing_hint"))
        if not yes:
            confirm(say("forget.confirm", count=f"{found:,}{'+' if more else ''}", what=_spelled(wanted)))
        erased = sum(int(store.post("/api/forget", part, timeout_s=LONG_S)["erased"]) for part in parts)
    output.result({"found": found, "erased": erased, **wanted}, str(erased))
    output.note(say("forget.done", count=f"{erased:,}", what=_spelled(wanted)), good=True)


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


def _spelled(wanted: dict[str, Any]) -> str:
    ((name, value),) = wanted.items()
    if name == "ids":
        return " ".join(f"#{number}" for number in value[:10]) + (" …" if len(value) > 10 else "")
    return f"{name} {one_line(value)}"
