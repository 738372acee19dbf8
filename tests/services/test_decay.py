"""What starts tell and nobody uses fades from there, and from nowhere else."""

from __future__ import annotations

from dataclasses import replace

from codexmem.kernel.model.attrs import NoteAttrs, ObservationAttrs
from codexmem.kernel.model.memory import Counters, Kind, Mark, Memory, Origin, State
from codexmem.recall.decay import LEAST_AGE_MS, TOLD, is_faded

NOW = 2 * LEAST_AGE_MS


def told(origin: Origin = Origin.MODEL, shown: int = TOLD, used: int = 0, valid: int = 0) -> Memory:
    state = State("Use port 5179.", ObservationAttrs(concepts=("decision",)), project="demo")
    return Memory(1, "m", Kind.OBSERVATION, state, 1, origin, 0, 0, counters=Counters(shown, used, valid))


def test_it_fades_after_twenty_tellings_over_two_weeks() -> None:
    assert is_faded(told(), NOW)
    assert not is_faded(told(shown=TOLD - 1), NOW)
    assert not is_faded(replace(told(shown=1_000), created_ms=NOW - LEAST_AGE_MS + 1), NOW)


def test_each_use_and_each_confirmation_buys_as_many_tellings_again() -> None:
    for last, next_one in ((told(shown=2 * TOLD - 1, used=1), told(shown=2 * TOLD, used=1)),
                           (told(shown=2 * TOLD - 1, valid=1), told(shown=2 * TOLD, valid=1))):  # fmt: skip
        assert (is_faded(last, NOW), is_faded(next_one, NOW)) == (False, True)


def test_what_a_person_said_pinned_or_made_core_never_fades() -> None:
    assert not is_faded(told(Origin.HUMAN, 1_000), NOW)
    pinned = told(shown=1_000)
    assert not is_faded(replace(pinned, state=replace(pinned.state, marks=frozenset({Mark.PINNED}))), NOW)
    note = State("Reply in English.", NoteAttrs(), priority=2, uris=("core://reply",))
    core = replace(pinned, kind=Kind.NOTE, state=note)
    assert not is_faded(core, NOW)
    assert is_faded(replace(core, state=replace(note, priority=3)), NOW)
