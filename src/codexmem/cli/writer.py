"""Who writes memories, as far as a command can see: the running server knows, because its own environment decides."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem.cli.messages import language, say
from codexmem.domain.writer import Writer

if TYPE_CHECKING:
    from codexmem.settings import Settings

_ASK_S = 3.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Who writes, and what is wrong with it."""

    writer: Writer
    trouble: str | None = None  # class of the error, if the model fails

    def text(self) -> str:
        """In one line."""
        if self.trouble is not None:
            return self.writer.failing(self.trouble, language())
        return self.writer.described(language())

    def document(self) -> dict[str, Any]:
        """For programs."""
        writer = self.writer
        return {
            "provider": writer.provider, "model": writer.model or None, "host": writer.host or None,
            "leaves_machine": writer.sends, "failing": self.trouble, "text": self.text(),
        }  # fmt: skip


def seen(settings: Settings) -> Seen:
    """The running server's word, else what a server started from here would do."""
    told = _asked(settings)
    try:
        writer, failing = told["writer"], told["failing"]
        found = Writer(writer["provider"], writer["model"] or "", writer["host"] or "", writer["chosen"])
        return Seen(found, failing["errorClass"] if failing else None)
    except (KeyError, TypeError):
        return Seen(settings.writer)


def line(settings: Settings) -> str:
    """For a note: who writes, or whose business that is."""
    return say("writer.elsewhere", url=settings.url) if settings.url else seen(settings).text()


def _asked(settings: Settings) -> dict[str, Any]:
    from codexmem.clients.starting import announced, connect

    url = announced(settings.data_dir)
    if not url:
        return {}
    connection = connect(url, _ASK_S)
    try:
        connection.request("GET", "/api/ops/system", headers=_authorization(settings))
        reply = connection.getresponse()
        body = json.loads(reply.read(1 << 20) or b"{}")
        told = body.get("model", {}) if reply.status == 200 and isinstance(body, dict) else {}
        return told if isinstance(told, dict) else {}
    except (OSError, ValueError, http.client.HTTPException):
        return {}
    finally:
        connection.close()


def _authorization(settings: Settings) -> dict[str, str]:
    """The token of this data directory, where the server asks for it; its address is on this machine."""
    try:
        token = (settings.data_dir / "token").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return {}
    return {"Authorization": f"Bearer {token}"} if settings.auth else {}
