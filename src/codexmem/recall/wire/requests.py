"""How a question is put, in a query string or as the arguments of a tool: parsed once, with the aliases that clients of
this contract use. Names that nobody knows are ignored, because existing clients send more than the contract names.
"""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from codexmem.http import moments
from codexmem.kernel.model import privacy, redaction
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import REMEMBERED, Kind, Memory, MemoryDraft, Origin, State, manual_session
from codexmem.kernel.model.query import MAX_OFFSET
from codexmem.kernel.model.search import MAX_DEPTH, MAX_RESULTS
from codexmem.kernel.model.visibility import Visibility
from codexmem.recall.lookup import LookupRequest, ResultOrder
from codexmem.recall.timeline import MAX_DEPTH as MAX_WINDOW
from codexmem.recall.timeline import At, TimelineDepth, When
from codexmem.recall.wire.layout import TURN

DEFAULT_PROJECT = "codexmem"
MAX_IDS = 1_000
MAX_LISTED = 100
CATEGORIES = {
    "observations": Kind.OBSERVATION, "observation": Kind.OBSERVATION,
    "sessions": Kind.SUMMARY, "session": Kind.SUMMARY,
    "prompts": Kind.PROMPT, "prompt": Kind.PROMPT,
}  # fmt: skip
_TITLE = 60  # characters of the text that stand in for a missing title
_NUMBERED = re.compile(r"#?([SsPp]?)([0-9]{1,18})")
_MARKS = {"": Kind.OBSERVATION, "S": Kind.SUMMARY, "P": Kind.PROMPT}
_NUMBERS_BELOW = 1_000_000_000  # a larger number is a time; no store counts so far


def _several(value: Any) -> Any:
    """One label, several in an array, or several in a string with commas."""
    if isinstance(value, str):
        return [part for text in value.split(",") if (part := text.strip())]
    return value


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


def _moment(value: Any) -> Any:
    try:
        return moments.stretch(value)
    except (ValueError, OverflowError):
        raise ValueError(f"Invalid date: {str(value)[:40]} (ISO 8601 or epoch seconds or milliseconds)") from None


def _anchor(value: Any) -> Any:
    """A memory, or a time."""
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()
    numbered = _NUMBERED.fullmatch(text)
    if numbered is not None:
        mark, number = numbered[1].upper(), int(numbered[2])
        if mark or text.startswith("#") or number < _NUMBERS_BELOW:
            return At(_MARKS[mark], number)
    try:
        when = moments.stretch(value).first_ms
    except (ValueError, OverflowError):
        when = -1
    # A small number that is no memory's is no time either.
    if when < 0 or (isinstance(value, float) and value < _NUMBERS_BELOW):
        raise ValueError(f"Invalid timestamp: {text[:40]}")
    return When(when)


Several = Annotated[list[str], BeforeValidator(_several), Field(max_length=100), WithJsonSchema(
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": 100}]}
)]  # fmt: skip
_NUMBER_OR_TEXT = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})
Moment = Annotated[moments.TimeRange, BeforeValidator(_moment), _NUMBER_OR_TEXT]


