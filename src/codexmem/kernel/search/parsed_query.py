"""What a query asks: its words, the people and times it names, and how it is put."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.search import tokens, wording
from codexmem.kernel.search.stopwords import ENGLISH
from codexmem.kernel.search.times import Grain, TimeSpan, spans

_READ = 2_000  # characters of a query that turns of phrase are looked for in
_NAMES = 8  # words of a query that may be names
# A letter, digit or underscore of a script that spaces its words: a name may stand between Chinese without spaces.
_SPACED = rf"[^\W{wording.UNSPACED_CHARACTERS}]"
_WORD = re.compile(rf"[^\W\d_{wording.UNSPACED_CHARACTERS}](?:{_SPACED}|['\u2019.-]){{0,40}}")
_POSSESSIVE = re.compile(r"['\u2019]s?$")

Known = Callable[[list[str]], set[str]]  # which of these are names of somebody who spoke


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query, read."""

    text: str  # without the names of those who speak: to an encoder a name is a topic
    terms: list[str]  # of that text
    asking: frozenset[str]  # those of them that only ask
    people: frozenset[str]  # those whom it names
    spans: tuple[TimeSpan, ...]
    recent: bool  # asks for what is new
    unspaced: bool  # is written in Chinese or the like
    first_person: bool
    asks_assistant: bool
    asks_when: bool
    asks_number: bool


def read(text: str, *, asked_ms: int, known: Known) -> ParsedQuery:
    """Understand the query as far as words go."""
    beginning = text[:_READ]
    people = known(_possible_names(beginning))
    bare = _without(text, people)
    times = spans(beginning, asked_ms)
    return ParsedQuery(
        text=bare,
        terms=tokens.terms(bare),
        asking=_asking(bare),
        people=frozenset(people),
        spans=tuple(span for span in times if span.grain is not Grain.RECENT),
        recent=any(span.grain is Grain.RECENT for span in times),
        unspaced=wording.UNSPACED.search(beginning) is not None,
        first_person=wording.FIRST_PERSON.search(beginning) is not None,
        asks_assistant=wording.ASKS_ASSISTANT.search(beginning) is not None,
        asks_when=wording.ASKS_WHEN.search(beginning) is not None,
        asks_number=wording.ASKS_NUMBER.search(beginning) is not None,
    )


def _possible_names(text: str) -> list[str]:
    """Words with a capital letter but for function words; which of them are names is known elsewhere."""
    found: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match[0]).rstrip(".-")
        if word[:1].isupper() and word.lower() not in ENGLISH:
            found[word] = None
        if len(found) >= _NAMES:
            break
    return list(found)


def _asking(text: str) -> frozenset[str]:
    """The words that stand nowhere else than in a turn of phrase that only asks."""
    about = wording.ONLY_ASKS.sub(" ", text)
    return frozenset() if about == text else frozenset(tokens.terms(text)).difference(tokens.words(about))


def _without(text: str, people: set[str]) -> str:
    if not people:
        return text
    named = "|".join(re.escape(name) for name in sorted(people, key=len, reverse=True))
    whole = rf"(?<!{_SPACED})(?:{named})(?!{_SPACED})(?:['\u2019]s?(?!{_SPACED}))?"
    bare = re.sub(whole, " ", text, flags=re.IGNORECASE)
    # A query that is nothing but a name is about that name.
    return bare if tokens.words(bare) else text
