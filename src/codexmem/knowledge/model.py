"""The bounds of entries, and names of tasks.

A task's name is the name of a folder, so it is held to what every file system takes as one plain name and nobody can
read as a way out of where it lies.
"""

import re
import unicodedata

from codexmem.kernel.model.errors import InvalidArgument

MAX_SUMMARY = 10_000  # characters
MAX_TAGS = 100
MAX_BYTES = 128  # in UTF-8; 42 Chinese characters
_PLAIN = frozenset("._-")
# Letters and marks that cannot be seen: two names would look the same.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def task_name(text: str) -> str:
    """The name, composed (NFC), if it is one: letters and digits of any script, and a few plain signs."""
    name = unicodedata.normalize("NFC", text[: MAX_BYTES + 1])
    if len(text) > MAX_BYTES or not _is_plain(name):
        raise InvalidArgument(
            "task_id is not a plain name",
            hint=f"use letters and digits of any script, '.', '_' and '-', beginning with a letter or digit; "
            f"at most {MAX_BYTES} bytes in UTF-8",
        )
    return name


def _is_plain(name: str) -> bool:
    # What NFKC would change only looks like another letter or sign: full-width slashes and dots are among it.
    return (
        name[:1].isalnum()
        and all(character in _PLAIN or unicodedata.category(character)[0] in "LM" or character.isdecimal()
                for character in name)
        and unicodedata.normalize("NFKC", name) == name
        and _INVISIBLE.search(name) is None
        and len(name.encode()) <= MAX_BYTES
    )  # fmt: skip
