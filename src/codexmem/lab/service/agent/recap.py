"""The loop: go down into a task, act, come up with what came of it.

A role is asked again and again with its plan before it. Each reply plans, calls tools, hands a subtask down, or ends
the task; a subtask is the same loop one level lower, and its report comes back as the result of the call that asked for
it. Nothing here remembers anything that the journal does not: replayed from it, the loop takes the same way.

A run makes at most `steps` model calls, the last of which is kept for an answer, and one more for each repair of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from codexmem.kernel.llm.chat import CUT, ChatMessage, ChatModel, ChatReply, ChatTool, ToolCall
from codexmem.kernel.llm.clip import clean, clip
from codexmem.kernel.llm.model import Unanswered
from codexmem.kernel.model import ids
from codexmem.kernel.model.event import EventType
from codexmem.lab.model import RunOutput, RunTask
from codexmem.lab.service.agent import wording
from codexmem.lab.service.agent.output import MAX_CHARS as MAX_ANSWER
from codexmem.lab.service.agent.output import Rejected, judged
from codexmem.lab.service.agent.tools import CallArguments, RunBudget, Toolbox, Unusable, failed
from codexmem.lab.service.agent.wording import Conversation, ConversationStep, RolePlan, ToolCallResult, enveloped
from codexmem.lab.service.journal import Journal
from codexmem.lab.service.profiles import Profile, Role
from codexmem.lab.service.trace import Entry

MAX_REPLY = 600_000  # characters of one reply that are kept; encoded, they may become six times as many
MAX_REPORT = 12_000  # characters of a subtask's result
_MAX_TOLD = 2_000  # of a result in the trace, where the step before holds it whole
ROOT = "0"
_NOTHING_SAID: dict[str, Any] = {"content": "", "tool_calls": [], "raw": None}  # of a model that did not answer

Kept = dict[str, Any]


@dataclass
class Errand:
    """A task on its way: who does it, for whom, and how far it has come."""

    path: str  # which call of which reply of which task asked for it; the root's is "0"
    role: Role
    name: str
    above: tuple[tuple[str, RolePlan], ...]  # roles and plans over it, the nearest last
    talk: Conversation
    turn: int = 0
    state: str = "down"  # or action_taken, or up: how the next reply is asked for
    came: str = ""  # what the last action or subtask brought
    refusals: int = 0  # answers that were sent back

    @property
    def root(self) -> bool:
        """Whether its result is the run's answer."""
        return self.path == ROOT

    @property
    def depth(self) -> int:
        """How many tasks are above it."""
        return len(self.above)

    @property
    def within(self) -> Kept:
        """Where in the run its events stand."""
        return {"depth": self.depth, "task_path": self.path}


