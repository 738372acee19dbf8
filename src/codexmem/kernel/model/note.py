"""Notes: memories that are addressed by URI and written on purpose. What is a fit one, and how two states of it differ.

Secrets and private regions are taken out of what a caller writes; whatever else it says is kept to the letter.
"""

from dataclasses import dataclass, replace

from codexmem.kernel.model import address, history, privacy, redaction
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Kind, Memory, State, Status
from codexmem.kernel.model.mentions import mentions_in

NOTES = frozenset({Kind.NOTE})
CORE = 2  # up to this priority a note is core: it is told at every start
USUAL_PRIORITY = 5
MAX_DISCLOSURE = 2_000  # characters
# Whoever and whatever the agent works for is the same in all projects.
_EVERYWHERE = frozenset({"core", "user"})
SETTABLE = frozenset({Status.ACTIVE, Status.DEPRECATED, Status.ARCHIVED})  # by whoever changes a note
LISTED = frozenset({Status.CANDIDATE, Status.ACTIVE, Status.VALIDATED, Status.DEPRECATED, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class NoteEdit:
    """A wish to change a note: one way of changing the content at most, and beside it priority and disclosure."""

    content: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    append: bool = False
    priority: int | None = None
    disclosure: str | None = None
    status: Status | None = None

    def __post_init__(self) -> None:
        """One way, whole."""
        patches = self.old_string is not None or self.new_string is not None
        if patches and (self.old_string is None or self.new_string is None):
            raise InvalidArgument(
                "old_string and new_string belong together", hint='to remove text, give new_string as ""'
            )
        if patches and (self.content is not None or self.append):
            raise InvalidArgument(
                "give either old_string with new_string, or content, not both",
                hint="patch a place, or replace or append to the whole",
            )
        if self.append and self.content is None:
            raise InvalidArgument("append needs content", hint="give the text to add as content")
        rest = (self.content, self.priority, self.disclosure, self.status)
        if not patches and all(each is None for each in rest):
            raise InvalidArgument(
                "nothing to change was given",
                hint="give content, old_string with new_string, priority, disclosure or status",
            )
        if self.status is not None and self.status not in SETTABLE:
            raise InvalidArgument(
                f"a note cannot be set to {self.status.value}",
                hint=f"give one of {', '.join(sorted(SETTABLE))}; delete_memory hides a note",
            )

    @property
    def mode(self) -> str:
        """What happens to the content."""
        if self.old_string is not None:
            return "patch"
        return "append" if self.append else "replace" if self.content is not None else "none"

    def apply(self, state: State) -> State:
        """The state after the change."""
        content = state.content
        if self.old_string is not None and self.new_string is not None:
            content = history.patch(content, self.old_string, self.new_string)
        elif self.content is not None:
            content = history.append(content, self.content) if self.append else self.content
        disclosure = disclosure_of(state) if self.disclosure is None else self.disclosure
        priority = state.priority if self.priority is None else self.priority
        status = state.status if self.status is None else self.status
        return fit(replace(state, content=content, priority=priority, status=status), disclosure)

    def told(self) -> str:
        """The change in a few words, for the history."""
        parts = []
        if self.old_string is not None:
            parts.append(f"patched {_quoted(self.old_string)} to {_quoted(self.new_string or '')}")
        elif self.content is not None:
            parts.append("appended to the content" if self.append else "replaced the content")
        if self.priority is not None:
            parts.append(f"set priority {self.priority}")
        if self.disclosure is not None:
            parts.append("set disclosure")
        if self.status is not None:
            parts.append(f"set status {self.status.value}")
        return redaction.redact("; ".join(parts))


@dataclass(frozen=True, slots=True)
class NoteFigures:
    """How many notes there are; those that are deleted count in `statuses` alone."""

    statuses: dict[str, int]
    domains: dict[str, int]  # the largest first; a note with addresses in two domains counts in both
    reads: int  # how often notes were read
    read: int  # how many notes were ever read
    most_read: tuple[tuple[int, int], ...]  # number and reads


def fit(state: State, disclosure: str) -> State:
    """The state of a note that says this, without what is secret or private, and with what it mentions."""
    content = redaction.redact(privacy.strip(state.content))
    if not content.strip():
        raise InvalidArgument(
            "content is required and must be non-empty", hint="what is marked as private is not kept; write the rest"
        )
    disclosure = " ".join(redaction.redact(privacy.strip(disclosure)).split())
    if len(disclosure) > MAX_DISCLOSURE:
        raise InvalidArgument(f"disclosure has {len(disclosure):,} characters, at most {MAX_DISCLOSURE:,} are kept")
    return replace(state, content=content, attrs=NoteAttrs(disclosure, mentions_in(content)))


def fit_uri(uri: str) -> str:
    """The normal spelling of an address that may be written, unless it holds a secret."""
    normal = address.writable(uri)
    if redaction.redact(normal) != normal:
        raise InvalidArgument("the URI holds what looks like a secret", hint="name the memory by what it is about")
    return normal


def is_for_all_projects(uri: str) -> bool:
    """Whether a note under this address holds in all projects."""
    return address.domain_of(uri) in _EVERYWHERE


def disclosure_of(state: State) -> str:
    """When the note is to be told."""
    return state.attrs.disclosure if isinstance(state.attrs, NoteAttrs) else ""


def mentioned_by(state: State) -> tuple[str, ...]:
    """Which addresses the note mentions."""
    return state.attrs.mentions if isinstance(state.attrs, NoteAttrs) else ()


def primary(memory: Memory) -> str:
    """The note's first address; a number where all were taken by others."""
    return memory.state.uris[0] if memory.state.uris else f"#{memory.seq}"


def headline(text: str, limit: int = 100) -> str:
    """The first line that says something, cut."""
    line = next((" ".join(each.split()) for each in text[: 40 * limit].splitlines() if each.strip()), "")
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def differences(before: State, after: State) -> list[str]:
    """What a reader would notice, one short line each."""
    told = []
    if before.content != after.content:
        diff = history.unified_diff(before.content, after.content, "", "").splitlines()[2:]
        added, gone = (sum(line.startswith(sign) for line in diff) for sign in "+-")
        told.append(f"content: +{added} -{gone} lines")
    for name, old, new in (
        ("priority", str(before.priority), str(after.priority)),
        ("status", before.status.value, after.status.value),
        ("disclosure", disclosure_of(before), disclosure_of(after)),
    ):
        if old != new:
            told.append(f"{name}: {headline(old, 60) or '(none)'} → {headline(new, 60) or '(none)'}")
    for word, uris in (("adds", set(after.uris) - set(before.uris)), ("drops", set(before.uris) - set(after.uris))):
        told += [f"{word} the address {uri}" for uri in sorted(uris)]
    return told


def _quoted(text: str) -> str:
    return f'"{headline(text, 40)}"'
