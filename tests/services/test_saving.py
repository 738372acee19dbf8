"""Saving by hand: once for the same text, anew for what has changed since."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall.saving import SavedMemory, Saving
from tests._support import services
from tests._support.services import Services

ME = WriteContext("test")
KINDS = frozenset({Kind.OBSERVATION})


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


@pytest.fixture
def saving(real: Services, database: Database) -> Saving:
    return Saving(database, MemoryTable(database), real.memories)


def draft(text: str = "端口是 37877", title: str = "Port", project: str = "p") -> MemoryDraft:
    return MemoryDraft(Kind.OBSERVATION, State(text, ObservationAttrs(), project=project, title=title), Origin.AGENT)


def test_the_same_is_saved_once(saving: Saving) -> None:
    first = saving.save(draft(), ME)
    again = saving.save(draft("  端口是 37877\n"), ME)
    assert (first.duplicate, again.duplicate, again.memory.seq) == (False, True, first.memory.seq)
    others = [draft("端口是 1"), draft(title="Other"), draft(project="q"), draft(title="Po", text="rt端口是 37877")]
    saved = [saving.save(each, ME) for each in others]
    assert not any(each.duplicate for each in saved)
    assert len({each.memory.seq for each in saved}) == 4


def test_what_was_changed_or_deleted_is_saved_anew(saving: Saving, real: Services) -> None:
    first = saving.save(draft(), ME).memory
    real.memories.change(Seq(first.seq), KINDS, lambda state: replace(state, content="other"), ME)
    second = saving.save(draft(), ME)
    assert (second.duplicate, second.memory.seq != first.seq) == (False, True)
    gone = saving.save(draft("to go"), ME).memory
    real.memories.delete(Seq(gone.seq), KINDS, ME)
    assert not saving.save(draft("to go"), ME).duplicate


def test_many_at_once_save_it_once(saving: Saving, tenant: str) -> None:
    saved: list[SavedMemory] = []
    ready = threading.Barrier(8)

    def save() -> None:
        with acting_as(tenant):
            ready.wait()
            saved.append(saving.save(draft("together"), ME))

    threads = [threading.Thread(target=save) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(saved) == 8
    assert len({each.memory.seq for each in saved}) == 1
    assert sum(not each.duplicate for each in saved) == 1


def test_private_parts_and_secrets_stay_out(saving: Saving) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    kept = saving.save(draft(f"a <private>hidden</private> c {token}", title=f"t {token}"), ME).memory.state
    assert "hidden" not in kept.content
    assert token not in kept.content + kept.title
    with pytest.raises(InvalidArgument, match="text is required and must be non-empty"):
        saving.save(draft("<private>everything</private>"), ME)
