"""The conversation of one task, kept within a prompt's room.

What was asked, the plan and the last step always stay. If the rest does not fit, results of tools shrink to what can be
asked for again, the oldest first; then whole steps are left out, and the prompt says how many. The same history gives
the same prompt, whatever crashed in between.
"""

from dataclasses import dataclass, field, replace

from codexmem.kernel.llm.chat import ChatMessage, ToolCall
from codexmem.kernel.model.text_size import tokens

MAX_SAID = 8_000  # characters of a text of its own that a model is shown again
MAX_ARGUMENTS = 2_000  # of a call's arguments, except in the last step


@dataclass(frozen=True, slots=True)
class RolePlan:
    """What a role means to do, in order."""

    think: str = ""
    subtasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """What a call of a tool returned, and what remains of it when room is short."""

    call: ToolCall
    text: str
    short: str


@dataclass
class ConversationStep:
    """One reply, with the results of what it called, or what it was told."""

    said: str
    results: list[ToolCallResult] = field(default_factory=list)
    told: str = ""


@dataclass
class Conversation:
    """Everything that was said about one task."""

    system: str
    task: str
    steps: list[ConversationStep] = field(default_factory=list)
    plan: RolePlan = RolePlan()

    def prompt(self, reminder: str, room: int) -> list[ChatMessage]:
        """What to send, in about `room` tokens, with the reminder at its end."""
        fixed = [ChatMessage("system", self.system), ChatMessage("user", self.task)]
        room -= sum(_size(each) for each in fixed) + tokens(reminder)
        # The last answer is shown whole, so that it can be fixed, unless it would leave no room for anything else.
        most = [MAX_ARGUMENTS for _ in self.steps[1:]] + [max(MAX_ARGUMENTS, 2 * room)]
        groups = [_messages(step, most[place]) for place, step in enumerate(self.steps)]
        sizes = [sum(map(_size, group)) for group in groups]
        for place, step in enumerate(self.steps):
            if sum(sizes) <= room:
                break
            groups[place] = _messages(step, most[place], short=True)
            sizes[place] = sum(map(_size, groups[place]))
        first = 0
        while sum(sizes[first:]) > room and first < len(groups) - 1:
            first += 1
        if first:
            fixed[1] = replace(fixed[1], content=f"{self.task}\n\n# Note\n{first} earlier steps are left out here.")
        kept = [message for group in groups[first:] for message in group]
        if not reminder:
            return [*fixed, *kept]
        if not kept:
            return [fixed[0], replace(fixed[1], content=f"{fixed[1].content}\n\n{reminder}")]
        return [*fixed, *kept, ChatMessage("user", reminder)]


def _messages(step: ConversationStep, chars: int, *, short: bool = False) -> list[ChatMessage]:
    calls = tuple(_cut(each.call, chars) for each in step.results)
    made = [ChatMessage("assistant", step.said[:MAX_SAID], calls)]
    made += [ChatMessage("tool", each.short if short else each.text, (), each.call.id) for each in step.results]
    if step.told:
        made.append(ChatMessage("user", step.told))
    return made


def _cut(call: ToolCall, chars: int) -> ToolCall:
    return call if len(call.arguments) <= chars else replace(call, arguments='{"left_out": "too long"}')


def _size(message: ChatMessage) -> int:
    return tokens(message.content) + sum(tokens(call.name + call.arguments) for call in message.tool_calls) + 4
