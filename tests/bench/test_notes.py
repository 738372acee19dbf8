"""The soak of notes finds a planted fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench import history
from codexmem.kernel.model import note
from codexmem.kernel.model.memory import State
from codexmem.kernel.store.opening import sqlite_url
from tests._support.notes_machine import machine_for


def test_a_clean_chunk_has_no_failure(tmp_path: Path) -> None:
    chunk = history.play(sqlite_url(tmp_path / "store.db"), 7, 6, 10, True, machine_for)
    assert chunk.failure is None
    assert chunk.sequences >= 6


def test_mentions_that_are_not_kept_up_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = note.NoteEdit.apply

    def stale(self: note.NoteEdit, state: State) -> State:
        after = whole(self, state)
        return replace(after, attrs=replace(state.attrs, disclosure=note.disclosure_of(after)))  # type: ignore[call-arg]

    monkeypatch.setattr(note.NoteEdit, "apply", stale)
    chunk = history.play(sqlite_url(tmp_path / "store.db"), 7, 100, 15, False, machine_for)
    assert chunk.failure is not None
