"""Sentences of what people and agents say, and the words by which one amends another; English and Chinese."""

import re
from collections.abc import Iterator

from codexmem.kernel.model import quoting

AMENDS = re.compile(
    r"(?i)\b(?:amend\w*|supersed\w*|no longer|instead of|replac\w+|going forward|from now on|updates? to the|"
    r"changed? (?:from|to|our|the)|switch\w* (?:from|to)|revisit\w*|reconsider\w*|deprecat\w+|revert\w*)\b|"
    r"改用|改成|改为|改為|不再|替换|替換|换成|換成|更新为|重新考虑"
)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`*\"'(\[])|(?<=[\u3002\uff01\uff1f\uff1b])|\n+")


def sentences(text: str, most: int) -> Iterator[str]:
    """Sentences and lines, each on one line; a longer one is cut where a word ends."""
    for part in _ENDS.split(text):
        line = quoting.line(part)
        while len(line) > most:
            cut = line.rfind(" ", most // 2, most)
            cut = cut if cut > 0 else most
            yield line[:cut]
            line = line[cut:].strip()
        if any(map(str.isalnum, line)):
            yield line