class _Request(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    aliases: ClassVar[dict[str, str]] = {}  # other names that clients use

    @model_validator(mode="before")
    @classmethod
    def _known_names(cls, raw: Any) -> Any:
        """The contract's names for what was given; what is null or empty was not given."""
        if not isinstance(raw, dict):
            return raw
        given = {name: value for name, value in raw.items() if value is not None and value != ""}
        for alias, name in cls.aliases.items():
            if alias in given:
                given.setdefault(name, given[alias])
        return given


class ListRequest(BaseModel):
    """A page of a list."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    limit: int = Field(20, ge=1, le=MAX_LISTED)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)
    project: str | None = None


class SearchRequest(_Request):
    """`search`."""

    aliases: ClassVar[dict[str, str]] = {
        "filePath": "files", "concept": "concepts", "date_start": "dateStart", "date_from": "dateStart",
        "date_end": "dateEnd", "date_to": "dateEnd",
    }  # fmt: skip
    categories: ClassVar[dict[str, Kind]] = CATEGORIES  # what `type` may name; without one, all that is remembered

    query: str | None = Field(None, description="What to look for, in any words. Leave it out to list the newest.")
    limit: int = Field(20, ge=1, le=MAX_RESULTS, description="How many results.")
    offset: int = Field(0, ge=0, lt=MAX_DEPTH, description="How many results to skip.")
    project: str | None = Field(None, description="Only this project; all projects unless given.")
    type: Several | None = Field(
        None, description="observations, sessions or prompts; any other value is a type of observation, e.g. bugfix."
    )
    obs_type: Several | None = Field(
        None, description="Types of observations: bugfix, feature, refactor, change, discovery, decision."
    )
    concepts: Several | None = Field(None, description="Only observations with any of these concepts, e.g. gotcha.")
    files: Several | None = Field(
        None,
        description="Only observations about any of these files: a name such as app.py, a path or its end.",
    )
    dateStart: Moment | None = Field(None, description="Not before: ISO 8601, or epoch in seconds or milliseconds.")  # noqa: N815
    dateEnd: Moment | None = Field(None, description="Not after, inclusive; a day means all of it (UTC).")  # noqa: N815
    orderBy: Literal["relevance", "date_desc", "date_asc"] = Field("relevance", description="Order of the results.")  # noqa: N815
    format: Literal["json", "markdown", "index"] | None = Field(None, description="json for rows instead of a table.")

    def to_wish(self) -> LookupRequest:
        """What is looked for."""
        named = self.type or []
        types = [value for value in named if value not in self.categories]
        kinds = frozenset(self.categories[value] for value in named if value in self.categories)
        if self.offset + self.limit > MAX_DEPTH:
            raise InvalidArgument(f"offset {self.offset} reaches beyond the first {MAX_DEPTH:,} results")
        return LookupRequest(
            frozenset({Kind.OBSERVATION}) if types else kinds or REMEMBERED.intersection(self.categories.values()),
            query=self.query or "",
            project=self.project,
            types=frozenset((*types, *(self.obs_type or []))),
            concepts=frozenset(self.concepts or []),
            files=tuple(self.files or []),
            from_ms=self.dateStart.first_ms if self.dateStart else None,
            to_ms=self.dateEnd.last_ms if self.dateEnd else None,
            order=ResultOrder(self.orderBy),
            limit=self.limit,
            offset=self.offset,
        )


class TimelineRequest(_Request):
    """`timeline`."""

    aliases: ClassVar[dict[str, str]] = {"depthBefore": "depth_before", "depthAfter": "depth_after"}

    anchor: Annotated[At | When, BeforeValidator(_anchor), _NUMBER_OR_TEXT] | None = Field(
        None, description="An observation's number (123), a summary (S123), a prompt (P123) or a time (ISO 8601)."
    )
    query: str | None = Field(None, description="Without an anchor: the best match of this query becomes the anchor.")
    depth_before: int = Field(10, ge=0, le=MAX_WINDOW, description="How many records before the anchor.")
    depth_after: int = Field(10, ge=0, le=MAX_WINDOW, description="How many records after the anchor.")
    project: str | None = Field(None, description="Only this project; the anchor's own unless given.")
    format: Literal["json", "markdown"] | None = Field(None, description="json for rows instead of a table.")

    @property
    def depth(self) -> TimelineDepth:
        """How far to look."""
        return TimelineDepth(self.depth_before, self.depth_after)

    @property
    def spelled_anchor(self) -> str:
        """The anchor as it is shown."""
        match self.anchor:
            case At(kind, seq):
                return next(mark for mark, marked in _MARKS.items() if marked is kind) + str(seq)
            case When(ms):
                return moments.iso(ms)
            case None:
                return ""


class ObservationBatchRequest(_Request):
    """`get_observations`."""

    ids: Annotated[
        list[int],
        BeforeValidator(_ids),
        WithJsonSchema({"type": "array", "items": {"type": "integer", "format": "int64"}, "maxItems": MAX_IDS}),
    ] = Field(
        None, validate_default=True, description="Numbers of observations or, 9 for #S9, of turns."
    )  # absent reads as "not an array"
    orderBy: Literal["date_desc", "date_asc"] = Field("date_desc", description="Newest or oldest first.")  # noqa: N815
    limit: Annotated[int, Field(ge=1, le=MAX_IDS)] | None = Field(None, description="At most so many.")
    project: str | None = Field(None, description="Only those of this project.")
    type: Several | None = Field(None, description="Only those of these types.")
    concepts: Several | None = Field(None, description="Only those with any of these concepts.")
    files: Several | None = Field(None, description="Only those about a file whose path holds any of these parts.")

    def keeps(self, memory: Memory) -> bool:
        """Whether the filters let this observation or turn through."""
        state, attrs = memory.state, memory.state.attrs
        assert isinstance(attrs, ObservationAttrs | SummaryAttrs)
        type_, concepts = (state.type, attrs.concepts) if isinstance(attrs, ObservationAttrs) else (TURN, ())
        paths = (*attrs.files_read, *attrs.files_modified)
        return (
            (self.project is None or state.project == self.project)
            and (not self.type or type_ in self.type)
            and (not self.concepts or not set(self.concepts).isdisjoint(concepts))
            and (not self.files or any(part in path for part in self.files for path in paths))
        )


class SaveRequest(_Request):
    """`save_memory`."""

    text: Annotated[
        str, BeforeValidator(_text), WithJsonSchema({"type": "string", "minLength": 1, "pattern": r"\S"})
    ] = Field(None, validate_default=True, description="What to remember.")  # absent reads as empty
    title: str | None = Field(None, description="A short title; the beginning of the text unless given.")
    project: str | None = Field(None, description="Which project it belongs to; the caller's own unless given.")
    visibility: Visibility | None = Field(
        None, description="Who may see it: mine, project or everyone; leave it out unless the person said so."
    )

    def to_draft(self, default_project: str = DEFAULT_PROJECT, origin: Origin = Origin.AGENT) -> MemoryDraft:
        """The observation that a manual save makes."""
        # Masked before it is cut: the beginning of a secret is not known as one any more.
        text = redaction.redact(privacy.strip(self.text)).strip()
        title = (self.title or "").strip() or (text[:_TITLE] + "..." if len(text) > _TITLE else text)
        project = (self.project or "").strip() or default_project
        state = State(
            content=self.text, attrs=ObservationAttrs(subtitle="Manual memory"), project=project, type="discovery",
            title=title,
        )  # fmt: skip
        return MemoryDraft(Kind.OBSERVATION, state, origin, session=manual_session(project), visibility=self.visibility)
