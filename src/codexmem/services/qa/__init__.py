"""Questions with answers: finding them, taking in candidates, learning what became of them, and letting them go."""

from dataclasses import dataclass

from codexmem.services.qa.candidates import Candidates
from codexmem.services.qa.editing import Editing
from codexmem.services.qa.expiry import Expiry
from codexmem.services.qa.retracting import Retracting
from codexmem.services.qa.reviewing import Reviewing
from codexmem.services.qa.searching import Searching
from codexmem.services.qa.signals import Signals


@dataclass(frozen=True, slots=True)
class Qa:
    """Everything the QA door asks for; every verb acts for the acting tenant."""

    searching: Searching
    candidates: Candidates
    signals: Signals
    expiry: Expiry
    reviewing: Reviewing
    editing: Editing
    retracting: Retracting
