"""What can be asked about notes: memories with an address (`domain://path`) that are written on purpose."""

from __future__ import annotations

from codexmem.client.call import ApiCall, get, post
from codexmem.notes import wire


def create(
    uri: str, content: str, *, priority: int | None = None, disclosure: str | None = None, project: str | None = None,
    title: str | None = None,
) -> ApiCall[wire.NoteWritten]:  # fmt: skip
    """Write a note under a free address, else `Conflict`; priority 0 is the most important, 5 the usual one."""
    return post("/api/notes", wire.NoteWritten, uri=uri, content=content, priority=priority, disclosure=disclosure,
                project=project, title=title)  # fmt: skip


def read(uri: str) -> ApiCall[wire.Note]:
    """One note by any of its addresses; a deleted one too, which `deleted` says."""
    return get("/api/notes/read", wire.Note, uri=uri)


def update(
    uri: str, content: str | None = None, *, append: bool | None = None, priority: int | None = None,
    disclosure: str | None = None, if_version: int | None = None,
) -> ApiCall[wire.NoteWritten]:  # fmt: skip
    """Replace what it says, or with `append` add to it; with `if_version`, only if that is still its version."""
    return post("/api/notes/update", wire.NoteWritten, uri=uri, content=content, append=append, priority=priority,
                disclosure=disclosure, if_version=if_version)  # fmt: skip


def patch(uri: str, old: str, new: str, *, if_version: int | None = None) -> ApiCall[wire.NoteWritten]:
    """Replace one place of what it says; `old` must stand there exactly once."""
    return post("/api/notes/update", wire.NoteWritten, uri=uri, old_string=old, new_string=new, if_version=if_version)


def delete(uri: str, *, if_version: int | None = None) -> ApiCall[wire.NoteWritten]:
    """Hide it; `restore` lets it stand again, and `Client.forget` erases for good."""
    return post("/api/notes/delete", wire.NoteWritten, uri=uri, if_version=if_version)


def restore(uri: str) -> ApiCall[wire.NoteRolledBack]:
    """Let a deleted note stand again."""
    return post("/api/notes/restore", wire.NoteRolledBack, uri=uri)


def rollback(uri: str, version: int, *, if_version: int | None = None) -> ApiCall[wire.NoteRolledBack]:
    """Write an earlier version again, as a new one."""
    return post("/api/notes/rollback", wire.NoteRolledBack, uri=uri, version=version, if_version=if_version)


def find(
    query: str | None = None, *, domain: str | None = None, status: str | None = None, priority_min: int | None = None,
    priority_max: int | None = None, limit: int | None = None, cursor: str | None = None,
) -> ApiCall[wire.NoteList]:  # fmt: skip
    """Notes by words and meaning, the best first; without a query, the newest first."""
    return get("/api/notes", wire.NoteList, q=query, domain=domain, status=status, priority_min=priority_min,
               priority_max=priority_max, limit=limit, cursor=cursor)  # fmt: skip


def tree(
    prefix: str | None = None, *, deleted: bool | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiCall[wire.NoteTree]:
    """What lies directly under an address; without one, the domains."""
    return get("/api/notes/tree", wire.NoteTree, prefix=prefix, deleted=deleted, limit=limit, cursor=cursor)


def versions(uri: str, *, limit: int | None = None, cursor: str | None = None) -> ApiCall[wire.NoteVersions]:
    """Its history, the newest first."""
    return get("/api/notes/versions", wire.NoteVersions, uri=uri, limit=limit, cursor=cursor)


def version(uri: str, version: int) -> ApiCall[wire.NoteState]:
    """What it said in one version."""
    return get("/api/notes/version", wire.NoteState, uri=uri, version=version)


def add_alias(uri: str, alias: str) -> ApiCall[wire.NoteWritten]:
    """Give it one more address."""
    return post("/api/notes/aliases", wire.NoteWritten, uri=uri, alias=alias)


def remove_alias(uri: str, alias: str) -> ApiCall[wire.NoteWritten]:
    """Take one of its addresses away."""
    return post("/api/notes/aliases/remove", wire.NoteWritten, uri=uri, alias=alias)
