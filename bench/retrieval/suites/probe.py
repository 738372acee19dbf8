"""Short Chinese, mixed and code notes among a thousand unrelated diary messages; one query for each note.

Too small to split: nothing may be tuned on it. Notes and distractors are shuffled, so that neither time nor order of
writing tells them apart.
"""

import random
from pathlib import Path

from bench.retrieval.corpus import Corpus, Passage, Question, Split, Task
from bench.retrieval.suites.memdaily import WHO, diaries
from bench.retrieval.suites.reading import SECOND_MS, at, read_json
from codexmem.kernel.model.search import Unit

DISTRACTORS = 1_000
SEED = 7
TASKS = (Task("note", Unit.MEMORY, headline="any@5"),)


def read(path: Path, distractors: Path) -> list[Corpus]:
    """One corpus of notes and distractors."""
    items = read_json(path)["items"]
    messages = sorted({message["message"] for _, entry in diaries(distractors) for message in entry["message_list"]})
    chance = random.Random(SEED)
    others = chance.sample(messages, min(DISTRACTORS, len(messages)))
    texts = [(f"note-{place}", item["note"]) for place, item in enumerate(items)]
    texts += [(f"other-{place}", text) for place, text in enumerate(others)]
    chance.shuffle(texts)
    begin = at(2026, 1, 1)
    passages = tuple(
        Passage(key, f"s{place}", WHO, text, begin + place * SECOND_MS) for place, (key, text) in enumerate(texts)
    )
    questions = tuple(
        Question(
            item["query"],
            item["kind"],
            Split.HELD_OUT,
            passages=frozenset({f"note-{place}"}),
            asked_ms=begin + len(passages) * SECOND_MS,
        )
        for place, item in enumerate(items)
    )
    return [Corpus("notes", passages, questions)]
