"""The memory: identity that never changes, and a state of which every write makes a new version.

`Memory` = who it is (seq, id, kind, origin, source) + `State` (what it says) + running counters. Only the state is
versioned, diffed and rolled back; counters are sums of events and survive a rollback.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from codexmem.kernel.model import address
from codexmem.kernel.model import attrs as kinds_attrs
from codexmem.kernel.model.attrs import Attrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.visibility import Visibility

MAX_CONTENT = 1 << 20  # characters; a larger text belongs in a file that a memory points to
MAX_TITLE = 1_000  # characters
# Index keys, in characters. Four bytes each, and a label beside its project, must fit PostgreSQL's 2,704 bytes a key.
MAX_LABEL = 400  # of a type or facet value
MAX_PROJECT = 200
_MANUAL = "manual-"  # sessions of such memories begin so
MAX_KEY = 400  # of an id, session or source


class Kind(StrEnum):
    """What sort of thing is remembered; an interface sees only the kinds it names."""

    OBSERVATION = "observation"  # distilled from what an agent did
    SUMMARY = "summary"  # a checkpoint of a session
    PROMPT = "prompt"  # what a person asked
    NOTE = "note"  # addressed by URI, written on purpose
    QA = "qa"  # a question and its answer
    KNOWLEDGE = "knowledge"  # an entry of the knowledge base
    LESSON = "lesson"  # learned from a judged run
    CHUNK = "chunk"  # a piece of a document that the lab may cite


class Status(StrEnum):
    """Where a memory stands in its life."""

    CANDIDATE = "candidate"  # unproven
    ACTIVE = "active"  # in use
    VALIDATED = "validated"  # in use and confirmed
    DEPRECATED = "deprecated"  # superseded, still readable
    EXPIRED = "expired"  # its time is over
    ARCHIVED = "archived"  # put away by a person or a learning
    QUARANTINED = "quarantined"  # distrusted source, kept from recall
    DELETED = "deleted"  # hidden; history kept, can be rolled back


VISIBLE = frozenset({Status.CANDIDATE, Status.ACTIVE, Status.VALIDATED})


class Mark(StrEnum):
    """What a person decided about a memory or still has to, and whose words it says if not its maker's; part of its
    state, so versioned and undone with it.
    """

    PINNED = "pinned"  # told at the start of every session of its project
    WITHHELD = "withheld"  # never handed to an agent; people still find it
    DISMISSED = "dismissed"  # a note that a person put away: no agent brings it back
    PROPOSED = "proposed"  # an agent wrote it where a person has to agree: not told unasked until one does
    CORRECTED = "corrected"  # a person wrote what it says now, though somebody else made it
    REWRITTEN = "rewritten"  # an agent or a model wrote what it says now, though a person made it


CREDIT = frozenset({Mark.CORRECTED, Mark.REWRITTEN})  # belong to the words, and go back with them


class Origin(StrEnum):
    """Who made the first version; set by the server from the interface and credential used, never by a caller."""

    HUMAN = "human"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"
    GIT = "git"
    MODEL = "model"

    @property
    def word(self) -> str:
        """How a text names it before what it quotes."""
        return "person" if self is Origin.HUMAN else self.value


ATTRS: dict[Kind, type[Attrs]] = {
    Kind.OBSERVATION: kinds_attrs.ObservationAttrs,
    Kind.SUMMARY: kinds_attrs.SummaryAttrs,
    Kind.PROMPT: kinds_attrs.PromptAttrs,
    Kind.NOTE: kinds_attrs.NoteAttrs,
    Kind.QA: kinds_attrs.QaAttrs,
    Kind.KNOWLEDGE: kinds_attrs.KnowledgeAttrs,
    Kind.LESSON: kinds_attrs.LessonAttrs,
    Kind.CHUNK: kinds_attrs.ChunkAttrs,
}

# What is remembered, as people mean it. Pieces of documents are not: they are shown to whoever asks for them by name.
REMEMBERED = frozenset(Kind) - {Kind.CHUNK}

# What may be private: what agents do and people say. Lessons, knowledge and documents are made to be shared.
PERSONAL = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT, Kind.NOTE, Kind.QA})

# A prompt is written once and by the million: its first version is its row, until something changes it.
LAZY_HISTORY = frozenset({Kind.PROMPT})


@dataclass(frozen=True, slots=True)
class State:
    """Everything about a memory that a write may change and a rollback restores."""

    content: str
    attrs: Attrs
    project: str = ""
    status: Status = Status.ACTIVE
    type: str = ""  # a kind's sub-label, e.g. bugfix
    title: str = ""
    priority: int = 5  # 0 is the core of the memory, 10 the least
    confidence: float = 0.5
    uris: tuple[str, ...] = ()  # the first is primary, the rest are aliases
    links: tuple[tuple[str, int], ...] = ()  # (relation, seq of the target)
    marks: frozenset[Mark] = frozenset()
    visibility: Visibility = Visibility.PROJECT

    def to_json(self) -> dict[str, Any]:
        """The whole state as stored in a version row; `from_json` inverts it exactly."""
        return {
            "content": self.content,
            "attrs": self.attrs.to_json(),
            "project": self.project,
            "status": self.status.value,
            "type": self.type,
            "title": self.title,
            "priority": self.priority,
            "confidence": self.confidence,
            "uris": list(self.uris),
            "links": [list(link) for link in self.links],
            # Only where it is unusual, and before the marks: see `store.history`.
            **({} if self.visibility is Visibility.PROJECT else {"visibility": self.visibility.value}),
            "marks": sorted(self.marks),
        }

    @classmethod
    def from_json(cls, kind: Kind, raw: dict[str, Any]) -> "State":
        """Parse a version row of a memory of this kind."""
        return cls(
            content=raw["content"],
            attrs=ATTRS[kind].from_json(raw["attrs"]),
            project=raw["project"],
            status=Status(raw["status"]),
            type=raw["type"],
            title=raw["title"],
            priority=raw["priority"],
            confidence=raw["confidence"],
            uris=tuple(raw["uris"]),
            links=tuple((relation, seq) for relation, seq in raw["links"]),
            marks=frozenset(map(Mark, raw.get("marks") or ())),  # versions of before 0.2 have none
            visibility=Visibility(raw.get("visibility") or Visibility.PROJECT),
        )

    def without_credit(self) -> "State":
        """The state without whose words it has, which is no difference of its own beside the words."""
        return replace(self, marks=self.marks - CREDIT)

    def facets(self) -> frozenset[tuple[str, str]]:
        """The labels this state is filtered by; derived, never stored beside it by hand."""
        addressed = {("domain", address.domain_of(uri)) for uri in self.uris}
        addressed |= {("name", address.name_of(uri)[:MAX_LABEL]) for uri in self.uris}
        if self.uris:
            # Few of them are important, and those are asked for at every start.
            addressed.add(("priority", str(self.priority)))
        typed = {("type", self.type)} if self.type else set()
        marked = {("mark", mark.value) for mark in self.marks}
        return frozenset(addressed | typed | marked | set(self.attrs.facets()))

    def check(self, kind: Kind) -> None:
        """Refuse what no engine should be asked to store."""
        if not isinstance(self.attrs, ATTRS[kind]):
            raise InvalidArgument(f"a {kind} needs {ATTRS[kind].__name__}, not {type(self.attrs).__name__}")
        if not 0 <= self.priority <= 10:
            raise InvalidArgument(f"priority {self.priority} is not between 0 and 10")
        if not 0.0 <= self.confidence <= 1.0:
            raise InvalidArgument(f"confidence {self.confidence} is not between 0 and 1")
        if len(self.content) > MAX_CONTENT:
            raise InvalidArgument(
                f"content has {len(self.content):,} characters, at most {MAX_CONTENT:,} are kept",
                hint="store the text in a file and remember where it is",
            )
        if len(self.title) > MAX_TITLE:
            raise InvalidArgument(f"the title is longer than {MAX_TITLE:,} characters")
        if len(self.project) > MAX_PROJECT:
            raise InvalidArgument(f"the project's name is longer than {MAX_PROJECT} characters")
        if self.visibility is Visibility.MINE and kind not in PERSONAL:
            raise InvalidArgument(f"a {kind} cannot be private", hint="leave it to its project, or keep it as a note")
        labels = [value for _, value in self.facets()]
        for text in (self.content, self.title, self.project, *labels):
            _require_text(text)
        if any(len(label) > MAX_LABEL for label in labels):
            raise InvalidArgument(f"a type, tag, concept, file or other label is longer than {MAX_LABEL} characters")


def _require_text(text: str) -> None:
    # What one engine refuses and the other cuts off or garbles is refused by both.
    if "\0" in text:
        raise InvalidArgument("text must not hold the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument("text must not hold half of a surrogate pair") from None


def manual_session(project: str) -> str:
    """The session that memories of a project get which were saved by hand."""
    return f"{_MANUAL}{project}"


def is_manual_session(session: str) -> bool:
    """Whether its memories share no more than that: they were said at different times about different things."""
    return session.startswith(_MANUAL)


@dataclass(frozen=True, slots=True)
class Counters:
    """Running sums of what happened to a memory; not part of its history."""

    shown: int = 0
    used: int = 0
    valid: int = 0
    invalid: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered thing with its current state."""

    seq: int
    id: str
    kind: Kind
    state: State
    version: int
    origin: Origin
    created_ms: int
    updated_ms: int
    session: str | None = None
    source: str | None = None  # what first wrote it: session:…, run:…, import:…
    counters: Counters = field(default_factory=Counters)
    owner: str | None = None  # the member whose key or session made it

    @property
    def author(self) -> Origin:
        """Whose words it says now."""
        if Mark.CORRECTED in self.state.marks:
            return Origin.HUMAN
        return Origin.AGENT if Mark.REWRITTEN in self.state.marks else self.origin

    def with_state(self, state: State, *, now_ms: int) -> "Memory":
        """The memory after one more write."""
        return replace(self, state=state, version=self.version + 1, updated_ms=now_ms)


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory about to be remembered for the first time."""

    kind: Kind
    state: State
    origin: Origin
    session: str | None = None
    id: str | None = None  # restored and imported memories keep their id
    created_ms: int | None = None  # imported memories keep their time
    visibility: Visibility | None = None  # None: as whoever writes it usually does

    def check(self) -> None:
        """Refuse what no engine should be asked to store."""
        self.state.check(self.kind)
        if any(len(key) > MAX_KEY for key in (self.id, self.session) if key is not None):
            raise InvalidArgument(f"an id or session is longer than {MAX_KEY} characters")
