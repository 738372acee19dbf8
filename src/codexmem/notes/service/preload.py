"""Preloading: the notes that bear on what a caller is about to do, each with the reason it was chosen.

Nobody asked for them, so a wrong one costs more than a missing one: a note is chosen because the context names it,
because it names something of the context, because its disclosure says so, because it shares enough words, or because a
search for the context finds it first and by words that few others have; never because it is merely the best of what
there is. Core notes are always told beside them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from codexmem.kernel.model import address, note
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import VISIBLE, Memory
from codexmem.kernel.model.mentions import without_mentions
from codexmem.kernel.model.note import CORE, NOTES
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.search import tokens
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.note_queries import Noted
from codexmem.notes.model import ContextKind, Direction
from codexmem.notes.service import context_terms
from codexmem.notes.service.context_terms import MAX_CONTEXT, STRUCTURE, ContextTerms
from codexmem.notes.service.resolver import NoteResolver
from codexmem.notes.service.views import NoteViews

MAX_RELATED = 20
_CANDIDATES = 60
_NAMED = 20  # notes of one name, the newest
_PREFIX = 2  # letters that a misspelt name must share
_NAMES_ALIKE = 100
_EXPANDED = 5  # of the chosen, whose links are followed
_LEAST_WORDS = 2
_SHARE = 0.6  # of the context's words, or of a disclosure's, that a note must have
_FIRST_SHARE = 0.3  # that the first result of a search must have
_FIRST_SHARE_UNSPACED = 0.2  # pairs of characters overlap, so half of them are no words
# Short words are one letter apart by the dozen, and a mistaken letter makes another word more often than a missing one
# does; so both are held to a greater length.
_SHORTEST = 4  # letters of a word that may be misspelt
_NAME = 5  # letters of the name that is meant
_MISTAKEN = 7  # letters of a name in which one may be another
_FEW = 3  # results that may have a word by which one of them is told apart


@dataclass
class PreloadChoice:
    """A note and why it was chosen; the strongest reason decides its place, further ones add a little."""

    memory: Memory
    reasons: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """How sure we are, between 0 and 1."""
        best, *rest = sorted(self.reasons.values(), reverse=True)
        return min(1.0, best + 0.02 * sum(rest))


@dataclass(frozen=True, slots=True)
class Preloaded:
    """What an agent should know now."""

    core: tuple[Memory, ...]
    related: tuple[PreloadChoice, ...]  # the best first
    more_core: bool = False


class Preload:
    """Chooses notes for a context."""

    def __init__(self, memories: Memories, noted: Noted, labels: Labels, desk: NoteResolver, views: NoteViews,
                 search: Callable[[SearchQuery], SearchAnswer]) -> None:  # fmt: skip
        self._memories = memories
        self._noted = noted
        self._labels = labels
        self._desk = desk
        self._views = views
        self._search = search

    def load(self, context: ContextKind, text: str) -> Preloaded:
        """Core notes, and those that bear on the context."""
        if not text.strip():
            raise InvalidArgument(
                "context_data is required and must be non-empty",
                hint="give the path, the error text or the words of the request",
            )
        if len(text) > MAX_CONTEXT:
            raise InvalidArgument(f"context_data is longer than {MAX_CONTEXT:,} characters", hint="give less of it")
        found = context_terms.read(context, text)
        chosen = self._chosen(found)
        core, more = self._views.core()
        related = [each for each in chosen if each.memory.state.priority > CORE]
        related.sort(key=lambda each: (-each.score, each.memory.state.priority, -each.memory.seq))
        related = related[:MAX_RELATED]
        told = [memory.seq for memory in (*core, *(each.memory for each in related))]
        if told:
            self._memories.count_reading(told, shown=1)
        return Preloaded(core, tuple(related), more)

    def _chosen(self, wanted: ContextTerms) -> list[PreloadChoice]:
        named = self._named(wanted)
        results = list(self._candidates(wanted))
        terms = set(tokens.terms(wanted.said)) - wanted.ordinary
        candidates = {memory.seq: memory for memory in results}
        candidates |= self._memories.many(list(named)[:_CANDIDATES], NOTES)
        chosen: dict[int, PreloadChoice] = {}
        for seq, memory in candidates.items():
            if memory.state.status not in VISIBLE:
                continue
            reasons = dict(named.get(seq, ()))
            reasons |= dict(_held(memory, wanted))
            reasons |= dict(_shared(memory, terms))
            if reasons:
                chosen[seq] = PreloadChoice(memory, reasons)
        if not chosen:
            chosen = {each.memory.seq: each for each in _first(results, terms)}
        self._follow(chosen)
        return list(chosen.values())

    def _candidates(self, wanted: ContextTerms) -> Iterable[Memory]:
        if not wanted.query.strip():
            return ()
        answer = self._search(SearchQuery(wanted.query, Filter(NOTES), limit=_CANDIDATES))
        return (found.memory for found in answer.results)

    def _named(self, wanted: ContextTerms) -> dict[int, list[tuple[str, float]]]:
        """Notes that the context calls by name, a name misspelt by one letter included."""
        found: dict[int, list[tuple[str, float]]] = {}
        if not wanted.names:
            return found
        # A note may be called `me`, but who says so among other words does not mean it.
        names = [name for name in wanted.names if tokens.words(name) or not tokens.words(wanted.said)]
        exact = self._noted.labelled("name", names, _NAMED)
        for name, seq in exact:
            found.setdefault(seq, []).append((f"is named {name}", 0.95))
        known = {word for name, _ in exact for word in name.split()}
        single = [name for name in names if " " not in name and name not in known]
        meant = {name: word for word, name in self._misspelt(single)}
        for name, seq in self._noted.labelled("name", list(meant), _NAMED) if meant else ():
            found.setdefault(seq, []).append((f"is named {name}, for which {meant[name]} was taken", 0.75))
        return found

    def _misspelt(self, words: list[str]) -> list[tuple[str, str]]:
        tried = [word for word in words if may_be_misspelt(word)]
        beginnings = list(dict.fromkeys(word[:_PREFIX] for word in tried))
        begun = self._labels.beginning("name", beginnings, project=None, limit=_NAMES_ALIKE) if beginnings else None
        names = [name for name in begun.values if " " not in name] if begun is not None else []
        return [(word, name) for word in tried for name in names if alike(word, name)]

    def _follow(self, chosen: dict[int, PreloadChoice]) -> None:
        """What the surest of the chosen mention comes along."""
        surest = sorted(chosen.values(), key=lambda each: -each.score)[:_EXPANDED]
        for each in surest:
            for relation in self._desk.relations(each.memory):
                other = relation.memory
                if relation.direction is Direction.TO and other is not None and other.state.status in VISIBLE:
                    reason = f"is linked from {note.primary(each.memory)}"
                    chosen.setdefault(other.seq, PreloadChoice(other)).reasons[reason] = 0.3


def _held(memory: Memory, wanted: ContextTerms) -> Iterable[tuple[str, float]]:
    """Phrases of the context that the note holds: only the most telling of several."""
    text = "\n".join((memory.state.content, note.disclosure_of(memory.state), *memory.state.uris)).casefold()
    held = [sign for sign in wanted.phrases if _holds(text, sign.text.casefold())]
    if held:
        best = max(held, key=lambda sign: sign.weight)
        structural = wanted.structural and any(word in text for word in STRUCTURE)
        more = ((f"{best.why} and tells of structure", best.weight + 0.1),) if structural else ()
        yield from more or ((best.why, best.weight),)


def _holds(text: str, phrase: str) -> bool:
    """Whether the phrase stands there as words of its own; Chinese has no spaces to stand between."""
    if phrase not in text:
        return False
    # What ends with a slash is a folder, and anything may stand in it; before its name another folder may not.
    before, after = ("[a-z0-9_/]", "") if phrase.endswith("/") else ("[a-z0-9_]", "(?![a-z0-9_])")
    return re.search(rf"(?<!{before}){re.escape(phrase)}{after}", text) is not None


def _first(results: Sequence[Memory], terms: set[str]) -> Iterable[PreloadChoice]:
    """The first result of the search, if a part of the context's words is in it and in few others."""
    telling = {term for term in terms if len(term) > 1}
    if not results or not telling:
        return
    held = [_words(memory) & telling for memory in results]
    apart = {term for term in held[0] if sum(term in each for each in held) <= _FEW}
    least = _FIRST_SHARE_UNSPACED if any(context_terms.unspaced(term) for term in telling) else _FIRST_SHARE
    share = len(held[0]) / len(telling)
    if apart and share >= least:
        words = ", ".join(sorted(apart)[:5])
        yield PreloadChoice(
            results[0], {f"is what a search for it finds first, by {words}": round(0.3 + 0.3 * share, 3)}
        )


