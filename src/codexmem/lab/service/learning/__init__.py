"""Learning: a judged run becomes lessons, as one delta that can be rolled back exactly."""

from codexmem.lab.service.learning.consolidating import LEARN_CAUSE, PREFIX
from codexmem.lab.service.learning.learning import Learning, QueuedLearning

__all__ = ["LEARN_CAUSE", "PREFIX", "Learning", "QueuedLearning"]
