"""Our encoder as a server with OpenAI's `/embeddings`, for memories that ask such a server."""

from __future__ import annotations

import base64
import threading
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from codexmem.kernel.embed import local
from tests._support.embedding_server import Answer, Asked, EmbeddingServer


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """Its address, and the numbers of a vector."""
    encoder, turn = local.small(), threading.Lock()

    def answer(asked: Asked) -> Answer:
        given = asked.body["input"]
        with turn:
            vectors = encoder.passages([given] if isinstance(given, str) else given)
        as_text = asked.body.get("encoding_format") == "base64"
        rows = [{"object": "embedding", "index": place, "embedding": _said(vector, as_text=as_text)}
                for place, vector in enumerate(vectors)]  # fmt: skip
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "model": asked.body["model"], "data": rows, "usage": usage}

    dimension = len(encoder.passages(["loaded"])[0]) // 4
    with EmbeddingServer(script=answer) as server:
        yield server.url, dimension


def _said(vector: bytes, *, as_text: bool) -> Any:
    return base64.b64encode(vector).decode() if as_text else array("f", vector).tolist()
