"""What is told at every start and never comes to use fades from there. It stays in searches, and is still told with a
request that it bears on.

Pure. Nothing fades that a person pinned, said, or put among the core notes, and nothing in a store so young or so
rarely used that a memory has not been told twenty times over two weeks.
"""

from collections.abc import Iterable

from codexmem.kernel.model.memory import Kind, Mark, Memory, Origin
from codexmem.kernel.model.note import CORE

# Of twenty sessions in a row none needed it: if one in seven did, that would happen less than once in twenty times.
TOLD = 20
# A busy day has twenty starts, and says nothing about whether next week needs it.
LEAST_AGE_MS = 14 * 86_400_000


def is_faded(memory: Memory, now_ms: int) -> bool:
    """Whether a start should no longer tell it: each use and each confirmation buys it as many tellings again."""
    if Mark.PINNED in memory.state.marks or memory.author is Origin.HUMAN:
        return False
    if memory.kind is Kind.NOTE and memory.state.priority <= CORE:
        return False
    counts = memory.counters
    return now_ms - memory.created_ms >= LEAST_AGE_MS and counts.shown >= TOLD * (1 + counts.used + counts.valid)


def unfaded(memories: Iterable[Memory], now_ms: int) -> list[Memory]:
    """Those that a start still tells."""
    return [memory for memory in memories if not is_faded(memory, now_ms)]
