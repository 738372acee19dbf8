"""What an agent is handed, line by line: why each line stands there, and what was just not told.

Values only. `context_page` makes them, so that whoever is shown the lines sees the text that the agent gets.
"""

from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

MAX_MISSES = 20  # memories that were not told, of which is told


class LineReason(StrEnum):
    """Why a line stands in the text; lines of a section have the section's name."""

    HEAD = "head"
    HEADING = "heading"
    ABOUT = "about"
    PINNED = "pinned"
    CORE_NOTE = "core_note"
    PROPOSED_NOTE = "proposed_note"
    SAVED_BY_PERSON = "saved_by_person"
    SAVED_BY_AGENT = "saved_by_agent"
    LAST_SESSION = "last_session"
    LASTING = "lasting"
    COMMANDS = "commands"
    ERRORS = "errors"
    FILES = "files"
    RECENT = "recent"
    RELEVANT = "relevant"
    EARLIER_SESSION = "earlier_session"
    LEFT_OUT = "left_out"  # how much was left out because it is written like an instruction
    END = "end"


HEADINGS = {
    LineReason.ABOUT: "About this memory",
    LineReason.PINNED: "Pinned",
    LineReason.CORE_NOTE: "Notes",
    LineReason.PROPOSED_NOTE: "Notes of agents that no person has approved",
    LineReason.SAVED_BY_PERSON: "Saved by hand",
    LineReason.SAVED_BY_AGENT: "Saved by agents",
    LineReason.LAST_SESSION: "Last session",
    LineReason.LASTING: "Rules, decisions, causes and open ends",
    LineReason.COMMANDS: "Commands used here [tool]",
    LineReason.ERRORS: "Errors met here [tool]",
    LineReason.FILES: "Files most worked on [tool]",
    LineReason.RECENT: "Recent, newest first",
    LineReason.RELEVANT: "Relevant to this request",
    LineReason.EARLIER_SESSION: "Earlier sessions on this topic, newest first",
}


class NotTold(StrEnum):
    """Why a memory was not told, in the order in which people are shown it."""

    NO_ROOM = "no_room"  # others came first, and its section or the whole text was full
    LIKE_AN_INSTRUCTION = "like_an_instruction"  # and not said by a person
    TOLD_AT_START = "told_at_start"  # of the same session
    NOT_RELEVANT_ENOUGH = "not_relevant_enough"  # for this prompt
    READ_BY_AGENT = "read_by_agent"  # in its own files
    FILE_GONE = "file_gone"  # nothing is left of what it is about
    FADED = "faded"  # told at many starts, and never used
    PROPOSED = "proposed"  # waits for a person to agree
    WITHHELD = "withheld"  # by a person, from every agent


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One line of the text, or the few lines that tell one memory; joined by line ends, all of them are the text."""

    text: str
    reason: LineReason
    section: LineReason | None = None  # none for what is around the sections
    seq: int | None = None  # of the memory that it tells, if it tells one


@dataclass(frozen=True, slots=True)
class SectionTokens:
    """What a section costs, of how much it may."""

    name: LineReason
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A memory that was not told, or what it says and was not told of it."""

    seq: int
    why: NotTold
    text: str = ""  # empty where it is the memory as a whole
    section: LineReason | None = None  # where it would be told, if that is known
    limit: int | None = None  # tokens that this section may cost


class NearMisses:
    """What was just not told: the first few for each reason, so that keeping them costs next to nothing."""

    def __init__(self) -> None:
        self._kept: dict[NotTold, dict[int, NearMiss]] = {}

    def add(
        self, why: NotTold, seq: int, text: str = "", section: LineReason | None = None, limit: int | None = None
    ) -> None:
        """This memory was not told, for this reason."""
        kept = self._kept.setdefault(why, {})
        if len(kept) < MAX_MISSES:
            kept.setdefault(seq, NearMiss(seq, why, text, section, limit))

    def first(self, told: Container[int]) -> list[NearMiss]:
        """At most so many, as evenly from all reasons as there are; none that was told after all, and none twice."""
        ranks = zip_longest(*(self._kept.get(why, {}).values() for why in NotTold))
        evenly = [miss for rank in ranks for miss in rank if miss is not None and miss.seq not in told]
        chosen = list({miss.seq: miss for miss in reversed(evenly)}.values())[::-1][:MAX_MISSES]
        order = list(NotTold)
        return sorted(chosen, key=lambda miss: order.index(miss.why))
