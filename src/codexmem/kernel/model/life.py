"""The life of a memory of any kind: the word for where it is, the acts that move it, and what an act makes of a state.

Every act is a plain function from state to state: `services.lifecycle` reads, writes and groups. A state that comes
back equal means that there was nothing to do. Status and marks are stored; the word that people read is derived.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from codexmem.kernel.model import note, privacy, redaction
from codexmem.kernel.model.attrs import (
    Attrs,
    KnowledgeAttrs,
    LessonAttrs,
    ObservationAttrs,
    PromptAttrs,
    QaAttrs,
    SummaryAttrs,
)
from codexmem.kernel.model.errors import Conflict, InvalidArgument
from codexmem.kernel.model.memory import MAX_TITLE, VISIBLE, Kind, Mark, Memory, State, Status
from codexmem.kernel.model.statement import SUPERSEDES

LESSON_TURN = "lab.bank"  # the name that a writer of lessons holds
SPLIT_FROM = "split_from"  # the link from a part to the memory that it was split off
MAX_PARTS = 20
_MAX_LABELS = 100  # files and concepts that a merged memory keeps
_MAX_PHRASINGS = 20  # as of every question with an answer
_MAX_TAGS = 50
_DERIVED_TITLE = 80  # characters at least that a title may have which is made from the text


class Life(StrEnum):
    """Where a memory is in its life, in the word that people read; a checkout may call an active one stale besides."""

    PROPOSED = "proposed"  # waits for a person to agree
    ACTIVE = "active"
    SUPERSEDED = "superseded"  # another memory took its place
    DEPRECATED = "deprecated"  # no longer holds
    HIDDEN = "hidden"  # deleted, archived or quarantined; can be shown again
    EXPIRED = "expired"


class Act(StrEnum):
    """What can be done to memories of every kind; each but a few can be taken back by its opposite, all by an undo."""

    EDIT = "edit"
    HIDE = "hide"
    UNHIDE = "unhide"
    PIN = "pin"
    UNPIN = "unpin"
    WITHHOLD = "withhold"
    RELEASE = "release"
    APPROVE = "approve"
    DEPRECATE = "deprecate"
    SUPERSEDE = "supersede"
    MERGE = "merge"
    SPLIT = "split"
    SHARE = "share"  # who may see them: their owner, whoever may read the project, everyone


HIDDEN = frozenset({Status.DELETED, Status.ARCHIVED, Status.QUARANTINED})
# What an agent may do by itself. The rest decides what agents are told, so it takes a person.
FOR_AGENTS = frozenset({Act.EDIT, Act.HIDE, Act.DEPRECATE, Act.SUPERSEDE, Act.MERGE, Act.SPLIT, Act.SHARE})


@dataclass(frozen=True, slots=True)
class MemoryEdit:
    """New words for a memory; None leaves a field as it is."""

    text: str | None = None
    title: str | None = None  # the question of a question with an answer, the summary of a knowledge entry
    type: str | None = None  # of an observation
    facts: tuple[str, ...] | None = None  # of an observation; new words without them drop the old ones
    priority: int | None = None  # of a note
    disclosure: str | None = None  # of a note: when it should be told

    def check(self, memories: int) -> None:
        """Refuse an edit that changes nothing, or gives one text to several memories."""
        if self == NO_EDIT:
            raise InvalidArgument(
                "nothing to change was given", hint="give text, title, type, facts, priority or disclosure"
            )
        if memories > 1 and any(each is not None for each in (self.text, self.title, self.facts, self.disclosure)):
            raise InvalidArgument(
                f"one text cannot be given to {memories} memories", hint="edit one memory, or merge them with the text"
            )


NO_EDIT = MemoryEdit()


UNPROVEN = frozenset({Kind.QA, Kind.LESSON})  # kinds that may be candidates


def life_of(memory: Memory, *, superseded: bool) -> Life:
    """The word for where a memory is; `superseded` says whether another one links to it as its successor."""
    state = memory.state
    if state.status in VISIBLE:
        return Life.PROPOSED if is_proposed(memory) else Life.ACTIVE
    if state.status is Status.EXPIRED:
        return Life.EXPIRED
    if state.status is retired(memory.kind) and superseded:
        return Life.SUPERSEDED
    return Life.HIDDEN if state.status in HIDDEN else Life.DEPRECATED


def is_proposed(memory: Memory) -> bool:
    """Whether a person has yet to agree to it."""
    return is_candidate(memory) or Mark.PROPOSED in memory.state.marks


def is_candidate(memory: Memory) -> bool:
    """Whether an answer or a lesson is unproven."""
    return memory.kind in UNPROVEN and memory.state.status is Status.CANDIDATE


def retired(kind: Kind) -> Status:
    """What a memory of this kind becomes that no longer holds: the bank of lessons knows active and archived alone."""
    return Status.ARCHIVED if kind is Kind.LESSON else Status.DEPRECATED


def simple_act(act: Act, memory: Memory, *, shown: Status = Status.ACTIVE) -> State:
    """The state after an act that needs nothing but the memory; `shown` is its last status that was visible."""
    state = memory.state
    match act:
        case Act.HIDE:
            if state.status in HIDDEN:
                return state
            status = Status.ARCHIVED if memory.kind is Kind.LESSON else Status.DELETED
            return _by_hand(replace(state, status=status))
        case Act.UNHIDE:
            return state if state.status in VISIBLE else _by_hand(replace(state, status=shown))
        case Act.PIN:  # whoever pins a memory agrees to it, and wants it handed over
            agreed = simple_act(Act.APPROVE, memory)
            return replace(agreed, marks=agreed.marks - {Mark.WITHHELD} | {Mark.PINNED})
        case Act.UNPIN:
            return replace(state, marks=state.marks - {Mark.PINNED})
        case Act.WITHHOLD:
            return replace(state, marks=state.marks - {Mark.PINNED} | {Mark.WITHHELD})
        case Act.RELEASE:
            return replace(state, marks=state.marks - {Mark.WITHHELD})
        case Act.APPROVE:
            proven = Status.VALIDATED if memory.kind is Kind.QA else Status.ACTIVE
            status = proven if is_candidate(memory) else state.status
            return replace(state, status=status, marks=state.marks - {Mark.PROPOSED})
        case Act.DEPRECATE:
            return put_out_of_use(memory)
        case _:
            raise AssertionError(f"{act} needs more than the memory")


def put_out_of_use(memory: Memory) -> State:
    """The state of a memory that no longer holds; one that is hidden already stays so."""
    state = memory.state
    if state.status in HIDDEN or state.status is retired(memory.kind):
        return state
    return _by_hand(replace(state, status=retired(memory.kind)))


def edited(memory: Memory, edit: MemoryEdit) -> State:
    """The state with other words, cleaned as everything is that is written by hand; what told the old ones goes."""
    require_shown(memory)
    if edit.type is not None and memory.kind is not Kind.OBSERVATION:
        raise InvalidArgument(f"a {memory.kind} has no type that could be changed", hint="only observations have one")
    if memory.kind is not Kind.NOTE and (edit.priority is not None or edit.disclosure is not None):
        raise InvalidArgument(f"a {memory.kind} has neither priority nor disclosure", hint="only notes have them")
    text = None if edit.text is None else _cleaned(edit.text, "text")
    title = None if edit.title is None else " ".join(_cleaned(edit.title, "title").split())
    state = memory.state
    if title is None and text is not None:
        title = _derived_title(state, text)
    after = _with_words(memory, text, title, edit)
    if after == state:
        return state
    return _by_hand(after)


def superseding(memory: Memory, old: Sequence[int]) -> State:
    """The state of a memory that takes the place of others."""
    links = dict.fromkeys((*memory.state.links, *((SUPERSEDES, seq) for seq in old)))
    return replace(memory.state, links=tuple(links))


def superseded_by(memory: Memory, newer: int) -> State:
    """The state of a memory whose place another one took; it cannot be that one's successor any more."""
    state = put_out_of_use(memory)
    return replace(state, links=tuple(link for link in state.links if link != (SUPERSEDES, newer)))


