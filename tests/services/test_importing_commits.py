"""Importing commits: what is kept, and what a revert does and undoing it brings back; on every engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.import_row import GIT, ForeignMemory, commit_id
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.model.query import Id
from codexmem.kernel.model.statement import SUPERSEDES
from codexmem.recall.importing import Imported
from codexmem.recall.undoing import Whose
from tests.services.test_importing import ALL, AT_MS, BUG, BY, FINGERPRINT, Here, here

__all__ = ["here"]

SOURCE = f"import:git:{FINGERPRINT}"
A, B, C = ("a" * 40, "b" * 40, "c" * 40)
CACHE = ForeignMemory(
    Kind.OBSERVATION, 0, AT_MS, project="shop", text="pages change hourly; the key is sk-proj-abcdefghijklmnopqrstuvwx",
    type="feature", title="feat: cache pages", subtitle="Ada", files_modified=("src/cache.py",), commit=A,
)  # fmt: skip
REVERT = replace(
    CACHE, commit=B, title='Revert "feat: cache pages"', text="it broke logins", reverts=(A,), type="decision"
)
AGAIN = replace(CACHE, commit=C, title='Reapply "feat: cache pages"', text="logins are fixed", reverts=(B,))


def take_in(here: Here, *rows: ForeignMemory, delta: str | None = None) -> Imported:
    return here.importing.take_in(FINGERPRINT, rows, BY, program=GIT, delta=delta)


def of(here: Here, commit: str) -> Memory:
    return here.base.memories.get(Id(commit_id(commit)), ALL)


def standing(here: Here) -> list[Status]:
    return [of(here, commit).state.status for commit in (A, B, C)]


def test_a_commit_is_kept_under_its_hash_without_secrets(here: Here) -> None:
    taken = take_in(here, CACHE)
    assert (taken.source, taken.imported) == (SOURCE, {"observation": 1})
    memory = of(here, A)
    assert (memory.source, memory.session, memory.created_ms, memory.state.type) == (SOURCE, None, AT_MS, "feature")
    assert memory.state.attrs == ObservationAttrs(
        subtitle="Ada", files_modified=("src/cache.py",), imported=f"git:{A[:12]}"
    )
    assert "sk-proj" not in memory.state.content
    again = take_in(here, CACHE)
    assert (again.delta, again.imported, again.known) == (None, {}, 1)


def test_rows_of_two_programs_do_not_mix(here: Here) -> None:
    with pytest.raises(InvalidArgument):
        take_in(here, CACHE, BUG)
    assert here.all() == []


def test_a_revert_supersedes_and_undoing_it_brings_back(here: Here) -> None:
    take_in(here, CACHE)
    assert here.found("cache pages") == [of(here, A).seq]
    delta = take_in(here, REVERT).delta
    old, new = of(here, A), of(here, B)
    assert (old.state.status, new.state.links) == (Status.DEPRECATED, ((SUPERSEDES, old.seq),))
    assert here.found("cache pages hourly") == [new.seq]
    here.undo(Whose(delta=delta))
    assert (of(here, A).state.status, of(here, B).state.status) == (Status.ACTIVE, Status.DELETED)


def test_a_revert_of_a_revert_brings_back(here: Here) -> None:
    take_in(here, CACHE, REVERT, AGAIN)
    assert standing(here) == [Status.ACTIVE, Status.DEPRECATED, Status.ACTIVE]
    take_in(here, CACHE, REVERT, AGAIN)
    assert standing(here) == [Status.ACTIVE, Status.DEPRECATED, Status.ACTIVE]
    done = here.undo(Whose(source=SOURCE))
    assert (done.restored, standing(here)) == (3, [Status.DELETED] * 3)
    assert take_in(here, CACHE, REVERT, AGAIN).hidden == 3
    here.undo(Whose(delta=done.delta))
    assert standing(here) == [Status.ACTIVE, Status.DEPRECATED, Status.ACTIVE]


def test_in_three_runs_it_is_the_same(here: Here) -> None:
    take_in(here, CACHE)
    take_in(here, CACHE, REVERT)
    taken = take_in(here, CACHE, REVERT, AGAIN)
    assert standing(here) == [Status.ACTIVE, Status.DEPRECATED, Status.ACTIVE]
    here.undo(Whose(delta=taken.delta))
    assert standing(here) == [Status.DEPRECATED, Status.ACTIVE, Status.DELETED]


def test_what_comes_after_its_revert_is_superseded_too(here: Here) -> None:
    take_in(here, REVERT)
    take_in(here, CACHE, REVERT)
    assert of(here, A).state.status is Status.DEPRECATED


def test_what_a_person_brought_back_stays(here: Here) -> None:
    take_in(here, CACHE, REVERT)
    here.base.memories.change(Id(commit_id(A)), ALL, lambda state: replace(state, status=Status.ACTIVE), BY)
    take_in(here, CACHE, REVERT)
    assert of(here, A).state.status is Status.ACTIVE
    here.base.memories.delete(Id(commit_id(A)), ALL, BY)
    assert take_in(here, CACHE, REVERT).hidden == 1
    assert of(here, A).state.status is Status.DELETED
