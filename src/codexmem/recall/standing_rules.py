"""The standing rules and how-tos of a project, best first: what a person said, or an author found and nobody revoked.

What was imported, or came from a tool, is never among them: it would become an instruction on its own word.
"""

from codexmem.kernel.model import audience
from codexmem.kernel.model.memory import Kind, Memory, Origin
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.statement import LastingKind
from codexmem.kernel.services.memories import Memories
from codexmem.recall.agent_block import StandingRule

_KINDS = (LastingKind.RULE, LastingKind.DECISION, LastingKind.PREFERENCE, LastingKind.HOW_TO)
_WANTED = (("concept", frozenset(kind.value for kind in _KINDS)),)
_WEIGHTS = {Origin.HUMAN: 4.0, Origin.MODEL: 3.0}
_AGAIN = 0.5  # for each time that it was said again
_OFTEN = 6  # times that count
_READ = 200  # newest statements that are looked at


class StandingRules:
    """Chooses what a block tells."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def of(self, project: str) -> list[StandingRule]:
        """Those of a project; the same until something changes."""
        wanted = Filter(frozenset({Kind.OBSERVATION}), project=project, facets=_WANTED)
        with audience.unasked(), audience.shared():  # a block stands in a file of the checkout
            found = self._memories.page(wanted, PageRequest(limit=_READ)).items
        own = sorted((each for each in found if each.author in _WEIGHTS), key=lambda each: (-_weight(each), -each.seq))
        return [StandingRule(each.state.content, _is_how_to(each)) for each in own]


def _weight(memory: Memory) -> float:
    return _WEIGHTS[memory.author] + _AGAIN * min(memory.counters.valid, _OFTEN)


def _is_how_to(memory: Memory) -> bool:
    return LastingKind.HOW_TO.value in getattr(memory.state.attrs, "concepts", ())
