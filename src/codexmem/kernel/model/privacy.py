"""What must never be remembered: `<private>` regions, and text that we or an agent's host put before the model.

Fails closed. A tag that is nested, unclosed, closed without being opened, badly written or split over the strings of
a JSON value takes more away, never less. Blocks of hosts (`<system-reminder>` and the like) are only noise, so a lone
tag of theirs is left as text; our own envelope fails closed like `<private>`, because a memory that is captured again
feeds on itself. JSON is edited as values, never as text. Linear in time whatever the input; no regular expressions, so
that the hook, which lives for milliseconds, need not load them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

PRIVATE_TAG = "private"
CONTEXT_TAG = "codexmem-context"  # around everything that we put before a model
CLOSED_TAGS = (PRIVATE_TAG, CONTEXT_TAG, "claude-mem-context")  # a lone tag of these takes the text beside it along
HOST_TAGS = ("hook_context", "system-reminder", "system_instruction", "system-instruction", "persisted-output",
             "untrusted_context", "task-notification")  # fmt: skip
DEEPEST = 60  # levels of a JSON value; the server refuses more
TOO_DEEP = "[nested too deeply]"
REMOVED = "[{:,} characters removed beside a private tag without its pair]"  # must not itself read like a tag

# As typed, as typed with a Chinese keyboard, as escaped in HTML, as escaped inside JSON text.
_OPENS = ("<", "＜", "&lt;", "\\u003c")  # noqa: RUF001
_CLOSES = (">", "＞", "&gt;", "\\u003e")  # noqa: RUF001
_ROUNDS = 4  # taking a region out can join the text around it into another tag
_WORD = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_:.")


def strip(text: str) -> str:
    """The text without private regions and injected blocks."""
    return (_strip_all([text])[0] or "") if _suspicious(text) else text


def is_private(text: str) -> bool:
    """Whether the text had a private region and nothing but white space is left without it."""
    return bool(_tags(text, (PRIVATE_TAG,))) and not strip(text).strip()


def strip_value(value: Any) -> Any:
    """A JSON value without private regions and injected blocks, in every string and key.

    A region may begin in one string and end in a later one; everything between is private, numbers too. One that ends
    nowhere takes the rest of its own string, and how much that was is said there: whoever writes a lone tag into a file
    or a log can hide what stands beside it, but not that it is hidden. An entry whose key was private goes with it.
    """
    leaves: list[Any] = []
    keys: set[int] = set()
    _collect(value, leaves, keys, 0)
    if not any(isinstance(leaf, str) and _suspicious(leaf) for leaf in leaves):
        return _rebuilt(value, iter(leaves), 0)
    lone: set[int] = set()
    left = _strip_all(leaves, lone)
    for at in lone - keys:
        told = REMOVED.format(len(leaves[at]) - len(left[at]))
        left[at] += told if left[at][-1:].isspace() or not left[at] else f" {told}"
    return _rebuilt(value, iter(left), 0)


def _collect(value: Any, leaves: list[Any], keys: set[int], depth: int) -> None:
    """Every leaf and key, in the order in which people read the value, and which of them are keys."""
    if depth >= DEEPEST and isinstance(value, dict | list | tuple):
        return
    if isinstance(value, dict):
        for key, each in value.items():
            keys.add(len(leaves))
            leaves.append(str(key))
            _collect(each, leaves, keys, depth + 1)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, leaves, keys, depth + 1)
    else:
        leaves.append(value)


def _rebuilt(value: Any, leaves: Iterator[Any], depth: int) -> Any:
    """The value with its leaves replaced."""
    if depth >= DEEPEST and isinstance(value, dict | list | tuple):
        return TOO_DEEP
    if isinstance(value, dict):
        made = {}
        for key, each in value.items():
            kept, inside = next(leaves), _rebuilt(each, leaves, depth + 1)
            if kept or not key:
                made[kept] = inside
        return made
    if isinstance(value, list | tuple):
        return [_rebuilt(each, leaves, depth + 1) for each in value]
    return next(leaves)


def _suspicious(text: str) -> bool:
    lowered = text.lower()
    return any(map(lowered.__contains__, (*CLOSED_TAGS, *HOST_TAGS)))


def _strip_all(leaves: Sequence[Any], lone: set[int] | None = None) -> list[Any]:
    """Each leaf without what is private, looking at all of them as one text; a leaf that is no text becomes None.

    `lone` gets the places of leaves of which a tag without its pair took text away.
    """
    left = list(leaves)
    lone = set() if lone is None else lone
    for _ in range(_ROUNDS):
        before = left
        for name in CLOSED_TAGS:
            left = _without(left, name, lone, closed=True)
        for name in HOST_TAGS:
            left = _without(left, name, lone, closed=False)
        if left == before:
            return left
    # Somebody nests tags in the pieces of tags. Whatever that is, it is not for keeping.
    return ["" if isinstance(leaf, str) and _tags(leaf, (*CLOSED_TAGS, *HOST_TAGS)) else leaf for leaf in left]


def _without(leaves: list[Any], name: str, lone: set[int], *, closed: bool) -> list[Any]:
    """The leaves without the regions of one tag; `closed` says whether a lone tag takes text with it."""
    found = [(at, tag) for at, leaf in enumerate(leaves) if isinstance(leaf, str) for tag in _tags(leaf, (name,))]
    if not found:
        return leaves
    cuts: list[tuple[int, int, int, int]] = []  # leaf and place of the beginning, leaf and place of the end
    opened: list[tuple[int, int]] = []
    ended = (0, 0)  # where the last closed region ended
    for at, (start, end, closing) in found:
        if not closed and opened and opened[-1][0] != at:
            opened.clear()  # only what is private may reach from one string into another
        if not closing:
            opened.append((at, start))
        elif opened:
            cuts.append((*opened.pop(), at, end))
            ended = (at, end)
        elif closed:
            cuts.append((at, ended[1] if ended[0] == at else 0, at, end))
            ended = (at, end)
            lone.add(at)
    if closed:
        cuts += [(at, start, at, len(leaves[at])) for at, start in opened]
        lone.update(at for at, _ in opened)
    return _cut(leaves, sorted(cuts)) if cuts else leaves


def _cut(leaves: list[Any], cuts: list[tuple[int, int, int, int]]) -> list[Any]:
    """The leaves without the cuts, which are sorted and may overlap."""
    left: list[Any] = []
    pending = iter(cuts)
    cut = next(pending, None)
    until = (-1, 0)  # everything before this place is gone
    for at, leaf in enumerate(leaves):
        if not isinstance(leaf, str):
            while cut is not None and cut[0] < at:
                until, cut = max(until, cut[2:]), next(pending, None)
            left.append(None if until[0] > at else leaf)
            continue
        pieces: list[str] = []
        place = 0
        if until[0] >= at:
            place = len(leaf) if until[0] > at else until[1]
        while cut is not None and cut[0] == at:
            if cut[1] > place:
                pieces.append(leaf[place : cut[1]])
            until = max(until, cut[2:])
            if until[0] >= at:
                place = max(place, len(leaf) if until[0] > at else until[1])
            cut = next(pending, None)
        pieces.append(leaf[place:])
        left.append("".join(pieces))
    return left


def _tags(text: str, names: Sequence[str]) -> list[tuple[int, int, bool]]:
    """Where tags of these names begin and end, and whether they close; in order.

    A tag without an end reaches to the end of the text.
    """
    lowered = text.lower()
    if not any(name in lowered for name in names):
        return []
    if len(lowered) != len(text):  # one letter, the Turkish capital I with a dot, gets longer
        lowered = text.replace("\u0130", "i").lower()
    found = []
    for name in names:
        closes = [_Finder(lowered, spelling) for spelling in _CLOSES]
        at = lowered.find(name)
        while at >= 0:
            after = at + len(name)
            if after == len(lowered) or lowered[after] not in _WORD:
                opening = _opening(lowered, at)
                if opening is not None:
                    start, closing = opening
                    ends = [end for finder in closes if (end := finder.after(after)) >= 0]
                    found.append((start, min(ends) if ends else len(text), closing))
            at = lowered.find(name, after)
    return sorted(found)


def _opening(lowered: str, at: int) -> tuple[int, bool] | None:
    """Where the tag whose name stands here begins, and whether it closes; None if it is no tag."""
    place, closing = at, False
    while place:
        before = lowered[place - 1]
        if before == "/" and not closing:
            closing = True
            place -= 1 + (lowered[place - 2 : place - 1] == "\\")  # inside JSON text some write <\/private>
        elif before.isspace():
            place -= 1
        else:
            break
    for spelling in _OPENS:
        if lowered.endswith(spelling, 0, place):
            return place - len(spelling), closing
    return None


class _Finder:
    """Ends of one spelling of `>`, asked for from left to right; never looks at a place twice."""

    def __init__(self, text: str, spelling: str) -> None:
        self._text = text
        self._spelling = spelling
        self._at = -2  # not looked yet

    def after(self, place: int) -> int:
        """Where the next one ends, or -1."""
        if self._at == -2 or 0 <= self._at < place:
            self._at = self._text.find(self._spelling, place)
        return self._at + len(self._spelling) if self._at >= 0 else -1
