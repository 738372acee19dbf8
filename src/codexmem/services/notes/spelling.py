"""One slip of the finger: whether a word is a name in which a letter was left out, doubled, swapped or mistaken.

Short words are one letter apart by the dozen, and a mistaken letter makes another word more often than a missing one
does; so both are held to a greater length.
"""

_SHORTEST = 4  # letters of the word
_NAME = 5  # letters of the name
_MISTAKEN = 7  # letters of a name in which one may be another


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
