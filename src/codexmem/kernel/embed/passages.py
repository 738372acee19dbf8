"""Cutting a long text into passages that an encoder can take in whole.

A passage ends at a paragraph, else at a line or sentence, Chinese or English, and only in a text without any of these
in the middle of something. Every step reads the text once, so that a megabyte costs a megabyte.
"""

import re

SIZE = 2_000  # characters; an encoder blurs what is much longer and loses the context of what is much shorter
LIMIT = 8  # passages of one memory
_HEAD = 200  # characters of a head that is worth repeating in every passage

_ATOM = re.compile(r".+?(?:\n+|[。！？；…]+|[.!?;](?=\s)|\Z)", re.DOTALL)  # noqa: RUF001 - Chinese ends of sentences


def passages(head: str, body: str, *, size: int = SIZE, limit: int = LIMIT) -> list[str]:
    """The text in passages of about `size` characters, each under its head; at most `limit`, evenly chosen.

    Nothing comes of no text.
    """
    head = " ".join(head.split())[: _HEAD * 2]
    packed = [text for part in _packed(body, size) if (text := part.strip())]
    if not packed:
        return [head] if head else []
    kept = _evenly(packed, limit)
    if not head:
        return kept
    if len(head) > _HEAD:
        return [head, *kept[: limit - 1]]
    return [part if part.startswith(head) else f"{head}\n{part}" for part in kept]


def _packed(body: str, size: int) -> list[str]:
    packed: list[str] = []
    current: list[str] = []
    length = 0

    def close() -> None:
        nonlocal length
        if current:
            packed.append("".join(current))
            current.clear()
            length = 0

    for atom in _ATOM.findall(body):
        if length + len(atom) > size:
            close()
        if len(atom) > size:
            packed.extend(atom[start : start + size] for start in range(0, len(atom), size))
            continue
        current.append(atom)
        length += len(atom)
        if atom.endswith("\n\n") and length * 2 >= size:
            close()
    close()
    return packed


def _evenly(parts: list[str], limit: int) -> list[str]:
    if len(parts) <= limit:
        return parts
    if limit == 1:
        return parts[:1]
    return [parts[number * (len(parts) - 1) // (limit - 1)] for number in range(limit)]
