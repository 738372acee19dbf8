"""What an embedder is, and how a vector travels.

A vector is bytes: float32, little endian, of unit length, so that no caller needs a numeric library and the cosine of
two vectors is their product. The model's id is stored beside every vector, because vectors of different models mean
nothing to each other.
"""

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol


class Embedder(Protocol):
    """Turns text into vectors. Every call may come from any thread.

    Loading a model or reaching a server happens at the first call. Whatever keeps an embedder from answering is raised
    as `Unavailable`, with a hint; text that it can never embed as `InvalidArgument`.
    """

    batch: int  # passages that are worth handing over at once

    @property
    def model(self) -> str:
        """The id that is stored with the vectors."""
        ...

    @property
    def dimension(self) -> int | None:
        """Numbers per vector; None while only the first answer can tell."""
        ...

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """Texts to be found, one vector each, in their order. May take long."""
        ...

    def query(self, text: str) -> bytes:
        """What somebody is looking for. Fails soon rather than late: a person waits for the search."""
        ...


def unit(values: Iterable[float]) -> bytes:
    """The vector of these numbers, brought to unit length; all zeros stay zeros."""
    numbers = array("f", values)
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if length > 0.0:
        numbers = array("f", (number / length for number in numbers))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
