"""Which toolsets there are, and which of them a client gets that asks for none."""

from typing import Protocol

from codexmem.domain import own_tools
from codexmem.services.context import Context
from codexmem.surfaces._kit.knowledge import Services as KnowledgeServices
from codexmem.surfaces._kit.recall.answers import Services as RecallServices
from codexmem.surfaces.mcp.forgetting import FORGET
from codexmem.surfaces.mcp.forgetting import Services as ForgettingServices
from codexmem.surfaces.mcp.knowledge import KNOWLEDGE
from codexmem.surfaces.mcp.notes import NOTES
from codexmem.surfaces.mcp.notes_answers import Services as NotesServices
from codexmem.surfaces.mcp.recall import RECALL
from codexmem.surfaces.mcp.tool import Toolset


class Services(RecallServices, NotesServices, ForgettingServices, KnowledgeServices, Protocol):
    """What the tools of every toolset need together, and what is offered beside tools."""

    @property
    def context(self) -> Context: ...


def named(*toolsets: Toolset[Services]) -> dict[str, Toolset[Services]]:
    """Toolsets by name; a tool that hooks do not know as ours is refused, because they would capture its calls."""
    tools = [tool for toolset in toolsets for tool in toolset.tools]
    unknown = {name for tool in tools for name in (tool.name, *tool.other_names)} - own_tools.TOOLS
    if unknown:
        raise ValueError(f"hooks would capture calls of {', '.join(sorted(unknown))}: add them to domain.own_tools")
    return {toolset.name: toolset for toolset in toolsets}


TOOLSETS = named(RECALL, NOTES, KNOWLEDGE, FORGET)
DEFAULT = ("recall", "notes")
