"""A statement: what a person said, or an author found, that holds in a project until somebody says otherwise.

It is an observation with its kind as a concept. One that supersedes another points to it, and
the other is deprecated: no longer told, still read by `why` and by a search of an earlier day.
"""

from enum import StrEnum

TYPE = "decision"
SUPERSEDES = "supersedes"
MAX_SENTENCE = 220  # characters


class LastingKind(StrEnum):
    """What may hold beyond the session in which it was said or found out."""

    DECISION = "decision"
    PREFERENCE = "preference"
    RULE = "rule"
    HOW_TO = "how-to"
    CAUSE_AND_FIX = "cause-and-fix"
    OPEN_END = "open-end"
    DISCOVERY = "discovery"


# As which type of observation each is kept.
TYPES = {
    LastingKind.DECISION: TYPE,
    LastingKind.PREFERENCE: TYPE,
    LastingKind.RULE: TYPE,
    LastingKind.HOW_TO: "discovery",
    LastingKind.CAUSE_AND_FIX: "bugfix",
    LastingKind.OPEN_END: "discovery",
    LastingKind.DISCOVERY: "discovery",
}
LASTING = (("concept", frozenset(kind.value for kind in LastingKind)),)
# What the start of a session tells: a discovery waits until somebody asks.
STANDING = (("concept", frozenset(kind.value for kind in LastingKind if kind is not LastingKind.DISCOVERY)),)
