"""Whether the model that is to write memories does so: the newest extractions tell.

One that refuses its key, has no quota or is not there fails until somebody does something; any other trouble counts
when it has come several times in a row.
"""

from dataclasses import dataclass

from codexmem.kernel.events.review import Review, Sought
from codexmem.kernel.llm.asking import failed
from codexmem.kernel.llm.model import SOMEBODY_MUST_ACT
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.writer import RULES, MemoryWriter
from codexmem.kernel.store.event_pages import EventSpan

IN_A_ROW = 3
_LOOKED_AT = 50  # extractions
_EVER = EventSpan(0, 2**62)


@dataclass(frozen=True, slots=True)
class Failing:
    """A model that does not do its work."""

    error_class: str
    error: str
    since_ms: int  # as far as was looked back
    count: int  # extractions in a row


class ModelWatch:
    """Looks at the acting tenant's extractions."""

    def __init__(self, review: Review, writer: MemoryWriter) -> None:
        self._review = review
        self.writer = writer

    def trouble(self) -> str | None:
        """The class of the error with which it fails, if it does."""
        found = self.failing()
        return found.error_class if found is not None else None

    def failing(self) -> Failing | None:
        """What is wrong with the model; None if it answers or none is to be asked."""
        if self.writer.provider == RULES:
            return None
        sought = Sought(EventType.MODEL_RESULT, _EVER)
        asked = self._review.newest(sought, _was_asked, limit=_LOOKED_AT, most=_LOOKED_AT).events
        answered = next((place for place, event in enumerate(asked) if _said(event, "by") == "model"), len(asked))
        row = asked[:answered]
        if not row:
            return None
        newest = _said(row[0], "error_class")
        if newest not in SOMEBODY_MUST_ACT and len(row) < IN_A_ROW:
            return None
        return Failing(newest, _said(row[0], "error"), row[-1].at_ms, len(row))


def _was_asked(event: Event) -> bool:
    said = event.payload or {}
    return said.get("by") == "model" or failed(said.get("error_class"))


def _said(event: Event, name: str) -> str:
    return str((event.payload or {}).get(name) or "")
