"""For whom memories are read: people see all of them, agents never what a person withheld, and what is told unasked
leaves out besides what nobody has agreed to yet. What is made of a private session is made of its owner's private
memories alone, and what is made for a project or a checkout of nothing private.

The audience is ambient, as the tenant is: whoever answers an agent enters it once around the whole answer, and every
list, search and look-up by name leaves out what is not for that audience as if it were not there. Pages may be shorter
for it, never wrong. What runs later, in jobs, reads for everyone.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from codexmem.kernel.model.life import is_proposed
from codexmem.kernel.model.memory import Mark, Memory
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.visibility import Viewer, Visibility, viewing

_kept_back: ContextVar[frozenset[Mark]] = ContextVar("codexmem_audience", default=frozenset())

_ANY = "*"  # what is private and what is not
_private_to: ContextVar[str] = ContextVar("codexmem_private_to", default=_ANY)


def everyone() -> AbstractContextManager[None]:
    """Read as people do, even inside an answer for an agent: to decide, not to tell."""
    return _reading_without(frozenset())


def agents() -> AbstractContextManager[None]:
    """Read what may be handed to an agent that asks."""
    return _reading_without(frozenset({Mark.WITHHELD}))


def unasked() -> AbstractContextManager[None]:
    """Read what may be told to an agent that did not ask."""
    return _reading_without(frozenset({Mark.WITHHELD, Mark.PROPOSED}))


@contextmanager
def shared() -> Iterator[None]:
    """Read what is private to nobody: for what leaves the hands of whoever reads."""
    with _apart(""):
        yield


@contextmanager
def of_session(session: Session) -> Iterator[None]:
    """Act for whoever the session is of: what comes of it is as private as it is, and is made of what is."""
    own = session.owner or ""
    is_private = session.visibility is Visibility.MINE
    with viewing(Viewer(own if is_private else "", own, session.visibility)), _apart(own if is_private else ""):
        yield


def admits(memory: Memory) -> bool:
    """Whether the memory is for whoever reads now."""
    owner = (memory.owner or "") if memory.state.visibility is Visibility.MINE else ""
    if _private_to.get() not in {_ANY, owner}:
        return False
    kept_back = _kept_back.get()
    return kept_back.isdisjoint(memory.state.marks) and not (Mark.PROPOSED in kept_back and is_proposed(memory))


@contextmanager
def _apart(whose: str) -> Iterator[None]:
    token = _private_to.set(whose)
    try:
        yield
    finally:
        _private_to.reset(token)


@contextmanager
def _reading_without(marks: frozenset[Mark]) -> Iterator[None]:
    token = _kept_back.set(marks)
    try:
        yield
    finally:
        _kept_back.reset(token)