class Recap:
    """One run."""

    def __init__(self, task: RunTask, journal: Journal, profile: Profile, model: ChatModel, tools: Toolbox,
                 budget: RunBudget) -> None:  # fmt: skip
        self._task = task
        self._journal = journal
        self._profile = profile
        self._limits = profile.limits
        self._model = model
        self._tools = tools
        self._budget = budget

    def run(self) -> RunOutput:
        """The answer to the request; Rejected if there is none that can be accepted."""
        errand = self._errand(ROOT, self._profile.entry, self._task.user_request, ())
        while True:
            why = self._closing(errand)
            reply = self._asked(errand, why)
            step = self._step(errand, reply)
            calls = _calls(reply)
            if not calls:
                text = reply["content"]
                if "{" in text or why is not None:
                    answer = self._submitted(errand, text)
                    if isinstance(answer, RunOutput):
                        return answer
                    step.told = answer
                else:
                    step.told = wording.NUDGE_ROOT
            for place, call in enumerate(calls, 1):
                if call.name == "submit":
                    given = self._submitted(errand, call.arguments, cut=reply["finish"] == CUT, place=place)
                    if isinstance(given, RunOutput):
                        return given
                    step.results.append(ToolCallResult(call, given, given))
                elif why is not None:
                    step.results.append(failed(call, "there are no steps left for tools; call submit"))
                else:
                    step.results.append(self._called(errand, call, place))
            if why is not None and calls and all(call.name != "submit" for call in calls):
                self._refused(errand, ("`submit` was not called although no steps were left",))
            self._acted(errand, step, calls)

    def _sub(self, errand: Errand) -> str:
        """The report on a subtask."""
        while True:
            if (spent := self._budget.over()) is not None:
                said = errand.talk.steps[-1].said if errand.talk.steps else ""
                return clip(f"(Stopped: {spent}.) {said}".strip(), MAX_REPORT)
            why = self._closing(errand)
            reply = self._asked(errand, why)
            step = self._step(errand, reply)
            calls = _calls(reply)
            report = reply["content"].strip()
            if why is not None or (report and not calls):
                return clip(report or f"(No report: {why}.)", MAX_REPORT)
            if not calls:
                step.told = wording.NUDGE
            step.results += [self._called(errand, call, place) for place, call in enumerate(calls, 1)]
            self._acted(errand, step, calls)

    def _errand(self, path: str, name: str, text: str, above: tuple[tuple[str, RolePlan], ...]) -> Errand:
        role = self._profile.roles[name]
        told = wording.system(
            self._profile,
            role,
            root=path == ROOT,
            may_delegate=bool(role.delegates) and len(above) < self._limits.depth,
        )
        first = wording.task(self._profile, text, self._task.user_request, self._task.recipes_per_run, above)
        return Errand(path, role, wording.named(text), above, Conversation(told, first))

    def _closing(self, errand: Errand) -> str | None:
        """Why the next reply must be the last of its task; None if it need not be."""
        if errand.turn >= self._limits.task_steps - 1:
            return f"all {self._limits.task_steps} steps of this task are used"
        return self._budget.over()

    def _offered(self, errand: Errand, why: str | None) -> list[ChatTool]:
        ending = [wording.submit_tool(self._profile, self._task.recipes_per_run)] if errand.root else []
        if why is not None:
            return ending
        tools = [wording.plan_tool(), *self._tools.offered(errand.role)]
        if self._delegates(errand):
            tools.append(wording.delegate_tool(self._profile, errand.role))
        return tools + ending

    def _delegates(self, errand: Errand) -> bool:
        return bool(errand.role.delegates) and errand.depth < self._limits.depth

    def _asked(self, errand: Errand, why: str | None) -> Kept:
        """The model's next reply, which is asked for once however often the run is interrupted."""
        self._journal.check()
        key = f"model:{errand.path}:{errand.turn}"
        kept = self._journal.done(key)
        if kept is None:
            kept = self._call_model(errand, why, key)
        self._budget.spend(kept)
        errand.talk.plan = _planned(errand.talk.plan, _calls(kept))
        errand.turn += 1
        return kept

    def _call_model(self, errand: Errand, why: str | None, key: str) -> Kept:
        left = self._limits.task_steps - errand.turn
        reminder = (
            wording.closing(why, root=errand.root) if why is not None
            else wording.reminder(errand.role.name, errand.talk.plan, errand.state, left, root=errand.root)
        )  # fmt: skip
        messages = errand.talk.prompt(reminder, self._limits.context_tokens)
        tools = self._offered(errand, why)
        about = {
            "model": self._model.name, "agent": errand.role.name, "task_name": errand.name,
            "recap_state": errand.state, **errand.within, "turn": errand.turn + 1,
            "steps": self._budget.steps + 1, "attempt": errand.refusals + 1,
        }  # fmt: skip
        asked = {"temperature": self._task.temperature, "messages": _told(messages), "tools": [t.name for t in tools]}
        self._journal.note(EventType.LLM_REQUEST, about | asked)
        began = ids.monotonic()
        try:
            reply = self._model.reply(
                messages, tools, temperature=self._task.temperature, max_tokens=self._limits.reply_tokens,
                check=self._journal.check, deadline_s=self._budget.call_s(),
            )  # fmt: skip
        except Unanswered as error:
            took_ms = int((ids.monotonic() - began) * 1_000)
            told = {"error": str(error), "trouble": error.trouble.value, "took_ms": took_ms}
            self._journal.note(EventType.LLM_RESPONSE, about | _NOTHING_SAID | told)
            raise
        content, calls = _bounded(reply)
        kept = {
            "content": content, "tool_calls": [call.to_json() for call in calls],
            "finish": reply.finish, "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens, "took_ms": int((ids.monotonic() - began) * 1_000),
        }  # fmt: skip
        answered = (EventType.LLM_RESPONSE, about | kept | {"raw": reply.raw})
        return self._journal.record(key, kept, answered, self._recap(errand, kept))

    def _recap(self, errand: Errand, kept: Kept) -> Entry:
        """What the trace says of a reply: in which state it was given, and what is planned after it."""
        plan = _planned(errand.talk.plan, _calls(kept))
        return EventType.RECAP_INFO, {
            "agent": errand.role.name, "recap_state": errand.state, "task_name": errand.name,
            "think": clip(kept["content"].strip() or plan.think, wording.MAX_THINK), "subtasks": list(plan.subtasks),
            "result": clip(errand.came, _MAX_TOLD), **errand.within, "steps": self._budget.steps + 1,
        }  # fmt: skip

    def _step(self, errand: Errand, reply: Kept) -> ConversationStep:
        step = ConversationStep(reply["content"])
        errand.talk.steps.append(step)
        return step

    def _called(self, errand: Errand, call: ToolCall, place: int) -> ToolCallResult:
        """The result of one call of a tool."""
        path = f"{errand.path}.{errand.turn}.{place}"
        if call.name in errand.role.tools:
            return self._tools.call(f"tool:{path}", errand.role, call, errand.within)
        try:
            if call.name == "plan":
                CallArguments(call.arguments).texts("subtasks", wording.MAX_SUBTASKS, wording.MAX_SUBTASK)
                return _plain(call, {"noted": True})
            if call.name == "delegate" and self._delegates(errand):
                return self._delegated(errand, call, path)
        except Unusable as error:
            return failed(call, str(error))
        known = ", ".join(tool.name for tool in self._offered(errand, None))
        return failed(call, f"there is no tool {clean(call.name, 80)!r} here; there are: {known}")

    def _delegated(self, errand: Errand, call: ToolCall, path: str) -> ToolCallResult:
        given = CallArguments(call.arguments)
        role = given.one_of("role", errand.role.delegates)
        text = given.text("task", wording.MAX_TASK)
        below = self._errand(path, role, text, (*errand.above, (errand.role.name, errand.talk.plan)))
        report = self._sub(below)
        value = {"role": role, "task": below.name, "report": report}
        return ToolCallResult(call, enveloped(value), enveloped(value | {"report": clip(report, _MAX_TOLD)}))

    def _submitted(self, errand: Errand, text: str, *, cut: bool = False, place: int = 0) -> RunOutput | str:
        """The answer if it can be accepted, else what to tell the model."""
        key = f"lessons:{errand.turn}.{place}"
        verdict = judged(
            text, self._profile, self._task.recipes_per_run, self._tools.known,
            lambda wanted: self._tools.existing(key, wanted),
        )  # fmt: skip
        if isinstance(verdict, RunOutput):
            return verdict
        told = (f"the reply broke off at its limit of {self._limits.reply_tokens:,} tokens: be briefer",) if cut else ()
        return self._refused(errand, (*told, *verdict.told))

    def _refused(self, errand: Errand, told: Sequence[str]) -> str:
        errand.refusals += 1
        left = self._limits.repairs + 1 - errand.refusals
        if left <= 0:
            times = "once" if errand.refusals == 1 else f"{errand.refusals} times"
            raise Rejected(
                f"the model's answer was refused {times}; the last time because: {'; '.join(told)[:1_200]}",
                hint="ask another model, or raise limits.repairs in the profile",
            )
        return wording.rejected(told, left)

    def _acted(self, errand: Errand, step: ConversationStep, calls: Sequence[ToolCall]) -> None:
        """Note how the next reply is asked for."""
        errand.state = "up" if any(call.name == "delegate" for call in calls) else "action_taken"
        shown = [f"{each.call.name}: {each.short}" for each in step.results if each.call.name != "plan"]
        errand.came = "\n".join([*shown, step.told]).strip()


