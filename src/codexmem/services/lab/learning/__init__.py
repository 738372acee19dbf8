"""Learning: a judged run becomes lessons, as one delta that can be rolled back exactly."""

from codexmem.services.lab.learning.applying import LEARN_CAUSE, PREFIX
from codexmem.services.lab.learning.learning import Learning, Queued, spelled_job

__all__ = ["LEARN_CAUSE", "PREFIX", "Learning", "Queued", "spelled_job"]
