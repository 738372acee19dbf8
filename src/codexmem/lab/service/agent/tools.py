"""The tools that look things up: what a model is told about them, and what happens when it calls one.

Each call is a step of the journal with the event that the trace knows it by. What comes back is bounded, goes to the
model in the envelope, and is remembered as shown: only that can be cited.

Arguments that a model wrote for a tool: read once, checked, and refused in words that help the model.

What a run has spent of what it may: counted from the steps in its journal, so a crash gives nothing back and costs
nothing, and waiting in the queue does not count.
"""

import json
from collections.abc import Callable
from typing import Any

from codexmem.kernel.llm.chat import ChatTool, ToolCall
from codexmem.kernel.llm.clip import clean, clip
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType
from codexmem.lab.model import Evidence, Lesson
from codexmem.lab.service.agent.output import Known
from codexmem.lab.service.agent.wording import ToolCallResult, enveloped
from codexmem.lab.service.journal import BankReader, Journal, KnowledgeBase
from codexmem.lab.service.profiles import Profile, Role, RunLimits
from codexmem.lab.service.trace import Entry

_SHORTEST_S = 5.0  # of the last call, which is made even if the time is spent


class RunBudget:
    """The sums of one run."""

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self.steps = 0  # model calls
        self.tokens = 0
        self.took_ms = 0

    def spend(self, step: dict[str, Any]) -> None:
        """A step was done, now or before a crash."""
        self.steps += 1 if "content" in step else 0
        self.tokens += int(step.get("prompt_tokens", 0)) + int(step.get("completion_tokens", 0))
        self.took_ms += int(step.get("took_ms", 0))

    def over(self) -> str | None:
        """Which limit leaves room for an answer only; None while there is more."""
        limits = self._limits
        if self.steps >= limits.steps - 1:
            return f"all {limits.steps} model calls of this run are used"
        if self.tokens >= limits.tokens:
            return f"all {limits.tokens:,} tokens of this run are used"
        if self.took_ms >= limits.seconds * 1_000:
            return f"the {limits.seconds:,} seconds of this run are used"
        return None

    def call_s(self) -> float:
        """How long the next model call may take."""
        left_s = self._limits.seconds - self.took_ms / 1_000
        return max(_SHORTEST_S, min(float(self._limits.call_seconds), left_s))


MAX_CHARS = 20_000


class Unusable(Exception):
    """A call that cannot be executed, and why, in words for the model."""


