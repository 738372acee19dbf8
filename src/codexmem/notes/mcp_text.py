"""Notes as text for models: what matters first, one line each where there are many, and what to call next."""

from collections.abc import Iterable, Sequence

from codexmem.kernel.model import note
from codexmem.kernel.model.history import MemoryVersion
from codexmem.kernel.model.memory import CREDIT, Memory, Status
from codexmem.kernel.model.note import NoteFigures
from codexmem.kernel.services.history import Diff
from codexmem.notes.document import iso
from codexmem.notes.mcp_wire import MAX_WHOLE, summary_of
from codexmem.notes.model import Direction
from codexmem.notes.service.exchange import NotesImported
from codexmem.notes.service.listing import NoteResults, SystemNoteView
from codexmem.notes.service.preload import Preloaded
from codexmem.notes.service.reading import OpenedNote, RestorableVersion
from codexmem.notes.service.resolver import Relation

_NAMED = 20  # addresses that a text counts up


def read(found: OpenedNote, asked: str) -> str:
    """A note with everything about it."""
    memory = found.memory
    lines = [f"# {note.primary(memory)}", _facts(memory)]
    if asked != note.primary(memory):
        lines.append(f"Read as: {asked}")
    if memory.state.uris[1:]:
        lines.append(f"Aliases: {', '.join(memory.state.uris[1:])}")
    if note.disclosure_of(memory.state):
        lines.append(f"Disclosure: {note.disclosure_of(memory.state)}")
    lines += ["", memory.state.content]
    if found.relations:
        lines += ["", "## Links", *map(_relation, found.relations)]
    lines += ["", "## Recent versions", *(_version(each, memory.version) for each in found.versions)]
    return "\n".join(lines)


def view(seen: SystemNoteView, counts: NoteFigures | None) -> str:
    """Many notes under one address."""
    lines = [f"# {seen.title}"]
    if not seen.memories:
        return f"{lines[0]}\n\nNothing is here yet. create_memory keeps something."
    if seen.whole:
        lines += [part for memory in seen.memories for part in ("", *_whole(memory))]
    else:
        lines += ["", *(_line(memory) for memory in seen.memories)]
    if seen.more:
        domains = ", ".join(f"{name} ({count})" for name, count in (counts.domains if counts else {}).items())
        more = f" There are: {domains}." if domains else ""
        lines += ["", f"Only {len(seen.memories)} are shown.{more} search_memory or a domain narrows the list."]
    return "\n".join(lines)


def results(query: str, found: NoteResults) -> str:
    """What a search found."""
    notes = "".join(f"\n({each})" for each in found.notes if "words only" not in each)
    if not found.found:
        return f'No memory fits "{query}". Try other words, or read_memory of system://index.{notes}'
    lines = [f'{len(found.found)} memories fit "{query}", best first; read_memory(uri) shows one in full:', ""]
    lines += [f"{_line(each.memory)} (score {each.score:.2f})" for each in found.found]
    return "\n".join(lines) + notes


def listed(memories: Sequence[Memory], more: bool) -> str:
    """A page of notes."""
    if not memories:
        return "No memory fits. read_memory of system://index lists what there is."
    rest = ["", "There are more: narrow by domain, status or priority, or raise the limit."] if more else []
    return "\n".join([f"{len(memories)} memories, newest first:", "", *map(_line, memories), *rest])


def preloaded(found: Preloaded) -> str:
    """Core notes, and those that bear on a context with the reasons."""
    lines = [f"# Core memories ({len(found.core)})"]
    lines += [part for memory in found.core for part in ("", *_whole(memory))] or ["", "There are none."]
    lines += ["", f"# Related memories ({len(found.related)})"]
    for each in found.related:
        reasons = sorted(each.reasons, key=lambda reason: -each.reasons[reason])
        why = f"(chosen because it {'; it '.join(reasons)})"
        known = f"## {note.primary(each.memory)}: see above"
        lines += ["", *([f"{known} {why}"] if each.memory in found.core else [*_whole(each.memory), why])]
    if not found.related:
        lines += ["", "Nothing remembered bears on this."]
    return "\n".join(lines)


def stats(figures: NoteFigures, most_read: Sequence[tuple[Memory, int]]) -> str:
    """How many notes there are of what."""
    standing = sum(count for status, count in figures.statuses.items() if status != Status.DELETED.value)
    lines = [f"{standing} memories", "", "By status:"]
    lines += [f"- {status}: {count}" for status, count in sorted(figures.statuses.items())] or ["- none"]
    lines += ["", "By domain:", *(f"- {domain}://: {count}" for domain, count in figures.domains.items())]
    lines += ["", f"Read {figures.reads} times; {figures.read} memories were ever read."]
    lines += [f"- {note.primary(memory)}: {reads} times" for memory, reads in most_read]
    return "\n".join(lines)


