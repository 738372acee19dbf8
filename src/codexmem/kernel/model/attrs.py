"""The typed extra fields of each kind of memory.

Every class is frozen, parses itself from JSON on read and names the facets it contributes, so that a filter never has
to look inside JSON. Fields unknown to this version are refused rather than dropped: history must survive a round trip.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Self

from codexmem.kernel.model import qa_words
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.file_labels import file_labels
from codexmem.kernel.model.mentions import mention_label


@dataclass(frozen=True, slots=True)
class Attrs:
    """No extra fields: what every kind starts from."""

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Self:
        """Parse what `to_json` wrote; lists become tuples so that values stay comparable."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(raw) - known)
        if unknown:
            raise InvalidArgument(f"unknown {cls.__name__} fields: {', '.join(unknown)}")
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()})

    def to_json(self) -> dict[str, object]:
        """Only what differs from the default, so that a new field costs old rows nothing."""
        return {
            f.name: list(value) if isinstance(value, tuple) else value
            for f in fields(self)
            if (value := getattr(self, f.name)) != f.default
        }

    def facets(self) -> Iterable[tuple[str, str]]:
        """The (facet, value) labels under which such a memory can be filtered."""
        return ()


STAMPED = ("stamped", "yes")  # the label of what can be compared with a checkout


def _stamped(blobs: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    return (STAMPED,) if blobs else ()


@dataclass(frozen=True, slots=True)
class ObservationAttrs(Attrs):
    """What a session learned or did, distilled."""

    subtitle: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    prompt_number: int | None = None
    discovery_tokens: int = 0
    events: tuple[int, ...] = ()  # the captured events it came from
    imported: str = ""  # where it stood in the program it was imported from: claude-mem:123
    unproven: tuple[str, ...] = ()  # what its author claimed besides, and the evidence does not bear
    blobs: tuple[str, ...] = ()  # stamps of the file contents that it rests on (`file_blobs`)
    author: str = ""  # the model that wrote it, where one was asked
    author_job: int | None = None  # the job that asked it

    def facets(self) -> Iterable[tuple[str, str]]:
        """Concepts, and every file that was read or changed, under its path and the ends of it."""
        yield from _stamped(self.blobs)
        yield from (("concept", concept) for concept in self.concepts)
        yield from (("file", label) for path in (*self.files_read, *self.files_modified) for label in file_labels(path))


@dataclass(frozen=True, slots=True)
class SummaryAttrs(Attrs):
    """One checkpoint of a session, field by field."""

    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""
    prompt_number: int | None = None
    discovery_tokens: int = 0
    events: tuple[int, ...] = ()  # the captured events it came from
    imported: str = ""  # where it stood in the program it was imported from: claude-mem:123
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()  # that worked, as they were typed
    failed_commands: tuple[str, ...] = ()  # that never worked
    errors: tuple[str, ...] = ()  # the first line of each
    blobs: tuple[str, ...] = ()  # stamps of the file contents that it rests on (`file_blobs`)

    def text(self) -> str:
        """What such a memory says: everything but the request, which is its title."""
        said = (self.investigated, self.learned, self.completed, self.next_steps, self.notes)
        return "\n".join(part for part in said if part)

    def facets(self) -> Iterable[tuple[str, str]]:
        """Every file that was changed, under its path and the ends of it."""
        yield from _stamped(self.blobs)
        yield from (("file", label) for path in self.files_modified for label in file_labels(path))


@dataclass(frozen=True, slots=True)
class PromptAttrs(Attrs):
    """What was said in a session, and in which turn."""

    prompt_number: int = 1
    private: bool = False
    speaker: str = ""  # who said it, where a session has several voices
    imported: str = ""  # where it stood in the program it was imported from

    def facets(self) -> Iterable[tuple[str, str]]:
        """Who."""
        return (("who", self.speaker),) if self.speaker else ()


@dataclass(frozen=True, slots=True)
class NoteAttrs(Attrs):
    """A URI memory: when to disclose it, and which other addresses its content mentions."""

    disclosure: str = ""
    mentions: tuple[str, ...] = ()

    def facets(self) -> Iterable[tuple[str, str]]:
        """Addresses that are mentioned, whether or not they name something yet."""
        return (("mention", mention_label(uri)) for uri in self.mentions)


@dataclass(frozen=True, slots=True)
class QaAttrs(Attrs):
    """A question with its answer in the memory's content."""

    question: str = ""
    phrasings: tuple[str, ...] = ()
    summary: str = ""
    tags: tuple[str, ...] = ()
    author: str = ""
    source: str = ""  # what the caller said of it: a label, no provenance
    alternatives: tuple[str, ...] = ()  # the same answer in other words
    metadata: str = ""  # the caller's own, as JSON text

    def facets(self) -> Iterable[tuple[str, str]]:
        """Tags, who wrote it, and what is asked: the same question in any wording has the same label."""
        yield from (("tag", tag) for tag in self.tags)
        if self.author:
            yield ("who", self.author)
        yield from (("question", qa_words.key(each)) for each in (self.question, *self.phrasings) if each)


@dataclass(frozen=True, slots=True)
class KnowledgeAttrs(Attrs):
    """A knowledge entry's summary and tags."""

    summary: str = ""
    tags: tuple[str, ...] = ()

    def facets(self) -> Iterable[tuple[str, str]]:
        """Tags."""
        return (("tag", tag) for tag in self.tags)


@dataclass(frozen=True, slots=True)
class LessonAttrs(Attrs):
    """Whom a lesson of the ReasoningBank is for, and where it comes from."""

    role: str = "global"
    runs: tuple[str, ...] = ()  # that taught it, the first one first
    by_hand: bool = False  # a person wrote, edited or archived it: learning leaves it as it is
    schema_version: int = 1
    extra: str = ""  # a JSON object as text, so that states stay comparable; empty for none

    def facets(self) -> Iterable[tuple[str, str]]:
        """The role, and the runs."""
        yield ("role", self.role)
        yield from (("run", run) for run in self.runs)


@dataclass(frozen=True, slots=True)
class ChunkAttrs(Attrs):
    """Where a piece of a document stands, and of which text of the document it is."""

    namespace: str = ""
    document: str = ""  # its name inside the folder it was read from
    chunk_id: str = ""  # by which it is cited; the same for the same text of the same document
    place: int = 1  # in the document, from 1
    source: str = ""  # what a reader is told: a file, a DOI
    folder: str = ""  # where the document was read from
    digest: str = ""  # of the whole document; empty on the first piece of one that was not read to its end
    parts: int = 0  # on the first piece: how many there are

    def facets(self) -> Iterable[tuple[str, str]]:
        """The document; and for its first piece, which stands for it in lists, that it does and for which folder."""
        yield ("document", self.document)
        if self.parts:
            yield ("folder", self.folder)
            yield ("opening", "yes")
