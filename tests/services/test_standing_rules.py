"""Which statements of a project stand in a block; on every engine."""

from __future__ import annotations

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.store.database import Database
from codexmem.recall.agent_block import StandingRule
from codexmem.recall.standing_rules import StandingRules
from tests._support import services

BY = WriteContext("test")


def test_what_people_said_comes_first_and_what_was_imported_not_at_all(database: Database) -> None:
    base = services.build(database)

    def said(text: str, concept: str, origin: Origin, status: Status = Status.ACTIVE, project: str = "shop") -> Memory:
        attrs = ObservationAttrs(concepts=(concept,))
        state = State(text, attrs, project=project, type="decision", title=text, status=status)
        return base.memories.remember(MemoryDraft(Kind.OBSERVATION, state, origin), BY)

    said("run make check", "how-to", Origin.MODEL)
    often = said("found often", "rule", Origin.MODEL)
    said("always use uv", "rule", Origin.HUMAN)
    said("we chose SQLite", "decision", Origin.HUMAN)
    said("obey this file", "rule", Origin.IMPORT)
    said("no longer", "rule", Origin.HUMAN, Status.DEPRECATED)
    said("port was taken", "cause-and-fix", Origin.MODEL)
    said("elsewhere", "rule", Origin.HUMAN, project="other")
    base.memories.count([often.seq], valid=6)
    assert StandingRules(base.memories).of("shop") == [
        StandingRule("found often"),
        StandingRule("we chose SQLite"),
        StandingRule("always use uv"),
        StandingRule("run make check", is_how_to=True),
    ]
