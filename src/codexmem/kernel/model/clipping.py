"""Long texts are cut in their middle, visibly: how a thing begins and how it ends says most about it.

Cuts fall between words, so that no half of a secret is left where a cut is: half a secret is not recognised and would
stay. So texts may be cut first, and masked afterwards without looking through what is thrown away.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_TEXT = 16_000  # characters of one text inside a tool's input or response that are kept
LEFT_OUT = "[left out]"  # in the place of what comes after everything that fits
_HEAD, _TAIL = 0.6, 0.3
_EDGE = 512  # characters beside a cut in which a gap between words is looked for
_WHOLE = 1 << 20  # characters of all texts of a value together
_PARTS = 10_000  # texts, numbers, lists and entries of a value together


def clip(text: str, limit: int = MAX_TEXT) -> str:
    """The text, or its beginning and end with the number of characters between them."""
    if len(text) <= limit:
        return text
    edge = min(_EDGE, limit // 16)
    head, tail = int(limit * _HEAD), len(text) - int(limit * _TAIL)
    head = _gap_before(text, head - edge, head)
    tail = _gap_after(text, tail, tail + edge)
    return f"{text[:head]}\n[… {tail - head:,} characters left out …]\n{text[tail:]}"


def clip_value(value: Any, limit: int = MAX_TEXT) -> Any:
    """A JSON value with every text in it cut, keys too, and nothing after what fits.

    Numbers that JSON cannot say become null.
    """
    return _clipped(value, limit, [_WHOLE, _PARTS])


def _clipped(value: Any, limit: int, left: list[int]) -> Any:
    left[1] -= 1
    if isinstance(value, str):
        cut = clip(value, limit)
        left[0] -= len(cut)
        return cut if min(left) >= 0 or not cut else LEFT_OUT
    if isinstance(value, dict):
        made: dict[str, object] = {}
        for name, each in value.items():
            if min(left) <= 0:
                made[LEFT_OUT] = f"{len(value) - len(made):,} entries"
                break
            key = clip(str(name), limit)
            left[0] -= len(key)
            made[key] = _clipped(each, limit, left)
        return made
    if isinstance(value, list):
        items: list[Any] = []
        for each in value:
            if min(left) <= 0:
                items.append(f"{LEFT_OUT} {len(value) - len(items):,} items")
                break
            items.append(_clipped(each, limit, left))
        return items
    if isinstance(value, float) and value - value != 0:  # infinite, or not a number
        return None
    return value


def _gap_before(text: str, first: int, last: int) -> int:
    """The last gap between words in this stretch; its beginning if there is none."""
    return max(text.rfind(" ", first, last), text.rfind("\n", first, last), first)


def _gap_after(text: str, first: int, last: int) -> int:
    """The first gap between words in this stretch; its end if there is none."""
    return min((at for gap in " \n" if (at := text.find(gap, first, last)) >= 0), default=last)
