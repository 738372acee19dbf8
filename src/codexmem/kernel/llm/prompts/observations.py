"""Observations from the tool calls of one turn: several events, one question."""

from collections.abc import Sequence

from codexmem.kernel.llm.clip import clip, line, rendered, shares
from codexmem.kernel.llm.material import CONCEPTS, TYPES, Material
from codexmem.kernel.llm.model import Message, ModelPrompt
from codexmem.kernel.llm.prompts import shared
from codexmem.kernel.model.capture import CapturedEvent

NAME = "observations"
MAX_TOKENS = 4_000

_SYSTEM = f"""You keep the memory of a software project. An agent worked for a person; you see what its tools did in \
one turn. Write down what somebody will want to find again weeks later: what was changed and why, what was found out, \
what failed and how it was solved, what was decided.

{shared.DATA_RULE}

Rules:
- Few and good: usually one observation for the whole batch, more only for separate matters. Leave out routine.
- If nothing is worth remembering, set skip to true, say why in reason, and give no observations. Otherwise skip is \
false and reason empty.
- type: bugfix (something broken works now), feature (something new), refactor (same behaviour, other shape), change \
(any other modification), discovery (learned about existing things), decision (a choice with its reasons).
- title: what happened, specific, at most 15 words. subtitle: one sentence of at most 24 words.
- narrative: one to five sentences with the context, the reasons and the consequence. State only what the data shows.
- facts: short sentences that each stand alone: names, values, paths, versions, error messages.
- concepts: two to five of {", ".join(CONCEPTS)}; never the type.
- files_read: paths that were read and matter.
- events: the numbers of the events that this observation comes from.

Answer with one JSON object and nothing else."""

SCHEMA = shared.strict(
    {
        "skip": {"type": "boolean", "description": "true if nothing is worth remembering"},
        "reason": shared.text("why nothing is; otherwise empty"),
        "observations": {
            "type": "array",
            "items": shared.strict(
                {
                    "type": {"type": "string", "enum": list(TYPES)},
                    "title": shared.text("what happened, at most 15 words"),
                    "subtitle": shared.text("one sentence, at most 24 words"),
                    "narrative": shared.text("one to five sentences"),
                    "facts": shared.texts("short sentences that stand alone"),
                    "concepts": {"type": "array", "items": {"type": "string", "enum": list(CONCEPTS)}},
                    "files_read": shared.texts("paths"),
                    "events": {"type": "array", "items": {"type": "integer"}, "description": "numbers of events"},
                }
            ),
        },
    }
)


def ask(material: Material) -> ModelPrompt:
    """The question about these events, which are numbered from 1 in their order."""
    secret = shared.mark()
    request = clip(material.prompt, shared.MAX_REQUEST)
    parts = [
        f"Mark of this prompt: {secret}",
        f"Project: {line(material.project, 200)}",
        shared.language_rule(material.prompt),
        shared.fenced("request of the person", secret, request or "(not known)"),
        *_events(material.events, secret, shared.MAX_CHARS - len(request)),
    ]
    return ModelPrompt((Message("system", _SYSTEM), Message("user", "\n\n".join(parts))), NAME, SCHEMA, MAX_TOKENS)


def _events(events: Sequence[CapturedEvent], secret: str, room: int) -> list[str]:
    fields = [text for event in events for text in (rendered(event.input), rendered(event.response))]
    limits = shares([len(text) for text in fields], room, shared.MAX_FIELD)
    shown = [clip(text, limit) for text, limit in zip(fields, limits, strict=True)]
    return [
        shared.fenced(f"event {number}: {line(event.tool, 100)} in {line(event.cwd, 300)}, input", secret, given)
        + "\n"
        + shared.fenced(f"event {number}: response", secret, came)
        for number, event, given, came in zip(range(1, len(events) + 1), events, shown[::2], shown[1::2], strict=True)
    ]
