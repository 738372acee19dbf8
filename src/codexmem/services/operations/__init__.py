"""Watching over a running store: what happens now, what happened, how it goes, and what can be done about it."""

from dataclasses import dataclass

from codexmem.services.operations.backups import Backups
from codexmem.services.operations.reports import Reports
from codexmem.services.operations.standing import Standing
from codexmem.services.operations.trends import Trends
from codexmem.services.operations.upkeep import Upkeep
from codexmem.services.operations.watching import Watching


@dataclass(frozen=True, slots=True)
class Operations:
    """Everything an operator asks for; every verb acts for the acting tenant."""

    watching: Watching
    reports: Reports
    trends: Trends
    upkeep: Upkeep
    standing: Standing
    backups: Backups
