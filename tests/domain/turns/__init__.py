"""Turns of people with coding agents, written by hand, each labelled with whether it is worth keeping as an answer.

The labels were written before the rules. `tuning` is what the rules were made with; `held_out` is what they are judged
by and was not looked at while making them.
"""

from __future__ import annotations

from typing import NamedTuple


class Turn(NamedTuple):
    """What a person asked, what the agent answered, and what a careful colleague would do with it."""

    question: str
    answer: str
    fault: str = ""  # nothing: worth keeping; else the rule that ought to refuse it: reusable, form or safe

    @property
    def good(self) -> bool:
        """Whether it is worth keeping."""
        return not self.fault
