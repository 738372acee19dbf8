"""What the tables of search and timeline have in common: icons, days, times, cells and names of groups.

Days and times are those of UTC and spelled as in American English: the layout is the one that clients know.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby

from codexmem.kernel.model import quoting
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.life import is_proposed
from codexmem.kernel.model.memory import Kind, Mark, Memory

SUMMARY_ICON, PROMPT_ICON = "🎯", "💬"
GENERAL = "General"
TURN = "session"  # the type of a turn that is read as an observation
_ICONS = {
    "bugfix": "🔴", "feature": "🟣", "refactor": "🔄", "change": "✅", "discovery": "🔵", "decision": "⚖️",
}  # fmt: skip
_OTHER_ICON = "📝"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TITLE = 160  # characters of a title or request that a line shows


def icon(memory: Memory) -> str:
    """What stands for the type of an observation."""
    return _ICONS.get(memory.state.type, _OTHER_ICON)


def by_day(memories: Iterable[Memory]) -> list[tuple[str, list[Memory]]]:
    """The days on which these were made, ascending; inside a day the given order stays."""
    dated = sorted(memories, key=lambda memory: memory.created_ms // 86_400_000)
    return [(day, list(made)) for day, made in groupby(dated, key=lambda memory: _day(memory.created_ms))]


def time_of(memory: Memory) -> str:
    """The time of day, as 3:48 PM."""
    moment = _moment(memory.created_ms)
    return f"{moment.hour % 12 or 12}:{moment.minute:02d} {'AM' if moment.hour < 12 else 'PM'}"


def day_and_time_of(memory: Memory) -> str:
    """The day without its year and the time, as Feb 18, 3:48 PM."""
    moment = _moment(memory.created_ms)
    return f"{_MONTHS[moment.month - 1]} {moment.day}, {time_of(memory)}"


def date_and_time_of(memory: Memory) -> str:
    """The whole date and the time, as Feb 18, 2026, 3:48 PM."""
    return f"{_day(memory.created_ms)}, {time_of(memory)}"


def file_of(memory: Memory) -> str:
    """The first file that was changed, else the first that was read."""
    attrs = memory.state.attrs
    if isinstance(attrs, ObservationAttrs):
        return line(next(iter((*attrs.files_modified, *attrs.files_read)), GENERAL))
    return GENERAL


def beside(title: str, mark: str) -> str:
    """A title with what is said beside it: that the memory's file was changed."""
    return f"{title} {cell(mark)}" if mark else title


def title_of(memory: Memory) -> str:
    """What a line says about a memory, and what a person decided about it or still has to."""
    return marked(memory, _title(memory))


def marked(memory: Memory, words: str) -> str:
    """The words behind what a reader should know before: that the memory is proposed or withheld."""
    marks = memory.state.marks & {Mark.WITHHELD, Mark.PROPOSED} | ({Mark.PROPOSED} if is_proposed(memory) else set())
    return " ".join((*(f"({mark})" for mark in sorted(marks)), words))


def _title(memory: Memory) -> str:
    attrs = memory.state.attrs
    if isinstance(attrs, SummaryAttrs):
        return cut(line(attrs.request), _TITLE) or f"Session {(memory.session or str(memory.seq))[:8]}"
    if isinstance(attrs, PromptAttrs):
        return "(private)" if attrs.private else line(memory.state.content)
    return cut(line(memory.state.title), _TITLE) or "Untitled"


def line(text: str) -> str:
    """The text as one line, which is only text to whoever reads it."""
    return quoting.line(text)


def cell(text: str) -> str:
    """One line that no table takes for two cells."""
    return line(text).replace("|", "\\|")


def cut(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= most else text[: most - 3] + "..."


def counted(memories: Iterable[Memory]) -> dict[Kind, int]:
    """How many there are of each kind."""
    counts = dict.fromkeys((Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT), 0)
    for memory in memories:
        counts[memory.kind] += 1
    return counts


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _day(ms: int) -> str:
    moment = _moment(ms)
    return f"{_MONTHS[moment.month - 1]} {moment.day}, {moment.year}"
