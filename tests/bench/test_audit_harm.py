"""The short form of `just soak-audit`, and that it would notice what it looks for."""

from __future__ import annotations

from bench import audit_harm


def test_every_harm_is_found_and_named() -> None:
    figures = audit_harm.soak(rows=300, trials=50, seed=4)
    assert audit_harm.kept(figures), figures
    assert figures["by_kind"] == dict.fromkeys(("mutated", "deleted", "reordered", "truncated", "repeated"), 10)


def test_a_harm_that_was_missed_is_told() -> None:
    figures = audit_harm.soak(rows=50, trials=5, seed=4)
    assert not audit_harm.kept(figures | {"found": 4})
    assert not audit_harm.kept(figures | {"first_row_named": 4})
