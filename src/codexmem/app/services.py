"""What surfaces call: the services of an open store, each by its name; until the store is open they say that we are
not ready."""

from collections.abc import Sequence
from typing import TypeVar

from codexmem.app.core import Core
from codexmem.capture.sampling import SampledModel
from codexmem.capture.service import CaptureService
from codexmem.capture.transcripts import TranscriptImport
from codexmem.kernel.events.live import Live
from codexmem.kernel.events.report import EventReport
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.errors import NotReady
from codexmem.kernel.model.framing import Frame
from codexmem.kernel.services.history import History
from codexmem.kernel.services.indexing import Indexing
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.services.recall import Recall
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.services.status import ServerStatus
from codexmem.operations.service import Operations
from codexmem.recall.agent_files import AgentFiles
from codexmem.recall.brief import ProjectBrief
from codexmem.recall.context import ContextBuilder
from codexmem.recall.forgetting import Erasure, Forgetting
from codexmem.recall.importing import Importing
from codexmem.recall.lineage import Lineage
from codexmem.recall.lookup import Lookup
from codexmem.recall.memory_list import MemoryLists
from codexmem.recall.overview import Overview
from codexmem.recall.provenance import Explaining
from codexmem.recall.review import MemoryReview
from codexmem.recall.review_scan import ReviewScan
from codexmem.recall.saving import Saving
from codexmem.recall.sessions import SessionLists, TurnReader
from codexmem.recall.staleness import Staleness
from codexmem.recall.stamped_memories import StampedMemories
from codexmem.recall.standing_rules import StandingRules
from codexmem.recall.timeline import TimelineReader
from codexmem.recall.undoing import UndoFollower, Undoing

R = TypeVar("R")


class Services:
    """What surfaces call. Until the store is open every verb but `status` answers that we are not ready."""

    def __init__(self, status: ServerStatus) -> None:
        self.status = status
        self._core: Core | None = None

    def opened(self, core: Core) -> None:
        """From now on every verb works."""
        self._core = core

    @property
    def core(self) -> Core:
        """What stands on the open store."""
        if self._core is None:
            raise NotReady(
                "the server is still starting",
                hint="try again in a moment",
                details={"reason": "starting", "retry_after_s": 1},
            )
        return self._core

    def room(self, services: type[R]) -> R:
        """The services of a room."""
        return self.core.room(services)

    @property
    def memories(self) -> Memories:
        """Remembering and changing."""
        return self.core.memories

    @property
    def history(self) -> History:
        """The past."""
        return self.core.history

    @property
    def lifecycle(self) -> Lifecycle:
        """Acts on memories of every kind."""
        return self.core.lifecycle

    @property
    def memory_lists(self) -> MemoryLists:
        """Lists of memories by their life."""
        return self.core.memory_lists

    @property
    def brief(self) -> ProjectBrief:
        """The page of a project."""
        return self.core.brief

    @property
    def review(self) -> MemoryReview:
        """What waits for a person."""
        return self.core.review

    @property
    def review_scan(self) -> ReviewScan:
        """Looking for what should wait for a person."""
        return self.core.review_scan

    @property
    def recall(self) -> Recall:
        """Finding memories."""
        return self.core.recall

    @property
    def lookup(self) -> Lookup:
        """Looking things up by query or filters."""
        return self.core.lookup

    @property
    def timeline(self) -> TimelineReader:
        """What happened around a moment."""
        return self.core.timeline

    @property
    def sessions(self) -> SessionLists:
        """Sessions to look through."""
        return self.core.sessions

    @property
    def turns(self) -> TurnReader:
        """A session turn by turn."""
        return self.core.turns

    @property
    def saving(self) -> Saving:
        """Remembering by hand."""
        return self.core.saving

    @property
    def overview(self) -> Overview:
        """What there is at a glance."""
        return self.core.overview

    @property
    def intake(self) -> CaptureService:
        """What hooks report."""
        return self.core.intake

    @property
    def sampling(self) -> SampledModel | None:
        """Questions for the models of connected agents, where they are asked."""
        return self.core.sampling

    @property
    def transcripts(self) -> TranscriptImport:
        """What agents wrote down before we were there."""
        return self.core.transcripts

    @property
    def context(self) -> ContextBuilder:
        """What an agent is handed."""
        return self.core.context

    @property
    def frame(self) -> Frame:
        """Around what an agent is handed."""
        return self.core.frame

    @property
    def forgetting(self) -> Forgetting:
        """Leaving no trace."""
        return self.core.forgetting

    @property
    def lineage(self) -> Lineage:
        """What sessions were told, and what they wrote afterwards."""
        return self.core.lineage

    def tell(self, session: str, seqs: Sequence[int], opened: bool) -> None:
        """The session was told these memories, or asked for the whole of them."""
        self.core.lineage.tell(session, seqs, opened=opened)

    @property
    def erasure(self) -> Erasure:
        """Leaving no trace elsewhere either."""
        return self.core.erasure

    @property
    def importing(self) -> Importing:
        """Taking in what another program remembered."""
        return self.core.importing

    @property
    def agent_files(self) -> AgentFiles:
        """Taking in files that are written for agents."""
        return self.core.agent_files

    @property
    def standing(self) -> StandingRules:
        """What holds in a project."""
        return self.core.standing

    @property
    def staleness(self) -> Staleness:
        """Memories compared with a checkout."""
        return self.core.staleness

    @property
    def stamped(self) -> StampedMemories:
        """Memories that can be compared, and their renewal."""
        return self.core.stamped

    @property
    def undoing(self) -> Undoing:
        """Taking back."""
        return self.core.undoing

    @property
    def undo_follower(self) -> UndoFollower:
        """What came of what is taken back."""
        return self.core.undo_follower

    @property
    def explaining(self) -> Explaining:
        """Where a memory came from."""
        return self.core.explaining

    @property
    def indexing(self) -> Indexing:
        """How far the indexes are."""
        return self.core.indexing

    @property
    def receipts(self) -> Receipts:
        """Idempotency."""
        return self.core.receipts

    @property
    def queue(self) -> Queue:
        """Work for later."""
        return self.core.queue

    @property
    def live(self) -> Live:
        """The log as it happens."""
        return self.core.live

    @property
    def report(self) -> EventReport:
        """The log looking back."""
        return self.core.report

    @property
    def operations(self) -> Operations:
        """Watching over all of it."""
        return self.core.operations

    def stopping(self) -> None:
        """End what would never end by itself."""
        if self._core is not None:
            self._core.operations.watching.close()
