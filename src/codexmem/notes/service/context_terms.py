"""What a context says about itself: the names, phrases and words by which a note that bears on it would be known.

Each sort of context is read for what it is: a path has parents and a name, an error a class, a message and frames, an
intent words that may be the name of something. Every sign carries how much it tells and the reason it would give.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codexmem.kernel.model import address
from codexmem.kernel.search import tokens
from codexmem.notes.model import ContextKind

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
    r"\b((?:[A-Za-z_]\w*[.:]{1,2})*[A-Za-z_]\w*(?:Error|Exception|Warning|Panic|Failure|Fault|Interrupt))\b"
)
_CAPITAL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # where a word of LDAPSocketError begins
_CODE = re.compile(r"\b(?:[A-Z]{2,}(?:[_-][A-Z0-9]+)+|E[A-Z]{4,}|[A-Z]{1,4}\d{3,5}|SQLSTATE\s?\w{5})\b")
_FRAME = re.compile(
    r'File "([^"\n]{1,400})", line \d+(?:, in ([\w<>.]+))?'  # Python
    r"|\bat ([\w$.<>]+) ?\(([^()\n:]{1,400}):\d+(?::\d+)?\)"  # JavaScript, Java
    r"|([\w./\\@-]{1,300}\.[A-Za-z]{1,5}):\d+"  # Go, Rust, C, compilers
)
_UNSTABLE = re.compile(r"0x[0-9a-fA-F]+|\b\d[\d.,:]*\b|\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|(?:[\w.-]*/){2,}[\w.-]*")


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
