"""Addresses that a text mentions: `see project://config` in one note is a link to another.

A mention ends at a space, a quote, a bracket or Chinese punctuation, and never with a full stop. Where Chinese follows
a Latin path without a space it may belong to it or not, so both readings are mentions; the one that names something is
the link. Addresses of the web, of files and of views are none of ours.
"""

import hashlib
import re

from codexmem.kernel.model import address
from codexmem.kernel.model.errors import InvalidArgument

MAX_MENTIONS = 100  # of one text; what is mentioned after them is text and no link
_LABEL = 300  # characters of an address that a label holds; a longer one ends in a digest
_ELSEWHERE = frozenset(
    {"http", "https", "ftp", "ftps", "ws", "wss", "file", "ssh", "git", "data", "jdbc", "s3", *address.RESERVED}
)
_ENDS = r"\s<>\"'`|\\()\[\]{}\u2018-\u201d\u2026\u3001\u3002\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
_MENTION = re.compile(rf"(?<![A-Za-z0-9+.\-])([A-Za-z][A-Za-z0-9+.\-]{{0,31}})://([^{_ENDS}]+)")
_TRAILING = ".,;:!?*~"
_LATIN_THEN_OTHER = re.compile(r"(?<=[\w.\-])(?<=[!-~])(?=[^\x00-\x7f])")


def mentions_in(text: str) -> tuple[str, ...]:
    """The addresses in the text, in their normal spelling, each once, in order."""
    found: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        if match[1].lower() in _ELSEWHERE:
            continue
        path = match[2].rstrip(_TRAILING)
        for reading in (path, _LATIN_THEN_OTHER.split(path, maxsplit=1)[0].rstrip(_TRAILING)):
            try:
                found[address.normalise(f"{match[1]}://{reading}")] = None
            except InvalidArgument:
                continue
        if len(found) >= MAX_MENTIONS:
            break
    return tuple(found)[:MAX_MENTIONS]


def without_mentions(text: str) -> str:
    """The text with every address taken out: what it says in words of its own."""
    return _MENTION.sub(" ", text)


def mention_label(uri: str) -> str:
    """The label under which mentions of this address are found."""
    if len(uri) <= _LABEL:
        return uri
    return f"{uri[:_LABEL]}#{hashlib.blake2b(uri.encode(), digest_size=16).hexdigest()}"
