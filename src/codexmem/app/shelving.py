"""The library of the lab and the evidence of its runs, put together from the parts of an open store."""

from dataclasses import dataclass

from codexmem.app.banking import Remembering
from codexmem.domain.ids import Clock
from codexmem.services.lab.evidence import Evidences, Shelves
from codexmem.services.lab.library import Library
from codexmem.services.lab.trace import Trace
from codexmem.settings import Settings
from codexmem.store.database import Database
from codexmem.store.lab_evidence import EvidenceTable
from codexmem.store.lab_runs import Runs
from codexmem.store.labels import Labels


@dataclass(frozen=True, slots=True)
class Shelving:
    """Everything about documents."""

    library: Library
    evidence: Evidences
    shelves: Shelves


def shelving_of(db: Database, settings: Settings, clock: Clock, under: Remembering, *, runs: Runs,
                trace: Trace, namespaces: tuple[str, ...] = ()) -> Shelving:  # fmt: skip
    """Documents of the folders that the settings name."""
    table = EvidenceTable(db)
    library = Library(db, under.table, under.memories, under.history, Labels(db), under.search)
    folders = {
        "kb_principles_dir": str(settings.kb_principles_dir or ""),
        "kb_modulation_dir": str(settings.kb_modulation_dir or ""),
    }
    return Shelving(
        library, Evidences(table, runs), Shelves(db, library, table, runs, trace, clock, folders, namespaces)
    )