class CallArguments:
    """The arguments of one call."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARS:
            raise Unusable(f"the arguments have more than {MAX_CHARS:,} characters")
        try:
            given = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError):
            raise Unusable("the arguments are not one JSON object") from None
        if not isinstance(given, dict):
            raise Unusable("the arguments are not one JSON object")
        self._given: dict[str, Any] = given

    def text(self, name: str, most: int) -> str:
        """A text that must be there."""
        found = self.optional(name, most)
        if not found:
            raise Unusable(f"{name} must be a text that is not empty")
        return found

    def optional(self, name: str, most: int) -> str:
        """A text, or nothing."""
        found = self._given.get(name)
        if found is None:
            return ""
        if not isinstance(found, str):
            raise Unusable(f"{name} must be a text")
        return clean(found, most)

    def one_of(self, name: str, known: tuple[str, ...], default: str = "") -> str:
        """One of some names; the default, or the only one there is, if none is given."""
        found = self._given.get(name)
        if found is None and (default or len(known) == 1):
            return default or known[0]
        if not isinstance(found, str) or found not in known:
            raise Unusable(f"{name} must be one of: {', '.join(known)}")
        return found

    def count(self, name: str, default: int, most: int) -> int:
        """A number from 1 on; more than the most means the most."""
        found = self._given.get(name)
        if found is None:
            return default
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise Unusable(f"{name} must be a whole number from 1 to {most}")
        return min(found, most)

    def texts(self, name: str, most: int, each_most: int) -> tuple[str, ...]:
        """A list of texts; one text alone counts as such."""
        found = self._given.get(name, [])
        found = [found] if isinstance(found, str) else found
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise Unusable(f"{name} must be a list of texts")
        return tuple(text for each in found[:most] if (text := clean(each, each_most)))


MODES = ("hybrid", "words", "meaning")
MAX_QUERY = 1_000
MAX_TOP = 20
MAX_LIST = 100
MAX_PIECE = 2_000  # characters of one piece in a list of results
MAX_WHOLE = 12_000  # of one that was asked for
_SHORT = 120

Value = dict[str, Any]
Found = tuple[Value, Entry]


class Toolbox:
    """The tools of one run."""

    def __init__(
        self, profile: Profile, journal: Journal, shelf: KnowledgeBase, bank: BankReader, budget: RunBudget
    ) -> None:
        self._profile = profile
        self._journal = journal
        self._shelf = shelf
        self._bank = bank
        self._budget = budget
        self._pieces: dict[str, str] = {}
        self._lessons: set[str] = set()
        self._queried = False
        self._tools: dict[str, Callable[[Role, CallArguments], Found]] = {
            "kb_query": self._kb_query, "kb_get": self._kb_get, "kb_list": self._kb_list,
            "mem_search": self._mem_search, "mem_get": self._mem_get, "mem_list": self._mem_list,
        }  # fmt: skip

    @property
    def known(self) -> Known:
        """What the run was shown so far."""
        return Known(self._pieces, self._lessons, self._queried)

    def offered(self, role: Role) -> list[ChatTool]:
        """What a role may call, as a model is told."""
        told = descriptions(self._profile, role)
        return [told[name] for name in role.tools]

    def call(self, key: str, role: Role, call: ToolCall, within: Value) -> ToolCallResult:
        """Execute one call, or give back what it returned before a crash; `within` says which task it is part of."""
        kept = self._journal.done(key)
        if kept is None:
            self._journal.check()
            began = ids.monotonic()
            try:
                value, event = self._tools[call.name](role, CallArguments(call.arguments))
            except Unusable as error:
                return failed(call, str(error))  # the reply alone decides that: it will be so again after a crash
            except (InvalidArgument, NotFound) as error:
                why = str(error)
                told = {"error": why, "arguments": call.arguments[:MAX_QUERY], "agent": role.name}
                value, event = {"error": why}, (EventType(call.name), told)
            took_ms = int((ids.monotonic() - began) * 1_000)
            event = (event[0], {**event[1], **within, "took_ms": took_ms})
            kept = self._journal.record(key, {"value": value, "took_ms": took_ms}, event)
        self._budget.spend(kept)
        return self._shown(call, kept["value"])

    def existing(self, key: str, wanted: list[str]) -> list[str]:
        """Which of these lessons there are, as far as anybody can tell by their id."""
        kept = self._journal.done(key)
        if kept is None:
            there = [each for each in wanted[:MAX_LIST] if self._bank.get(each) is not None]
            kept = self._journal.record(key, {"lessons": there})
        return list(kept["lessons"])

    def _shown(self, call: ToolCall, value: Value) -> ToolCallResult:
        """A result as the model gets it, remembered as shown."""
        self._queried = self._queried or call.name == "kb_query"
        self._pieces |= {each["alias"]: each["ref"] for each in value.get("pieces", ())}
        self._lessons |= {each["mem_id"] for each in value.get("lessons", ())}
        whole = MAX_WHOLE if call.name in {"kb_get", "mem_get"} else MAX_PIECE
        # A name that is shown without its text can be cited all the same: the run has seen it before.
        rest = {name: each for name, each in value.items() if name not in {"pieces", "lessons"}}
        return ToolCallResult(call, enveloped(rest | _listed(value, whole)), enveloped(rest | _listed(value, _SHORT)))

    def _kb_query(self, role: Role, given: CallArguments) -> Found:
        namespace = given.one_of("namespace", role.namespaces)
        query, top = given.text("query", MAX_QUERY), given.count("top_k", 5, MAX_TOP)
        mode = given.one_of("mode", MODES, MODES[0])
        pieces = [_piece(each) for each in self._shelf.query(namespace, query, mode, top)]
        told = {"kb_namespace": namespace, "query": query, "mode": mode, "top_k": top, "agent": role.name}
        results = [_traced_piece(each) | {"content": each["content"]} for each in pieces]
        return {"pieces": pieces}, (EventType.KB_QUERY, told | {"results": results})

    def _kb_get(self, role: Role, given: CallArguments) -> Found:
        alias = given.text("alias", 40).strip("[]【】 ")
        found = self._shelf.get(alias)
        if found is None or found.kb_namespace not in role.namespaces:
            raise NotFound(f"no piece {alias} was shown in this run; kb_list names those there are")
        piece = _piece(found)
        return {"pieces": [piece]}, (EventType.KB_GET, _traced_piece(piece) | {"agent": role.name, "context": "read"})

    def _kb_list(self, role: Role, given: CallArguments) -> Found:
        limit = given.count("limit", 20, MAX_LIST)
        total, aliases = self._shelf.list(limit)
        shown = list(aliases)
        told = {"total": total, "limit": limit, "shown_aliases": shown, "agent": role.name}
        return {"total": total, "aliases": shown}, (EventType.KB_LIST, told)

    def _mem_search(self, role: Role, given: CallArguments) -> Found:
        query, top = given.text("query", MAX_QUERY), given.count("top_k", 5, MAX_TOP)
        wanted, sort = self._role(given), given.optional("type", 40) or None
        lessons = [_lesson(each) for each in self._bank.search(query, top, role=wanted, status="active", type=sort)]
        told = {"query": query, "top_k": top, "role": wanted, "status": "active", "mem_type": sort, "agent": role.name}
        return {"lessons": lessons}, (
            EventType.MEM_SEARCH,
            told | {"results": [_traced_lesson(each) for each in lessons]},
        )

    def _mem_get(self, role: Role, given: CallArguments) -> Found:
        mem_id = given.text("mem_id", 120).strip("[]【】 ").removeprefix("mem:")
        found = self._bank.get(mem_id)
        if found is None:
            raise NotFound(f"there is no lesson {mem_id}; mem_search and mem_list name those there are")
        lesson = _lesson(found)
        return {"lessons": [lesson]}, (EventType.MEM_GET, _traced_lesson(lesson) | {"agent": role.name})

    def _mem_list(self, role: Role, given: CallArguments) -> Found:
        limit, wanted = given.count("limit", 20, MAX_LIST), self._role(given)
        total, found = self._bank.list(limit, role=wanted)
        lessons = [_lesson(each) for each in found]
        shown = [each["mem_id"] for each in lessons]
        told = {"total": total, "limit": limit, "shown_mem_ids": shown, "role": wanted, "agent": role.name}
        return {"total": total, "lessons": lessons}, (EventType.MEM_LIST, told)

    def _role(self, given: CallArguments) -> str | None:
        return given.one_of("role", ("any", "global", *self._profile.roles), "any").replace("any", "") or None


def failed(call: ToolCall, why: str) -> ToolCallResult:
    """A call that was not executed."""
    text = enveloped({"error": why[:1_000]})
    return ToolCallResult(call, text, text)


def descriptions(profile: Profile, role: Role) -> dict[str, ChatTool]:
    """Every tool as this role is told about it."""
    spaces = "; ".join(f"{name}: {profile.namespaces[name].description}" for name in role.namespaces)
    query = {"type": "string", "description": "What to look for, in words or as a question."}
    some = {"type": "integer", "minimum": 1, "maximum": MAX_TOP, "description": "How many, 5 by default."}
    many = {"type": "integer", "minimum": 1, "maximum": MAX_LIST, "description": "How many, 20 by default."}
    roles = {"type": "string", "enum": ["any", "global", *profile.roles], "description": "Whose lessons."}
    namespace = {"type": "string", "enum": list(role.namespaces)}
    mode = {"type": "string", "enum": list(MODES), "description": "What counts: words, meaning, or both (hybrid)."}
    alias = {"type": "string", "description": "Such as C3."}
    return {
        "kb_query": _tool(
            "kb_query", f"Search a part of the knowledge base. Each piece has an alias to cite it by. {spaces}",
            {"namespace": namespace, "query": query, "mode": mode, "top_k": some},
            "namespace", "query",
        ),
        "kb_get": _tool("kb_get", "Read a piece of the knowledge base whole.", {"alias": alias}, "alias"),
        "kb_list": _tool("kb_list", "The aliases of all pieces that were shown so far.", {"limit": many}),
        "mem_search": _tool(
            "mem_search", "Search the lessons of earlier experiments. Cite one as mem:<id>.",
            {"query": query, "top_k": some, "role": roles}, "query",
        ),
        "mem_get": _tool("mem_get", "Read a lesson whole.", {"mem_id": {"type": "string"}}, "mem_id"),
        "mem_list": _tool("mem_list", "The newest lessons.", {"limit": many, "role": roles}),
    }  # fmt: skip


def _tool(name: str, description: str, properties: Value, *required: str) -> ChatTool:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return ChatTool(name, description.strip(), schema)


def _piece(each: Evidence) -> Value:
    return {
        "alias": each.alias, "ref": each.ref, "source": each.source, "content": each.content,
        "kb_namespace": each.kb_namespace, "chunk_id": each.chunk_id,
    }  # fmt: skip


def _lesson(each: Lesson) -> Value:
    return {
        "mem_id": each.id, "role": each.role, "type": each.type, "status": each.status, "content": each.content,
        "source_run_id": each.source_run_id,
    }  # fmt: skip


def _traced_piece(each: Value) -> Value:
    return {name: each[name] for name in ("alias", "ref", "source", "kb_namespace")} | {
        "lightrag_chunk_id": each["chunk_id"]
    }


def _traced_lesson(each: Value) -> Value:
    return {name: each[name] for name in ("mem_id", "role", "type", "status", "source_run_id")}


def _listed(value: Value, most: int) -> Value:
    """Pieces and lessons as a model sees them: how to cite each, then what it says."""
    shown: Value = {}
    if "pieces" in value:
        shown["pieces"] = [
            {"cite_as": f"[{each['alias']}]", "source": each["source"], "namespace": each["kb_namespace"],
             "content": clip(each["content"], most)}
            for each in value["pieces"]
        ]  # fmt: skip
    if "lessons" in value:
        shown["lessons"] = [
            {"cite_as": f"mem:{each['mem_id']}", "role": each["role"], "status": each["status"],
             "content": clip(each["content"], most)}
            for each in value["lessons"]
        ]  # fmt: skip
    return shown
