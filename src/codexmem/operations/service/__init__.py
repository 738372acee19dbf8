"""Watching over a running store: what happens now, what happened, how it goes, and what can be done about it."""

from dataclasses import dataclass

from codexmem.operations.service.backups import Backups
from codexmem.operations.service.dashboard import Standing
from codexmem.operations.service.reports import Reports, Trends
from codexmem.operations.service.upkeep import StoreUpkeep
from codexmem.operations.service.watching import LiveWatching
from codexmem.operations.sign_in import SignIn


@dataclass(frozen=True, slots=True)
class Operations:
    """Everything an operator asks for; every verb acts for the acting tenant."""

    watching: LiveWatching
    reports: Reports
    trends: Trends
    upkeep: StoreUpkeep
    standing: Standing
    backups: Backups
    sign_in: SignIn
