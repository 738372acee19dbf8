"""Evidence: what runs were shown of the library, under aliases that mean the same piece for the whole run.

A run keeps each piece as it saw it: what becomes of the library afterwards changes no run's evidence, and forgetting a
document leaves what runs have quoted of it with them. Folders that a run is to use are read before it is answered.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import Clock, monotonic
from codexmem.kernel.model.job import Canceled
from codexmem.kernel.store.database import Database
from codexmem.lab.model import Evidence, RunTask
from codexmem.lab.service.library import Library
from codexmem.lab.service.syncing import Freshness, LibraryTarget
from codexmem.lab.service.trace import RunTrace, no_run
from codexmem.lab.store.evidence import EvidenceTable
from codexmem.lab.store.runs import RunTable

ACTOR = "lab"
_ALIAS = re.compile(r"C([1-9][0-9]{0,8})")
_LOOK_S = 0.25


class Evidences:
    """What the acting tenant's runs were shown."""

    def __init__(self, table: EvidenceTable, runs: RunTable) -> None:
        self._table = table
        self._runs = runs

    def page(self, run_id: str, *, after: int = 0, limit: int = 50, content: bool = False
             ) -> tuple[list[Evidence], int | None]:  # fmt: skip
        """Pieces in the order of their aliases, and where the next page starts; costs the page."""
        self._require(run_id)
        return self._table.page(run_id, after=after, limit=limit, content=content)

    def one(self, run_id: str, alias: str) -> Evidence:
        """The piece of this alias, with its text."""
        self._require(run_id)
        found = self.of(run_id, alias)
        if found is None:
            raise NotFound(f"run {run_id[:80]} was shown no {alias[:40]}", hint="see …/evidence for what it was shown")
        return found

    def of(self, run_id: str, alias: str) -> Evidence | None:
        """The same, None where there is none."""
        named = _ALIAS.fullmatch(alias)
        return self._table.get(run_id, int(named[1])) if named is not None else None

    def _require(self, run_id: str) -> None:
        if self._runs.batch_of(run_id) is None:
            raise no_run(run_id)


@dataclass(frozen=True, slots=True)
class NamespaceFolder:
    """Where a namespace lies for one run."""

    folder: Path | None = None  # to be read first
    apart: str = ""  # its own pieces, kept from those of the others


def place_of(namespace: str, config: Mapping[str, object], configured: Mapping[str, str]) -> NamespaceFolder:
    """The place that a batch's configuration names; another folder than the configured one is kept apart."""
    name = f"{namespace}_dir"
    overrides = config.get("overrides")
    chosen = str((overrides.get(name) if isinstance(overrides, Mapping) else "") or "")
    usual = configured.get(name, "")
    if chosen and (not usual or Path(chosen) != Path(usual).expanduser().resolve()):
        if Path(chosen).resolve() != Path(chosen):  # it was checked as it stood when the batch was made
            raise InvalidArgument(f"overrides.{name} has become a link since the batch was made")
        return NamespaceFolder(Path(chosen), chosen)
    return NamespaceFolder(Path(usual).expanduser().resolve() if usual else None)


class Shelves:
    """Makes the shelf of each run."""

    def __init__(
        self,
        db: Database,
        library: Library,
        evidence: EvidenceTable,
        runs: RunTable,
        trace: RunTrace,
        clock: Clock,
        configured: Mapping[str, str],
        namespaces: Sequence[str] = (),
    ) -> None:
        self._db = db
        self._library = library
        self._evidence = evidence
        self._runs = runs
        self._trace = trace
        self._clock = clock
        self._configured = dict(configured)
        self._namespaces = tuple(namespaces)
        self._freshness = Freshness()

    def shelf(self, task: RunTask) -> "RunShelf":
        """The library as this run sees it."""
        return RunShelf(
            task.run.id, self._library, self._evidence, self._clock, self._trace.masked,
            lambda namespace: self._ready(namespace, task),
        )  # fmt: skip

    def are_empty(self, config: Mapping[str, object]) -> bool:
        """Whether a run with this configuration has nothing to search; a few looks into an index."""
        return bool(self._namespaces) and all(
            self._library.is_empty(each, apart=place_of(each, config, self._configured).apart)
            for each in self._namespaces
        )

    def _ready(self, namespace: str, task: RunTask) -> str:
        """Have the namespace's folder read; returns what keeps its pieces apart."""
        place = place_of(namespace, task.config, self._configured)
        if place.folder is not None:
            target = LibraryTarget(self._library, namespace, WriteContext(ACTOR), place.apart)
            key = (self._db.acting_tenant(), namespace, str(place.folder), place.apart)
            try:
                self._freshness.ensure(target, place.folder, key, self._watch(task.run.id))
            except NotFound:
                if place.apart:
                    raise
                # A configured folder that is away for a while: what was read of it stands.
        return place.apart

    def _watch(self, run_id: str) -> Callable[[], None]:
        """Raises soon after the run was canceled."""
        looked = monotonic()

        def check() -> None:
            nonlocal looked
            if monotonic() - looked < _LOOK_S:
                return
            looked = monotonic()
            run = self._runs.run(run_id)
            if run is None or run.cancel_id is not None:
                raise Canceled(f"run {run_id} was canceled")

        return check


class RunShelf:
    """The evidence of one run over the library; may be made anew at any time, aliases stay."""

    def __init__(self, run_id: str, library: Library, table: EvidenceTable, clock: Clock,
                 masked: Callable[[Any], Any], ready: Callable[[str], str]) -> None:  # fmt: skip
        self._run_id = run_id
        self._library = library
        self._table = table
        self._clock = clock
        self._masked = masked
        self._ready = ready
        self._apart: dict[str, str] = {}

    def query(self, namespace: str, text: str, mode: str, top_k: int) -> list[Evidence]:
        """The best pieces of a namespace, each under its alias."""
        if namespace not in self._apart:
            self._apart[namespace] = self._ready(namespace)
        found = self._library.query(namespace, text, mode, top_k, apart=self._apart[namespace])
        shown = [replace(each, content=str(self._masked(each.content))) for each in found]
        return self._table.show(self._run_id, shown, now_ms=self._clock.now_ms())

    def get(self, alias: str) -> Evidence | None:
        """A piece that this run was shown."""
        named = _ALIAS.fullmatch(alias)
        return self._table.get(self._run_id, int(named[1])) if named is not None else None

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, limit: int) -> tuple[int, Sequence[str]]:
        """How many pieces the run was shown, and the first aliases of them."""
        total = self._table.count(self._run_id)
        return total, [f"C{number}" for number in range(1, min(total, limit) + 1)]
