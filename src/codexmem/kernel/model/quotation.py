"""Whether one text carries another: a run of its words in a row, or most of its phrases in whatever order.

Spelling counts, punctuation, case and layout do not. What is too short to be told from chance is carried only whole.
"""

import re
from collections.abc import Iterable, Iterator

_RUN = 40  # characters in a row that are a quotation
_RUN_UNSPACED = 16  # … of Chinese, of which each says more
_LEAST = 16  # characters of a text that can be looked for at all
_LEAST_UNSPACED = 8
_PHRASE = 3  # words
_PHRASES = 6  # of a text, so that most of them mean something
_SHARE = 0.6
_UNSPACED = re.compile(rf"[\u2e80-\U0003ffff]{{{_RUN_UNSPACED},}}")
_MOST = 400_000  # characters of all texts together that are looked for


class Quotations:
    """Looks for quotations of some texts; costs their length once, and the length of each text that is looked at."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs: dict[int, set[int]] = {}  # by their length, hashes of runs that would be a quotation
        self._phrases: list[frozenset[int]] = []
        left = _MOST
        for text in texts:
            if left <= 0:
                break
            left -= len(text)
            self._add(_squeezed(text))
            for stretch in stretches(text):
                self._add(_squeezed(stretch))

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._runs)

    def _add(self, text: str) -> None:
        unspaced = _is_unspaced(text)
        least, run = (_LEAST_UNSPACED, _RUN_UNSPACED) if unspaced else (_LEAST, _RUN)
        if len(text) < least:
            return
        run = min(run, len(text))
        self._runs.setdefault(run, set()).update(_windows(text, run))
        phrases = frozenset(_phrases_of(text))
        if len(phrases) >= _PHRASES:
            self._phrases.append(phrases)

    def in_any(self, texts: Iterable[str]) -> bool:
        """Whether one of these carries something of them."""
        return any(map(self.in_text, texts))

    def in_text(self, text: str) -> bool:
        """Whether this carries something of them."""
        text = _squeezed(text)
        for run, known in self._runs.items():
            if len(text) >= run and any(each in known for each in _windows(text, run)):
                return True
        if not self._phrases:
            return False
        own = frozenset(_phrases_of(text))
        return any(len(each & own) >= _SHARE * len(each) for each in self._phrases)


def stretches(text: str) -> list[str]:
    """Stretches of Chinese within a text of another script, each long enough to be a quotation by itself."""
    return [each for each in _UNSPACED.findall(text) if len(each) < len(text)]


def texts_in(value: object, depth: int = 20) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth:
        for name, each in value.items():
            yield str(name)
            yield from texts_in(each, depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for each in value:
            yield from texts_in(each, depth - 1)


def _squeezed(text: str) -> str:
    return " ".join("".join(each if each.isalnum() else " " for each in text.casefold()).split())


def _is_unspaced(text: str) -> bool:
    return sum(each >= "\u2e80" for each in text) * 2 > len(text)


def _windows(text: str, run: int) -> Iterator[int]:
    return (hash(text[start : start + run]) for start in range(len(text) - run + 1))


def _phrases_of(text: str) -> Iterator[int]:
    words = text.split()
    return (hash(tuple(words[start : start + _PHRASE])) for start in range(len(words) - _PHRASE + 1))
