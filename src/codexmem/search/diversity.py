"""Near duplicates step behind: a list of ten should say ten things.

Nothing is dropped; what nearly repeats a better result comes after all results that differ. Only the part of the list
that somebody is about to see is put in order, and it is the same however much that is: pages of one list fit together.
"""

from collections.abc import Iterable, Sequence

from codexmem.store.candidates import Candidate

_READ = 300  # characters compared
_SPACED = 12  # characters to a word, at most, of text with spaces
_COMPARABLE = 0.8  # of the larger's size that the smaller has at least


def spread(order: Sequence[int], candidates: Sequence[Candidate], *, alike: float, depth: int) -> list[int]:
    """The order with near duplicates of better results moved behind those that differ; true of its first `depth`."""
    kept: list[int] = []
    repeated: list[int] = []
    seen: list[frozenset[str]] = []
    looked = 0
    for place in order:
        if len(kept) >= depth:
            break
        looked += 1
        shape = _shape(candidates[place])
        if _repeats(shape, seen, alike):
            repeated.append(place)
        else:
            kept.append(place)
            seen.append(shape)
    return [*kept, *order[looked:], *repeated]


def _shape(candidate: Candidate) -> frozenset[str]:
    """The words of its beginning; where words are not spaced, groups of three characters."""
    text = f"{candidate.title} {candidate.opening[:_READ]}".lower()
    words = text.split()
    if len(words) * _SPACED > len(text):
        return frozenset(words)
    return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))


def _repeats(shape: frozenset[str], seen: Iterable[frozenset[str]], alike: float) -> bool:
    """Whether it is like one of these."""
    size = len(shape)
    for other in seen:
        others = len(other)
        # Sizes far apart cannot reach a likeness that counts.
        if others >= _COMPARABLE * size and size >= _COMPARABLE * others:
            shared = len(shape & other)
            if shared / (size + others - shared) >= alike:
                return True
    return False
