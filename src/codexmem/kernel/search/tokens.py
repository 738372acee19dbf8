"""Cutting text into the words that are indexed and searched: one tokenizer for documents, queries and both engines.

English words become stems; Chinese, Japanese, Korean and other scripts without spaces become single characters and
pairs of neighbours; identifiers, versions and file names are kept whole and also taken apart. A token holds letters,
digits, marks, emoji and `_ . - + #` only, at most 64 characters. Any string is legal, and time is linear in its length.
"""

import functools
import hashlib
import re
import threading
import unicodedata
from collections.abc import Iterator

from snowballstemmer.english_stemmer import EnglishStemmer

from codexmem.kernel.search import irregular
from codexmem.kernel.search.stopwords import CHARACTERS, ENGLISH, PAIRS

MAX_TOKEN = 64  # characters; what is longer keeps its beginning and a digest of the whole
MAX_TERMS = 160

_CACHED_RUN = 48  # longer runs are rarely seen twice
_CUT_AT = 40
_STEM_FROM, _STEM_TO = 3, 32  # letters of a word that English rules are applied to


def _marks() -> str:
    """The combining marks as the inside of a character class; `\\w` leaves them out and would cut Hindi to pieces."""
    spans: list[list[int]] = []
    for code in range(0x300, 0x1F000):
        if unicodedata.category(chr(code))[0] == "M" and not 0xFE00 <= code <= 0xFE0F:
            if spans and spans[-1][1] == code - 1:
                spans[-1][1] = code
            else:
                spans.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)


# Han with its extensions, kana, hangul, bopomofo; then Thai, Lao, Myanmar and Khmer, which do not space words either.
_UNSPACED = (
    "々〇\u3041-\u3096\u30a1-\u30fa\u30fc-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\u1100-\u11ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
)
_EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff"
# Letters and digits with the marks that belong to them.
_WORD = rf"\w[\w{_marks()}]*"
_ASCII_WORD = r"\w+"


def _run_pattern(word: str) -> str:
    # .net, node.js, 1.2.3, kebab-case, c++17, f#
    return rf"(?:(?<![\w.])\.(?=[^\W\d_]))?{word}(?:[.\-]{word})*(?:(?:\+\+\d*|\#)(?!\w))?"


