"""The same request twice has one effect.

The receipt is written in the transaction of the effect, so that an answer which never reached the client is given again
instead of being worked out again. A key stands for one route and one body; with another body it is a conflict.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from codexmem.kernel.model.errors import Conflict
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.project_scope import present_scope
from codexmem.kernel.model.visibility import present_viewer
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.receipts import ReceiptTable

KEPT_MS = 24 * 3_600_000
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ReceiptAnswer:
    """What to tell the client, and what it speaks of."""

    body: dict[str, object]
    subject: str | None = None


class Receipts:
    """Runs effects at most once per key."""

    def __init__(self, db: Database, table: ReceiptTable, clock: Clock) -> None:
        self._db = db
        self._table = table
        self._clock = clock

    def once(self, route: str, key: str | None, body: object, effect: Callable[[], ReceiptAnswer]) -> dict[str, object]:
        """The effect's answer, or the one it gave when this key was first used; without a key, always the effect."""
        if key is None:
            return effect().body
        scope = present_scope()
        member = scope.member if scope is not None else present_viewer().owner
        if member:  # another member with the same key is not answered with this one's answer
            key = f"{member}:{key}"
        digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        with self._db.transaction():
            earlier = self._table.claim(route, key, digest, self._clock.now_ms())
            if earlier is None:
                answer = effect()
                self._table.settle(route, key, answer.body, answer.subject)
                return answer.body
            if earlier.body_hash != digest:
                raise Conflict(
                    "this Idempotency-Key was used for another request", hint="use a new key for a new request"
                )
            return earlier.answer

    def once_as(self, answer: type[M], route: str, key: str | None, request: BaseModel | Mapping[str, object] | None,
                effect: Callable[[], tuple[M, str | None]]) -> M:  # fmt: skip
        """The same for documents: the effect makes the answer, and names what it speaks of.

        `request` is a mapping where the body alone does not say what is asked for.
        """
        if key is None:
            return effect()[0]

        def kept() -> ReceiptAnswer:
            document, subject = effect()
            return ReceiptAnswer(document.model_dump(mode="json", exclude_unset=True), subject)

        asked = request.model_dump(mode="json") if isinstance(request, BaseModel) else dict(request or {})
        return answer.model_validate(self.once(route, key, asked, kept))

    def prune(self, *, limit: int = 1000) -> int:
        """Forget the oldest receipts that are past their time."""
        return self._table.prune(self._clock.now_ms() - KEPT_MS, limit)
