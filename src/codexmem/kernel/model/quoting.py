"""Text of a memory as it may stand before a model or on a terminal: only text, whatever was written into it.

It cannot end the envelope it is put into, open another, pass for a host's or a model's own tags, colour a terminal or
hide. Our own tags lose their name and not only a bracket: our hooks read an escaped bracket as a bracket, so that a
memory which only speaks of `<private>` would take away the prompt it is handed over with.
"""

from __future__ import annotations

import re

from codexmem.kernel.model import privacy

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_]|[PX^_][^\x1b]*(?:\x1b\\)?)")
# What hosts and models take for structure. Code such as List<int> stays as it is.
_STRUCTURE = re.compile(
    r"<(?=\s*(?:/|[a-z]+[-_]|system|instruction|user|assistant|tool|private|human|function))", re.IGNORECASE
)
# Tags that our own hooks act on, however their brackets are spelled: with another letter they are none.
_NAMES = "|".join(map(re.escape, (*privacy.CLOSED_TAGS, *privacy.HOST_TAGS)))
_RESERVED = re.compile(rf"((?:<|\uff1c|&lt;|\\u003c)\s*(?:\\?/)?\s*(?:{_NAMES}))(?![\w.:-])", re.IGNORECASE)
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """Text that is only text: no control characters but ends of lines, nothing hidden, no structure, no envelope."""
    text = _HIDDEN.sub("", _ESCAPE.sub("", text.replace("\r\n", "\n")))
    text = "".join(each if each in "\n\t" or each.isprintable() else " " for each in text)
    return _STRUCTURE.sub("&lt;", _RESERVED.sub(r"\1_", text))


def line(text: str) -> str:
    """The same on one line."""
    return " ".join(plain(text).split())
