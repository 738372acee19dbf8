"""The copy of the vectors that lies in a server outside the store: whether it can be reached, and sending it again.

Keeping the copy up to date is the indexer's business. Sending again is for a server that has lost what it had; it
touches that server only, so what the store knows about its own vectors stays true.
"""

from collections.abc import Callable, Sequence

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.search.text_of import passages_of
from codexmem.kernel.search.vectors_of import batches, vectors_of
from codexmem.kernel.store.index_backlog import CatchingUp
from codexmem.kernel.store.writable_index import OutsideVectors

_TRIES = 3  # a memory that keeps changing while it is sent is left to the indexer


class OutsideCopy:
    """The acting tenant's vectors in one server."""

    def __init__(self, index: OutsideVectors, backlog: CatchingUp, embedder: Embedder | None) -> None:
        self._index = index
        self._backlog = backlog
        self._embedder = embedder

    @property
    def can_send(self) -> bool:
        """Whether there is anything that makes vectors."""
        return self._embedder is not None

    def silence(self) -> str | None:
        """Why the server does not answer just now; None if it does."""
        try:
            self._index.require()
        except Unavailable as error:
            return error.message
        return None

    def send(self, memories: Sequence[Memory], proceed: Callable[[], object]) -> None:
        """Make the vectors of these anew and send them; nothing without an embedder, because there are none then."""
        if self._embedder is None:
            return
        left = memories
        for _ in range(_TRIES):
            for some in batches([(memory, passages_of(memory)) for memory in left], self._embedder.batch):
                proceed()
                made, _ = vectors_of(self._embedder, some)
                self._index.put(self._embedder.model, made)
            left = self._overtaken(left)
            if not left:
                return

    def _overtaken(self, sent: Sequence[Memory]) -> list[Memory]:
        """Those that were changed while they were sent; what was erased meanwhile is taken back."""
        now = {memory.seq: memory for memory in self._backlog.many([memory.seq for memory in sent])}
        gone = [memory.seq for memory in sent if memory.seq not in now]
        if gone:
            self._index.drop(gone)
        return [now[memory.seq] for memory in sent if memory.seq in now and now[memory.seq].version != memory.version]
