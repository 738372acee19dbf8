"""A clause of a contract: the row type of every `clauses_NNN.py`."""

from __future__ import annotations

from typing import NamedTuple


class Clause(NamedTuple):
    """One demand of a contract."""

    demand: str
    names: str = ""  # names and codes, separated by spaces, that a test of the clause must mention
    messages: tuple[str, ...] = ()
