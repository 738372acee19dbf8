"""Preloading: core notes, and the notes that bear on what a caller is about to do, each with the reason it was chosen.

Nobody asked for them, so a wrong one costs more than a missing one: a note is chosen because the context names it,
because it names something of the context, because its disclosure says so, because it shares enough words, or because a
search for the context finds it first and by words that few others have; never because it is merely the best of what
there is.

What a context says about itself: the names, phrases and words by which a note that bears on it would be known.

Each sort of context is read for what it is: a path has parents and a name, an error a class, a message and frames, an
intent words that may be the name of something. Every sign carries how much it tells and the reason it would give.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from codexmem.kernel.model import address, note
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import VISIBLE, Memory
from codexmem.kernel.model.mentions import without_mentions
from codexmem.kernel.model.note import NOTES
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.search import tokens
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.note_queries import Noted
from codexmem.notes.model import ContextKind, Direction
from codexmem.notes.service.listing import NoteViews
from codexmem.notes.service.resolver import NoteResolver

MAX_CONTEXT = 100_000  # characters
_QUERY = 2_000
_LONGEST_NAME = 4  # words
_MOST_WORDS = 300  # of an intent that are looked at: its beginning and its end
_LONGEST_PIECE = 8  # characters of a name inside Chinese text
_MOST_PIECES = 2_000
_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_ENDS = 4
_FRAMES = 12

# Names that thousands of files and folders have: alone they point at nothing.
_COMMON = frozenset((
    "index", "main", "init", "__init__", "mod", "lib", "libs", "app", "src", "test", "tests", "util", "utils", "common",
    "core", "base", "home", "root", "tmp", "var", "usr", "opt", "users", "workspace", "workspaces", "project",
    "projects", "repo", "work", "code", "build", "dist", "node_modules", "packages", "package",
))  # fmt: skip
# Words of error messages, whatever went wrong.
_ORDINARY = frozenset((
    "error", "exception", "failed", "failure", "fault", "no", "not", "name", "named", "module", "file", "line", "type",
    "value", "key", "code", "found", "function", "object", "argument", "expected", "got", "unexpected", "invalid",
    "while", "during", "call", "runtime", "assertion", "index", "attribute", "unsupported", "operand", "null", "none",
))  # fmt: skip
_ORDINARY_TERMS = frozenset(term for word in _ORDINARY for term in tokens.terms(word))
STRUCTURE = ("structure", "layout", "architecture", "module", "overview", "目录", "结构", "架构", "模块")

_ERROR_NAME = re.compile(
    r"\b((?:[A-Za-z_]\w{0,100}[.:]{1,2}){0,12}[A-Za-z_]\w*(?:Error|Exception|Warning|Panic|Failure|Fault|Interrupt))\b"
)
_CAPITAL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # where a word of LDAPSocketError begins
_CODE = re.compile(r"\b(?:[A-Z]{2,}(?:[_-][A-Z0-9]+)+|E[A-Z]{4,}|[A-Z]{1,4}\d{3,5}|SQLSTATE\s?\w{5})\b")
_FRAME = re.compile(
    r'File "([^"\n]{1,400})", line \d+(?:, in ([\w<>.]+))?'  # Python
    r"|\bat ([\w$.<>]+) ?\(([^()\n:]{1,400}):\d+(?::\d+)?\)"  # JavaScript, Java
    r"|([\w./\\@-]{1,300}\.[A-Za-z]{1,5}):\d+"  # Go, Rust, C, compilers
)
_UNSTABLE = re.compile(r"0x[0-9a-fA-F]+|\b\d[\d.,:]*\b|\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|(?:[\w.-]{0,255}/){2,}[\w.-]*")


@dataclass(frozen=True, slots=True)
class ContextTerm:
    """Text that a note may hold, how much that tells (0 to 1), and the reason in words."""

    text: str
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class ContextTerms:
    """Everything to look for."""

    query: str  # for the search that brings candidates
    names: tuple[str, ...] = ()  # a note of one of these names is meant
    phrases: tuple[ContextTerm, ...] = ()  # a note that holds one of these speaks of it
    said: str = ""  # a note that shares enough words with this speaks of it
    structural: bool = False  # notes on structure are wanted first
    ordinary: frozenset[str] = frozenset()  # words that contexts of this sort have, whatever they are about


def read(context: ContextKind, text: str) -> ContextTerms:
    """The signs of a context."""
    match context:
        case ContextKind.FILE:
            return _of_path(text, folder=False)
        case ContextKind.DIRECTORY:
            return _of_path(text, folder=True)
        case ContextKind.ERROR:
            return _of_error(text)
        case ContextKind.INTENT:
            return _of_intent(text)


def unspaced(text: str) -> bool:
    """Whether it is written in a script that puts nothing between words."""
    return _UNSPACED.search(text) is not None


def grams(words: list[str]) -> list[str]:
    """Runs of one to four words, each as it is and in the singular."""
    found: dict[str, None] = {}
    for size in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            found[" ".join(run)] = None
            found[" ".join((*run[:-1], _singular(run[-1])))] = None
    # Where nothing stands between words, any piece may be one.
    pieces = (word[start : start + size] for word in words if _UNSPACED.search(word)
              for size in range(min(_LONGEST_PIECE, len(word) - 1), 1, -1)
              for start in range(len(word) - size + 1))  # fmt: skip
    found.update(dict.fromkeys(itertools.islice(pieces, _MOST_PIECES)))
    return list(found)


def _of_intent(text: str) -> ContextTerms:
    words = address.words_of(text)
    if len(words) > _MOST_WORDS:
        words = words[: _MOST_WORDS // 2] + words[-_MOST_WORDS // 2 :]
    return ContextTerms(text[:_QUERY], tuple(grams(words)), said=text[:_QUERY])


def _of_path(text: str, *, folder: bool) -> ContextTerms:
    path = text.strip().strip("\"'").replace("\\", "/").removeprefix("./").rstrip("/")
    names = [name for name in path.split("/") if name not in {"", ".", "..", "~"}]
    if not names:
        return ContextTerms("")
    last = names[-1]
    stem = last if folder else last.partition(".")[0] or last
    what = "folder" if folder else "file"
    phrases = [*_path_ends(names, what), *_parents(names[:-1])]
    # A name that every project has says nothing without its folder, unless that folder is all that is asked for.
    alone = folder and len(names) == 1
    if alone and last.casefold() in _COMMON:
        phrases.append(ContextTerm(f"{last}/", 0.8, f"names the folder {last}/"))
    named = [each for each in dict.fromkeys((last, stem)) if alone or each.casefold() not in _COMMON]
    if stem != last and stem.casefold() not in _COMMON and len(stem) > 2:
        phrases.append(ContextTerm(stem, 0.45, f"says {stem}, the name of the file"))
    asked = tuple(dict.fromkeys(" ".join(address.words_of(each)) for each in named))
    words = " ".join(dict.fromkeys((*names[-_ENDS:], stem, *(STRUCTURE if folder else ()))))
    return ContextTerms(words[:_QUERY], tuple(filter(None, asked)), tuple(phrases), structural=folder)


def _path_ends(names: list[str], what: str) -> Iterator[ContextTerm]:
    for count in range(len(names), 1, -1):
        end = "/".join(names[-count:])
        yield ContextTerm(end, 1.0 if count == len(names) else 0.9, f"names the {what} {end}")
    if names[-1].casefold() not in _COMMON:
        yield ContextTerm(names[-1], 0.8, f"names the {what} {names[-1]}")


def _parents(names: list[str]) -> Iterator[ContextTerm]:
    """Folders above it, the nearest first; alone only those whose name is their own."""
    for distance in range(min(_ENDS, len(names))):
        above = names[: len(names) - distance]
        weight = 0.6 - 0.1 * distance
        for count in range(min(_ENDS, len(above)), 1, -1):
            folder = "/".join(above[-count:])
            yield ContextTerm(folder, weight, f"names the folder {folder} above it")
        if above[-1].casefold() not in _COMMON and len(above[-1]) > 2:
            yield ContextTerm(above[-1], weight - 0.15, f"names the folder {above[-1]} above it")


def _of_error(text: str) -> ContextTerms:
    text = text[:MAX_CONTEXT]
    classes = _distinct(match[1].rpartition(".")[2].rpartition(":")[2] for match in _ERROR_NAME.finditer(text))
    codes = _distinct(match[0] for match in _CODE.finditer(text))
    phrases = [ContextTerm(each, 0.9, f"names the error {each}") for each in classes]
    phrases += [ContextTerm(each, 0.9, f"names the code {each}") for each in codes if each not in classes]
    packages = _distinct(match[1].partition(".")[0] for match in _ERROR_NAME.finditer(text) if "." in match[1])
    phrases += [ContextTerm(each, 0.6, f"names {each}, which raised it") for each in packages if each not in _COMMON]
    files, functions = _frames(text)
    phrases += [ContextTerm(each, 0.55, f"names {each}, where it happened") for each in files]
    phrases += [ContextTerm(each, 0.45, f"names {each}(), where it happened") for each in functions]
    message = _message(text)
    # What the error speaks of may be the name of a note: cors, ldap.
    said = " ".join((*(_CAPITAL.sub(" ", each) for each in classes), message))
    spoken = grams([word for word in address.words_of(said) if word not in _ORDINARY])
    names = tuple(dict.fromkeys((*(" ".join(address.words_of(each)) for each in (*classes, *codes)), *spoken)))
    query = " ".join((*classes, *codes, *packages, message, *files, *functions))
    return ContextTerms(query[:_QUERY], names, tuple(phrases), said=message, ordinary=_ORDINARY_TERMS)


def _frames(text: str) -> tuple[list[str], list[str]]:
    """Names of the files and functions on the stack, the innermost of a Python one last."""
    files: dict[str, None] = {}
    functions: dict[str, None] = {}
    for match in _FRAME.finditer(text):
        path = match[1] or match[4] or match[5] or ""
        name = path.replace("\\", "/").rpartition("/")[2]
        if name and name.partition(".")[0].casefold() not in _COMMON:
            files[name] = None
        function = (match[2] or match[3] or "").rpartition(".")[2]
        if len(function) > 3 and function[0] != "<" and function.casefold() not in _COMMON:
            functions[function] = None
    return list(files)[-_FRAMES:], list(functions)[-_FRAMES:]


def _message(text: str) -> str:
    """What the error says, without what differs each time."""
    lines = []
    for match in _ERROR_NAME.finditer(text):
        rest = text[match.end() :].partition("\n")[0]
        if rest.startswith((":", "]", "(")):
            lines.append(rest.lstrip(":]( "))
    if not lines:
        frames = [line for line in text.splitlines() if line.strip() and not _FRAME.search(line)]
        lines = [line for line in frames if not line.startswith(("Traceback", "    "))] or frames
    return _UNSTABLE.sub(" ", " ".join(lines[-3:]))[:_QUERY]


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))[:_FRAMES]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 5:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 4 else word


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
        found = read(context, text)
        chosen = self._chosen(found)
        core, more = self._views.core()
        chosen.sort(key=lambda each: (-each.score, each.memory.state.priority, -each.memory.seq))
        related = chosen[:MAX_RELATED]
        told = list({memory.seq for memory in (*core, *(each.memory for each in related))})
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
    least = _FIRST_SHARE_UNSPACED if any(unspaced(term) for term in telling) else _FIRST_SHARE
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
