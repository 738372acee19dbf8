"""The rooms of the product. A new one is a folder and a word here.

Not in `app`, which loads the server: the command line reads the rooms' commands before it knows whether it needs one.
"""

from codexmem.audit import feature as audit
from codexmem.kernel.feature import Feature
from codexmem.knowledge import feature as knowledge
from codexmem.lab import feature as lab
from codexmem.notes import feature as notes
from codexmem.qa import feature as qa
from codexmem.sync import feature as sync

FEATURES: tuple[Feature, ...] = (
    notes.FEATURE, knowledge.FEATURE, qa.FEATURE, audit.FEATURE, lab.FEATURE, sync.FEATURE,
)  # fmt: skip
