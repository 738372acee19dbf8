"""A memory of any kind in a few words, as lists of this door tell it. Times are milliseconds since 1970."""

from typing import Any

from pydantic import BaseModel, Field

from codexmem.domain import handle, note, text_size
from codexmem.domain.attrs import QaAttrs
from codexmem.domain.memory import Kind, Memory

_TITLE = 200  # characters
_SNIPPET = 300  # characters


class Short(BaseModel):
    """A memory in a few words."""

    ref: str = Field(description="a name that every door takes: #12, #S9, #P7, project://config, qa-…, kb-…, mem:…")
    seq: int
    kind: Kind
    type: str
    title: str
    snippet: str
    created_ms: int
    tokens: int = Field(description="about what reading it costs")


def short(memory: Memory) -> dict[str, Any]:
    """A memory in a few words."""
    state = memory.state
    asked = state.attrs.question if isinstance(state.attrs, QaAttrs) else ""
    return {
        "ref": handle.ref(memory),
        "seq": memory.seq,
        "kind": memory.kind,
        "type": state.type,
        "title": note.headline(state.title or asked or state.content, _TITLE),
        "snippet": _excerpt(state.content),
        "created_ms": memory.created_ms,
        "tokens": text_size.tokens(state.content),
    }


def _excerpt(text: str) -> str:
    line = " ".join(text[: 10 * _SNIPPET].split())
    return line if len(line) <= _SNIPPET else f"{line[: _SNIPPET - 1].rstrip()}…"
