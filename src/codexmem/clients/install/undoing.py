"""Taking our lines out of a text that others have changed since we put them in.

We know the text before us and the text we wrote. Where they differ, our lines are looked for in the text of today, in
order; if every one is found once, it is exchanged for what stood there before. So everything else stays to the byte.
"""

from __future__ import annotations

import difflib


def undone(before: str, written: str, today: str) -> str | None:
    """Today's text without our change; None if our lines are not all there as we wrote them."""
    old, ours, lines = (text.splitlines(keepends=True) for text in (before, written, today))
    made: list[str] = []
    at = 0
    for tag, start, end, from_, to in difflib.SequenceMatcher(None, ours, old, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        wanted = ours[start:end]
        place = _only(lines, wanted, at) if wanted else None
        if place is None:
            return None
        made += lines[at:place] + old[from_:to]
        at = place + len(wanted)
    return "".join(made + lines[at:])


def _only(lines: list[str], wanted: list[str], start: int) -> int | None:
    """Where these lines stand, if that is one place."""
    places = [at for at in range(start, len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]
    return places[0] if len(places) == 1 else None
