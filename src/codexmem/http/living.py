"""What acts on many memories need to know of each row of a list, whatever its kind."""

from typing import TypedDict

from pydantic import Field

from codexmem.kernel.model.life import Life, life_of
from codexmem.kernel.model.memory import Mark, Memory, Origin
from codexmem.kernel.wire import WireAnswer


class LifeValues(TypedDict):
    """What `LivingFields` hold."""

    life: Life
    marks: tuple[Mark, ...]
    origin: Origin


class LivingFields(WireAnswer):
    """Where a memory is in its life, its marks, and who wrote it first."""

    life: Life = Field(description="one that another took the place of is told as deprecated, or hidden if a lesson")
    marks: tuple[Mark, ...]
    origin: Origin

    @staticmethod
    def living(memory: Memory) -> LifeValues:
        """The values of these fields; no query is made for them."""
        life, marks = life_of(memory, superseded=False), tuple(sorted(memory.state.marks))
        return {"life": life, "marks": marks, "origin": memory.author}
