"""The short form of `just soak-kill`: a few SIGKILLs and one crash of PostgreSQL, nothing lost, nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import kill
from bench.ledger import Entry, Ledger


@pytest.mark.timeout(180)
def test_acknowledged_writes_survive_kills(engine_name: str) -> None:
    figures = kill.soak(engine_name, kills=2, restarts=1, min_acks=150, seed=11)
    assert kill.kept(figures), figures
    assert figures["kills"] == 2
    assert figures["database_restarts"] == (1 if engine_name == "postgresql" else 0)
    assert figures["acknowledged"] >= 150
    assert figures["unknown_resolved"] > 0


def test_the_ledger_notices_two_answers_for_one_key(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    first, second = Entry("a", "text a"), Entry("b", "text b")
    for entry in (first, second):
        ledger.tried(entry)
    ledger.answered(first, 1)
    ledger.answered(first, 2)
    ledger.answered(second, 1)
    ledger.close()
    assert len(ledger.contradictions) == 2
    assert [line.split()[0] for line in (tmp_path / "ledger").read_text().splitlines()] == ["TRY"] * 2 + ["ACK"] * 3


def test_what_was_sent_and_not_answered_is_sent_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    entry = Entry("a", "text")
    ledger.tried(entry)
    ledger.unanswered(entry)
    assert (ledger.unknown, ledger.next_open(), ledger.unknown) == (1, entry, 0)
    ledger.tried(entry)
    ledger.answered(entry, 5)
    ledger.close()
    assert ledger.settled
    assert (ledger.resolved, list(ledger.acknowledged)) == (1, ["a"])
