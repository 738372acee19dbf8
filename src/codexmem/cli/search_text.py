"""Results of a search as people and as programs read them.

People get one line for each: rank, score, label, kind, day, project and title, the title last because it alone has no
bounds. It is cut to the terminal's width, and nowhere else. Programs get everything.
"""

import shutil
import sys
from collections.abc import Mapping
from typing import Any

from codexmem.cli.cells import cells, cut, one_line
from codexmem.cli.dates import day_of
from codexmem.cli.messages import say
from codexmem.cli.output import table
from codexmem.domain import handle
from codexmem.domain.memory import REMEMBERED, VISIBLE, Memory
from codexmem.domain.query import Filter
from codexmem.domain.search import Answer, Found, Search

_LEAST_TITLE = 20  # cells, however narrow the terminal
_INDENT = " " * 6


def document(asked: Search, answer: Answer) -> dict[str, Any]:
    """The whole answer."""
    return {
        "query": asked.text,
        "mode": answer.mode.value,
        "results": [_entry(rank, found) for rank, found in enumerate(answer.results, start=asked.offset + 1)],
        "more": answer.more,
        "notes": list(answer.notes),
        "sources": answer.sources,
        "timings_ms": answer.timings_ms,
        "recipe": asked.recipe,
        "unit": asked.unit.value,
        "limit": asked.limit,
        "offset": asked.offset,
        "min_score": asked.min_score,
        "as_of_ms": asked.as_of_ms,
    }


def _entry(rank: int, found: Found) -> dict[str, Any]:
    memory = found.memory
    return {
        "rank": rank,
        "label": handle.label(memory),
        "score": found.score,
        "signals": found.signals,
        "seq": memory.seq,
        "id": memory.id,
        "kind": memory.kind.value,
        "version": memory.version,
        "origin": memory.origin.value,
        "session": memory.session,
        "source": memory.source,
        "created_ms": memory.created_ms,
        "updated_ms": memory.updated_ms,
        **memory.state.to_json(),
    }


def lines(answer: Answer, offset: int) -> str:
    """One line for each result, with what speaks for it below where that was asked for."""
    if not answer.results:
        return ""
    rows = [
        [str(rank), percent(found.score), one_line(handle.label(found.memory)), _kind(found.memory),
         day_of(found.memory.created_ms), one_line(found.memory.state.project) or "-"]
        for rank, found in enumerate(answer.results, start=offset + 1)
    ]  # fmt: skip
    rows = [[rank.rjust(len(rows[-1][0])), score.rjust(5), *rest] for rank, score, *rest in rows]
    heads = _padded(table(rows))
    shown = []
    for head, found in zip(heads, answer.results, strict=True):
        shown.append(f"{head}  {_fitting(_title(found.memory), cells(head) + 2)}")
        shown += _why(found.signals)
    return "\n".join(shown)


def percent(score: float) -> str:
    """A probability as people say it; only what is impossible is 0 %, and only what is certain 100 %."""
    if 0.0 < score < 0.01:
        return "<1 %"
    return f"{min(99, round(100 * score)) if score < 1.0 else 100} %"


def effort(answer: Answer) -> str:
    """How many candidates each source gave, and how long it took."""
    sources = ", ".join(f"{name} {count}" for name, count in answer.sources.items())
    return say("search.effort", sources=sources, ms=f"{answer.timings_ms.get('total', 0.0):.0f}")


def narrowing(wanted: Filter) -> str:
    """The filters in force, as they were given on the command line."""
    given: list[tuple[str, str]] = []
    if wanted.project is not None:
        given.append(("project", wanted.project))
    if wanted.kinds != REMEMBERED:
        given += [("kind", kind.value) for kind in sorted(wanted.kinds)]
    if wanted.statuses != VISIBLE:
        given += [("status", status.value) for status in sorted(wanted.statuses)]
    given += [(facet, value) for facet, values in wanted.facets for value in sorted(values)]
    if wanted.session is not None:
        given.append(("session", wanted.session))
    if wanted.created_from_ms is not None:
        given.append(("since", day_of(wanted.created_from_ms)))
    if wanted.created_to_ms is not None:
        given.append(("until", day_of(wanted.created_to_ms)))
    return " ".join(f"--{name} {one_line(value)}" for name, value in given)


def _kind(memory: Memory) -> str:
    return f"{memory.kind.value}/{one_line(memory.state.type)}" if memory.state.type else memory.kind.value


def _title(memory: Memory) -> str:
    return one_line(memory.state.title) or one_line(memory.state.content) or say("search.no_words")


def _padded(text: str) -> list[str]:
    """The lines of a table, all as wide as the widest."""
    found = text.splitlines()
    width = max(map(cells, found))
    return [line + " " * (width - cells(line)) for line in found]


def _fitting(title: str, used: int) -> str:
    if not sys.stdout.isatty():
        return title
    return cut(title, max(_LEAST_TITLE, shutil.get_terminal_size().columns - used))


def _why(signals: Mapping[str, float]) -> list[str]:
    """The signals that count most first, each with its part of the sum that decided the place."""
    if not signals:
        return []
    ordered = sorted(signals.items(), key=lambda each: (-abs(each[1]), each[0]))
    rows = [[name, f"{share:+.3f}"] for name, share in ordered]
    return [_INDENT + line for line in table(rows).splitlines()]
