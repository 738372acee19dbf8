"""An embedder that needs no model: words fall into buckets, so that texts with common words are near each other."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from codexmem.kernel.embed.model import unit
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument


def numbers_of(text: str, dimension: int = 32) -> list[float]:
    """A count in the bucket of each word; never all zeros."""
    found = [0.0] * dimension
    found[0] = 0.01
    for word in text.lower().split():
        found[1 + zlib.crc32(word.encode()) % (dimension - 1)] += 1.0
    return found


class ToyEmbedder:
    """Deterministic, instant, and failing when told."""

    def __init__(self, model: str = "toy", *, dimension: int = 32, batch: int = 4) -> None:
        self.model = model
        self.batch = batch
        self._dimension = dimension
        self.fails: CodexmemError | None = None
        self.poison = ""  # a text with this word can never be embedded
        self.embedded: list[str] = []

    @property
    def dimension(self) -> int | None:
        """Known."""
        return self._dimension

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """One vector each."""
        if self.fails is not None:
            raise self.fails
        if self.poison and any(self.poison in text for text in texts):
            raise InvalidArgument("the text is poison")
        self.embedded.extend(texts)
        return [unit(numbers_of(text, self._dimension)) for text in texts]

    def query(self, text: str) -> bytes:
        """One vector."""
        if self.fails is not None:
            raise self.fails
        return unit(numbers_of(text, self._dimension))
