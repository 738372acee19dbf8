"""Which toolsets there are, and which of them a client gets that asks for none."""

from typing import Protocol

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


TOOLSETS: dict[str, Toolset[Services]] = {toolset.name: toolset for toolset in (RECALL, NOTES, KNOWLEDGE, FORGET)}
DEFAULT = ("recall", "notes")
