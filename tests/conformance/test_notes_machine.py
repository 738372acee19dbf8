"""The stateful property test of the tools on notes, on each engine; `just soak-notes` runs it for longer."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis.stateful import run_state_machine_as_test

from codexmem.kernel.store.database import Database
from tests._support.notes_machine import machine_for

SEQUENCES = 14


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_random_lives_of_notes_agree_with_the_model(database: Database) -> None:
    # A failure is reported as found: shrinking takes minutes and belongs to the soak, which prints its seed.
    phases = (hypothesis.Phase.generate,)
    settings = hypothesis.settings(max_examples=SEQUENCES, stateful_step_count=20, deadline=None, phases=phases)
    run_state_machine_as_test(machine_for(database, "notes"), settings=settings)
