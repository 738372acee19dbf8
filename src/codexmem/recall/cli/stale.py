"""`codexmem stale`: memories whose files have changed in the checkout that it is called in, and their renewal.

The server hands out stamps, this machine has the files: both need not be on one machine. All of a project's stamps are
read once, a page at a time, and each file of them once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from codexmem.console.backend import Answer, Backend, backend
from codexmem.console.command import Command, current, option
from codexmem.console.dates import day_of
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.own_project import own_folder
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line
from codexmem.kernel.model.errors import NotFound
from codexmem.recall.staleness import CheckoutFiles, FileFreshness, FileState, StaleVerdict

_PAGE = 500
_AT_ONCE = 200  # memories in one renewal
_TITLE, _PATH = 60, 60  # cells
# What is listed, in this order, and the word for it.
_LISTED = {
    FileFreshness.CHANGED: "stale.changed",
    FileFreshness.NEARBY: "stale.nearby",
    FileFreshness.MOVED: "stale.moved",
    FileFreshness.GONE: "stale.gone",
}


class _NoCheckout(NotFound):
    """There is nothing to compare with; its text comes from the catalogue."""

    spoken = True


class _NotStale(NotFound):
    """There is nothing to renew; its text comes from the catalogue."""

    spoken = True


@dataclass(frozen=True, slots=True)
class _Stale:
    """One memory whose files are not as they were."""

    row: Answer
    verdict: StaleVerdict

    def document(self) -> dict[str, Any]:
        files = [
            {"path": each.path, "state": each.freshness.value, "moved_to": each.moved_to or None}
            for each in self.verdict.files
        ]
        kept = {name: self.row[name] for name in ("ref", "seq", "kind", "type", "title", "created_ms", "version")}
        return {**kept, "state": self.verdict.freshness.value, "files": files}

    def cells(self) -> list[str]:
        row = self.row
        return [
            one_line(row["ref"]), say(_LISTED[self.verdict.freshness]), day_of(row["created_ms"]),
            cut(one_line(row["title"]), _TITLE), cut(self._files(), _PATH),
        ]  # fmt: skip

    def _files(self) -> str:
        """The first file that is not as it was, and how many more there are."""
        others = [each for each in self.verdict.files if each.freshness in _LISTED]
        first = _spelled(others[0])
        return say("stale.and_more", path=first, count=len(others) - 1) if len(others) > 1 else first


@click.command("stale", cls=Command, key="stale")
@option("--project", metavar="PROJECT", key="stale.project")
@option("--renew", "renewed", multiple=True, metavar="ID", key="stale.renew")
@option("--renew-all", is_flag=True, key="stale.renew_all")
@option("--commits", is_flag=True, key="stale.commits")
@option("-n", "--limit", type=click.IntRange(1, 10_000), default=50, metavar="N", key="stale.limit")
@tenant_option
@store_options
def stale(project: str | None, renewed: tuple[str, ...], renew_all: bool, commits: bool, limit: int,
          **where: Any) -> None:  # fmt: skip
    """Compare memories with the files of this checkout."""
    if renewed and renew_all:
        command = click.get_current_context().command_path
        raise UsageProblem(say("stale.one"), hint=say("usage.see_help", command=command))
    folder = own_folder()
    checkout = CheckoutFiles.around(folder, bounded=False)
    if checkout is None:
        raise _NoCheckout(say("stale.no_checkout", folder=folder), hint=say("stale.no_checkout_hint"))
    name = project or checkout.project
    with backend(write=bool(renewed or renew_all), **where) as store:
        checked, left, found = _compared(store, checkout, name, commits=commits or bool(renewed))
        if renewed or renew_all:
            _renew(store, checkout, name, _chosen(found, renewed), found, named=bool(renewed))
            return
    _tell(checkout, name, checked, left, found, limit)


def _compared(store: Backend, checkout: CheckoutFiles, project: str, *, commits: bool) -> tuple[int, int, list[_Stale]]:
    """How many were compared, how many commits were left out, and those that are not as their files are."""
    checked, left, found = 0, 0, []
    for row in _rows(store, project):
        if row["commit"] and not commits:
            left += 1
            continue
        checked += 1
        verdict = checkout.judged(row["blobs"])
        if verdict.freshness in _LISTED:
            found.append(_Stale(row, verdict))
    return checked, left, found


def _rows(store: Backend, project: str) -> Iterator[Answer]:
    cursor: str | None = None
    while True:
        page = store.get("/api/memories/stamped", project=project, limit=_PAGE, cursor=cursor)
        yield from page["items"]
        if (cursor := page["cursor"]) is None:
            return


def _chosen(found: Sequence[_Stale], named: Sequence[str]) -> list[_Stale]:
    """Those that are named; without names, all that have a file left."""
    if not named:
        return [each for each in found if each.verdict.freshness is not FileFreshness.GONE]
    by_number = {each.row["seq"]: each for each in found}
    chosen: dict[int, _Stale] = {}
    for name in named:
        digits = name.strip().removeprefix("#").lstrip("Ss")
        each = by_number.get(int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None
        if each is None:
            raise _NotStale(say("stale.not_stale", ref=one_line(name)), hint=say("stale.not_stale_hint"))
        chosen[each.row["seq"]] = each
    return list(chosen.values())


def _renew(store: Backend, checkout: CheckoutFiles, project: str, chosen: Sequence[_Stale],
           found: Sequence[_Stale], *, named: bool) -> None:  # fmt: skip
    items = [{"seq": each.row["seq"], "blobs": checkout.renewed(each.row["blobs"])} for each in chosen]
    renewed: list[int] = []
    deltas: list[str] = []
    for start in range(0, len(items), _AT_ONCE):
        done = store.post("/api/memories/renew", {"items": items[start : start + _AT_ONCE]})
        renewed += done["renewed"]
        deltas += [done["delta"]] if done["delta"] else []
    left = sorted({each.row["seq"] for each in found} - {each.row["seq"] for each in chosen})
    output = current()
    output.result(
        {"project": project, "root": checkout.root, "renewed": renewed, "left": left, "deltas": deltas},
        "\n".join(f"#{seq}" for seq in renewed),
    )
    output.note(say("stale.renewed", count=f"{len(renewed):,}"), good=True)
    gone = sum(each.verdict.freshness is FileFreshness.GONE for each in found if each.row["seq"] in left)
    if gone and not named:
        output.note(say("stale.left", count=f"{gone:,}"))
    for delta in deltas:
        output.note(say("stale.undo", command=f"codexmem undo {delta}"))


def _tell(checkout: CheckoutFiles, project: str, checked: int, left: int, found: Sequence[_Stale], limit: int) -> None:
    order = {each: place for place, each in enumerate(_LISTED)}
    shown = sorted(found, key=lambda each: (order[each.verdict.freshness], -each.row["created_ms"]))[:limit]
    counts = Counter(each.verdict.freshness.value for each in found)
    by_state = {each.value: counts[each.value] for each in _LISTED}
    output = current()
    output.result(
        {
            "project": project, "root": checkout.root, "checked": checked, "commits_left_out": left, "counts": by_state,
            "memories": [each.document() for each in shown], "more": len(found) > len(shown),
        },
        table([each.cells() for each in shown]) if shown else "",
    )  # fmt: skip
    if found:
        counted = {name: f"{count:,}" for name, count in by_state.items()}
        output.note(say("stale.found", project=one_line(project), checked=f"{checked:,}", **counted))
        if len(found) > len(shown):
            output.note(say("stale.more", limit=limit))
        output.note(say("stale.next", command=f"codexmem stale --renew {shown[0].row['seq']}"))
    elif checked:
        output.note(say("stale.none", project=one_line(project), count=f"{checked:,}"), good=True)
    elif not left:
        output.note(say("stale.nothing", project=one_line(project)))
    if left:
        output.note(say("stale.left_out", count=f"{left:,}"))


def _spelled(state: FileState) -> str:
    path = one_line(state.path)
    return say("stale.to", path=path, to=one_line(state.moved_to)) if state.moved_to else path
