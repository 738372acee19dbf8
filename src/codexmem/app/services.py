"""What surfaces call: the services of an open store, each by its name; until the store is open they say that we are
not ready."""

from codexmem.app.core import Core
from codexmem.app.lab import Lab
from codexmem.domain.errors import NotReady
from codexmem.events.live import Live
from codexmem.events.report import Report
from codexmem.jobs.queue import Queue
from codexmem.services.auditing import Auditing
from codexmem.services.capture import Intake
from codexmem.services.context import Context
from codexmem.services.forgetting import Forgetting
from codexmem.services.history import History
from codexmem.services.importing import Importing
from codexmem.services.indexing import Indexing
from codexmem.services.knowledge import Knowledge
from codexmem.services.lookup import Lookup
from codexmem.services.memories import Memories
from codexmem.services.notes import Notes
from codexmem.services.operations import Operations
from codexmem.services.overview import Overview
from codexmem.services.provenance import Explaining
from codexmem.services.qa import Qa
from codexmem.services.recall import Recall
from codexmem.services.receipts import Receipts
from codexmem.services.saving import Saving
from codexmem.services.sessions import SessionLists
from codexmem.services.status import Status
from codexmem.services.timeline import Timeline
from codexmem.services.turns import Turns
from codexmem.services.undoing import Undoing


class Services:
    """What surfaces call. Until the store is open every verb but `status` answers that we are not ready."""

    def __init__(self, status: Status) -> None:
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

    @property
    def memories(self) -> Memories:
        """Remembering and changing."""
        return self.core.memories

    @property
    def history(self) -> History:
        """The past."""
        return self.core.history

    @property
    def recall(self) -> Recall:
        """Finding memories."""
        return self.core.recall

    @property
    def lookup(self) -> Lookup:
        """Looking things up by query or filters."""
        return self.core.lookup

    @property
    def timeline(self) -> Timeline:
        """What happened around a moment."""
        return self.core.timeline

    @property
    def sessions(self) -> SessionLists:
        """Sessions to look through."""
        return self.core.sessions

    @property
    def turns(self) -> Turns:
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
    def intake(self) -> Intake:
        """What hooks report."""
        return self.core.intake

    @property
    def context(self) -> Context:
        """What an agent is handed."""
        return self.core.context

    @property
    def forgetting(self) -> Forgetting:
        """Leaving no trace."""
        return self.core.forgetting

    @property
    def importing(self) -> Importing:
        """Taking in what another program remembered."""
        return self.core.importing

    @property
    def notes(self) -> Notes:
        """Memories under addresses."""
        return self.core.notes

    @property
    def undoing(self) -> Undoing:
        """Taking back."""
        return self.core.undoing

    @property
    def explaining(self) -> Explaining:
        """Where a memory came from."""
        return self.core.explaining

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge base and workspaces."""
        return self.core.knowledge

    @property
    def qa(self) -> Qa:
        """Questions with answers."""
        return self.core.qa

    @property
    def auditing(self) -> Auditing:
        """What agents asked for."""
        return self.core.auditing

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
    def report(self) -> Report:
        """The log looking back."""
        return self.core.report

    @property
    def operations(self) -> Operations:
        """Watching over all of it."""
        return self.core.operations

    @property
    def lab(self) -> Lab:
        """Batches of runs, feedback and lessons."""
        return self.core.lab

    def stopping(self) -> None:
        """End what would never end by itself."""
        if self._core is not None:
            self._core.operations.watching.close()
