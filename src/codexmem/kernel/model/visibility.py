"""Who may see a memory inside its project, and who is looking now.

A memory is its owner's alone, its project's, or everyone's. The viewer is ambient, as the tenant is: the guard enters
whose request it is, every transaction carries it to the database, and row-level security leaves out what is private to
others. Whoever names no viewer sees nothing private; what looks after the store (indexes, copies, erasing) says so.

What is made of captured events has the audience of their session, so a job acts for the session that it is about.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

_SERVER = "*"  # no member has this id


class Visibility(StrEnum):
    """Who may see a memory. Whoever may, may only change it where he may write its project."""

    MINE = "mine"  # its owner, and nobody else
    PROJECT = "project"  # whoever may read its project
    EVERYONE = "everyone"  # every member of the tenant


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who acts, as far as privacy goes; by default nobody in particular, who sees nothing private."""

    sees: str = ""  # the member whose private memories are seen; _SERVER: everybody's
    owner: str = ""  # the member to whom what is written now belongs
    writes: Visibility = Visibility.PROJECT  # how it is seen, unless it is said

    @classmethod
    def of(cls, member: str, writes: Visibility) -> "Viewer":
        """A member, whose agents write like this unless they say otherwise."""
        return cls(member, member, writes)

    @property
    def is_server(self) -> bool:
        """Whether nothing is hidden."""
        return self.sees == _SERVER


NOBODY = Viewer()
_viewer: ContextVar[Viewer] = ContextVar("codexmem_viewer", default=NOBODY)


def present_viewer() -> Viewer:
    """Who looks now."""
    return _viewer.get()


@contextmanager
def viewing(viewer: Viewer) -> Iterator[None]:
    """Let this one look."""
    token = _viewer.set(viewer)
    try:
        yield
    finally:
        _viewer.reset(token)


def as_server() -> AbstractContextManager[None]:
    """See everything: to keep indexes, to copy and to erase; never to tell what it says."""
    return viewing(Viewer(sees=_SERVER))
