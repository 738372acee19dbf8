"""The query for the memory: what is asked now, what was said just before, and where we are (contract 001 §4.1).

What is asked comes first and gets the most room. Of a text that is too long, what names something is kept: paths,
lines of errors, identifiers; the rest is the least worth. Where the question does not say what it is about ("try that
again"), what was said before and what the repository says of itself are added; where it does, they would only lead the
search astray, and of the repository only changed files that it speaks of are added. The length is bounded, and so is
the work: of a text of any length only its beginning and its end are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codexmem.codecli.checkout import Checkout
from codexmem.codecli.distinctive_terms import terms
from codexmem.kernel.model import privacy

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
