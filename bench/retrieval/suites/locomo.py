"""LoCoMo: ten long conversations of two people, questions with the turns that answer them.

The first three conversations are for tuning. Category 5 is adversarial: its questions ask one speaker's facts of the
other, so nothing answers them; the turns they were made from still count as gold where published figures count them.
Summaries and observations in the file are model-made and are not read.
"""

import re
from pathlib import Path
from typing import Any

from bench.retrieval.corpus import Corpus, Passage, Question, Split, Task
from bench.retrieval.suites.reading import MONTHS, SECOND_MS, at, read_json
from codexmem.kernel.model.search import Unit

TUNING = 3
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_ANSWERABLE = frozenset(CATEGORIES[number] for number in (1, 2, 3, 4))
TASKS = (
    Task("turn", Unit.MEMORY, groups={"categories 1-4": _ANSWERABLE}),
    # Published session figures are about all ten conversations and all five categories.
    Task("session", Unit.SESSION, Split.ALL, groups={"categories 1-5": None, "categories 1-4": _ANSWERABLE}),
)

_SESSION = re.compile(r"session_(\d+)")
_WHEN = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])m on (\d{1,2})\s+([A-Za-z]+),?\s+(\d{4})", re.IGNORECASE)
# Several ids may stand in one string, a colon may follow the D, and numbers may have leading zeros.
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_DAY_MS = 86_400_000


def read(path: Path) -> list[Corpus]:
    """Every conversation as a corpus of turns."""
    return [
        _corpus(entry, Split.TUNING if place < TUNING else Split.HELD_OUT)
        for place, entry in enumerate(read_json(path))
    ]


def _corpus(entry: dict[str, Any], split: Split) -> Corpus:
    passages = _passages(entry["conversation"])
    session_of = {_turn(passage.key): passage for passage in passages}
    asked_ms = passages[-1].created_ms + SECOND_MS
    questions = []
    for qa in entry["qa"]:
        category = CATEGORIES[qa["category"]]
        # Some evidence names turns that do not exist, or nothing at all.
        cited = {_numbers(found) for evidence in qa.get("evidence") or [] for found in _EVIDENCE.findall(str(evidence))}
        gold = [session_of[turn] for turn in cited if turn in session_of]
        questions.append(
            Question(
                qa["question"],
                category,
                split,
                passages=frozenset(passage.key for passage in gold),
                sessions=frozenset(passage.session for passage in gold),
                asked_ms=asked_ms,
                absent=category not in _ANSWERABLE,
            )
        )
    return Corpus(entry["sample_id"], passages, tuple(questions))


def _passages(talk: dict[str, Any]) -> tuple[Passage, ...]:
    found: list[Passage] = []
    for number in sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key))):
        begin = _when(talk.get(f"session_{number}_date_time") or "")
        if begin is None:
            begin = found[-1].created_ms + _DAY_MS if found else at(2023, 1, 1)
        for place, turn in enumerate(talk[f"session_{number}"]):
            caption = turn.get("blip_caption")
            found.append(
                Passage(
                    turn["dia_id"],
                    str(number),
                    turn["speaker"],
                    turn["text"] + (f" [image: {caption}]" if caption else ""),
                    begin + place * SECOND_MS,
                )
            )
    return tuple(found)


def _when(text: str) -> int | None:
    match = _WHEN.search(text)
    if match is None or match[5].lower() not in MONTHS:
        return None
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    return at(int(match[6]), MONTHS[match[5].lower()], int(match[4]), hour, int(match[2]))


def _turn(key: str) -> tuple[int, int]:
    found = _EVIDENCE.fullmatch(key)
    if found is None:
        raise ValueError(f"{key!r} is not a turn's id")
    return int(found[1]), int(found[2])


def _numbers(cited: tuple[str, str]) -> tuple[int, int]:
    return int(cited[0]), int(cited[1])
