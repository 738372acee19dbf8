"""The same request twice has one effect, on every engine."""

from __future__ import annotations

import threading

import pytest

from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import Conflict
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.services.receipts import KEPT_MS, ReceiptAnswer
from codexmem.kernel.store.database import Database, acting_as
from tests._support import services
from tests._support.services import Services

NOTES = frozenset({Kind.NOTE})


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


def save(real: Services, text: str) -> ReceiptAnswer:
    draft = MemoryDraft(Kind.NOTE, State(content=text, attrs=NoteAttrs()), Origin.AGENT)
    memory = real.memories.remember(draft, WriteContext("test"))
    return ReceiptAnswer({"id": memory.seq}, subject=f"memory:{memory.seq}")


def stored(real: Services) -> int:
    return len(real.memories.page(Filter(NOTES), PageRequest(100)).items)


def test_same_key_same_body_same_answer(real: Services) -> None:
    answers = [real.receipts.once("/save", "k1", {"text": "a"}, lambda: save(real, "a")) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert stored(real) == 1


def test_same_key_other_body_is_a_conflict_and_other_route_is_not(real: Services) -> None:
    real.receipts.once("/save", "k1", {"text": "a"}, lambda: save(real, "a"))
    with pytest.raises(Conflict, match="another request"):
        real.receipts.once("/save", "k1", {"text": "b"}, lambda: save(real, "b"))
    real.receipts.once("/other", "k1", {"text": "b"}, lambda: save(real, "b"))
    assert stored(real) == 2


def test_a_failed_effect_leaves_the_key_free(real: Services) -> None:
    def fail() -> ReceiptAnswer:
        save(real, "half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        real.receipts.once("/save", "k1", {}, fail)
    assert stored(real) == 0
    real.receipts.once("/save", "k1", {}, lambda: save(real, "a"))
    assert stored(real) == 1


def test_without_a_key_every_request_has_its_effect(real: Services) -> None:
    for _ in range(2):
        real.receipts.once("/save", None, {}, lambda: save(real, "a"))
    assert stored(real) == 2


def test_twenty_at_once_have_one_effect(real: Services, tenant: str) -> None:
    answers: list[dict[str, object]] = []

    def send() -> None:
        with acting_as(tenant):
            answers.append(real.receipts.once("/save", "k", {"text": "a"}, lambda: save(real, "a")))

    threads = [threading.Thread(target=send) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    assert all(answer == answers[0] for answer in answers)
    assert stored(real) == 1


def test_old_receipts_fade(real: Services) -> None:
    real.receipts.once("/save", "k1", {}, lambda: save(real, "a"))
    assert real.receipts.prune() == 0
    real.clock.advance(KEPT_MS + 1)
    assert real.receipts.prune() == 1
