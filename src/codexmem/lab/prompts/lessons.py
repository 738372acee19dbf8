"""Lessons from one judged run: what to do again and what to avoid, as the person's feedback shows it."""

from collections.abc import Sequence

from codexmem.kernel.llm.clip import clip
from codexmem.kernel.llm.model import Message, ModelPrompt
from codexmem.kernel.llm.prompts import shared
from codexmem.kernel.model import own_prompts

NAME = "lessons"
MAX_TOKENS = 3_000
MAX_LESSONS = 8

_SYSTEM = f"""You keep the memory of a laboratory. An agent answered a request with recipes, and a person tried them \
and judged the result. Write down what later runs should do again or avoid.

{shared.DATA_RULE}

Rules:
- At most {MAX_LESSONS} lessons; two good ones are better than eight. Each holds beyond this one run, and each is \
supported by the person's feedback: the agent's own reasons are not evidence.
- title: the lesson in one line. content: one to four sentences with the conditions under which it holds and what was \
measured. Say "avoid" or "do not" where something harmed. No citations, no names of runs.
- role: whom it helps, one of the roles given; "global" if it helps everyone.
- Leave out what the known lessons say already, unless the feedback corrects it.
- If the feedback teaches nothing, set skip to true and say why in reason; otherwise skip is false.

Answer with one JSON object and nothing else."""


def schema(roles: Sequence[str]) -> dict[str, object]:
    """The answer's shape for these roles."""
    lesson = shared.strict(
        {
            "title": shared.text("the lesson in one line"),
            "content": shared.text("one to four sentences"),
            "role": {"type": "string", "enum": list(roles)},
        }
    )
    return shared.strict(
        {
            "skip": {"type": "boolean", "description": "true if the feedback teaches nothing"},
            "reason": shared.text("why it teaches nothing; otherwise empty"),
            "lessons": {"type": "array", "items": lesson},
        }
    )


def ask(request: str, sources: Sequence[tuple[str, str]], known: Sequence[str], roles: Sequence[str]) -> ModelPrompt:
    """The question about a run; `sources` are what was read about it, each under its label."""
    secret = shared.mark()
    parts = [
        own_prompts.marked(secret),
        f"Roles: {', '.join(roles)}",
        shared.language_rule(request),
        shared.fenced("request", secret, clip(request, shared.MAX_REQUEST)),
        *(shared.fenced(label, secret, clip(text, shared.MAX_FIELD)) for label, text in sources),
        shared.fenced("known lessons", secret, "\n".join(f"- {each}" for each in known) or "(none)"),
    ]
    return ModelPrompt(
        (Message("system", _SYSTEM), Message("user", "\n\n".join(parts))), NAME, schema(roles), MAX_TOKENS
    )
