"""Which of the items that an agent was told it used (contract 001 §4.3).

An anchor that the agent repeats is proof. Without one, an item counts as used if the answer takes over what only the
item could have told: names, numbers and words of the item's answer that neither the question nor the prompt had. At
least `LEAST` points of them, and `SHARE` of all that the item has, must reappear. A name counts two points, a word or a
pair of Chinese characters one. The rule is made to miss rather than to claim: a signal that is wrong teaches the memory
the wrong thing, one that is missing teaches it nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codexmem.codecli.distinctive_terms import terms
from codexmem.codecli.memory_client import RecalledItem
from codexmem.kernel.model import privacy

LEAST = 4
SHARE = 0.5
_LOOKED_AT = 200_000  # characters of what was said

_ANCHOR = re.compile(r"\[\s*QA[_ ]REF[\s:]+(qa-[\w-]{1,100})\s*\]", re.IGNORECASE)


def anchors(said: str) -> set[str]:
    """The items that are named by their anchors."""
    return {match.group(1) for match in _ANCHOR.finditer(_own_words(said))}


def used(items: Sequence[RecalledItem], said: str, prompt: str = "") -> dict[str, str]:
    """The items that were used, by id, with what shows it: `anchor` or `overlap`."""
    text = _own_words(said)
    if not text.strip():
        return {}
    named = {match.group(1).lower() for match in _ANCHOR.finditer(text)}
    points = terms(text)
    found: dict[str, str] = {}
    for item in items:
        if item.qa_id.lower() in named or _names_id(text, item.qa_id):
            found[item.qa_id] = "anchor"
        elif overlap(item, points, prompt) >= SHARE:
            found[item.qa_id] = "overlap"
    return found


def overlap(item: RecalledItem, said: dict[str, int], prompt: str = "") -> float:
    """The share of what only this item could tell that was said; 0 if that is too little to go by."""
    known = terms(f"{item.question}\n{prompt}")
    own = {term: points for term, points in terms(item.answer).items() if term not in known}
    there = sum(points for term, points in own.items() if term in said)
    whole = sum(own.values())
    return there / whole if there >= LEAST and whole else 0.0


def _own_words(said: str) -> str:
    """Without what we told it ourselves: some agents repeat their prompt."""
    return privacy.strip(said[-_LOOKED_AT:])


def _names_id(text: str, qa_id: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(qa_id)}(?![\w-])", text, re.IGNORECASE) is not None