def merged(memory: Memory, others: Sequence[Memory], edit: MemoryEdit) -> State:
    """The state of a memory that takes others over: it is found by what they were found by, and keeps its own words."""
    for other in (memory, *others):
        require_shown(other)
        if other.kind is not memory.kind or other.state.project != memory.state.project:
            raise InvalidArgument(
                f"#{other.seq} and #{memory.seq} are not of one kind and project, so they cannot be merged",
                hint="supersede one by the other instead",
                details={"reason": "cannot_merge", "seq": other.seq, "other": memory.seq},
            )
        if other.state.visibility is not memory.state.visibility:
            raise InvalidArgument(
                f"#{other.seq} and #{memory.seq} are not seen by the same people, so they cannot be merged",
                hint="let the same people see both first (share)",
                details={"reason": "other_visibility", "seq": other.seq, "other": memory.seq},
            )
    state = memory.state if edit == NO_EDIT else edited(memory, edit)
    state = superseding(replace(memory, state=state), [other.seq for other in others])
    for other in others:
        state = replace(state, attrs=_with_labels(state.attrs, other.state.attrs))
    return state


def part_of(memory: Memory, edit: MemoryEdit, uri: str | None) -> State:
    """The state of one part of a memory: it stands where the whole stood, and says one thing."""
    if memory.kind is Kind.QA and edit.title is None:
        raise InvalidArgument("each part of a question with an answer needs a question", hint="give it as its title")
    if edit.text is None:
        raise InvalidArgument("each part needs a text")
    title = edit.title
    if title is None and memory.state.title:
        title = note.headline(edit.text, _DERIVED_TITLE) or None
    bare = replace(memory.state, links=((SPLIT_FROM, memory.seq),), uris=(uri,) if uri is not None else ())
    attrs = bare.attrs
    if isinstance(attrs, ObservationAttrs | SummaryAttrs | PromptAttrs):
        attrs = replace(attrs, imported="")  # the whole is what was imported
    if isinstance(attrs, QaAttrs):
        attrs = replace(attrs, phrasings=())
    return edited(replace(memory, state=replace(bare, attrs=attrs)), replace(edit, title=title))


