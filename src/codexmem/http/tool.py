"""A tool as a value: what it is called, what a model is told about it, what it takes and what it does.

Tools know nothing of the protocol. They get a call and say something back; whatever they raise becomes an answer that
the model can read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Origin
from codexmem.kernel.model.tenant import TenantRole

S_contra = TypeVar("S_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class ToolInvocation:
    """One call of a tool."""

    arguments: Mapping[str, Any]
    actor: str  # on whose behalf
    project: str | None = None  # the one the caller works in
    origin: Origin = Origin.AGENT  # who speaks, as the server found out
    session: str | None = None  # the agent's session that calls, where it is known
    source: str | None = None  # … as what it writes is marked: session:12
    address: str | None = None  # from where it came in
    cwd: str = ""  # the folder that the caller works in, where it says so

    def by(self) -> WriteContext:
        """How what the call writes is signed."""
        return WriteContext(self.actor, self.source, origin=self.origin, session=self.session, address=self.address)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers: text for a model and, where a program may want it, the same as an object."""

    text: str
    structured: dict[str, object] | None = None
    is_json: bool = False  # programs parse the text
    seqs: tuple[int, ...] = ()  # the memories whose words it holds
    opened: bool = False  # whether the caller asked for the whole of these


@dataclass(frozen=True)
class Tool(Generic[S_contra]):
    """One tool."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    answer: Callable[[S_contra, ToolInvocation], ToolResult]
    reads_only: bool = True
    destroys: bool = False  # may take away what somebody wrote
    repeatable: bool = True  # the same call again changes nothing more
    other_names: tuple[str, ...] = ()  # answered, but not listed
    recalls: bool = False  # its answers hold what was remembered: they are quoted and framed
    exact: bool = False  # … and are taken in again later, so that no character may differ
    needs: TenantRole | None = None  # of the caller, where it is neither to read nor to write

    @property
    def role(self) -> TenantRole:
        """The role that a call takes."""
        return self.needs or (TenantRole.READER if self.reads_only else TenantRole.WRITER)


@dataclass(frozen=True)
class Toolset(Generic[S_contra]):
    """A named part of the tool list."""

    name: str
    tools: tuple[Tool[S_contra], ...]
    instructions: str  # how its tools work together, told once when a client connects


def schema_of(model: type[BaseModel], *required: str, unlisted: Sequence[str] = ()) -> dict[str, Any]:
    """The input schema of a tool whose arguments are this model; further arguments are allowed and ignored.

    What is unlisted is taken and not offered: each request of an agent pays for what is listed.
    """
    schema = model.model_json_schema()
    shared = schema.get("$defs", {})
    properties = {
        name: _plain(_whole(value, shared)) for name, value in schema["properties"].items() if name not in unlisted
    }
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": True}


def _whole(schema: Any, shared: Mapping[str, Any]) -> Any:
    """The schema with what it refers to in its place: not every agent follows a reference."""
    if isinstance(schema, list):
        return [_whole(each, shared) for each in schema]
    if not isinstance(schema, dict):
        return schema
    named = str(schema.get("$ref", "")).rpartition("/")[2]
    meant = _whole(shared[named], shared) if named else {}
    beside = {name: _whole(value, shared) for name, value in schema.items() if name != "$ref"}
    return {**{name: value for name, value in meant.items() if name not in {"title", "description"}}, **beside}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A property without what only our own models need: titles, and null as the value of what is left out."""
    kept = {name: value for name, value in schema.items() if name not in {"title", "anyOf"}}
    kept = {name: value for name, value in kept.items() if (name, value) != ("default", None)}
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**choices[0], **kept}
    return {**kept, "anyOf": choices} if choices else kept
