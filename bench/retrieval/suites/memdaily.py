"""MemDaily: small Chinese diaries, one question each, with the messages that answer it.

Files are named `NN_<task>_<topic>.json`; the task is the category. Every fifth diary is for tuning.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.retrieval.corpus import Corpus, Passage, Question, Split, Task
from bench.retrieval.suites.reading import SECOND_MS, at, read_json
from codexmem.kernel.model.search import Unit

TUNING_EVERY = 5
TASKS = (Task("message", Unit.MEMORY, headline="mean@5"),)
WHO = "user"

_NAME = re.compile(r"\d+_(.+)_[a-z]+")
_WHEN = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日\D*(\d{1,2}):(\d{2})")


def read(path: Path) -> list[Corpus]:
    """Every diary as a corpus of messages."""
    return [_corpus(name, entry) for name, entry in diaries(path)]


def diaries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every diary with the name of its file, in a fixed order."""
    for file in sorted(path.glob("*.json")):
        for entry in read_json(file):
            yield file.stem, entry


def _corpus(name: str, entry: dict[str, Any]) -> Corpus:
    task = _NAME.fullmatch(name)
    session = f"{name}-{entry['tid']}"
    passages = tuple(
        Passage(str(message["mid"]), session, WHO, message["message"], _when(message.get("time"), place))
        for place, message in enumerate(entry["message_list"])
    )
    there = {passage.key for passage in passages}
    questions = tuple(
        Question(
            question["question"],
            task[1] if task else name,
            Split.HELD_OUT if entry["tid"] % TUNING_EVERY else Split.TUNING,
            passages=frozenset(map(str, question["target_step_id"])) & there,
            asked_ms=_when(question.get("time"), len(passages)),
        )
        for question in entry["question_list"]
    )
    return Corpus(session, passages, questions)


def _when(text: str | None, place: int) -> int:
    match = _WHEN.search(text or "")
    if match is None:
        return at(2024, 1, 1) + place * SECOND_MS
    year, month, day, hour, minute = map(int, match.groups())
    return at(year, month, day, hour, minute)
