"""The query for the memory: what is asked now, what was said just before, and where we are (contract 001 §4.1).

What is asked comes first and gets the most room. Of a text that is too long, what names something is kept: paths,
lines of errors, identifiers; the rest is the least worth. Where the question does not say what it is about ("try that
again"), what was said before and what the repository says of itself are added; where it does, they would only lead the
search astray, and of the repository only changed files that it speaks of are added. The length is bounded, and so is
the work: of a text of any length only its beginning and its end are looked at.

What the working directory says of itself, for a query: its files that changed and the first line of its README.

Only files are read, git is not run: a checkout's configuration and attributes can name a program for almost every
command of git. So staged changes are known by their time alone, and files that git does not track are not known.
Bounded in time and size whatever the repository is like; a folder that is no repository just says less.

What a text says that can be recognised again: names, numbers, words that not every text has, pairs of Chinese signs.

Used to see whether an answer took something over, and whether a question says enough by itself.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codexmem.codecli import surroundings
from codexmem.hook import surroundings as machine
from codexmem.kernel.model import git_index, privacy
from codexmem.kernel.model import project as projects
from codexmem.kernel.model.git_index import IndexEntry

NAME, WORD = 2, 1  # points: a name tells more than a word
_MOST = 20_000  # terms of one text
_NAMED = re.compile(r"[A-Za-z0-9_.@/:+-]+")
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
    for match in _NAMED.finditer(text):
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


LOOK_S = 0.3
_MOST_INDEX = 32 << 20
_MOST_FILES = 20
_MOST_COMPARED = 1 << 20  # bytes of a file whose content is compared
_AT_ONCE = 64  # files between two looks at the clock
_HEAD_BYTES = 4_096
_READMES = ("README.md", "README.rst", "README.txt", "README", "README.zh.md", "readme.md")


@dataclass(frozen=True, slots=True)
class Checkout:
    """What is known of it."""

    changed: tuple[str, ...] = ()  # the last ones first
    heading: str = ""


def look(cwd: str, wait_s: float = LOOK_S) -> Checkout:
    """See what the folder has to say."""
    return Checkout(_changed(cwd, surroundings.monotonic() + wait_s), _heading(cwd))


def _changed(cwd: str, until: float) -> tuple[str, ...]:
    found = projects.working_tree(cwd, machine.text_of)
    if found is None:
        return ()
    root, folder = found
    index = _content(f"{folder}/index", _MOST_INDEX + 1)
    if len(index) > _MOST_INDEX:
        return ()
    moved_ns = _last_moved_ns(folder)
    changed: dict[str, int] = {}
    for number, entry in enumerate(git_index.entries(index)):
        if number % _AT_ONCE == 0 and surroundings.monotonic() > until:
            break
        if (when := _changed_at(root, entry, moved_ns)) is not None:
            changed[entry.path] = when
    return tuple(sorted(changed, key=changed.__getitem__, reverse=True)[:_MOST_FILES])


def _changed_at(root: str, entry: IndexEntry, moved_ns: int) -> int | None:
    """When a file was changed, 0 if it is gone; None if it is as it was committed, as far as can be seen."""
    if entry.path.startswith("/") or ".." in entry.path.split("/"):
        return None  # no file of this checkout
    path = f"{root}/{entry.path}"
    try:
        seen = os.lstat(path)
    except (OSError, ValueError):
        return 0
    if entry.unsettled or seen.st_mtime_ns > moved_ns:
        return seen.st_mtime_ns
    seconds, nanoseconds = divmod(seen.st_mtime_ns, 1_000_000_000)
    same_size = seen.st_size & 0xFFFFFFFF == entry.size
    if same_size and seconds == entry.mtime_s and nanoseconds == (entry.mtime_ns or nanoseconds):
        return None
    # A copied checkout has other times and the same files.
    if same_size and stat.S_ISREG(seen.st_mode) and seen.st_size <= _MOST_COMPARED and _is_same(path, entry):
        return None
    return seen.st_mtime_ns


def _is_same(path: str, entry: IndexEntry) -> bool:
    content = _content(path, _MOST_COMPARED)
    blob = b"blob %d\0%b" % (len(content), content)
    made = hashlib.sha1(blob, usedforsecurity=False) if len(entry.digest) == 20 else hashlib.sha256(blob)
    return made.digest() == entry.digest


def _last_moved_ns(folder: str) -> int:
    """The end of the second in which HEAD was last moved, by a commit or a checkout; a file written later is changed.

    Without a log of that, no time is later.
    """
    last = _content(f"{folder}/logs/HEAD", _HEAD_BYTES, from_end=True).rstrip(b"\n").rpartition(b"\n")[2]
    words = last.partition(b"\t")[0].split()
    seconds = words[-2] if len(words) > 3 else b""
    return (int(seconds) + 1) * 1_000_000_000 if seconds.isdigit() and len(seconds) < 15 else 1 << 80


def _heading(cwd: str) -> str:
    for name in _READMES:
        text = _content(f"{cwd}/{name}", _HEAD_BYTES).decode("utf-8", "ignore")
        for line in text.splitlines():
            plain = line.strip().lstrip("#=*- ").strip()
            if plain and plain[0] not in "<[!`|":
                return plain[:120]
    return ""


def _content(path: str, most: int, *, from_end: bool = False) -> bytes:
    """A file's first or last bytes; of nothing but files, since a checkout may hold a pipe that nobody writes to."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        seen = os.fstat(file)
        if not stat.S_ISREG(seen.st_mode):
            return b""
        return os.pread(file, most, max(0, seen.st_size - most) if from_end else 0)
    except OSError:
        return b""
    finally:
        os.close(file)