_ASCII_RUN = re.compile(_run_pattern(_ASCII_WORD), re.ASCII)
_UNSPACED_FIRST = re.compile(rf"([{_UNSPACED}]+)")
_OTHER_RUN = re.compile(rf"[{_EMOJI}]|{_run_pattern(_WORD)}")
# Joiners, direction marks, variation selectors and soft hyphens: they change how a word looks, not which word it is.
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]+")
# Normalising sorts a run of marks in quadratic time, so no run is left long.
_PILED = re.compile(r"([^\w\x00-\x7f]{32})[^\w\x00-\x7f]+")
_CONTRACTED = re.compile(r"(?<=\w)(?:n['\u2019]t|['\u2019](?:s|d|m|ll|re|ve))(?!\w)", re.IGNORECASE)
_JOINTS = re.compile(r"[.\-+#]+")
# c++17 is also found by c++, v1.2.3 by 1.2.3.
_VERSIONED = re.compile(r"^(\w{1,9}\+\+)\d+$|^v(\d.*)$", re.DOTALL)
_HUMPS = re.compile(r"[A-Z0-9]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_NAME_AND_NUMBER = re.compile(r"([a-z]{2,})(\d+)")

_stemmers = threading.local()


def words(text: str) -> list[str]:
    """The tokens of a document, in order and with repetitions."""
    return _tokens(text, stop=True)


def terms(text: str, limit: int = MAX_TERMS) -> list[str]:
    """The distinct tokens of a query, in order; of a long one its beginning and its end, where questions often are."""
    # Stop words find nothing in an index that has none, but asking for them alone is no mistake.
    found = list(dict.fromkeys(words(text) or _tokens(text, stop=False)))
    if len(found) <= limit:
        return found
    half = limit // 2
    return [*found[:half], *found[half - limit :]]


def required(text: str, limit: int = MAX_TERMS) -> list[tuple[str, ...]]:
    """Groups of tokens: a text that contains the words of this one has at least one token of each group.

    An identifier is contained as it is or in all of its parts. Without spaces nobody knows where a word ends, so each
    character must stand beside a neighbour it has here: 部署服务 is contained where 部署 and 服务 are.
    """
    groups: dict[tuple[str, ...], None] = {}
    for unspaced, piece in _pieces(text):
        if unspaced:
            groups.update(dict.fromkeys(_neighbours(piece)))
            continue
        for run in _runs(piece):
            whole, *parts = _expansion(run, True) or ("",)
            simple = [part for part in parts if not any(other != part and other in part for other in parts)]
            groups.update(dict.fromkeys((whole, part) for part in simple) if simple else {(whole,): None})
    groups.pop(("",), None)
    return list(groups)[:limit] or [(term,) for term in terms(text, limit)]


def _neighbours(piece: str) -> Iterator[tuple[str, ...]]:
    """For each character that says something, the pairs it is part of."""
    if len(piece) == 1 and piece not in CHARACTERS:
        yield (piece,)
    pairs = [piece[at : at + 2] for at in range(len(piece) - 1)]
    for at, character in enumerate(piece):
        beside = pairs[max(0, at - 1) : at + 1]
        if beside and character not in CHARACTERS and not any(pair in PAIRS for pair in beside):
            yield tuple(beside)


def _tokens(text: str, *, stop: bool) -> list[str]:
    found: list[str] = []
    for unspaced, piece in _pieces(text):
        if unspaced:
            _add_characters(found, piece, stop)
        else:
            _add_runs(found, _runs(piece), stop)
    return found


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The text, normalised and cut where a script without spaces begins or ends; whether each piece is of one."""
    if "'" in text or "\u2019" in text:
        text = _CONTRACTED.sub("", text)
    if text.isascii():
        yield False, text
        return
    text = _PILED.sub(r"\1", _INVISIBLE.sub("", text))
    text = _PILED.sub(r"\1", unicodedata.normalize("NFKC", text))
    for place, piece in enumerate(_UNSPACED_FIRST.split(text)):
        if piece:
            yield place % 2 == 1, piece


def _runs(piece: str) -> list[str]:
    return (_ASCII_RUN if piece.isascii() else _OTHER_RUN).findall(piece)


def _add_runs(found: list[str], runs: list[str], stop: bool) -> None:
    for run in runs:
        found += _cached(run, stop) if len(run) <= _CACHED_RUN else _expansion(run, stop)


def _add_characters(found: list[str], piece: str, stop: bool) -> None:
    before = ""
    for character in piece:
        if not (stop and character in CHARACTERS):
            found.append(character)
        if before and not (stop and before + character in PAIRS):
            found.append(before + character)
        before = character


@functools.lru_cache(maxsize=1 << 16)
def _cached(run: str, stop: bool) -> tuple[str, ...]:
    return _expansion(run, stop)


def _expansion(run: str, stop: bool) -> tuple[str, ...]:
    """What a run between spaces is found by: itself, its parts, and the words in these."""
    found: dict[str, None] = {}
    whole = _folded(run)
    if stop and whole in ENGLISH:
        return ()
    parts = [part for part in _JOINTS.split(run) if part]
    if parts != [run]:
        found[_bounded(whole)] = None
        versioned = _VERSIONED.match(whole)
        if versioned is not None:
            found[_bounded(versioned[1] or versioned[2])] = None
        # The letter of c++ and of c# says nothing, and would find one for the other.
        if "+" in run or "#" in run:
            parts = [part for part in parts if len(part) > 1]
    for part in parts:
        found.update((_bounded(_stem(name)), None) for name in _names(part) if not (stop and name in ENGLISH))
    return tuple(found)


def _names(part: str) -> Iterator[str]:
    """A word; an identifier with its words."""
    name = _folded(part)
    if name.strip("_"):
        yield name
    # Base64 and its like have humps too, but no words.
    if len(part) > MAX_TOKEN or not part.isascii():
        return
    for piece in part.split("_"):
        humps = _HUMPS.findall(piece) if not (piece.islower() or piece.isupper()) else [piece]
        for hump in humps:
            low = hump.lower()
            if low and low != name:
                yield low
            numbered = _NAME_AND_NUMBER.fullmatch(low)
            if numbered is not None:
                yield from numbered.groups()


def _folded(run: str) -> str:
    return run.lower() if run.isascii() else unicodedata.normalize("NFKC", run.casefold())


def _bounded(token: str) -> str:
    if len(token) <= MAX_TOKEN:
        return token
    digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=(MAX_TOKEN - _CUT_AT) // 2)
    return token[:_CUT_AT] + digest.hexdigest()


def part_of(stem: str) -> str:
    """What of a stem stands in the word it comes from: the stem of memory is memori, that of staging is stage."""
    return stem[:-1] if stem.endswith(("i", "e")) and len(stem) > _STEM_FROM and stem.isascii() else stem


def _stem(word: str) -> str:
    if not (_STEM_FROM <= len(word) <= _STEM_TO and word.isascii() and word.isalpha()):
        return word
    # The stemmer keeps the word it works on, so each thread has its own.
    stemmer = getattr(_stemmers, "english", None)
    if stemmer is None:
        stemmer = _stemmers.english = EnglishStemmer()
    stemmed: str = stemmer.stemWord(irregular.BASE.get(word, word))
    return stemmed