def versions(memory: Memory, past: Sequence[MemoryVersion]) -> str:
    """A history."""
    gone = " (deleted)" if memory.state.status is Status.DELETED else ""
    lines = [f"{note.primary(memory)}{gone} is at version {memory.version}."]
    return "\n".join([*lines, "", *(_version(each, memory.version) for each in past)])


def ways_back(memory: Memory, ways: Sequence[RestorableVersion]) -> str:
    """What can be brought back."""
    gone = ", deleted" if memory.state.status is Status.DELETED else ""
    if not ways:
        return f"{note.primary(memory)} is at version {memory.version}{gone}; there is no earlier version."
    lines = [f"{note.primary(memory)} is at version {memory.version}{gone}. rollback_memory(uri, version) restores:"]
    for each in ways:
        changes = "; ".join(each.changes) or "nothing: it says the same"
        lines += ["", _version(each.version, memory.version), f"  says: {note.headline(each.version.state.content)}"]
        lines.append(f"  would change: {changes}")
    return "\n".join(lines)


def diff(uri: str, found: Diff) -> str:
    """Two versions, whole and as a difference."""
    parts = [f"# {uri}: version {found.before.version} and version {found.after.version}"]
    parts += ["\n".join(note.differences(found.before.state, found.after.state)) or "They say the same."]
    for each in (found.before, found.after):
        parts.append(f"## Version {each.version} ({iso(each.created_ms)})\n\n{each.state.content}")
    if found.unified:
        parts.append(f"## Difference\n\n```diff\n{found.unified}\n```")
    return "\n\n".join(parts)


def taken_in(strategy: str, taken: NotesImported) -> str:
    """What an import did, and how to take it back."""
    lines = [f"Imported with strategy {strategy}: {len(taken.created)} created, {len(taken.changed)} changed, "
             f"{len(taken.skipped)} left as they were."]  # fmt: skip
    for uris, told in (
        (taken.created, "created"),
        (taken.changed, "changed"),
        (taken.deleted, "left deleted, as somebody deleted them here (strategy overwrite brings them back)"),
        (taken.guarded, "not added to, as they are core here and no person vouched for the text"),
        (taken.lowered, "taken over with priority 3: a file's core priorities (0-2) are taken over only by a person"),
        (taken.lost_uris, "not taken over as addresses, as they name other memories here"),
    ):
        if uris:
            lines.append(f"- {told}: {_counted(uris)}")
    if taken.delta is not None:
        lines.append(f"To take it back: `codexmem undo {taken.delta}`")
    return "\n".join(lines)


def _counted(uris: Sequence[str]) -> str:
    more = f" and {len(uris) - _NAMED} more" if len(uris) > _NAMED else ""
    return ", ".join(uris[:_NAMED]) + more


def _facts(memory: Memory) -> str:
    parts = (
        f"ID: {memory.id}",
        f"priority {memory.state.priority}",
        memory.state.status.value,
        *sorted(memory.state.marks - CREDIT),
        f"version {memory.version}",
        f"read {memory.counters.used} times",
        f"created {iso(memory.created_ms)}",
        f"changed {iso(memory.updated_ms)}",
        f"[{memory.author.word}]",
    )
    return " · ".join(parts)


def _line(memory: Memory) -> str:
    status = "" if memory.state.status is Status.ACTIVE else f" [{memory.state.status.value}]"
    also = f" (= {', '.join(memory.state.uris[1:])})" if memory.state.uris[1:] else ""
    return f"- {note.primary(memory)}{also} [{memory.state.priority}]{status}{_marks(memory)} {summary_of(memory)}"


def _whole(memory: Memory) -> Iterable[str]:
    content = memory.state.content
    yield f"## {note.primary(memory)} [{memory.state.priority}]{_marks(memory)}"
    if note.disclosure_of(memory.state):
        yield f"Disclosure: {note.disclosure_of(memory.state)}"
    yield content[:MAX_WHOLE]
    if len(content) > MAX_WHOLE:
        yield f"… read_memory({note.primary(memory)!r}) shows the other {len(content) - MAX_WHOLE:,} characters."


def _marks(memory: Memory) -> str:
    """What a reader should know before: what a person decided or still has to, and who wrote it."""
    return "".join(f" [{word}]" for word in (*sorted(memory.state.marks - CREDIT), memory.author.word))


def _version(each: MemoryVersion, current: int) -> str:
    mark = " (current)" if each.version == current else ""
    said = f": {each.note}" if each.note else ""
    return f"- version {each.version}{mark} · {iso(each.created_ms)} · {each.op.value} by {each.actor}{said}"


def _relation(each: Relation) -> str:
    said = each.relation if each.direction is Direction.TO else f"{each.relation} this:"
    if each.memory is None:
        return f"- {said} {each.uri} (nothing there yet)"
    gone = " (deleted)" if each.memory.state.status is Status.DELETED else ""
    return f"- {said} {each.uri}{gone}: {summary_of(each.memory)}"
