"""Which language a person writes, as far as it decides what we write: Chinese, or anything else."""

import re
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff]")
_LATIN_WORD = re.compile("[A-Za-z][A-Za-z'-]*")
_LOOK_AT = 2_000  # characters


def language_of(text: str) -> Language:
    """Chinese if its characters are at least as many as the Latin words: names of files and tools stay Latin."""
    beginning = text[:_LOOK_AT]
    if _KANA.search(beginning):
        return "en"
    han = len(_HAN.findall(beginning))
    return "zh" if han and han >= len(_LATIN_WORD.findall(beginning)) else "en"
