"""Changing the store from a command: by the running server that owns it, else by opening it here. Both answer alike."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Protocol

from codexmem.cli.remote import LONG_S, Remote, server_of
from codexmem.domain.errors import NotFound
from codexmem.domain.foreign import CLAUDE_MEM, ForeignMemory
from codexmem.domain.history import By, Mode
from codexmem.settings import Settings

if TYPE_CHECKING:
    from codexmem.app import Core

ACTOR = "cli"
Answer = dict[str, Any]


class Reach(Protocol):
    """What these commands ask of a store; answers are documents."""

    def take_in(self, fingerprint: str, rows: Sequence[ForeignMemory], delta: str | None) -> Answer:
        """Import some rows."""
        ...

    def outline(self, whose: Mapping[str, str], shown: int) -> Answer:
        """What taking back would change."""
        ...

    def take_back(self, whose: Mapping[str, str], mode: Mode, into: str | None, after: int) -> Answer:
        """Take back some memories."""
        ...

    def found(self, wanted: Mapping[str, Any]) -> int:
        """How many memories forgetting would erase."""
        ...

    def forget(self, wanted: Mapping[str, Any]) -> int:
        """Erase them; how many there were."""
        ...


class Here:
    """The store, opened by this process."""

    def __init__(self, core: "Core") -> None:
        self._core = core

    def take_in(self, fingerprint: str, rows: Sequence[ForeignMemory], delta: str | None) -> Answer:
        """Import some rows."""
        return asdict(self._core.importing.take_in(fingerprint, rows, By(ACTOR), delta=delta))

    def outline(self, whose: Mapping[str, str], shown: int) -> Answer:
        """What taking back would change."""
        from codexmem.services.undoing import Whose

        return asdict(self._core.undoing.outline(Whose(**whose), shown=shown))

    def take_back(self, whose: Mapping[str, str], mode: Mode, into: str | None, after: int) -> Answer:
        """Take back some memories."""
        from codexmem.services.undoing import Whose

        return asdict(self._core.undoing.take_back(Whose(**whose), mode, By(ACTOR), into=into, after=after))

    def found(self, wanted: Mapping[str, Any]) -> int:
        """How many memories forgetting would erase."""
        return self._core.forgetting.found(**wanted)

    def forget(self, wanted: Mapping[str, Any]) -> int:
        """Erase them."""
        ((name, value),) = wanted.items()
        erase = getattr(self._core.forgetting, name)
        erased: int = erase(value, By(ACTOR))
        return erased


class There:
    """The store, by way of its server."""

    def __init__(self, server: Remote) -> None:
        self._server = server

    def take_in(self, fingerprint: str, rows: Sequence[ForeignMemory], delta: str | None) -> Answer:
        """Import some rows."""
        body = {"program": CLAUDE_MEM, "fingerprint": fingerprint, "delta": delta, "rows": list(map(_row, rows))}
        return self._server.post("/api/import/batch", body)

    def outline(self, whose: Mapping[str, str], shown: int) -> Answer:
        """What taking back would change."""
        return self._server.get("/api/undo/preview", **whose, shown=shown)

    def take_back(self, whose: Mapping[str, str], mode: Mode, into: str | None, after: int) -> Answer:
        """Take back some memories."""
        return self._server.post("/api/undo", {**whose, "mode": mode.value, "into": into, "after": after})

    def found(self, wanted: Mapping[str, Any]) -> int:
        """How many memories forgetting would erase."""
        return int(self._server.post("/api/forget", {**wanted, "preview": True})["found"])

    def forget(self, wanted: Mapping[str, Any]) -> int:
        """Erase them."""
        return int(self._server.post("/api/forget", wanted, timeout_s=LONG_S)["erased"])


def _row(row: ForeignMemory) -> Answer:
    """Only what differs from the default."""
    return {f.name: value for f in fields(row) if (value := getattr(row, f.name)) != f.default}


@contextmanager
def reached(settings: Settings, tenant: str, *, create: bool = False) -> Iterator[Reach]:
    """The way to the store; one that does not exist yet is made only if that is said."""
    server = server_of(settings)
    if server is not None:
        yield There(server)
        return
    with opened(settings, tenant, create=create) as core:
        yield Here(core)


@contextmanager
def opened(settings: Settings, tenant: str, *, create: bool) -> Iterator["Core"]:
    """The store, opened by this process for a tenant; one that does not exist yet is made only if that is said."""
    from codexmem.app import open_core
    from codexmem.store.database import acting_as
    from codexmem.store.opening import sqlite_path

    path = sqlite_path(settings.database_url)
    if path is not None and not path.is_file() and not create:
        raise NotFound(
            f"there is no store at {path}",
            hint="codexmem config get data_dir shows where it is looked for",
            details={"reason": "no_store", "path": str(path)},
        )
    core = open_core(settings)
    try:
        with acting_as(tenant):
            yield core
    finally:
        core.close()
