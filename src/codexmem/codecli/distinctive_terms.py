"""What a text says that can be recognised again: names, numbers, words that not every text has, pairs of Chinese signs.

Used to see whether an answer took something over, and whether a question says enough by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

NAME, WORD = 2, 1  # points: a name tells more than a word
_MOST = 20_000  # terms of one text
_NAME = re.compile(r"[A-Za-z0-9_.@/:+-]+")
_LONGEST = 200  # characters of a name
_CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_WORD = 4  # letters of a word that can tell something
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
    about above after again also always another answer back because been before being below between both bring
    cannot change check code command could default does done down each either else enough error every example file
    files find first following from function given gives goes have help here however instead into itself just keep
    know last leave less like line lines list look made make makes many means might more most move must name need
    needs never next none nothing number often once only open option order other otherwise over part path place
    please point problem project question rather read really return right same says second server should show simply
    since some start still such sure take test tests than that their them then there these they thing this those
    through time together true under until update used user uses using usually value values very want well were what
    when where whether which while whole will with within without word work works would write wrong your
    """,
    )
)


def terms(text: str) -> dict[str, int]:
    """What a text says that can be recognised again, with its points."""
    points: dict[str, int] = {}
    for term, worth in (*_latin(text), *_chinese(text)):
        points.setdefault(term, worth)
        if len(points) >= _MOST:
            break
    return points


def _latin(text: str) -> Iterable[tuple[str, int]]:
    for match in _NAME.finditer(text):
        word = match.group().strip(".:/-+@")
        if not word or len(word) > _LONGEST:
            continue
        lowered = word.lower()
        if _is_name(word):
            yield lowered, NAME
        elif len(word) >= _WORD and lowered not in _COMMON:
            yield _stem(lowered), WORD


def _is_name(word: str) -> bool:
    """An identifier, a path, a number or a version, rather than a word of the language."""
    if len(word) < 2:
        return False
    if any(each.isdigit() for each in word):
        return len(word) >= 3 or not word.isdigit()
    return any(each in "_./:@-" for each in word) or (word[1:] != word[1:].lower() and not word.isupper())


def _stem(word: str) -> str:
    """One form for a word and its plural or past, roughly."""
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _WORD:
            return word[: -len(ending)]
    return word


def _chinese(text: str) -> Iterable[tuple[str, int]]:
    for match in _CJK.finditer(text):
        run = match.group()
        yield from ((run[place : place + 2], WORD) for place in range(len(run) - 1))
