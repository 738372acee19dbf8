"""What can be asked about all memories: saving, searching, the context of a prompt, the long list, taking back.

What can be asked about notes: memories with an address (`domain://path`) that are written on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from codexmem.client import answers
from codexmem.client.call import ApiCall, get, post
from codexmem.notes import wire

FORGET_S = 600.0
_OBSERVATIONS = TypeAdapter(tuple[answers.Observation, ...])


def health() -> ApiCall[answers.Health]:
    """Whether the server answers, and which version it is; needs no key."""
    return get("/api/health", answers.Health)


def projects() -> ApiCall[answers.Projects]:
    """Every project that something is remembered of."""
    return get("/api/projects", answers.Projects)


def save(text: str, *, title: str | None = None, project: str | None = None) -> ApiCall[answers.Saved]:
    """Remember a fact; agents in that project are told it. The same again is saved once."""
    return post("/api/memory/save", answers.Saved, text=text, title=title, project=project)


def search(
    query: str | None = None, *, project: str | None = None, limit: int | None = None, offset: int | None = None,
    types: Sequence[str] = (), concepts: Sequence[str] = (), files: Sequence[str] = (),
    since: str | float | None = None, until: str | float | None = None, order: str | None = None,
) -> ApiCall[answers.Found]:  # fmt: skip
    """Observations, summaries and prompts that bear on a query; without one, the newest.

    `types` are `observations`, `sessions`, `prompts` or types of observations such as `bugfix`; times are ISO 8601 or
    epoch; `order` is `relevance`, `date_desc` or `date_asc`.
    """
    return get(
        "/api/search", answers.Found, query=query, project=project, limit=limit, offset=offset, type=list(types),
        concepts=list(concepts), files=list(files), dateStart=since, dateEnd=until, orderBy=order, format="json",
    )  # fmt: skip


def context(
    prompt: str | None = None, *, project: str | None = None, session: str | None = None, cwd: str | None = None,
    tokens: int | None = None,
) -> ApiCall[str]:  # fmt: skip
    """What a model should know before it answers this prompt, or without one before it begins; empty if nothing.

    The text is an envelope that says it is data; put it into the instructions as it is. With `session`, what that
    session was told before is not told again.
    """
    query = {"project": project, "prompt": prompt, "session": session, "cwd": cwd, "tokens": tokens}
    return ApiCall("GET", "/api/context", lambda body: body.text, query=query, safe=True)


def observation(number: int) -> ApiCall[answers.Observation]:
    """One observation by its number."""
    return get("/api/observation/{number}", answers.Observation, {"number": number})


def observations(
    *, project: str | None = None, limit: int | None = None, offset: int | None = None
) -> ApiCall[answers.Observations]:
    """The newest observations; the long list of everything is `timeline`."""
    return get("/api/observations", answers.Observations, project=project, limit=limit, offset=offset)


def observations_by_number(
    ids: Sequence[int], *, project: str | None = None, order: str | None = None
) -> ApiCall[tuple[answers.Observation, ...]]:
    """Several observations in one request; numbers that name none are passed over."""
    body = {"ids": list(ids), "project": project, "orderBy": order}
    return ApiCall("POST", "/api/observations/batch", lambda said: _OBSERVATIONS.validate_json(said.content),
                answers.Observation, body=body, safe=True, many=True)  # fmt: skip


def timeline(
    *, project: str | None = None, kinds: Sequence[str] = (), since: str | None = None, until: str | None = None,
    anchor: str | None = None, limit: int | None = None, cursor: str | None = None,
) -> ApiCall[answers.Timeline]:  # fmt: skip
    """Memories of any kind, the newest first; without `kinds`, what was captured.

    `kinds` are `observation`, `summary`, `prompt`, `note`, `qa`, `knowledge` and `lesson`; `anchor` is a memory or a
    time to begin at.
    """
    return get(
        "/api/memories/timeline", answers.Timeline, project=project, kind=list(kinds), to=until, anchor=anchor,
        limit=limit, cursor=cursor, **{"from": since},
    )  # fmt: skip


def undo(
    *, delta: str | None = None, source: str | None = None, mode: str = "safe", into: str | None = None, after: int = 0
) -> ApiCall[answers.Undone]:
    """Take back what one delta or one source (`session:…`, `run:…`) wrote; `safe` leaves what others wrote since.

    Not repeated by itself: a second time would find nothing more to take back.
    """
    return post("/api/undo", answers.Undone, keyed=False, wait_s=FORGET_S, delta=delta, source=source, mode=mode,
                into=into, after=after)  # fmt: skip


def forget(
    *, ids: Sequence[int] | None = None, project: str | None = None, session: str | None = None,
    source: str | None = None, preview: bool = False,
) -> ApiCall[answers.Forgotten]:  # fmt: skip
    """Erase for good, all versions included: memories by number, or all of a project, session or source.

    Exactly one of them is named. With `preview` it is counted and nothing is erased.
    """
    numbers = None if ids is None else list(ids)
    return post("/api/forget", answers.Forgotten, safe=preview, keyed=False, wait_s=FORGET_S, ids=numbers,
                project=project, session=session, source=source, preview=preview)  # fmt: skip


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
