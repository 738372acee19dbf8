"""Documents as the lab's library takes them in: Markdown, text, PDF, and what LightRAG has cut already."""

from codexmem.services.lab.documents.document import Document, Same, Unread
from codexmem.services.lab.documents.reading import Folder

__all__ = ["Document", "Folder", "Same", "Unread"]
