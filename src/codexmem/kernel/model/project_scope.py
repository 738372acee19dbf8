"""For which projects of its tenant whoever acts now reads and writes.

The scope is ambient, as the tenant is: the guard enters it around a request, every transaction carries it to the
database, and row-level security leaves out everything else. A scope inside another can only be narrower: nothing that
runs for a member comes to see more than he may. Without one, the whole tenant is meant: keys of no member, jobs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from codexmem.kernel.model.tenant import Identity, ProjectRights, ProjectScope, TenantRole
from codexmem.kernel.model.visibility import NOBODY, viewing

_scope: ContextVar[ProjectScope | None] = ContextVar("codexmem_project_scope", default=None)


def present_scope() -> ProjectScope | None:
    """For which projects code in this place acts; None for all of the tenant."""
    return _scope.get()


@contextmanager
def acting_for(identity: Identity | None, needed: TenantRole = TenantRole.READER) -> Iterator[None]:
    """Confine the block to what whoever asks may see, in the projects in which he may act in this role."""
    rights, viewer = (identity.rights, identity.viewer) if identity is not None else (None, NOBODY)
    with acting_within(rights, needed), viewing(viewer):
        yield


@contextmanager
def acting_within(rights: ProjectRights | None, needed: TenantRole = TenantRole.READER) -> Iterator[None]:
    """Confine the block to what these rights allow of an act that takes this role; nothing changes without rights."""
    if rights is None:
        yield
        return
    outer, inner = _scope.get(), rights.scope(needed)
    token = _scope.set(inner if outer is None else inner.within(outer))
    try:
        yield
    finally:
        _scope.reset(token)
