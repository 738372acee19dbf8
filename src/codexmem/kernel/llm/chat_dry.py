"""The model of dry runs: no network, no cost, the same conversation always answered alike.

It plans, asks every tool that it is offered for something, hands subtasks to everybody it may delegate to, and answers
in the shape of the tool that takes the answer, with citations of what the tools returned. It knows nothing of roles and
profiles: it reads the descriptions of the tools, as any model does. So a dry run goes through everything a run goes
through, and says of itself in every text that nobody thought about it.
"""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from codexmem.kernel.llm.chat import ChatMessage, ChatReply, ChatTool, ToolCall, spoken
from codexmem.kernel.llm.dry_value import fitting
from codexmem.kernel.llm.model import Check
from codexmem.kernel.model.text_size import tokens

NAME = "dry-run"
MAX_QUERY = 300
_SNIPPET = 160
_ALIAS = re.compile(r"\[C\d+\]")
_TASK = re.compile(r"^# Task\n(.*?)(?=\n# |\Z)", re.DOTALL | re.MULTILINE)


class DryModel:
    """Answers by rule."""

    name = NAME

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[ChatTool], *, temperature: float, max_tokens: int,
              check: Check, deadline_s: float | None = None) -> ChatReply:  # fmt: skip
        """The next turn: plan and look up, look closer, delegate, answer."""
        check()
        offered = {tool.name: tool for tool in tools}
        talk = _Talk(messages)
        content, wanted = "", _first(offered, talk) or _closer(offered, talk) or _delegated(offered, talk)
        if not wanted and "submit" in offered:
            schema = offered["submit"].schema
            example = next(iter(schema.get("examples", ())), None)
            wanted = [("submit", fitting(schema, example, talk.words))]
        if not wanted:
            content = "\n".join(talk.words() for _ in range(max(1, min(3, len(talk.found)))))
        calls = tuple(
            ToolCall(f"dry_{talk.turn}_{number}", name, json.dumps(arguments, ensure_ascii=False))
            for number, (name, arguments) in enumerate(wanted, 1)
        )
        said = content + "".join(call.name + call.arguments for call in calls)
        finish = "tool_calls" if calls else "stop"
        return ChatReply(content, calls, tokens(spoken(messages)), tokens(said), finish, {"model": NAME})


Wanted = list[tuple[str, Any]]


class _Talk:
    """What a conversation holds so far."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        told = next((each.content for each in messages if each.role == "user"), "")
        match = _TASK.search(told)
        self.task = (match.group(1) if match else told).strip()
        self.turn = 1 + sum(1 for each in messages if each.role == "assistant")
        self.called = {call.name for each in messages for call in each.tool_calls}
        self.found: dict[str, str] = {}  # how to cite each thing that a tool showed, and what it says
        for message in messages:
            if message.role == "tool":
                self._look(message.content)
        self._texts = self._sentences()

    @property
    def query(self) -> str:
        return " ".join(self.task.split())[:MAX_QUERY]

    def first(self, start: str) -> str | None:
        """The first thing found that is cited so."""
        return next((name for name in self.found if name.startswith(start)), None)

    def words(self) -> str:
        return next(self._texts)

    def _sentences(self) -> Iterator[str]:
        lessons = [name for name in self.found if name.startswith("mem:")]
        pieces = [each for each in self.found.items() if each[0] not in lessons] or list(self.found.items())
        for number in itertools.count():
            if not pieces:
                yield f"Dry run {number + 1}: no model was asked, and the tools found nothing to cite."
                continue
            name, text = pieces[number % len(pieces)]
            mark = f" ({lessons[0]})" if lessons and not name.startswith("mem:") and number == 0 else ""
            yield f"Dry run {number + 1}: no model was asked. Found: {text} {name}{mark}"

    def _look(self, content: str) -> None:
        start, end = content.find("{"), content.rfind("}")
        try:
            waiting: list[Any] = [json.loads(content[start : end + 1])]
        except (ValueError, RecursionError):
            return
        while waiting:
            each = waiting.pop(0)
            if isinstance(each, dict):
                name, text = each.get("cite_as"), each.get("content")
                if isinstance(name, str) and isinstance(text, str):
                    self.found.setdefault(name, _quoted(text))
                for told in str(each.get("report", "")).splitlines():  # what another role was shown can be cited too
                    for alias in _ALIAS.findall(told):
                        self.found.setdefault(alias, _quoted(_ALIAS.sub("", told).rpartition("Found: ")[2]))
                waiting += each.values()
            elif isinstance(each, list):
                waiting += each


def _quoted(text: str) -> str:
    """The beginning of a text, citing nothing."""
    return " ".join(re.sub(r"[\[\]【】]|\bmem:\S*", " ", text).split())[:_SNIPPET]


def _first(offered: dict[str, ChatTool], talk: _Talk) -> Wanted:
    """A plan, and a look into everything there is."""
    wanted: Wanted = []
    if "plan" in offered and "plan" not in talk.called:
        steps = ["Look into the knowledge base and the lessons"]
        steps += [f"Ask {role}" for role in _choices(offered, "delegate", "role")]
        thought = "Dry run: every tool is tried once, then an answer of the right shape is given."
        wanted.append(("plan", {"think": thought, "subtasks": [*steps, "Answer"]}))
    if "kb_query" in offered and "kb_query" not in talk.called:
        wanted += [
            ("kb_query", {"namespace": each, "query": talk.query, "top_k": 3})
            for each in _choices(offered, "kb_query", "namespace")
        ]
    if "mem_search" in offered and "mem_search" not in talk.called:
        wanted.append(("mem_search", {"query": talk.query, "top_k": 3}))
    return wanted


def _closer(offered: dict[str, ChatTool], talk: _Talk) -> Wanted:
    """What was found, one by one."""
    piece, lesson = talk.first("[C"), talk.first("mem:")
    wanted: Wanted = [(name, {"limit": 20}) for name in ("kb_list", "mem_list") if name in offered]
    if "kb_get" in offered and piece:
        wanted.append(("kb_get", {"alias": piece.strip("[]")}))
    if "mem_get" in offered and lesson:
        wanted.append(("mem_get", {"mem_id": lesson.removeprefix("mem:")}))
    return [each for each in wanted if each[0] not in talk.called]


def _delegated(offered: dict[str, ChatTool], talk: _Talk) -> Wanted:
    if "delegate" in talk.called:
        return []
    return [
        ("delegate", {"role": role, "task": f"Tell what you know about: {talk.query}"})
        for role in _choices(offered, "delegate", "role")
    ]


def _choices(offered: dict[str, ChatTool], tool: str, argument: str) -> list[str]:
    schema = offered[tool].schema if tool in offered else {}
    found = schema.get("properties", {}).get(argument, {}).get("enum", [])
    return [str(each) for each in found]
