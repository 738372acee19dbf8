"""A statement: what a person said that holds in a project until somebody says otherwise.

It is an observation of the type `decision` with its kind as a concept. One that supersedes another points to it, and
the other is deprecated: no longer told, still read by `why` and by a search of an earlier day.
"""

from enum import StrEnum

TYPE = "decision"
SUPERSEDES = "supersedes"
MAX_SENTENCE = 220  # characters


class StatementKind(StrEnum):
    """What is said."""

    DECISION = "decision"
    RULE = "rule"
    PREFERENCE = "preference"


STANDING = (("concept", frozenset(kind.value for kind in StatementKind)),)