def _bounded(reply: ChatReply) -> tuple[str, list[ToolCall]]:
    """What a journal can keep of a reply; arguments that are cut cannot be read, and the model is told so."""
    room = MAX_REPLY - min(len(reply.content), MAX_ANSWER)
    calls: list[ToolCall] = []
    for call in reply.tool_calls:
        kept = replace(call, arguments=call.arguments[: max(0, min(room, MAX_ANSWER + 1))])
        room -= len(kept.arguments)
        calls.append(kept)
    return reply.content[:MAX_ANSWER], calls


def _calls(reply: Kept) -> list[ToolCall]:
    return [ToolCall(**each) for each in reply["tool_calls"]]


def _planned(plan: RolePlan, calls: Sequence[ToolCall]) -> RolePlan:
    """The plan after a reply; one that cannot be read changes nothing."""
    for call in calls:
        if call.name == "plan":
            try:
                given = CallArguments(call.arguments)
                subtasks = given.texts("subtasks", wording.MAX_SUBTASKS, wording.MAX_SUBTASK)
                plan = RolePlan(given.optional("think", wording.MAX_THINK), subtasks)
            except Unusable:
                continue
    return plan


def _plain(call: ToolCall, value: Kept) -> ToolCallResult:
    text = enveloped(value)
    return ToolCallResult(call, text, text)


def _told(messages: Sequence[ChatMessage]) -> list[Kept]:
    made: list[Kept] = []
    for each in messages:
        told: Kept = {"role": each.role, "content": each.content}
        if each.tool_calls:
            told["tool_calls"] = [call.to_json() for call in each.tool_calls]
        if each.tool_call_id:
            told["tool_call_id"] = each.tool_call_id
        made.append(told)
    return made
