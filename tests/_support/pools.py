"""Candidates, pools and queries made by hand, for tests of ranking without a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codexmem.kernel.model.memory import Kind, Origin, Status
from codexmem.kernel.search import parsed_query
from codexmem.kernel.search.parsed_query import ParsedQuery
from codexmem.kernel.search.pool import Pool
from codexmem.kernel.store.candidates import SearchCandidate

NOW_MS = 1_800_000_000_000  # 15 January 2027
DAY_MS = 86_400_000


def candidate(seq: int, content: str = "x", **fields: Any) -> SearchCandidate:
    """A memory that may be an answer: an agent's, of today, with nothing special about it."""
    given: dict[str, Any] = {
        "kind": Kind.PROMPT, "session": None, "turn": None, "status": Status.ACTIVE,
        "origin": Origin.AGENT, "title": "", "opening": content,
        "length": len(content), "asks": content.endswith(("?", "？")), "speaker": "", "attrs": "",
        "priority": 5, "valid": 0, "invalid": 0, "created_ms": NOW_MS,
    }  # fmt: skip
    return SearchCandidate(seq=seq, **given | fields)


def pool(candidates: Sequence[SearchCandidate], *, lexical: Sequence[float] = (), dense: Sequence[float] | None = None,
         before: Sequence[int | None] = (), after: Sequence[int | None] = ()) -> Pool:  # fmt: skip
    """A pool in which nothing was found and nobody stands beside anybody, unless it is said."""
    size = len(candidates)
    words = list(lexical) or [0.0] * size
    return Pool(candidates, words, dense, list(before) or [None] * size, list(after) or [None] * size)


def of_texts(*texts: str) -> Pool:
    """A pool of these texts, numbered from 1."""
    return pool([candidate(number, text) for number, text in enumerate(texts, 1)])


def read(text: str, *people: str, asked_ms: int = NOW_MS) -> ParsedQuery:
    """The query, read in a store where these people have spoken."""
    return parsed_query.read(text, asked_ms=asked_ms, known=lambda names: {name for name in names if name in people})
