"""Which text of a memory is searched, and as what.

The head names a memory: title, addresses, labels, who asked or wrote it, the question it answers. The body is what it
says. One table says for each kind which of its own fields go where; the rest holds for all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from codexmem.kernel.embed.passages import LIMIT, SIZE, passages
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.store.index import IndexedTokens


@dataclass(frozen=True, slots=True)
class Fields:
    """The typed fields of one kind, by what they are to a search."""

    name: tuple[str, ...] = ()  # says in a few words what the memory is about
    labels: tuple[str, ...] = ()  # by which it is filtered, filed or attributed
    body: tuple[str, ...] = ()


FIELDS: dict[Kind, Fields] = {
    Kind.OBSERVATION: Fields(
        name=("subtitle",), labels=("concepts", "files_read", "files_modified"), body=("facts",)
    ),
    Kind.SUMMARY: Fields(labels=("files_modified",)),  # its title and content say what its other fields say
    Kind.PROMPT: Fields(labels=("speaker",)),
    Kind.NOTE: Fields(name=("disclosure",)),
    Kind.QA: Fields(
        name=("question", "phrasings"), labels=("tags", "author", "source"), body=("summary", "alternatives")
    ),
    Kind.KNOWLEDGE: Fields(labels=("tags",), body=("summary",)),
    Kind.LESSON: Fields(labels=("role",)),
    Kind.CHUNK: Fields(labels=("document", "source")),
}  # fmt: skip


def names(memory: Memory) -> list[str]:
    """What the memory is about, in a few words."""
    return _told([memory.state.title, *_values(memory, FIELDS[memory.kind].name)])


def labels(memory: Memory) -> list[str]:
    """Under what it is filed: addresses, type and the kind's own labels."""
    return _told([*memory.state.uris, memory.state.type, *_values(memory, FIELDS[memory.kind].labels)])


def body(memory: Memory) -> list[str]:
    """What it says."""
    return _told([memory.state.content, *_values(memory, FIELDS[memory.kind].body)])


def words_of(memory: Memory, cut: Callable[[str], Iterable[str]]) -> IndexedTokens:
    """The memory's words, as `cut` takes a text apart."""
    head = tuple(word for text in (*names(memory), *labels(memory)) for word in cut(text))
    return IndexedTokens(head, tuple(word for text in body(memory) for word in cut(text)))


def passages_of(memory: Memory, *, size: int = SIZE, limit: int = LIMIT) -> list[str]:
    """The memory's text as an embedder takes it in; none if it says nothing."""
    return passages("\n".join(names(memory)), "\n\n".join(body(memory)), size=size, limit=limit)


def _values(memory: Memory, fields: tuple[str, ...]) -> Iterable[str]:
    for field in fields:
        value = getattr(memory.state.attrs, field)
        yield from value if isinstance(value, tuple) else (value,)


def _told(texts: list[str]) -> list[str]:
    """Each text once, without empty ones: a title is often the beginning of the content."""
    return list(dict.fromkeys(text for text in texts if text and not text.isspace()))