def require_shown(memory: Memory) -> None:
    """Refuse what only makes sense for a memory that is not hidden."""
    if memory.state.status in HIDDEN:
        raise Conflict(
            f"memory #{memory.seq} is hidden",
            hint="show it again first (unhide)",
            details={"reason": "hidden", "seq": memory.seq},
        )


def _with_words(memory: Memory, text: str | None, title: str | None, edit: MemoryEdit) -> State:
    state, attrs = memory.state, memory.state.attrs
    content = state.content if text is None else text
    head = state.title if title is None else title[:MAX_TITLE]
    match attrs:
        case ObservationAttrs():
            if edit.facts is not None:
                attrs = replace(attrs, facts=tuple(_cleaned(each, "a fact").strip() for each in edit.facts))
            elif content != state.content:
                attrs = replace(attrs, facts=(), subtitle="")
        case SummaryAttrs():
            if content != state.content:
                attrs = replace(attrs, investigated="", learned=content, completed="", next_steps="", notes="")
            attrs = attrs if title is None else replace(attrs, request=title)
        case QaAttrs():
            attrs = _answered(attrs, title, changed=content != state.content)
        case KnowledgeAttrs():
            attrs = attrs if title is None else replace(attrs, summary=title)
        case _:
            pass
    kind = state.type if edit.type is None else " ".join(_cleaned(edit.type, "type").split())
    after = replace(state, content=content, title=head, type=kind, attrs=attrs)
    if memory.kind is not Kind.NOTE:
        return after
    priority = state.priority if edit.priority is None else edit.priority
    disclosure = note.disclosure_of(after) if edit.disclosure is None else edit.disclosure
    return note.fit(replace(after, priority=priority), disclosure)


def _answered(attrs: QaAttrs, question: str | None, *, changed: bool) -> QaAttrs:
    if changed:  # its summary and its other wordings told the old answer
        attrs = replace(attrs, summary="", alternatives=())
    if question is None or question == attrs.question:
        return attrs
    return replace(attrs, question=question, phrasings=tuple(each for each in attrs.phrasings if each != question))


def _derived_title(state: State, text: str) -> str | None:
    """The title made from the new text where the old one was made from the old text, else None."""
    line, old = " ".join(state.content.split()), state.title.rstrip("…").rstrip()
    if not old or not line.startswith(old) or isinstance(state.attrs, QaAttrs | KnowledgeAttrs):
        return None
    return " ".join(text.split()) if old == line else note.headline(text, max(_DERIVED_TITLE, len(old)))


def _with_labels(attrs: Attrs, other: Attrs) -> Attrs:
    """Fields with what another memory of the kind was found by."""
    match attrs, other:
        case ObservationAttrs(), ObservationAttrs():
            return replace(
                attrs,
                concepts=_both(attrs.concepts, other.concepts, _MAX_LABELS),
                files_read=_both(attrs.files_read, other.files_read, _MAX_LABELS),
                files_modified=_both(attrs.files_modified, other.files_modified, _MAX_LABELS),
            )
        case QaAttrs(), QaAttrs():
            asked = [each for each in (other.question, *other.phrasings) if each and each != attrs.question]
            phrasings = _both(attrs.phrasings, asked, _MAX_PHRASINGS)
            return replace(attrs, phrasings=phrasings, tags=_both(attrs.tags, other.tags, _MAX_TAGS))
        case KnowledgeAttrs(), KnowledgeAttrs():
            return replace(attrs, tags=_both(attrs.tags, other.tags, _MAX_TAGS))
        case LessonAttrs(), LessonAttrs():
            return replace(attrs, runs=_both(attrs.runs, other.runs, _MAX_LABELS), by_hand=True)
        case _:
            return attrs


def _both(own: Sequence[str], others: Sequence[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *others)))[: max(most, len(own))]


def _by_hand(state: State) -> State:
    attrs = state.attrs
    return replace(state, attrs=replace(attrs, by_hand=True)) if isinstance(attrs, LessonAttrs) else state


def _cleaned(text: str, name: str) -> str:
    kept = redaction.redact(privacy.strip(text))
    if not kept.strip():
        hint = "all of it was marked as private, so nothing is left" if text.strip() else None
        raise InvalidArgument(f"{name} must not be empty", hint=hint)
    return kept
