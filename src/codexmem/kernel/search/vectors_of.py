"""From memories to vectors, some at a time: what every index that holds vectors is given."""

import logging
from collections.abc import Iterator, Sequence

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.store.index import Vectors

_log = logging.getLogger(__name__)

Cut = tuple[Memory, list[str]]  # a memory and its passages


def batches(cut: Sequence[Cut], size: int) -> Iterator[list[Cut]]:
    """Groups of whole memories with about so many passages."""
    group: list[Cut] = []
    count = 0
    for memory, parts in cut:
        group.append((memory, parts))
        count += len(parts)
        if count >= size:
            yield group
            group, count = [], 0
    if group:
        yield group


def vectors_of(embedder: Embedder, cut: Sequence[Cut]) -> tuple[list[Vectors], int]:
    """The vectors of these; a text that can never be embedded leaves its memory without, and the others unharmed."""
    try:
        found = iter(embedder.passages([part for _, parts in cut for part in parts]))
    except InvalidArgument as error:
        if len(cut) > 1:
            each = [vectors_of(embedder, [one]) for one in cut]
            return [item for items, _ in each for item in items], sum(bad for _, bad in each)
        _require_it_works(embedder, error)
        _log.warning("memory %d has no vectors: %s", cut[0][0].seq, error)
        return [_item(cut[0][0], ())], 1
    return [_item(memory, tuple(next(found) for _ in parts)) for memory, parts in cut], 0


def _require_it_works(embedder: Embedder, error: InvalidArgument) -> None:
    # A server that refuses every text is set up wrongly; the memories must wait, not be passed over.
    try:
        embedder.passages(["memory"])
    except InvalidArgument:
        raise Unavailable(f"{embedder.model} refuses every text: {error.message}", hint=error.hint) from error


def _item(memory: Memory, parts: tuple[bytes, ...]) -> Vectors:
    return Vectors(memory.seq, memory.state.project, memory.kind.value, memory.version, parts)
