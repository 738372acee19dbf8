"""A strict rollback restores exactly the state before that learning; `bench.lab_rollback` plays for longer."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis.stateful import run_state_machine_as_test

from codexmem.kernel.store.database import Database
from tests._support.lab_rollback_machine import machine_for

SEQUENCES = 16


@pytest.mark.clause("002 §5.3", "strict rollback: exactly the state before learning, later hand edits overwritten")
@pytest.mark.timeout(120)
@pytest.mark.slow
def test_random_lives_of_a_bank(database: Database) -> None:
    phases = (hypothesis.Phase.generate,)
    settings = hypothesis.settings(max_examples=SEQUENCES, stateful_step_count=10, deadline=None, phases=phases)
    run_state_machine_as_test(machine_for(database, "rollbacks"), settings=settings)
