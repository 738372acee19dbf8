"""What finished turns mean: the person's words, the agent's words, what tools did in short, and what is known already.

Everything that can be cited has a number, and an answer must cite. Turns are asked about together as long as they fit
the room, so that a short one costs no question of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codexmem.kernel.llm.clip import clip, line, rendered, shares
from codexmem.kernel.llm.material import FinishedTurn, KnownMemory
from codexmem.kernel.llm.model import Message, ModelPrompt
from codexmem.kernel.llm.prompts import shared
from codexmem.kernel.llm.tools import Family, command_of, family_of, fields, path_of, response_of
from codexmem.kernel.model import own_prompts
from codexmem.kernel.model.capture import CapturedEvent
from codexmem.kernel.model.statement import LastingKind
from codexmem.kernel.model.text_size import tokens

NAME = "memories"
MAX_TOKENS, SMALL_MAX_TOKENS = 3_000, 600  # of an answer
ROOM = 8_000  # tokens of a question, unless a model is small
SMALL = 3_000  # tokens below which the question is a simpler one
_LEAST = 120  # characters of an event that are always shown
_MESSAGE = 16_000  # characters of what an agent says
_KNOWN = 300  # characters of a known memory
_OVERHEAD = 20  # tokens of the lines around an item

OPERATIONS = ("add", "update", "supersede", "confirm")

_SYSTEM = f"""You keep the memory of a software project. An agent worked for a person; you see finished turns. \
Rules have already written down what was done (files, commands, tests). You say what it means for later sessions.

{shared.DATA_RULE}

Write a memory only for what somebody will need in another session:
- decision: a choice, with its reason. preference: how the person likes things done. rule: what must always or never \
be done here. how-to: what makes something work (command, variable, order of steps). cause-and-fix: why something \
failed, and what fixed it. open-end: what is left to do. discovery: something about this code or its surroundings that \
was hard to find out.
Not: what was done, what can be read in the code at a glance, general knowledge, plans that were dropped.

For each memory:
- op: add (new), update (a known one is still right, and you write it anew with more), supersede (a known one holds no \
longer, this takes its place), confirm (a known one was said or seen again; write nothing else).
- target: the label of the known memory (K1) for update, supersede and confirm; otherwise empty. Never add what a \
known memory says already, in whatever language: confirm it.
- kind: one of the seven. title: the statement in at most 15 words. text: one to three sentences that stand alone.
- rests_on: the numbers of the items that show it. Files, commands, numbers, names and quotes must be written exactly \
as they stand in those items; whatever does not stand there will be refused. A decision, preference or rule must \
cite what the person said about it; the others cite the person or the agent besides what tools did.
- reason: why it will be needed, at most 12 words.
Few and good: usually none or one for a turn. If there is nothing, give an empty list and say why in reason.

Answer with one JSON object and nothing else."""

_SMALL = f"""You read what a person and a coding agent said and did. Write down at most three things that will still \
matter in another session: decisions, rules, preferences, how to make something work, causes of failures and their fix.

{shared.DATA_RULE}

title: the thing in at most 15 words. text: one or two sentences. kind: what it is. rests_on: the numbers of the items \
that show it. Copy names, numbers, files and commands exactly. If there is nothing, give an empty list.

