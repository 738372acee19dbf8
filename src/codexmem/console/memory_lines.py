"""Memories in a list as people read them: a line that names each, a line of what it is, and for results of a search the
place in its text that shows why it was found.

On a terminal a title that does not fit beside the name has lines of its own, so that it stays readable however narrow
the terminal is. Elsewhere nothing is cut.
"""

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from codexmem.console.dates import day_of
from codexmem.console.messages import say
from codexmem.console.terminal_width import cells, cut, one_line, printable, wrapped

# Where a memory is in its life and what a person decided about it, by the keys of their words.
LIVES = {
    "proposed": "life.proposed", "active": "life.active", "superseded": "life.superseded",
    "deprecated": "life.deprecated", "hidden": "life.hidden", "expired": "life.expired",
}  # fmt: skip
MARKS = {"pinned": "mark.pinned", "withheld": "mark.withheld", "proposed": "mark.proposed",
         "dismissed": "mark.dismissed", "corrected": "mark.corrected", "rewritten": "mark.rewritten"}  # fmt: skip
STRONG, FAIR = 0.4, 0.15  # scores from which a result is called so
_INDENT = " " * 4
_TITLE_LINES = 2
_SNIPPET_LINES = 2
SNIPPET = 200  # characters, where there is no terminal
_LOOKED_AT = 20_000  # characters of a text
_LEAD = 30  # characters before the first word that was found
_WIDTHS = (20, 200)  # of a terminal, whatever it says
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")
_STEM = 4  # characters that a word keeps without its ending
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+")


def width() -> int | None:
    """How wide the terminal is; None where there is none."""
    if not sys.stdout.isatty():
        return None
    least, most = _WIDTHS
    return min(most, max(least, shutil.get_terminal_size().columns))


def listed(head: str, entry: Mapping[str, Any], *facts: str) -> list[str]:
    """The memory's name behind the head, its title, and its facts."""
    room = width()
    named, title = f"{head}{one_line(entry['label'])}", title_of(entry)
    about = " · ".join(fact for fact in facts if fact)
    if room is None or cells(named) + 2 + cells(title) <= room:
        first = [f"{named}  {title}"]
    else:
        first = [cut(named, room), *_indented(wrapped(title, room - len(_INDENT), _TITLE_LINES))]
    return [*first, *_indented([about if room is None else cut(about, room - len(_INDENT))])]


def facts_of(entry: Mapping[str, Any]) -> list[str]:
    """What it is: kind, day and project."""
    kind = f"{entry['kind']}/{one_line(entry['type'])}" if entry["type"] else entry["kind"]
    return [kind, day_of(entry["created_ms"]), one_line(entry["project"]) or say("scope.no_project")]


def marks_of(entry: Mapping[str, Any]) -> list[str]:
    """What a person decided about it or still has to, in words."""
    waits = {"proposed"} if entry.get("life") == "proposed" or entry.get("status") == "candidate" else set()
    return [say(MARKS[mark]) for mark in sorted({*entry.get("marks", ()), *waits})]


def status_of(entry: Mapping[str, object]) -> str:
    """Its status as people call it: nothing that can be shown was deleted."""
    return say("life.hidden") if entry["status"] == "deleted" else str(entry["status"])


def title_of(entry: Mapping[str, Any]) -> str:
    """What it says in one line."""
    return one_line(entry["title"]) or one_line(entry["content"]) or say("search.no_words")


def snippet_lines(entry: Mapping[str, object], query: str, *, paint: bool) -> list[str]:
    """The place that shows why it was found, with the words of the query painted if that is wanted."""
    words, room = pattern(query), width()
    if room is None:
        lines = [snippet(entry, words, SNIPPET)]
    else:
        free = room - len(_INDENT)
        lines = wrapped(snippet(entry, words, _SNIPPET_LINES * free), free, _SNIPPET_LINES)
    if paint and words is not None:
        lines = [words.sub(lambda found: click.style(found[0], bold=True, fg="yellow"), line) for line in lines]
    return _indented(lines)


def snippet(entry: Mapping[str, Any], words: re.Pattern[str] | None, size: int) -> str:
    """As much of the text as shows most of the words, else its beginning; empty where the title says it all."""
    text = " ".join(printable(entry["content"][:_LOOKED_AT]).split())
    if text == title_of(entry):
        return ""
    places = list(words.finditer(text)) if words is not None else []
    if not places:
        return cut(text, size)
    starts = [place.start() for place in places]

    def shown(start: int) -> int:
        return len({place[0].lower() for place in places if start <= place.start() and place.end() <= start + size})

    best = max(starts, key=lambda start: (shown(max(0, start - _LEAD)), -start))
    begin = max(0, best - _LEAD)
    if begin and not _WIDE.match(text, begin):
        begin = text.find(" ", begin, best) + 1 or best
    return ("…" if begin else "") + cut(text[begin:], size - (1 if begin else 0))


def pattern(query: str) -> re.Pattern[str] | None:
    """What finds the words of a query in a text, also with other endings; None if it has none."""
    found: dict[str, None] = {}
    for word in _WORD.findall(query.lower()):
        for run in _WIDE.findall(word):
            found.update(dict.fromkeys(re.escape(run[at : at + 2]) for at in range(max(1, len(run) - 1))))
        for part in filter(None, (*_WIDE.split(word), *word.split("_"))):
            if len(part) > 1 and not _is_small(part) and not _WIDE.search(part):
                found[rf"\b{re.escape(_stem(part))}\w*"] = None
    return re.compile("|".join(sorted(found, key=len, reverse=True)), re.IGNORECASE) if found else None


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word.removesuffix(ending)
    return word


def _is_small(word: str) -> bool:
    from codexmem.kernel.search.stopwords import ENGLISH

    return word in ENGLISH


def _indented(lines: Sequence[str]) -> list[str]:
    return [_INDENT + line for line in lines if line]


def strength(score: float) -> str:
    """A score as people read it."""
    return say("score.strong" if score >= STRONG else "score.fair" if score >= FAIR else "score.weak")


def percent(score: float) -> str:
    """A probability as people say it; only what is impossible is 0 %, and only what is certain 100 %."""
    if 0.0 < score < 0.01:
        return "<1 %"
    return f"{min(99, round(100 * score)) if score < 1.0 else 100} %"
