"""Questions with answers: finding them, taking in candidates, learning what became of them, and letting them go."""

from dataclasses import dataclass

from codexmem.kernel.opened import Kernel
from codexmem.kernel.services.receipts import Receipts
from codexmem.qa.service.candidates import QaCandidates
from codexmem.qa.service.evidence import Expiry, QaLifecycle, QaSignals
from codexmem.qa.service.items import QaViews, Searching
from codexmem.qa.service.review import Editing, Retracting, Reviewing
from codexmem.qa.store import Beliefs


@dataclass(frozen=True, slots=True)
class QaService:
    """Everything the routes ask for; every verb acts for the acting tenant."""

    searching: Searching
    candidates: QaCandidates
    signals: QaSignals
    expiry: Expiry
    reviewing: Reviewing
    editing: Editing
    retracting: Retracting
    receipts: Receipts


def build(kernel: Kernel) -> QaService:
    """The services on an open store."""
    db, clock, table, memories, history = kernel.db, kernel.clock, kernel.table, kernel.memories, kernel.history
    beliefs = Beliefs(db)
    views, lifecycle = QaViews(memories, beliefs, clock), QaLifecycle(memories, history, beliefs, kernel.log, clock)
    searching = Searching(views, kernel.search)
    return QaService(
        searching=searching,
        candidates=QaCandidates(db, table, memories, history, beliefs, lifecycle, views, clock, kernel.search),
        signals=QaSignals(db, memories, beliefs, lifecycle, views, clock),
        expiry=Expiry(db, memories, history, beliefs, lifecycle, clock),
        reviewing=Reviewing(db, table, memories, history, beliefs, lifecycle, views, searching),
        editing=Editing(db, table, memories, history, beliefs, lifecycle, views),
        retracting=Retracting(db, table, memories, history, beliefs, lifecycle, views),
        receipts=kernel.receipts,
    )
