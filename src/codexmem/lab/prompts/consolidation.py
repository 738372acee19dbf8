"""New lessons beside the known ones: which to add, which to merge, and which known ones they disprove.

Both are named by number, so an answer cannot name a lesson that it was not shown.
"""

from collections.abc import Sequence

from codexmem.kernel.llm.clip import clip
from codexmem.kernel.llm.model import Message, ModelPrompt
from codexmem.kernel.llm.prompts import shared
from codexmem.kernel.model import own_prompts

NAME = "consolidation"
MAX_TOKENS = 3_000
_SHOWN = 1_500  # characters of a lesson

_SYSTEM = f"""You keep the memory of a laboratory in order. New lessons were drawn from one judged run. Compare them \
with the known lessons that are nearest to them and decide, for each new lesson, what becomes of it.

{shared.DATA_RULE}

Rules:
- decisions: one entry per new lesson, by its number. action add: nothing known says it. action update: the known \
lesson with the number target says the same; content is then the one text that says both. action skip: it is known \
already and needs no change. target is 0 and content empty unless the action is update.
- archive: known lessons that a new lesson disproves. target is the known lesson, replaced_by the number of a new \
lesson whose action is add or update. Leave the list empty unless both cannot be true at once.
- A known lesson marked (person) was written by a person: never update or archive it.

Answer with one JSON object and nothing else."""

SCHEMA = shared.strict(
    {
        "decisions": {
            "type": "array",
            "items": shared.strict(
                {
                    "lesson": {"type": "integer", "description": "number of a new lesson"},
                    "action": {"type": "string", "enum": ["add", "update", "skip"]},
                    "target": {"type": "integer", "description": "number of a known lesson, or 0"},
                    "content": shared.text("the merged text of an update, or empty"),
                }
            ),
        },
        "archive": {
            "type": "array",
            "items": shared.strict(
                {
                    "target": {"type": "integer", "description": "number of a known lesson"},
                    "replaced_by": {"type": "integer", "description": "number of a new lesson"},
                    "reason": shared.text("one sentence"),
                }
            ),
        },
    }
)


def ask(new: Sequence[str], known: Sequence[tuple[str, bool]]) -> ModelPrompt:
    """The question; of each known lesson its text, and whether a person wrote it."""
    secret = shared.mark()
    listed = [f"{number}. {clip(text, _SHOWN)}" for number, text in enumerate(new, 1)]
    beside = [
        f"{number}.{' (person)' if person else ''} {clip(text, _SHOWN)}"
        for number, (text, person) in enumerate(known, 1)
    ]
    parts = [
        own_prompts.marked(secret),
        shared.language_rule("\n".join(new)),
        shared.fenced("new lessons", secret, "\n".join(listed)),
        shared.fenced("known lessons", secret, "\n".join(beside)),
    ]
    return ModelPrompt((Message("system", _SYSTEM), Message("user", "\n\n".join(parts))), NAME, SCHEMA, MAX_TOKENS)
