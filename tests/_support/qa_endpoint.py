"""A server that speaks `/v1/qa/…` as a test says: for what the real service cannot be made to do, such as a 403."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

from tests._support.model_server import Asked, ModelServer, Reply

VERBS = ("search", "candidates", "hit", "validate", "expire")
ITEM: dict[str, Any] = {
    "qa_id": "qa-01", "question": "如何部署商店？", "answer": "1. 打标签。\n2. 推送。", "summary": "打标签并推送",
    "tags": ["部署"],
    "confidence": 0.75, "status": "validated", "score": 0.8123, "hits": {"shown": 3, "used": 2},
    "validations": {"success": 1, "failure": 0}, "contradicts": [], "anchor": "[QA_REF qa-01]", "unproven": False,
    "project_id": "shop",
}  # fmt: skip


class QaEndpoint(ModelServer):
    """`script` decides for each verb: a document is answered as it is, a `Reply` sent as it is."""

    def __init__(
        self, answers: dict[str, Any] | Callable[[str, Asked], Any], tls: ssl.SSLContext | None = None
    ) -> None:
        self.answers = answers
        super().__init__(tls=tls, endpoints={f"/v1/qa/{verb}": self._endpoint(verb) for verb in VERBS})

    @property
    def base(self) -> str:
        """What to configure."""
        return self.url.removesuffix("/v1")

    def _endpoint(self, verb: str) -> Callable[[Asked], Reply]:
        def endpoint(asked: Asked) -> Reply:
            said = self.answers(verb, asked) if callable(self.answers) else self.answers[verb]
            return said if isinstance(said, Reply) else Reply(200, said)

        return endpoint