SHORTEST_LIMIT, LONGEST_LIMIT = 800, 1_500  # what the contract names; more only if configured
_LOOKED_AT = 32_768  # characters of a text, half of them from its end
_ENOUGH, _ENOUGH_REFERRING = 2.0, 6.0  # points of a question that stands for itself, also where it points elsewhere
_REFERS = re.compile(
    r"\b(?:again|that|this|it|its|same|these|those|them|they|continue|go on|previous|before|above|earlier|last|still)\b"
    r"|继续|再|这|那|它|上面|上述|刚才|之前|同样|还是|接着|一样",
    re.IGNORECASE,
)
_RECENT_SHARE, _PLACE_SHARE = 0.3, 0.25
_MOST_NAMES = 60
_MOST_CHANGED = 8  # files
_WORDS = re.compile(r"[/._\-]+")

# Lines that say what went wrong.
_TROUBLE = re.compile(
    r"^.{0,300}\b(?:error|exception|traceback|fatal|panic|failed|failure|cannot|undefined|not found|errno|assert\w*"
    r"|[A-Z]\w{1,60}(?:Error|Exception|Warning))\b.{0,300}$|^.{0,300}(?:错误|异常|失败|报错|无法|找不到).{0,300}$",
    re.IGNORECASE | re.MULTILINE,
)
# What names a thing: paths, dotted and under_scored and camelCase names, calls, options, codes, versions.
_NAME = re.compile(
    r"(?:[~.]{0,2}/)?(?:[\w.@+-]{1,80}/){1,12}[\w.@+-]{1,80}(?::\d{1,6})?"  # paths
    r"|\b[A-Za-z_]\w{0,60}(?:(?:\.|::)[A-Za-z_]\w{0,60}){1,6}(?:\(\))?"  # a.b.c, a::b
    r"|\b[A-Za-z]\w{0,60}_\w{1,60}\b"  # snake_case, SCREAMING_CASE
    r"|\b[a-z]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,6}\b|\b(?:[A-Z][a-z0-9]{1,40}){2,6}\b"  # camelCase, PascalCase
    r"|\b[A-Za-z_]\w{0,60}\(\)"  # call()
    r"|(?<!\S)--?[a-z][\w-]{1,40}"  # --option
    r"|\b[A-Z]{1,8}-?\d{2,6}\b|\b0x[0-9a-fA-F]{2,16}\b|\b\d{1,5}(?:\.\d{1,5}){1,3}\b"  # E0308, CVE-…, 1.2.3
)


