"""BEAM: chats with an assistant, questions on ten abilities with the messages that answer them.

One folder per chat, named by its number; the first five chats are for tuning. Questions of the ability `abstention`
have no answer in the chat. A few others have no gold though they have an answer; they are neither asked nor counted.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.retrieval.corpus import Corpus, Passage, Question, Split, Task
from bench.retrieval.suites.reading import SECOND_MS, at, read_json
from codexmem.kernel.model.search import Unit

TUNING = frozenset(range(1, 6))
ABSENT = "abstention"
TASKS = (Task("message", Unit.MEMORY),)

# What the generator of a chat left at the end of a message: the numbers of its plan, sometimes with a remark.
_MARK = re.compile(r"\s*->->.*\Z", re.DOTALL)


def read(path: Path) -> list[Corpus]:
    """Every chat as a corpus of messages."""
    folders = sorted((folder for folder in path.iterdir() if folder.name.isdigit()), key=lambda each: int(each.name))
    return [_corpus(folder) for folder in folders]


def _corpus(folder: Path) -> Corpus:
    passages = _passages(read_json(folder / "chat.json"))
    there = {passage.key: passage for passage in passages}
    split = Split.TUNING if int(folder.name) in TUNING else Split.HELD_OUT
    questions = []
    for ability, asked in read_json(folder / "questions.json").items():
        for question in asked:
            gold = [there[key] for key in map(str, _flat(question.get("source_chat_ids"))) if key in there]
            questions.append(
                Question(
                    question["question"],
                    ability,
                    split,
                    passages=frozenset(passage.key for passage in gold),
                    sessions=frozenset(passage.session for passage in gold),
                    asked_ms=passages[-1].created_ms + SECOND_MS,
                    absent=ability == ABSENT,
                )
            )
    return Corpus(folder.name, passages, tuple(questions))


def _passages(chat: list[dict[str, Any]]) -> tuple[Passage, ...]:
    found: list[Passage] = []
    now = at(2024, 1, 1)
    for batch in chat:
        for message in (message for turn in batch["turns"] for message in turn):
            anchor = _anchor(message.get("time_anchor"))
            # The day stands at a few messages only and holds until the next; time never runs back.
            now = max(now + SECOND_MS, anchor) if anchor is not None else now + SECOND_MS
            text = _MARK.sub("", message["content"])
            found.append(Passage(str(message["id"]), str(batch["batch_number"]), message["role"], text, now))
    return tuple(found)


def _anchor(text: str | None) -> int | None:
    try:
        return int(datetime.strptime(text or "", "%B-%d-%Y").replace(tzinfo=UTC).timestamp()) * 1_000
    except ValueError:
        return None


def _flat(ids: Any) -> Iterator[Any]:
    """Ids come as a list, as lists in a list, or as lists under names such as first_statement."""
    if isinstance(ids, dict):
        ids = list(ids.values())
    if isinstance(ids, list):
        for each in ids:
            yield from _flat(each)
    elif ids is not None:
        yield ids
