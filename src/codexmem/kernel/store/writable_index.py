"""What keeping vectors up to date asks of an index, beyond finding."""

from collections.abc import Sequence
from typing import Protocol

from codexmem.kernel.store.index import VectorIndex


class WritableVectorIndex(VectorIndex, Protocol):
    """A vector index that the catch-up job looks after."""

    def versions(self, model: str, seqs: Sequence[int]) -> dict[int, int]:
        """Of which version of each of these memories there are vectors of this model."""
        ...

    def forget_model(self, model: str, *, limit: int) -> int:
        """Remove some vectors of a model that is no longer used; returns how many went, 0 when none is left."""
        ...

    def pay(self, *, limit: int) -> int:
        """Remove some of what `drop` could only promise; returns how many memories, 0 when nothing is owed."""
        ...

    def close(self) -> None:
        """Give back connections to servers; the store's own are not its business."""
        ...


class OutsideVectors(WritableVectorIndex, Protocol):
    """Vectors in a server outside the store, which may be down while the store is not."""

    def require(self) -> None:
        """Raise `Unavailable` unless the server answers soon."""
        ...
