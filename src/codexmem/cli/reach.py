"""Changing the store from a command: what importing, undoing and forgetting ask of it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from codexmem.cli.backend import Answer, Backend, backend
from codexmem.cli.remote import LONG_S
from codexmem.domain.foreign import CLAUDE_MEM, ForeignMemory
from codexmem.domain.history import Mode


class Reach:
    """What these commands ask of a store; answers are documents."""

    def __init__(self, store: Backend) -> None:
        self._store = store

    def take_in(self, fingerprint: str, rows: Sequence[ForeignMemory], delta: str | None) -> Answer:
        """Import some rows."""
        body = {"program": CLAUDE_MEM, "fingerprint": fingerprint, "delta": delta, "rows": list(map(_row, rows))}
        return self._store.post("/api/import/batch", body)

    def outline(self, whose: Mapping[str, str], shown: int) -> Answer:
        """What taking back would change."""
        return self._store.get("/api/undo/preview", **whose, shown=shown)

    def take_back(self, whose: Mapping[str, str], mode: Mode, into: str | None, after: int) -> Answer:
        """Take back some memories."""
        return self._store.post("/api/undo", {**whose, "mode": mode.value, "into": into, "after": after})

    def found(self, wanted: Mapping[str, Any]) -> tuple[int, bool]:
        """How many memories forgetting would erase, and whether there may be more."""
        told = self._store.post("/api/forget", {**wanted, "preview": True})
        return int(told["found"]), bool(told["more"])

    def forget(self, wanted: Mapping[str, Any]) -> int:
        """Erase them; how many there were."""
        return int(self._store.post("/api/forget", wanted, timeout_s=LONG_S)["erased"])


def _row(row: ForeignMemory) -> Answer:
    """Only what differs from the default."""
    return {f.name: value for f in fields(row) if (value := getattr(row, f.name)) != f.default}


@contextmanager
def store_of(*, create: bool = False, **where: Any) -> Iterator[Reach]:
    """The way to the store that these flags name; one that does not exist yet is made only if that is said."""
    with backend(write=True, create=create, **where) as store:
        yield Reach(store)
