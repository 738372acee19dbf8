"""The field spelling of contract 000: requests parsed once, memories rendered as observations."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from codexmem.domain.attrs import ObservationAttrs
from codexmem.domain.memory import Draft, Kind, Memory, Origin, State
from codexmem.services.status import Health, Readiness

DEFAULT_PROJECT = "codexmem"
MAX_IDS = 1_000
_TITLE = 60  # characters of the text that stand in for a missing title


def _ids(value: Any) -> Any:
    if not isinstance(value, list):
        raise ValueError("ids must be an array of numbers")
    if any(not isinstance(item, int) or isinstance(item, bool) for item in value):
        raise ValueError("All ids must be integers")
    if len(value) > MAX_IDS:
        raise ValueError(f"at most {MAX_IDS} ids can be asked for at once")
    return value


def _text(value: Any) -> Any:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text is required and must be non-empty")
    return value


def _several(value: Any) -> Any:
    """One label, several in an array, or several in a string with commas."""
    if isinstance(value, str):
        return [part for text in value.split(",") if (part := text.strip())]
    return value


Several = Annotated[list[str], BeforeValidator(_several), Field(max_length=100), WithJsonSchema(
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": 100}]}
)]  # fmt: skip


class _Request(BaseModel):
    """Unknown fields are ignored: existing clients send more than the contract names."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class BatchRequest(_Request):
    """`POST /api/observations/batch`."""

    ids: Annotated[
        list[int],
        BeforeValidator(_ids),
        WithJsonSchema({"type": "array", "items": {"type": "integer", "format": "int64"}, "maxItems": MAX_IDS}),
    ] = Field(default=None, validate_default=True)  # absent reads as "not an array"
    orderBy: Literal["date_desc", "date_asc"] = "date_desc"  # noqa: N815  the contract's spelling
    limit: Annotated[int, Field(ge=1, le=MAX_IDS)] | None = None
    project: str | None = None
    type: Several | None = None
    concepts: Several | None = None
    files: Several | None = None

    def keeps(self, memory: Memory) -> bool:
        """Whether the filters let this observation through."""
        state, attrs = memory.state, memory.state.attrs
        assert isinstance(attrs, ObservationAttrs)
        paths = (*attrs.files_read, *attrs.files_modified)
        return (
            (self.project is None or state.project == self.project)
            and (not self.type or state.type in self.type)
            and (not self.concepts or not set(self.concepts).isdisjoint(attrs.concepts))
            and (not self.files or any(part in path for part in self.files for path in paths))
        )


class SaveRequest(_Request):
    """`POST /api/memory/save`."""

    text: Annotated[
        str, BeforeValidator(_text), WithJsonSchema({"type": "string", "minLength": 1, "pattern": r"\S"})
    ] = Field(default=None, validate_default=True)  # absent reads as empty
    title: str | None = None
    project: str | None = None

    def to_draft(self) -> Draft:
        """The observation that a manual save makes."""
        text = self.text.strip()
        title = (self.title or "").strip() or (text[:_TITLE] + "..." if len(text) > _TITLE else text)
        project = (self.project or "").strip() or DEFAULT_PROJECT
        state = State(
            content=self.text,
            attrs=ObservationAttrs(subtitle="Manual memory"),
            project=project,
            type="discovery",
            title=title,
        )
        return Draft(Kind.OBSERVATION, state, Origin.AGENT, session=f"manual-{project}")


class Saved(BaseModel):
    """What a save answers."""

    success: bool
    id: int
    title: str
    project: str
    message: str


def health(facts: Health) -> dict[str, Any]:
    """The answer to `GET /api/health`; uptime in milliseconds, as the clients of this contract expect."""
    return {
        "status": "ok",
        "version": facts.version,
        "initialized": facts.initialized,
        "mcpReady": False,  # there is no MCP door yet
        "pid": facts.pid,
        "uptime": int(facts.uptime_s * 1000),
    }


def readiness(facts: Readiness) -> dict[str, Any]:
    """The answer to `GET /api/readiness`; why it is so is for the log, because probes bring no key."""
    return {"status": facts.phase.value}


def saved(memory: Memory) -> dict[str, Any]:
    """The answer to `POST /api/memory/save`."""
    return {
        "success": True,
        "id": memory.seq,
        "title": memory.state.title,
        "project": memory.state.project,
        "message": f"Memory saved as observation #{memory.seq}",
    }


class Observation(BaseModel):
    """One observation as clients know it; lists are native arrays."""

    id: int
    memory_session_id: str | None
    project: str
    text: str | None
    type: str
    title: str
    subtitle: str
    facts: list[str]
    narrative: str
    concepts: list[str]
    files_read: list[str]
    files_modified: list[str]
    prompt_number: int | None
    discovery_tokens: int
    created_at: str
    created_at_epoch: int


def observations(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Memories of kind observation in the contract's fields."""
    return [_observation(memory) for memory in memories]


def _observation(memory: Memory) -> dict[str, Any]:
    state, attrs = memory.state, memory.state.attrs
    assert isinstance(attrs, ObservationAttrs)
    return {
        "id": memory.seq,
        "memory_session_id": memory.session,
        "project": state.project,
        "text": None,  # a field of old rows that nothing fills any more
        "type": state.type,
        "title": state.title,
        "subtitle": attrs.subtitle,
        "facts": list(attrs.facts),
        "narrative": state.content,
        "concepts": list(attrs.concepts),
        "files_read": list(attrs.files_read),
        "files_modified": list(attrs.files_modified),
        "prompt_number": attrs.prompt_number,
        "discovery_tokens": attrs.discovery_tokens,
        "created_at": iso(memory.created_ms),
        "created_at_epoch": memory.created_ms,
    }


def iso(ms: int) -> str:
    """A time as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