def build(asked: str, *, recent: Sequence[str] = (), repository: Checkout | None = None, project: str = "",
          limit: int = LONGEST_LIMIT) -> str:  # fmt: skip
    """The query, at most `limit` characters long; empty if nothing was asked."""
    question = _looked_at(privacy.strip(asked)).strip()
    if not question:
        return ""
    said = (" ".join(_looked_at(privacy.strip(text)).split()) for text in recent)
    wanted_recent = [each for each in dict.fromkeys(said) if each and each not in question]
    alone = stands_alone(question)
    place = _place(repository, project, question, alone=alone)
    for_place = min(len(place) + 1, int(limit * _PLACE_SHARE)) if place else 0
    for_recent = 0
    if wanted_recent and not alone:
        for_recent = min(sum(map(len, wanted_recent)) + 1, int(limit * _RECENT_SHARE))
    parts = [fitted(question, max(1, limit - for_place - for_recent))]
    if for_recent:
        parts.append(fitted("\n".join(wanted_recent), limit - len(parts[0]) - for_place - 1))
    if for_place:
        parts.append(_whole_words(place, limit - sum(map(len, parts)) - len(parts)))
    return "\n".join(part for part in parts if part)[:limit]


def fitted(text: str, limit: int) -> str:
    """The text within a number of characters: whole, else its beginning and end with all between that names a thing."""
    if len(text) <= limit:
        return text
    names = "\n".join([*_lines(text), *_names(text)])
    for_names = min(len(names), limit // 2)
    head, tail = int((limit - for_names) * 0.6), int((limit - for_names) * 0.3)
    kept = _whole_words(names, for_names)
    return "\n".join(part for part in (_whole_words(text, head), kept, _last_words(text, tail)) if part)[:limit]


def stands_alone(question: str) -> bool:
    """Whether a question says what it is about; what was said before would only lead the search away from it."""
    points = sum(worth / 2 if term[0] > "\u2e7f" else worth for term, worth in terms(question[:_LOOKED_AT]).items())
    return points >= (_ENOUGH_REFERRING if _REFERS.search(question) else _ENOUGH)


def entities(text: str) -> list[str]:
    """What the text names, each once, in its order."""
    return _names(_looked_at(text))


def _place(repository: Checkout | None, project: str, question: str, *, alone: bool) -> str:
    """Where we are, as far as it helps. A changed file that the question names is told already."""
    changed = [path for path in (repository.changed if repository is not None else ()) if path not in question]
    if alone:
        spoken = terms(question)
        related = (path for path in changed if any(term in spoken for term in terms(_WORDS.sub(" ", path))))
        return " ".join(list(related)[:_MOST_CHANGED])
    said = [project, repository.heading if repository is not None else "", *changed[:_MOST_CHANGED]]
    return " ".join(" ".join(said).split())


def _looked_at(text: str) -> str:
    if len(text) <= _LOOKED_AT:
        return text
    return f"{text[: _LOOKED_AT // 2]}\n{text[-_LOOKED_AT // 2 :]}"


def _lines(text: str) -> list[str]:
    return _once((match.group().strip() for match in _TROUBLE.finditer(text)), 8)


def _names(text: str) -> list[str]:
    return _once((match.group() for match in _NAME.finditer(text)), _MOST_NAMES)


def _once(found: Iterable[str], most: int) -> list[str]:
    kept: dict[str, None] = {}
    for each in found:
        if each:
            kept.setdefault(each)
            if len(kept) >= most:
                break
    return list(kept)


def _whole_words(text: str, limit: int) -> str:
    """The beginning, cut between words where there are any."""
    if len(text) <= limit:
        return text
    cut = text[: max(0, limit)]
    gap = max(cut.rfind(" "), cut.rfind("\n"))
    return (cut[:gap] if gap > limit // 2 else cut).rstrip()


def _last_words(text: str, limit: int) -> str:
    cut = text[len(text) - limit :] if limit > 0 else ""
    gap = min((place for place in (cut.find(" "), cut.find("\n")) if place >= 0), default=-1)
    return (cut[gap + 1 :] if 0 <= gap < limit // 2 else cut).lstrip()
