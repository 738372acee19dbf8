"""Documents as the lab's library takes them in: Markdown, text, PDF, and what LightRAG has cut already."""

from codexmem.lab.service.documents.document import Document, Same, Unread
from codexmem.lab.service.documents.reading import Folder

__all__ = ["Document", "Folder", "Same", "Unread"]
