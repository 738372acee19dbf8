"""What a model claims, held against what it cites: a file, command, number, name or quote must stand there.

A sentence is proven if everything in it that can be checked stands in the cited texts, and enough of its other words
do. Nothing here knows whether a proven sentence is true: it says what the evidence bears, not more.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codexmem.kernel.model.sentences import sentences
from codexmem.kernel.search import tokens

_SENTENCE = 600  # characters
_WORDS = 0.34  # of a sentence's words, that must stand in the evidence where names and numbers vouch for the rest
_WORDS_ALONE = 0.5  # likewise, where nothing else can be checked
_WORDS_UNSPACED = 0.3  # of pairs of characters, of which each word that is said otherwise loses two
_SHORTEST_QUOTE = 3  # characters
_MOST_REFUSED = 10  # claims of one memory that are told

_CODE = re.compile(r"`+([^`\n]{1,300})`+")
_QUOTED = re.compile(
    '"([^"\n]{3,300})"|\u201c([^\u201d\n]{2,300})\u201d|\u300c([^\u300d\n]{2,300})\u300d|'
    r"(?<!\w)'([^'\n]{3,300})'(?!\w)"
)
_URL = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{1,12}://[^\s\"'`<>()\u3000-\u303f\uff00-\uffef]+")
_PATH = re.compile(
    r"(?<![\w/])(?:~|\.{1,2}|[\w@+-][\w@.+-]*)?(?:/[\w@+.-]*\w)+/?|"
    r"(?<![\w/.])[\w@+-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}\b(?!\()",
    re.ASCII,
)
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*", re.ASCII)
_IDENTIFIER = re.compile(
    r"(?<!\w)(?:[A-Za-z]\w*_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z][A-Z0-9]{2,}|[A-Za-z]+\d\w*|\w+(?:::\w+)+)",
    re.ASCII,
)
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)\u2014-] )[A-Z][a-z]{2,}\b")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9+#.-]*[A-Za-z0-9+#]")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_QUOTE_MARKS = re.compile("[`'\"*\u201c\u201d\u300c\u300d]")
# Words in capitals that name nothing of a project.
_GENERAL_TEXT = """
api apis url urls uri sql json yaml toml xml html css http https rest rpc cli gui tui ui ux ci cd pr prs os cpu gpu ram
sdk ide utf ascii csv pdf dns tcp udp ssh tls ssl jwt id ids ok todo readme monday tuesday wednesday thursday friday
saturday sunday january february march april june july august september october november december english chinese
"""
_GENERAL = frozenset(_GENERAL_TEXT.split())
_WORD_NUMBERS = {
    "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
    "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
    "sixty": "60", "hundred": "100", "thousand": "1000", "million": "1000000",
}  # fmt: skip
_NUMBER_WORD = re.compile(rf"(?i)\b(?:{'|'.join(_WORD_NUMBERS)})\b")

Claim = tuple[str, str]  # number, name or text, and how it is written


@dataclass(frozen=True, slots=True)
class ProvenText:
    """What is left of a title and a text, and the sentences that the evidence does not bear."""

    title: str
    text: str
    refused: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return not self.title


class CitedEvidence:
    """Texts that are cited. Cost grows with their length, once; a claim then costs its own length."""

    def __init__(self, texts: Iterable[str]) -> None:
        joined = "\n".join(texts)
        self._text = _flat(joined)
        self._plain = _QUOTE_MARKS.sub("", self._text)
        self._numbers = {_number(found) for found in _NUMBER.findall(unicodedata.normalize("NFKC", joined))}
        self._numbers |= {_WORD_NUMBERS[found.lower()] for found in _NUMBER_WORD.findall(joined)}
        self._latin = {found.casefold() for found in _LATIN.findall(joined)}
        self._words = frozenset(tokens.words(joined))

    def proves(self, sentence: str) -> bool:
        """Whether these texts bear the sentence."""
        if _stands(_flat(sentence), self._text):
            return True
        claims = list(_claims(sentence))
        if any(not self._has(claim) for claim in claims):
            return False
        words = set(tokens.terms(sentence))
        if not words:
            return bool(claims)
        shared = len(words & self._words) / len(words)
        if not claims:
            return shared >= _WORDS_ALONE
        return shared >= (_WORDS_UNSPACED if _UNSPACED.search(sentence) else _WORDS)

    def _has(self, claim: Claim) -> bool:
        kind, text = claim
        if kind == "number":
            return _number(text) in self._numbers
        if kind == "name" and text.casefold() in self._latin:
            return True
        flat = _flat(text)
        return _stands(flat, self._text) or _stands(_QUOTE_MARKS.sub("", flat), self._plain)


def proven(title: str, text: str, evidence: CitedEvidence) -> ProvenText:
    """What of a memory the evidence bears: a title that it does not is replaced by the first sentence that it does."""
    said = list(sentences(text, _SENTENCE))
    kept = [each for each in said if evidence.proves(each)]
    refused = [each for each in said if each not in kept]
    if title and not evidence.proves(title):
        refused.insert(0, title)
        title = ""
    title = title or (kept[0] if kept else "")
    return ProvenText(title, " ".join(kept) or title, tuple(refused[:_MOST_REFUSED]))


def _claims(sentence: str) -> Iterator[Claim]:
    """Everything in a sentence that can be checked, with what it is; each stretch of it once."""
    rest = unicodedata.normalize("NFKC", sentence)
    for kind, pattern in (("text", _CODE), ("text", _QUOTED), ("text", _URL), ("text", _PATH), ("text", _FLAG),
                          ("name", _IDENTIFIER)):  # fmt: skip
        for match in pattern.finditer(rest):
            said = next((group for group in match.groups() if group), match.group())
            if pattern is _PATH and _is_prose(said):
                continue
            if said.casefold() not in _GENERAL and len(said.strip()) >= (2 if pattern is _CODE else _SHORTEST_QUOTE):
                yield kind, said.strip().rstrip(".,;:")
        if pattern is _PATH:
            rest = pattern.sub(lambda match: match.group() if _is_prose(match.group()) else " ", rest)
        else:
            rest = pattern.sub(" ", rest)
    yield from (("number", found) for found in _NUMBER.findall(rest))
    yield from (("number", _WORD_NUMBERS[found.lower()]) for found in _NUMBER_WORD.findall(rest))
    names = _LATIN if _UNSPACED.search(rest) else _NAME
    yield from (("name", found) for found in names.findall(rest) if found.casefold() not in _GENERAL)


def _is_prose(text: str) -> bool:
    """Whether what looks like a path joins two words: and/or, read/write; or is an abbreviation: e.g, i.e."""
    parts = text.strip("/").split("/")
    if text.casefold() in {"e.g", "i.e", "etc", "a.m", "p.m"}:
        return True
    return "/" in text and not text.startswith(("/", "~", ".")) and len(parts) == 2 and all(map(str.isalpha, parts))


def _stands(part: str, whole: str) -> bool:
    """Whether it stands there by itself, and not as a piece of a longer word."""
    at = whole.find(part)
    while at >= 0:
        before, after = whole[at - 1 : at], whole[at + len(part) : at + len(part) + 1]
        if not (_joins(before, part[:1]) or _joins(part[-1:], after)):
            return True
        at = whole.find(part, at + 1)
    return False


def _joins(one: str, other: str) -> bool:
    return all(each.isascii() and (each.isalnum() or each == "_") for each in (one, other) if each) and bool(
        one and other
    )


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _number(text: str) -> str:
    """The same number however it is written: 1,000 is 1000, 2.50 is 2.5."""
    plain = text.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else text
    if re.fullmatch(r"\d+\.\d+", plain):
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"
