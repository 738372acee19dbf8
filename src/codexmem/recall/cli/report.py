"""`codexmem report`: what the memory of a project gave and cost on the last days.

Only what was counted is told: the figures are those of the Brief, and what is not on record is said to be so.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from codexmem.console.backend import Answer, backend
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.own_project import own_project
from codexmem.console.store import store_options, tenant_option
from codexmem.recall.brief_model import MAX_COST_DAYS

_WEEK = 7
_TYPES = 4  # of what was learned, the most frequent


@click.command("report", cls=Command, key="report")
@option("--week", is_flag=True, key="report.week")
@option("--days", type=click.IntRange(1, MAX_COST_DAYS), metavar="N", key="report.days")
@option("--project", metavar="PROJECT", key="report.project")
@tenant_option
@store_options
def report(week: bool, days: int | None, project: str | None, **where: Any) -> None:
    """Tell what was handed over, used, corrected, learned and paid."""
    if week and days is not None:
        raise UsageProblem(say("report.one"), hint=say("usage.see_help", command="codexmem report"))
    name, number = own_project() if project is None else project, days or _WEEK
    with backend(**where) as store:
        cost = store.get("/api/brief/cost", project=name, days=number)
        learned = store.get("/api/brief/days", project=name, weeks=-(-number // _WEEK))
    told = _document(name, cost, learned)
    output = current()
    output.result(told, table([*_rows(told)]))
    if not told["whole"]:
        output.note(say("report.partial"))


def _document(project: str, cost: Answer, learned: Answer) -> dict[str, Any]:
    first, last = cost["days"][0]["day"], cost["days"][-1]["day"]
    days = [day for day in learned["days"] if first <= day["day"] <= last]
    types: Counter[str] = Counter()
    for day in days:
        types.update(day["types"])
    given = {name: cost["given"][name] for name in ("starts", "prompts", "tokens", "memories", "used", "corrected")}
    return {
        "project": project, "first": first, "last": last, "given": given,
        "learned": {"memories": sum(day["memories"] for day in days), "days": len(days), "types": dict(types)},
        "cost": {name: cost["total"][name] for name in ("calls", "tokens", "unmeasured")},
        "whole": cost["whole"] and cost["given"]["whole"],
    }  # fmt: skip


def _rows(told: Mapping[str, Any]) -> list[list[str]]:
    given, learned, cost = told["given"], told["learned"], told["cost"]
    handed = {name: _number(given[name]) for name in ("memories", "starts", "prompts", "tokens")}
    types = sorted(learned["types"].items(), key=lambda each: (-each[1], each[0]))[:_TYPES]
    kinds = ", ".join(f"{name} {count:,}" for name, count in types)
    lines = {
        "report.period": say("report.of", project=told["project"] or "-", first=told["first"], last=told["last"]),
        "report.handed": say("report.handed_over", **handed),
        "report.used": say("report.used_of", count=_number(given["used"])),
        "report.corrected": say("report.corrected_of", count=_number(given["corrected"])),
        "report.learned": say("report.learned_on", count=_number(learned["memories"]), days=learned["days"])
        + (f" ({kinds})" if kinds else ""),
        "report.cost": _cost(cost),
    }
    return [[say(name), line] for name, line in lines.items()]


def _cost(cost: Mapping[str, Any]) -> str:
    if not cost["calls"]:
        return say("report.no_model")
    paid = say("report.paid", calls=_number(cost["calls"]), tokens=_number(cost["tokens"]))
    unknown = cost["unmeasured"] if cost["tokens"] is not None else 0
    return paid + (f" ({say('report.unmeasured', count=_number(unknown))})" if unknown else "")


def _number(value: int | None) -> str:
    return say("report.unknown") if value is None else f"{value:,}"
