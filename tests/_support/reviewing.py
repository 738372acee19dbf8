"""The review of memories on an opened store, wired as the product wires it."""

from __future__ import annotations

from dataclasses import dataclass

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.tallies import Tallies
from codexmem.recall.review_scan import ReviewScan, VectorNearness
from codexmem.recall.review_store import FindingTable
from tests._support import services
from tests._support.services import Services

ME = WriteContext("test", origin=Origin.HUMAN)


@dataclass(frozen=True)
class ReviewParts:
    """What a test of the review needs."""

    base: Services
    findings: FindingTable
    scan: ReviewScan
    queue: Queue
    table: MemoryTable

    def claim(self, text: str, *, project: str = "demo", origin: Origin = Origin.MODEL, created_ms: int | None = None,
              concept: str = "decision") -> Memory:  # fmt: skip
        """Remember a statement."""
        state = State(text, ObservationAttrs(concepts=(concept,)), project=project, type="decision", title=text[:80])
        return self.base.memories.remember(MemoryDraft(Kind.OBSERVATION, state, origin, created_ms=created_ms), ME)

    def look(self) -> str | None:
        """Run the job until nothing is new; the delta of the last run, if it merged something."""
        delta = None
        while True:
            seen = self.scan.look(self.scan.position())
            delta = self.scan.write(seen) or delta
            if not seen.more:
                return delta


def build(db: Database, embedder: Embedder | None = None) -> ReviewParts:
    """Wire it on this store."""
    base = services.build(db, embedder=embedder)
    findings, table, queue = FindingTable(db), MemoryTable(db), services.queue_of(db, base.clock)
    nearness = VectorNearness(embedder, services.vector_table(db))
    scan = ReviewScan(
        db, table, base.memories, base.history, findings, services.text_index(db), Tallies(db), queue, base.clock,
        nearness.of,
    )  # fmt: skip
    return ReviewParts(base, findings, scan, queue, table)
