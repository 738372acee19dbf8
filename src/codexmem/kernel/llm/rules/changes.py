"""What an edit changed, in a few words: a value, a name, or at least how much."""

import difflib
import re
from collections import Counter
from dataclasses import dataclass

from codexmem.kernel.llm.clip import line
from codexmem.kernel.llm.rules.definitions import DefinedName, names
from codexmem.kernel.llm.rules.wording import Wording

_MAX_LINES = 200  # compared line by line; beyond that only counted
_PART = re.compile(r"\w+|\s+|[^\w\s]")
_IDENTIFIER = re.compile(r"[A-Za-z_\u3400-\u9fff][\w-]*")
_SHORT = 40
_WHOLE = 60


@dataclass(frozen=True, slots=True)
class EditSummary:
    """One edit: what it says and how large it is."""

    detail: str
    plus: int
    minus: int


def between(old: str, new: str, path: str, words: Wording) -> EditSummary:
    """From one text to another, both parts of the same file."""
    removed, added = _lines(old, new)
    plus, minus = len(added), len(removed)
    detail = _renamed(old, new, path, words)
    if not detail and plus == minus == 1:
        detail = _value(removed[0], added[0])
    if not detail:
        detail = _named(old, new, path, words) or _single(removed, added, words)
    size = words.say("lines", plus=plus, minus=minus)
    if not detail:
        before = set(names(old, path))
        around = [each.name for each in names(new, path) if each in before]
        detail = words.say("in", name=around[0], detail=size) if around else size
    return EditSummary(detail, plus, minus)


def whole(text: str, path: str, words: Wording) -> EditSummary:
    """A file that was written as a whole."""
    count = len(text.splitlines())
    found = names(text, path)
    size = words.say("lines.new", count=count)
    return EditSummary(words.several([_said(each, words) for each in found], 3) or size, count, 0)


def _lines(old: str, new: str) -> tuple[list[str], list[str]]:
    before, after = old.splitlines(), new.splitlines()
    if len(before) > _MAX_LINES or len(after) > _MAX_LINES:
        gone, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
        return list(gone.elements()), list(come.elements())
    removed: list[str] = []
    added: list[str] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += before[a:b]
            added += after[c:d]
    blank = str.strip
    return list(filter(blank, removed)), list(filter(blank, added))


def _value(old: str, new: str) -> str:
    """Two lines that differ in one place: what stood there and what does now, with the name before it."""
    before, after = _PART.findall(old.strip()), _PART.findall(new.strip())
    if not before or not after or len(before) > 400 or len(after) > 400:
        return ""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    was = "".join(before[start : len(before) - end]).strip()
    now = "".join(after[start : len(after) - end]).strip()
    if was and now and len(was) <= _SHORT and len(now) <= _SHORT:
        if _IDENTIFIER.fullmatch(was) and _IDENTIFIER.fullmatch(now) and len(before) == len(after) and start == 0:
            return f"{was} → {now}"
        named = _IDENTIFIER.findall("".join(before[:start]))
        return f"{named[-1]} {was} → {now}" if named else f"{was} → {now}"
    if len(old.strip()) <= _WHOLE and len(new.strip()) <= _WHOLE:
        return f"{old.strip()} → {new.strip()}"
    return ""


def _single(removed: list[str], added: list[str], words: Wording) -> str:
    """One line more, or one less."""
    key, lines = ("added", added) if added else ("removed", removed)
    if len(removed) + len(added) != 1 or len(lines[0].strip()) > _WHOLE:
        return ""
    return words.say(key, names=line(lines[0], _WHOLE))


def _turnover(old: str, new: str, path: str) -> tuple[list[DefinedName], list[DefinedName]]:
    before, after = dict.fromkeys(names(old, path)), dict.fromkeys(names(new, path))
    return [each for each in before if each not in after], [each for each in after if each not in before]


def _renamed(old: str, new: str, path: str, words: Wording) -> str:
    gone, come = _turnover(old, new, path)
    if len(gone) == len(come) == 1 and gone[0].sort == come[0].sort:
        return words.say("renamed", old=gone[0].name, new=come[0].name)
    return ""


def _named(old: str, new: str, path: str, words: Wording) -> str:
    gone, come = _turnover(old, new, path)
    parts = [_introduced(come, words)] if come else []
    if gone:
        parts.append(words.say("removed", names=words.several([_said(each, words) for each in gone], 3)))
    return words.say("list").join(part for part in parts if part)


def _introduced(found: list[DefinedName], words: Wording) -> str:
    if not found:
        return ""
    return words.say("added", names=words.several([_said(each, words) for each in found], 3))


def _said(name: DefinedName, words: Wording) -> str:
    return line(words.say(f"kind.{name.sort}", name=name.name), 60)
