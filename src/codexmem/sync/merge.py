"""Two edits of one file brought together, by what both began with.

Fields are merged one by one, lists by their items, the body by its lines. What both changed in different ways is a
conflict: the text then shows both, between the marks that git uses, and is good for nothing but being resolved.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import Match, SequenceMatcher

from codexmem.sync.document import FENCE, FIELDS, MARKS, MemoryFile, Value

_MOST_LINES = 4_000  # that are compared; two edits of a longer stretch are a conflict as a whole


@dataclass(frozen=True, slots=True)
class Overlap:
    """Lines that both sides changed, in different ways."""

    mine: tuple[str, ...]
    theirs: tuple[str, ...]


Piece = str | Overlap


@dataclass(frozen=True, slots=True)
class MergedFile:
    """Both edits in one: a file, or the text that shows where they collide."""

    file: MemoryFile | None
    text: str


def merge(base: MemoryFile, mine: MemoryFile, theirs: MemoryFile, name: str) -> MergedFile:
    """The file's edit (`mine`) and the memory's; `name` says which version of the memory that is."""
    fields = {each: _field(base, mine, theirs, each) for each in FIELDS[mine.kind]}
    body = merge_lines(*(each.body.split("\n") for each in (base, mine, theirs)))
    if not any(isinstance(piece, Overlap) or piece.strip() for piece in body):
        return side_by_side(mine, theirs, name)  # each took out what the other had left
    return _put_together(mine, fields, body, name)


def side_by_side(mine: MemoryFile, theirs: MemoryFile, name: str) -> MergedFile:
    """Two files of which nobody knows what they began with: every difference is a conflict."""
    fields = {
        each: mine.get(each) if mine.get(each) == theirs.get(each) else _heads(mine, theirs, each)
        for each in FIELDS[mine.kind]
    }
    ours, other = mine.body.split("\n"), theirs.body.split("\n")
    return _put_together(mine, fields, _differences(ours, other), name)


def merge_lines(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> list[Piece]:
    """Line by line: what one side alone changed is taken, what both changed alike too."""
    if theirs in (mine, base):
        return list(mine)
    if base == mine:
        return list(theirs)
    if max(len(base), len(mine), len(theirs)) > _MOST_LINES:
        return [Overlap(tuple(mine), tuple(theirs))]
    pieces: list[Piece] = []
    at = ours = other = 0
    for begun, one, two, length in _in_both(base, mine, theirs):
        pieces += _between(base[at:begun], mine[ours:one], theirs[other:two])
        pieces += base[begun : begun + length]
        at, ours, other = begun + length, one + length, two + length
    return pieces


def _between(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> list[Piece]:
    if theirs in (mine, base):
        return list(mine)
    return list(theirs) if mine == base else [Overlap(tuple(mine), tuple(theirs))]


def _in_both(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of the base that both sides left as they were, and the end."""
    ones, twos = _matches(base, mine), _matches(base, theirs)
    first = second = 0
    while first < len(ones) and second < len(twos):
        a, b = ones[first], twos[second]
        begin, end = max(a.a, b.a), min(a.a + a.size, b.a + b.size)
        if begin < end:
            yield begin, a.b + begin - a.a, b.b + begin - b.a, end - begin
        if a.a + a.size < b.a + b.size:
            first += 1
        else:
            second += 1
    yield len(base), len(mine), len(theirs), 0


def _matches(base: Sequence[str], side: Sequence[str]) -> list[Match]:
    return SequenceMatcher(None, base, side, autojunk=False).get_matching_blocks()[:-1]


def _differences(mine: Sequence[str], theirs: Sequence[str]) -> list[Piece]:
    if max(len(mine), len(theirs)) > _MOST_LINES:
        return [Overlap(tuple(mine), tuple(theirs))]
    pieces: list[Piece] = []
    for tag, begin, end, start, stop in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        same = tag == "equal"
        pieces += mine[begin:end] if same else [Overlap(tuple(mine[begin:end]), tuple(theirs[start:stop]))]
    return pieces


def _field(base: MemoryFile, mine: MemoryFile, theirs: MemoryFile, name: str) -> Value | Overlap:
    begun, ours, other = base.get(name), mine.get(name), theirs.get(name)
    if other in (ours, begun):
        return ours
    if ours == begun:
        return other
    if isinstance(begun, tuple) and isinstance(ours, tuple) and isinstance(other, tuple):
        gone = set(begun) - (set(ours) & set(other))
        return tuple(each for each in dict.fromkeys((*ours, *other)) if each not in gone)
    return _heads(mine, theirs, name)


def _heads(mine: MemoryFile, theirs: MemoryFile, name: str) -> Overlap:
    return Overlap(tuple(mine.head(name)), tuple(theirs.head(name)))


def _put_together(mine: MemoryFile, fields: Mapping[str, Value | Overlap], body: list[Piece], name: str) -> MergedFile:
    kept = {key: value for key, value in fields.items() if not isinstance(value, Overlap)}
    lines = [piece for piece in body if isinstance(piece, str)]
    file = replace(mine, fields=kept, body="\n".join(lines).rstrip("\n"))
    if len(kept) == len(fields) and len(lines) == len(body):
        return MergedFile(file, file.text())
    shown = [FENCE, *([f"id: {mine.id}"] if mine.id else []), f"kind: {mine.kind.value}"]
    for key, value in fields.items():
        shown += _marked(value, name) if isinstance(value, Overlap) else file.head(key)
    shown.append(FENCE)
    for piece in body:
        shown += _marked(piece, name) if isinstance(piece, Overlap) else [piece]
    return MergedFile(None, "\n".join([*shown, ""]))


def _marked(torn: Overlap, name: str) -> list[str]:
    return [f"{MARKS[0]}file", *torn.mine, MARKS[1], *torn.theirs, f"{MARKS[2]}{name}"]
