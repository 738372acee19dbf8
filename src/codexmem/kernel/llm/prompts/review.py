"""Looking again at what a project knows: which memories say the same, which hold no longer, and which together make a
rule.
"""

from collections.abc import Sequence

from codexmem.kernel.llm.clip import line
from codexmem.kernel.llm.material import KnownMemory
from codexmem.kernel.llm.model import Message, ModelPrompt
from codexmem.kernel.llm.prompts import shared
from codexmem.kernel.model import own_prompts
from codexmem.kernel.model.statement import LastingKind

NAME = "review"
MAX_TOKENS = 3_000
MOST = 60  # memories of one question
_SHOWN = 400  # characters of a memory
OPERATIONS = ("merge", "supersede", "rule")

_SYSTEM = f"""You tidy the memory of a software project. You see what it knows, oldest first, each with a label.

{shared.DATA_RULE}

Give operations only where you are sure:
- merge: several say the same, in whatever language. keep: the label of the best one; drop: the others. title and \
text: what they say together; leave both empty to keep the best one as it is.
- supersede: a later one contradicts earlier ones. keep: the label of the one that holds; drop: those that do not.
- rule: a person corrected the same thing several times. rests_on: the labels that show it, at least two; kind rule; \
title: the rule in at most 15 words; text: one or two sentences.
Files, commands, numbers and names must stand in the memories that you name. reason: at most 12 words. Memories about \
different things stay apart, however alike they sound. Usually there is little to do; an empty list is a good answer.

Answer with one JSON object and nothing else."""

SCHEMA = shared.strict(
    {
        "reason": shared.text("why there is nothing to do, or empty"),
        "operations": {
            "type": "array",
            "items": shared.strict(
                {
                    "op": {"type": "string", "enum": list(OPERATIONS)},
                    "keep": shared.text("label of the memory that stays, or empty"),
                    "drop": shared.texts("labels of those that go"),
                    "rests_on": shared.texts("labels that show a rule"),
                    "kind": {"type": "string", "enum": [kind.value for kind in LastingKind]},
                    "title": shared.text("at most 15 words, or empty"),
                    "text": shared.text("one to three sentences, or empty"),
                    "reason": shared.text("at most 12 words"),
                }
            ),
        },
    }
)


def ask(project: str, known: Sequence[KnownMemory]) -> ModelPrompt:
    """The question about these memories, oldest first."""
    secret = shared.mark()
    told = "\n".join(f"{each.label} ({each.kind}): {line(each.text, _SHOWN)}" for each in known)
    parts = [
        own_prompts.marked(secret), f"Project: {line(project, 200)}",
        shared.language_rule(known[0].text if known else ""), shared.fenced("memories", secret, told),
    ]  # fmt: skip
    return ModelPrompt((Message("system", _SYSTEM), Message("user", "\n\n".join(parts))), NAME, SCHEMA, MAX_TOKENS)
