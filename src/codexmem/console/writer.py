"""Who writes memories, as far as a command can see: the running server knows, because its own environment decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem.console.messages import language, say
from codexmem.hook.surroundings import refusing_file, working_directory
from codexmem.kernel.model.writer import RULES, MemoryWriter

if TYPE_CHECKING:
    from codexmem.settings import Settings

_ASK_S = 3.0


@dataclass(frozen=True, slots=True)
class WriterStatus:
    """Who writes, and what is wrong with it."""

    writer: MemoryWriter
    trouble: str | None = None  # class of the error, if the model fails
    refused_by: str = ""  # the file by which the current checkout keeps to rules

    def text(self) -> str:
        """In one line."""
        failing = self.trouble is not None
        told = self.writer.failing(self.trouble or "", language()) if failing else self.writer.described(language())
        if self.refused_by and self.writer.provider != RULES:
            return say("writer.refused_here", path=self.refused_by, elsewhere=told)
        return told

    def document(self) -> dict[str, object]:
        """For programs."""
        writer = self.writer
        return {
            "provider": writer.provider, "model": writer.model or None, "host": writer.host or None,
            "leaves_machine": writer.sends, "failing": self.trouble, "refused_by": self.refused_by or None,
            "text": self.text(),
        }  # fmt: skip


def seen(settings: Settings) -> WriterStatus:
    """The running server's word, else what a server started from here would do."""
    told, refused_by = _asked(settings), refusing_file(working_directory())
    try:
        writer, failing = told["writer"], told["failing"]
        found = MemoryWriter(
            writer["provider"], writer["model"] or "", writer["host"] or "", writer["chosen"], writer["undecided"]
        )
        return WriterStatus(found, failing["errorClass"] if failing else None, refused_by)
    except (KeyError, TypeError):
        return WriterStatus(settings.writer, refused_by=refused_by)


def line(settings: Settings) -> str:
    """For a note: who writes, or whose business that is."""
    return say("writer.elsewhere", url=settings.url) if settings.url else seen(settings).text()


def _asked(settings: Settings) -> dict[str, Any]:
    from codexmem.client import starting, transport

    own = starting.ServerLocation(settings.data_dir, settings.port)
    url = starting.told(own)
    if not url:
        return {}
    try:
        reply = transport.ask(url, "GET", "/api/ops/system", headers=starting.headers(own), timeout_s=_ASK_S)
        told = reply.document().get("model", {}) if reply.status == 200 else {}
        return told if isinstance(told, dict) else {}
    except (OSError, ValueError):
        return {}
