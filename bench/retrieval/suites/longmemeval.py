"""LongMemEval with evidence sessions only: all sessions of all questions pooled into one project.

The published haystacks are not part of this file, so the pool of everybody else's sessions is the haystack; figures
are not comparable with those on the published S and M sets. Every fourth question is for tuning. Questions whose id
ends in `_abs` have no answer.
"""

import re
from pathlib import Path
from typing import Any

from bench.retrieval.corpus import Corpus, Passage, Question, Split, Task
from bench.retrieval.suites.reading import SECOND_MS, at, read_json
from codexmem.kernel.model.search import Unit

TUNING_EVERY = 4
ABSENT = "abstention"
TASKS = (Task("session", Unit.SESSION, headline="mean@5"),)

_WHEN = re.compile(r"(\d{4})/(\d{2})/(\d{2}).*?(\d{2}):(\d{2})")


def read(path: Path) -> list[Corpus]:
    """One corpus of all sessions."""
    entries = read_json(path)
    began: dict[str, int] = {}
    turns: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        for session, said, date in zip(
            entry["haystack_session_ids"], entry["haystack_sessions"], entry["haystack_dates"], strict=True
        ):
            turns[session] = said
            # A session that several questions share may carry different dates; the earliest holds.
            began[session] = min(_when(date), began.get(session, _when(date)))
    # The published ids of gold sessions say that they are; these say only in which order the sessions began.
    name = {old: f"s{place:04}" for place, old in enumerate(sorted(turns, key=lambda each: (began[each], each)))}
    passages = tuple(
        Passage(f"{new}:{place}", new, turn["role"], turn["content"], began[old] + place * SECOND_MS)
        for old, new in name.items()
        for place, turn in enumerate(turns[old])
    )
    questions = tuple(_question(place, entry, name) for place, entry in enumerate(entries))
    return [Corpus("pool", passages, questions)]


def _question(place: int, entry: dict[str, Any], name: dict[str, str]) -> Question:
    absent = entry["question_id"].endswith("_abs")
    return Question(
        entry["question"],
        ABSENT if absent else entry["question_type"],
        Split.HELD_OUT if place % TUNING_EVERY else Split.TUNING,
        sessions=frozenset() if absent else frozenset(name[old] for old in entry["answer_session_ids"] if old in name),
        asked_ms=_when(entry["question_date"]),
        absent=absent,
    )


def _when(text: str) -> int:
    match = _WHEN.search(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date")
    year, month, day, hour, minute = map(int, match.groups())
    return at(year, month, day, hour, minute)