def _words(memory: Memory) -> set[str]:
    """The words of a note's content, disclosure and addresses."""
    named = (" ".join(address.words_of(uri.partition("://")[2])) for uri in memory.state.uris)
    text = " ".join((without_mentions(memory.state.content), note.disclosure_of(memory.state), *named))
    return set(tokens.words(text))


def _shared(memory: Memory, terms: set[str]) -> Iterable[tuple[str, float]]:
    """Words in common: most of the context's with the note, or most of the disclosure's with the context."""
    if not terms:
        return
    disclosure = set(tokens.terms(note.disclosure_of(memory.state)))
    met = disclosure & terms
    if len(met) >= min(_LEAST_WORDS, len(disclosure)) and disclosure and len(met) >= _SHARE * len(disclosure):
        yield f"its disclosure says: {note.headline(note.disclosure_of(memory.state), 60)}", 0.7
    # An address belongs to what it names.
    said = set(tokens.words(without_mentions(memory.state.content))) | disclosure
    met = said & terms
    if len(met) >= _LEAST_WORDS and len(met) >= _SHARE * len(terms):
        share = len(met) / len(terms)
        yield f"says {', '.join(sorted(met)[:5])}", round(0.35 + 0.3 * share, 3)


def may_be_misspelt(word: str) -> bool:
    """Whether the word is long enough to be recognised in spite of a slip."""
    return len(word) >= _SHORTEST and word.isascii() and word.isalpha()


def alike(word: str, name: str) -> bool:
    """Whether the word is the name with one slip in it, not in the first two letters."""
    if word == name or len(name) < _NAME or word[:2] != name[:2] or abs(len(word) - len(name)) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(word, name, strict=False)) if a != b), min(len(word), len(name)))
    left, right = word[start:], name[start:]
    if len(word) == len(name):
        if left[2:] == right[2:] and left[:2] == right[1::-1]:
            return True  # swapped
        return left[1:] == right[1:] and len(name) >= _MISTAKEN
    return left[1:] == right or left == right[1:]