Answer with one JSON object and nothing else."""

_NUMBERS = {"type": "array", "items": {"type": "integer"}, "description": "numbers of the items that show it"}
_SAID = {
    "kind": {"type": "string", "enum": [kind.value for kind in LastingKind]},
    "title": shared.text("the statement, at most 15 words"),
    "text": shared.text("one to three sentences"),
    "rests_on": _NUMBERS,
}
_REASON = shared.text("why; at most 12 words")


def _schema(**more: object) -> dict[str, object]:
    return shared.strict({"reason": _REASON, "memories": {"type": "array", "items": shared.strict({**more, **_SAID})}})


SCHEMA = _schema(
    op={"type": "string", "enum": list(OPERATIONS)}, target=shared.text("label of a known memory, or empty"),
    reason=_REASON,
)  # fmt: skip
SMALL_SCHEMA = _schema()


@dataclass(frozen=True, slots=True)
class Source:
    """Something that an answer can cite."""

    text: str  # whole, where the question may show a part
    by: str  # person, agent or event
    seq: int | None = None  # number of the captured event that it is
    event: CapturedEvent | None = None  # what a tool did


@dataclass(frozen=True, slots=True)
class TurnQuestion:
    """What is asked, and what its numbers and labels mean; numbers count from 1."""

    prompt: ModelPrompt
    sources: tuple[Source, ...]
    known: tuple[KnownMemory, ...]


def packed(turns: Sequence[FinishedTurn], room: int = ROOM) -> Iterator[list[FinishedTurn]]:
    """The turns in groups that are asked about together: as many as fit, at least one."""
    group: list[FinishedTurn] = []
    used = 0
    for turn in turns:
        size = sum(tokens(each.text) + _OVERHEAD for each in _sources(turn))
        if group and used + size > room * 2 // 3:
            yield group
            group, used = [], 0
        group.append(turn)
        used += size
    if group:
        yield group


def ask(
    project: str, turns: Sequence[FinishedTurn], known: Sequence[KnownMemory] = (), *, room: int = ROOM
) -> TurnQuestion:
    """The question about these turns, in about so many tokens."""
    secret, small = shared.mark(), room < SMALL
    known = () if small else tuple(known)
    sources = tuple(source for turn in turns for source in _sources(turn))
    said = next((source.text for source in sources if source.by == "person"), "")
    system = _SMALL if small else _SYSTEM
    parts = [own_prompts.marked(secret), f"Project: {line(project, 200)}", shared.language_rule(said)]
    if known:
        parts.append(shared.fenced("known memories", secret, "\n".join(map(_told_known, known))))
    left = room - tokens(system) - tokens("\n".join(parts)) - _OVERHEAD * len(sources)
    parts += _items(sources, secret, left)
    schema, most = (SMALL_SCHEMA, SMALL_MAX_TOKENS) if small else (SCHEMA, MAX_TOKENS)
    messages = (Message("system", system), Message("user", "\n\n".join(parts)))
    return TurnQuestion(ModelPrompt(messages, NAME, schema, most), sources, known)


def _told_known(memory: KnownMemory) -> str:
    return f"{memory.label} ({memory.kind}): {line(memory.text, _KNOWN)}"


def _sources(turn: FinishedTurn) -> Iterator[Source]:
    if turn.prompt.strip():
        yield Source(clip(turn.prompt, shared.MAX_REQUEST), "person", turn.prompt_event)
    for event in turn.events:
        yield Source(told(event), "event", event.seq, event)
    if turn.message.strip():
        yield Source(clip(turn.message, _MESSAGE), "agent", turn.message_event)


def _items(sources: Sequence[Source], secret: str, room: int) -> Iterator[str]:
    """The items, words first: what tools said is cut to what room they leave."""
    words = sum(tokens(each.text) for each in sources if each.by != "event")
    events = [each.text for each in sources if each.by == "event"]
    spoken = [each.text for each in sources if each.by != "event"]
    for_words = min(words, max(room * 3 // 4, room - sum(map(tokens, events))))
    cuts = iter(_cut(spoken, for_words)), iter(_cut(events, max(0, room - for_words)))
    for number, source in enumerate(sources, 1):
        shown = next(cuts[source.by == "event"])
        label = f"{source.by} {number}"
        if source.event is not None:
            label += f": {line(source.event.tool, 60)}"
        yield shared.fenced(label, secret, shown)


def _cut(texts: Sequence[str], room: int) -> list[str]:
    """The texts in about so many tokens together, short ones whole."""
    sizes = [tokens(text) for text in texts]
    limits = shares(sizes, room, max(room, 1))
    return [
        text if size <= limit else clip(text, max(_LEAST, len(text) * limit // max(size, 1)))
        for text, size, limit in zip(texts, sizes, limits, strict=True)
    ]


def told(event: CapturedEvent) -> str:
    """What a tool did and what came back, without the packaging of either."""
    answered = response_of(event)
    match family_of(event):
        case Family.SHELL:
            did = f"$ {command_of(event)}"
        case Family.READ:
            did = f"read {path_of(event)}"
        case Family.EDIT | Family.WRITE:
            given = fields(event.input)
            did = "\n".join(
                (f"changed {path_of(event)}", *(f"{name}: {value}" for name, value in given.items()
                                               if isinstance(value, str) and value != path_of(event)))
            )  # fmt: skip
            return f"{did}\n=> failed: {answered.text}" if answered.failed else did
        case _:
            did = rendered(event.input)
    mark = "=> failed" if answered.failed else "=>"
    if family_of(event) is Family.SHELL and not answered.failed and answered.exit_code is None:
        mark = "=> (exit code unknown)"
    return f"{did}\n{mark} {answered.text or rendered(event.response)}"
