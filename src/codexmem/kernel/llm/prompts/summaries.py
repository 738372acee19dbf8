"""The summary of one turn from its request, the agent's last words and what tools did, in short."""

from collections.abc import Sequence

from codexmem.kernel.llm.clip import clip, line
from codexmem.kernel.llm.material import Material
from codexmem.kernel.llm.model import Message, ModelPrompt
from codexmem.kernel.llm.prompts import shared

NAME = "summary"
MAX_TOKENS = 2_000
_MAX_DONE = 8_000  # characters about what tools did

_SYSTEM = f"""You keep the memory of a software project. An agent has finished one turn for a person. Summarise the \
turn so that whoever goes on later knows where things stand.

{shared.DATA_RULE}

Rules:
- request: what the person wanted, in your words, one sentence.
- investigated: what was looked at. learned: what was found out. completed: what was done and works.
- next_steps: what is left to do, only if somebody said so. notes: anything else worth knowing, usually empty.
- One to three sentences each; an empty text where there is nothing to say. State only what the data shows.
- If the turn did nothing worth a summary, set skip to true and say why in reason; otherwise skip is false.

Answer with one JSON object and nothing else."""

FIELDS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
SCHEMA = shared.strict(
    {
        "skip": {"type": "boolean", "description": "true if the turn is not worth a summary"},
        "reason": shared.text("why it is not; otherwise empty"),
        **{field: shared.text("one to three sentences, or empty") for field in FIELDS},
    }
)


def ask(
    material: Material, message: str, done: Sequence[str], read: Sequence[str], changed: Sequence[str]
) -> ModelPrompt:
    """The question about this turn; `done` says in short what tools did, with the files that they touched."""
    secret = shared.mark()
    steps = "\n".join(f"- {each}" for each in done)
    parts = [
        f"Mark of this prompt: {secret}",
        f"Project: {line(material.project, 200)}",
        shared.language_rule(material.prompt),
        shared.fenced("request of the person", secret, clip(material.prompt, shared.MAX_REQUEST) or "(not known)"),
        shared.fenced("what tools did", secret, clip(steps, _MAX_DONE) or "(nothing)"),
        shared.fenced("files read", secret, clip("\n".join(read), _MAX_DONE // 2)),
        shared.fenced("files changed", secret, clip("\n".join(changed), _MAX_DONE // 2)),
        shared.fenced("last words of the agent", secret, clip(message, shared.MAX_FIELD) or "(none)"),
    ]
    return ModelPrompt((Message("system", _SYSTEM), Message("user", "\n\n".join(parts))), NAME, SCHEMA, MAX_TOKENS)
