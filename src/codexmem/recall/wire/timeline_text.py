"""A timeline as text: what happened around an anchor, day by day, observations in tables that reopen with the file."""

from collections.abc import Iterator
from dataclasses import dataclass

from codexmem.kernel.model import text_size
from codexmem.kernel.model.attrs import PromptAttrs
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.recall.timeline import TimelineDepth, TimelineWindow
from codexmem.recall.wire import layout

_HEAD = ("| ID | Time | T | Title | Tokens |", "|----|------|---|-------|--------|")
_ANCHOR = " <- **ANCHOR**"
_QUOTED = 100


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """What the window was asked for by."""

    depth: TimelineDepth
    anchor: str = ""  # as it was given
    query: str = ""


def nothing_for(query: str) -> str:
    """No observation fits a query."""
    return f'No observations found matching "{layout.line(query)}". Try a different search query.'


def timeline(shown: TimelineWindow, asked: TimelineQuery) -> str:
    """The text that a model reads."""
    if not shown.items:
        return f"No records found around {asked.anchor}"
    depth = asked.depth
    lines = [
        *_title(shown, asked),
        f"**Window:** {depth.before} records before -> {depth.after} records after | **Items:** {len(shown.items)}",
        "",
    ]
    for day, made in layout.by_day(shown.items):
        lines += [f"### {day}", "", *_day(made, shown.anchor)]
    return "\n".join(lines).rstrip("\n")


def _title(shown: TimelineWindow, asked: TimelineQuery) -> Iterator[str]:
    if not asked.query:
        yield f"# Timeline around anchor: {layout.line(asked.anchor)}"
        return
    yield f'# Timeline for query: "{layout.line(asked.query)}"'
    if shown.anchor is not None:
        yield f"**Anchor:** Observation #{shown.anchor.seq} - {layout.title_of(shown.anchor)}"


def _day(made: list[Memory], anchor: Memory | None) -> Iterator[str]:
    file, before = "", ""
    for memory in made:
        mark = _ANCHOR if anchor is not None and memory.seq == anchor.seq else ""
        if memory.kind is not Kind.OBSERVATION:
            if file:
                yield ""
            file = ""
            yield from (*_aside(memory, mark), "")
            continue
        if layout.file_of(memory) != file:
            if file:
                yield ""
            file, before = layout.file_of(memory), ""
            yield from (f"**{file}**", *_HEAD)
        time = layout.time_of(memory)
        shown = '"' if time == before else time
        before = time
        cost = text_size.tokens(memory.state.content)
        title = layout.cell(layout.title_of(memory))
        yield f"| #{memory.seq} | {shown} | {layout.icon(memory)} | {title}{mark} | ~{cost} |"
    if file:
        yield ""


def _aside(memory: Memory, mark: str) -> tuple[str, ...]:
    """A summary or a prompt, which stands between tables."""
    when, attrs = layout.day_and_time_of(memory), memory.state.attrs
    if not isinstance(attrs, PromptAttrs):
        return (f"**{layout.SUMMARY_ICON} #S{memory.seq}** {layout.title_of(memory)} ({when}){mark}",)
    said = layout.title_of(memory)
    quoted = said if len(said) <= _QUOTED else said[:_QUOTED] + "..."
    head = f"**{layout.PROMPT_ICON} #P{memory.seq}** User Prompt {attrs.prompt_number} ({when}){mark}"
    return head, f"> {quoted}"
