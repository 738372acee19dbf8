"""Whether a text tells something: strings, wordings and sizes, compared as a reader would, not by spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codexmem.kernel.model import quoting, text_size

_SHORT = 4  # characters of an answer that must stand alone, because it is found inside of any longer word
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`*\"'(\[])|(?<=[。！？；])|\n+")  # noqa: RUF001
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")
_ASKING = re.compile("什么|什麼|怎么|怎麼|哪个|哪個|哪|吗|嗎|呢|为什么|為什麼|如何|是否|的|了|是")
_SHINGLE = 6  # words in a row that two texts do not share by chance
_COMMON = (
    "the and for with are was were been its this that these those from our your did does how what which who when "
    "where why not can could should would will then than but into there have has had use used get got after before "
    "about any all one per only must may each same other such also just out over under"
)


def plain(text: str) -> str:
    """Without marks of emphasis, in small letters, on one line."""
    return " ".join(re.sub(r"[*`]", "", text).lower().split())


def holds(answers: Iterable[str], text: str) -> bool:
    """Whether one of these strings stands in the text."""
    said = plain(text)
    for answer in map(plain, answers):
        if len(answer) > _SHORT and answer in said:
            return True
        if len(answer) <= _SHORT and re.search(rf"(?<![A-Za-z0-9]){re.escape(answer)}(?![A-Za-z0-9])", said):
            return True
    return False


def names_file(path: str, text: str, common: set[str]) -> bool:
    """Whether a text names a file: its path, the end of it, or a name that no other file has."""
    parts = path.split("/")
    if path in text or (len(parts) > 1 and "/".join(parts[-2:]) in text):
        return True
    name = parts[-1]
    if name in common or len(name) <= 5:
        return False
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?!\w)", text) is not None


def spelled_out(text: str) -> list[str]:
    """What a list says in short, one by one: `- src/: a.py, b.py` names src/a.py and src/b.py."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.startswith("- "):
            continue
        item = line[2:].replace(quoting.OPEN, "").replace(quoting.CLOSE, "")
        head, colon, names = item.partition(": ")
        folder = head if head.endswith("/") else f"{head} "
        found += [f"{folder}{name}" for name in names.split(", ")] if colon else [item]
    return found


def tokens(text: str) -> int:
    """What it costs a model to read."""
    return text_size.tokens(text)


def beginning(text: str, most: int) -> str:
    """As much of the text as so many tokens hold."""
    if tokens(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= most else (low, middle - 1)
    return text[:low]


def together(texts: Iterable[str], most: int) -> str:
    """The texts one below the other, as far as so many tokens reach."""
    read: list[str] = []
    for text in texts:
        kept = beginning(text, most)
        read.append(kept)
        most -= tokens(text)
        if most <= 0:
            break
    return "\n".join(read)


def sentences(text: str) -> list[str]:
    """Its sentences and lines."""
    return [part for each in _SENTENCE.split(text) if (part := each.strip())]


def words(text: str) -> list[str]:
    """Words and parts of identifiers in small letters, without their endings."""
    return [_stem(found.lower()) for found in _WORD.findall(text)]


def _stem(word: str) -> str:
    return _ENDING.sub("", word) if len(word) > 4 else word


def keywords(question: str) -> str:
    """A question as people type it who are in a hurry: without the words that every question has."""
    left = [word for word in _ASKING.sub(" ", question).split() if word.lower().strip("?,.;:'") not in _COMMON.split()]
    return " ".join(left).strip(" ?？")  # noqa: RUF001


def rare_words(rule: str, known: str) -> set[str]:
    """What tells a rule: its numbers and words that somebody does not know who knows only this."""
    have = {*words(known), *map(_stem, _COMMON.split())}
    return {word for word in words(rule) if word not in have and (word.isdigit() or len(word) > 2)}


def share_said(wanted: set[str], text: str) -> float:
    """Which part of these words the text has."""
    return len(wanted & set(words(text))) / len(wanted) if wanted else 1.0


def turns_told(said: Sequence[str], text: str) -> int:
    """How many of these turns stand in the text by at least half of their sentences' length."""
    there = plain(text)
    told = 0
    for turn in said:
        parts = [plain(sentence) for sentence in sentences(turn)]
        told += 2 * sum(len(part) for part in parts if part in there) >= sum(map(len, parts)) > 0
    return told


Shingle = tuple[str, ...]


def shingles(text: str) -> list[Shingle]:
    """Every few words in a row, in order."""
    found = words(text)
    return [tuple(found[at : at + _SHINGLE]) for at in range(len(found) - _SHINGLE + 1)]


def first_place(own: set[Shingle], text: str) -> int | None:
    """Where a text first says something of its own, counted in words; None if it never does."""
    return next((at for at, each in enumerate(shingles(text)) if each in own), None)
