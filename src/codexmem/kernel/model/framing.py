"""The frame around what a model is handed: it says that this is data, and by which line alone it ends.

That line holds a number which is a keyed hash of what it ends. Nobody who writes into the memory can know it, so no
remembered text can end the frame; and the same text has the same number, so that a model's cache of its prompt
survives. The key never leaves the machine. Where a program parses the text, JSON is the frame.
"""

from __future__ import annotations

import hmac

from codexmem.kernel.model import ids, privacy

ID = "{id}"  # in a head, where the number is named
_END = "end "
_DIGITS = 10
KEY_BYTES = 32


class Frame:
    """Puts text between its head and the line that ends it."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def of_process(cls) -> Frame:
        """With a key that is forgotten with the process."""
        return cls(bytes.fromhex(ids.secret(KEY_BYTES)))

    def number(self, text: str) -> str:
        """By which the frame of this text ends."""
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:_DIGITS]

    def enclosed(self, head: str, body: str) -> str:
        """Head, body and end; the head names the number where it says `{id}`."""
        first, last = self._around(head, body)
        return f"{first}\n{body}\n{last}"

    def context_frame(self, head: str, body: str) -> tuple[str, str]:
        """What stands before and after a body in a context: head and end between the tags by which our hooks know what
        is ours, and never capture it.
        """
        tag = privacy.CONTEXT_TAG
        first, last = self._around(head, body)
        return f"<{tag}>\n{first}", f"{last}\n</{tag}>"

    def context(self, head: str, body: str) -> str:
        """A body as a context."""
        first, last = self.context_frame(head, body)
        return f"{first}\n{body}\n{last}"

    def _around(self, head: str, body: str) -> tuple[str, str]:
        number = self.number(f"{head}\n{body}")
        return head.replace(ID, number), f"{_END}{number}"
