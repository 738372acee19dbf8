"""What the agent says to a model besides the profile's own words."""

import json
from collections.abc import Sequence
from typing import Any

from codexmem.kernel.llm.chat import ChatTool
from codexmem.kernel.llm.clip import clip, line
from codexmem.lab.service.agent.conversation import RolePlan
from codexmem.lab.service.agent.envelope import RULE, enveloped
from codexmem.lab.service.profiles import Cited, Profile, Role

MAX_SUBTASKS = 12
MAX_SUBTASK = 300
MAX_THINK = 4_000
MAX_TASK = 8_000
MAX_NAME = 160  # characters of a task by which it is called
_MAX_REQUEST = 4_000


def system(profile: Profile, role: Role, *, root: bool, may_delegate: bool) -> str:
    """The standing instructions of a role."""
    parts = [role.prompt, "# How to work", _MANNER, RULE]
    if may_delegate:
        others = "\n".join(f"- {name}: {profile.roles[name].description}" for name in role.delegates)
        parts.append(f"You may hand a subtask to another role with `delegate`; its report comes back to you.\n{others}")
    if role.tools:
        parts.append(_CITING)
    parts.append(_SUBMIT if root else _REPORT)
    if root and profile.cited is not Cited.NOWHERE:
        where = f"Each entry of {profile.items}" if profile.cited is Cited.EACH_ITEM else "The answer"
        parts.append(f"{where} must cite at least one piece of the knowledge base.")
    language = profile.language or "the language of the request"
    parts.append(f"Write what people will read in {language}; keep names, symbols and citations as they are.")
    return "\n\n".join(parts)


_MANNER = (
    "Begin with `plan`: what you think, and the subtasks in order. Do the first one, look at what came of it, and call "
    "`plan` again whenever the rest should change. Several tools may be called at once. Your steps are limited: do not "
    "repeat a search that found nothing."
)
_CITING = (
    "Cite a piece of the knowledge base by its alias in square brackets, as [C1], and a lesson as mem:<id>, each where "
    "the statement stands that rests on it. Only what a tool has shown in this run can be cited. Square brackets are "
    "for citations alone."
)
_SUBMIT = "When you are done, call `submit` with the whole answer. It is checked; if something is wrong, you are told."
_REPORT = "When you are done, reply with your report as plain text and call no tool. Keep the citations in it."


def task(profile: Profile, text: str, request: str, count: int, above: Sequence[tuple[str, RolePlan]]) -> str:
    """The first message: the task, and for a subtask what it is part of."""
    parts = [f"# Task\n{clip(text, MAX_TASK if above else 40_000)}"]
    if not above:
        if profile.items:
            parts.append(f"# How many\nThe list `{profile.items}` of the answer must have exactly {count} entries.")
        return "\n\n".join(parts)
    parts.append(f"# The request that this is part of\n{clip(request, _MAX_REQUEST)}")
    for role, plan in above:
        if plan.think or plan.subtasks:
            parts.append(f"# The plan of {role}, above you\n{_planned(plan)}")
    return "\n\n".join(parts)


def reminder(role: str, plan: RolePlan, state: str, left: int, *, root: bool) -> str:
    """Where the role stands: its plan and what it has left, put before it at every step."""
    came = {"up": "You have come back from a subtask.", "action_taken": "You have acted."}.get(state, "")
    ending = "call `submit`" if root else "reply with your report"
    parts = ["# Where you stand", f"You are {role}. {came}".strip()]
    parts.append(f"Your plan:\n{_planned(plan)}" if plan.subtasks or plan.think else "You have no plan yet.")
    parts.append(f"You have {left} steps left. Go on with the plan, change it with `plan`, or {ending}.")
    return "\n".join(parts)


def closing(why: str, *, root: bool) -> str:
    """The last chance to answer."""
    if root:
        return f"# No more steps\n{why}. Call `submit` now with the best answer that what you have supports."
    return f"# No more steps\n{why}. Reply now with a report of what you have found so far, as plain text."


def rejected(problems: Sequence[str], left: int) -> str:
    """What is wrong with an answer."""
    times = f"{left} more {'time' if left == 1 else 'times'}"
    # Problems quote the answer, and with it whatever it was talked into.
    listed = enveloped({"problems": list(problems)})
    return f"The answer was not accepted.\n{listed}\nMend it and submit the whole answer again; you may do so {times}."


NUDGE_ROOT = "Call a tool, or call `submit` with the whole answer as JSON."
NUDGE = "Reply with your report as plain text, or call a tool."


def plan_tool() -> ChatTool:
    """The tool that writes down a plan."""
    subtasks = {"type": "array", "items": {"type": "string"}, "description": "What is still to be done, in order."}
    schema = {
        "type": "object", "properties": {"think": {"type": "string"}, "subtasks": subtasks},
        "required": ["think", "subtasks"], "additionalProperties": False,
    }  # fmt: skip
    return ChatTool("plan", "Write down your plan, or change what is left of it.", schema)


def delegate_tool(profile: Profile, role: Role) -> ChatTool:
    """The tool that hands a subtask down."""
    told = {"type": "string", "description": "The whole subtask; the other role sees nothing else of your work."}
    schema = {
        "type": "object",
        "properties": {"role": {"type": "string", "enum": list(role.delegates)}, "task": told},
        "required": ["role", "task"], "additionalProperties": False,
    }  # fmt: skip
    others = "; ".join(f"{name}: {profile.roles[name].description}" for name in role.delegates)
    return ChatTool("delegate", f"Hand a subtask to another role and get its report. {others}", schema)


def submit_tool(profile: Profile, count: int) -> ChatTool:
    """The tool that takes the answer; its schema is that of the answer."""
    example: dict[str, Any] = profile.example_output
    schema = profile.answer_schema(count) | {"examples": [example]}
    shape = json.dumps(example, ensure_ascii=False)
    told = "Submit the whole answer. An example of its shape, not of its content or length: "
    return ChatTool("submit", told + clip(shape, 3_000), schema)


def named(text: str) -> str:
    """What a task is called in the trace."""
    return line(text, MAX_NAME)


def _planned(plan: RolePlan) -> str:
    listed = [f"{number}. {each}" for number, each in enumerate(plan.subtasks, 1)]
    return "\n".join([plan.think, *listed]).strip() or "(nothing left in it)"
