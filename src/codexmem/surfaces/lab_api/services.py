"""What the routes of this door call; each group of routes adds what it needs."""

from typing import Protocol

from codexmem.services.lab.bank import Bank
from codexmem.services.lab.catalog import Catalog
from codexmem.services.lab.evidence import Evidences
from codexmem.services.lab.feedback import Judging
from codexmem.services.lab.learning import Learning
from codexmem.services.lab.learnings import Learnings
from codexmem.services.lab.library import Library
from codexmem.services.lab.rollback import Rollbacks
from codexmem.services.lab.runs import Runs
from codexmem.services.lab.system import System
from codexmem.services.lab.trace import Trace
from codexmem.services.receipts import Receipts
from codexmem.services.status import Status


class Banking(Protocol):
    """Everything about lessons."""

    @property
    def bank(self) -> Bank: ...
    @property
    def learning(self) -> Learning: ...
    @property
    def rollbacks(self) -> Rollbacks: ...
    @property
    def learnings(self) -> Learnings: ...


class Shelving(Protocol):
    """Everything about documents."""

    @property
    def library(self) -> Library: ...
    @property
    def evidence(self) -> Evidences: ...


class Lab(Protocol):
    """The lab of an open store."""

    @property
    def runs(self) -> Runs: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def banking(self) -> Banking: ...
    @property
    def shelving(self) -> Shelving: ...
    @property
    def catalog(self) -> Catalog: ...
    @property
    def judging(self) -> Judging: ...
    @property
    def system(self) -> System: ...
    @property
    def debug(self) -> dict[str, str] | None: ...


class Services(Protocol):
    """What this door needs."""

    @property
    def status(self) -> Status: ...
    @property
    def receipts(self) -> Receipts: ...
    @property
    def lab(self) -> Lab: ...
