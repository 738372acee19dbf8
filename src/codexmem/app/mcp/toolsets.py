"""Which toolsets there are, and which of them a client gets that asks for none."""

from collections.abc import Sequence
from typing import Protocol

from codexmem.features import FEATURES
from codexmem.http.tool import Toolset
from codexmem.kernel.feature import Rooms, load
from codexmem.kernel.model import own_tools
from codexmem.kernel.model.framing import Frame
from codexmem.recall.context import ContextBuilder
from codexmem.recall.mcp import CURATE, FORGET, RECALL, CurateServices, ForgetServices
from codexmem.recall.wire.answers import SearchServices


class ToolServices(SearchServices, CurateServices, ForgetServices, Rooms, Protocol):
    """What the tools of every toolset need together, and what is offered beside tools."""

    @property
    def context(self) -> ContextBuilder: ...
    @property
    def frame(self) -> Frame: ...
    def tell(self, session: str, seqs: Sequence[int]) -> None: ...


def named(*toolsets: Toolset[ToolServices]) -> dict[str, Toolset[ToolServices]]:
    """Toolsets by name; a tool that hooks do not know as ours is refused, because they would capture its calls."""
    tools = [tool for toolset in toolsets for tool in toolset.tools]
    unknown = {name for tool in tools for name in (tool.name, *tool.other_names)} - own_tools.TOOLS
    if unknown:
        raise ValueError(f"hooks would capture calls of {', '.join(sorted(unknown))}: add them to domain.own_tools")
    return {toolset.name: toolset for toolset in toolsets}


_OF_ROOMS = (load(place, Toolset) for room in FEATURES for place in room.toolsets)
TOOLSETS = named(RECALL, *_OF_ROOMS, CURATE, FORGET)
DEFAULT = ("recall", "notes")
