"""For whom memories are read: people see all of them, agents never what a person withheld, and what is told unasked
leaves out besides what nobody has agreed to yet.

The audience is ambient, as the tenant is: whoever answers an agent enters it once around the whole answer, and every
list, search and look-up by name leaves out what is not for that audience as if it were not there. Pages may be shorter
for it, never wrong. What runs later, in jobs, reads for everyone.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from codexmem.kernel.model.memory import Mark, Memory

_kept_back: ContextVar[frozenset[Mark]] = ContextVar("codexmem_audience", default=frozenset())


def everyone() -> AbstractContextManager[None]:
    """Read as people do, even inside an answer for an agent: to decide, not to tell."""
    return _reading_without(frozenset())


def agents() -> AbstractContextManager[None]:
    """Read what may be handed to an agent that asks."""
    return _reading_without(frozenset({Mark.WITHHELD}))


def unasked() -> AbstractContextManager[None]:
    """Read what may be told to an agent that did not ask."""
    return _reading_without(frozenset({Mark.WITHHELD, Mark.PROPOSED}))


def admits(memory: Memory) -> bool:
    """Whether the memory is for whoever reads now."""
    return _kept_back.get().isdisjoint(memory.state.marks)


@contextmanager
def _reading_without(marks: frozenset[Mark]) -> Iterator[None]:
    token = _kept_back.set(marks)
    try:
        yield
    finally:
        _kept_back.reset(token)
