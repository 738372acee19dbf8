"""What takes a person: that something is told to sessions which did not ask for it, and that it is told no longer.

A core note, or one for every project, is told at the start of sessions that have nothing to do with whoever wrote it,
and so is a pinned memory. A single steered agent could speak to all of them, or silence what a person wants them to
know. So what anybody but a person writes there is stored as it was written and marked as proposed. Whoever asks gets
it, with that mark, and so do sessions of the project it was written in, as the agent's words; what a person agreed to
before goes on being told. What cannot be kept as a proposal, such as deleting it, is refused. Nothing else of a memory
waits for anybody.
"""

from dataclasses import replace

from codexmem.kernel.model.errors import Conflict
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import CREDIT, VISIBLE, Kind, Mark, Origin, State
from codexmem.kernel.model.note import CORE, is_for_all_projects

PROPOSED = frozenset({Mark.PROPOSED})
_BY_PEOPLE = frozenset({Mark.PINNED, Mark.WITHHELD, Mark.DISMISSED})
_DISMISSED = frozenset({Mark.DISMISSED})
_CORRECTED, _REWRITTEN = frozenset({Mark.CORRECTED}), frozenset({Mark.REWRITTEN})
_NONE: frozenset[Mark] = frozenset()


def needs_person(kind: Kind, state: State) -> bool:
    """Whether what this says is told to sessions that did not ask for it, or is meant for every project.

    A note of no project that is neither is told to nobody who does not ask.
    """
    core = kind is Kind.NOTE and (state.priority <= CORE or any(map(is_for_all_projects, state.uris)))
    return core or Mark.PINNED in state.marks


def is_kept(kind: Kind, now: State, agreed: State | None, by: WriteContext) -> bool:
    """Whether this writer may not take the memory away, because a person wants it told.

    `agreed` is what it last said without being proposed, None if it never did. What is put away is told to nobody.
    """
    if by.origin is Origin.HUMAN or agreed is None or now.status not in VISIBLE:
        return False
    marks = agreed.marks - _BY_PEOPLE | now.marks & _BY_PEOPLE
    return agreed.status in VISIBLE and needs_person(kind, replace(agreed, marks=marks))


def judged(kind: Kind, before: State | None, after: State, by: WriteContext, agreed: State | None = None) -> State:
    """The state with the marks that its writer earns it; `before` is None for a new memory, `agreed` as for `is_kept`.

    A person who changes what a memory says stands for what it says. Anybody else's words need a person where they are
    told to others, or take the place of what a person agreed to; a change that leaves the words as they are, and where
    they are told, changes nothing about that. Only people pin and withhold.
    """
    if by.origin is Origin.HUMAN:
        after = by_a_person(kind, after)
        if before is not None and _said(before) == _said(after):
            return after
        return _with_mark(after, False)
    if before is None:
        return _with_mark(after, needs_person(kind, after) or Mark.PROPOSED in after.marks)
    after = replace(after, marks=after.marks - _BY_PEOPLE | before.marks & _BY_PEOPLE)
    told = needs_person(kind, after)
    kept = is_kept(kind, before, agreed, by)
    if kept and not told:
        return _with_mark(after, True)
    if kept and Mark.PROPOSED in before.marks and agreed is not None and _said(after) == _said(agreed):
        return _with_mark(after, False)  # what was proposed is withdrawn: it says what a person agreed to
    brought_back = before.status not in VISIBLE and after.status in VISIBLE
    if _said(before) != _said(after) or (told and (brought_back or not needs_person(kind, before))):
        return _with_mark(after, told or kept)
    return _with_mark(after, Mark.PROPOSED in before.marks or Mark.PROPOSED in after.marks)


def credited(origin: Origin, before: State, after: State, by: WriteContext) -> State:
    """The state of a memory of this origin with the mark that says whose words it has, if they are not its maker's."""
    credit = before.marks & CREDIT
    if (before.content, before.title) != (after.content, after.title) and by.origin is not Origin.IMPORT:
        person = by.origin is Origin.HUMAN
        credit = _NONE if person is (origin is Origin.HUMAN) else _CORRECTED if person else _REWRITTEN
    return replace(after, marks=after.marks - CREDIT | credit)


def in_its_project(kind: Kind, state: State) -> State:
    """The state in the project it holds in: a note for all projects is of the one it was written in while proposed."""
    everywhere = kind is Kind.NOTE and any(map(is_for_all_projects, state.uris[:1]))
    return replace(state, project="") if everywhere and Mark.PROPOSED not in state.marks else state


def by_a_person(kind: Kind, state: State) -> State:
    """The state as a person leaves it: a note that is put away stays away until a person brings it back.

    Agents may bring back what agents put away; memories of other kinds only people bring back in any case.
    """
    away = kind is Kind.NOTE and state.status not in VISIBLE
    return replace(state, marks=state.marks | _DISMISSED if away else state.marks - _DISMISSED)


def brings_back(before: State, after: State, by: WriteContext) -> bool:
    """Whether this writer would bring back what a person put away."""
    return by.origin is not Origin.HUMAN and Mark.DISMISSED in before.marks and after.status in VISIBLE


def stays_away(seq: int) -> Conflict:
    """The refusal of what would bring back what a person put away."""
    return Conflict(
        f"#{seq} was put away by a person: only a person may bring it back",
        hint="write what you know as a new note, or ask the person to do this at the command line or in the web "
        "application",
        details={"seq": seq, "reason": "dismissed"},
    )


def takes_away(before: State, after: State) -> bool:
    """Whether the memory is told no longer where it was told: it is put away, or belongs to another project."""
    return after.status not in VISIBLE or after.project != before.project


def only_for_people(seq: int, state: State) -> Conflict:
    """The refusal of what would take away what a person wants told."""
    pinned = Mark.PINNED in state.marks
    return Conflict(
        f"#{seq} is {'pinned' if pinned else 'a core note that was approved'}: only a person may take it away",
        hint="propose other words with an edit, which a person decides on (codexmem review), or ask the person to do "
        "this at the command line or in the web application",
        details={"seq": seq} | ({"reason": "pinned"} if pinned else {"reason": "approved_core"}),
    )


def _with_mark(state: State, proposed: bool) -> State:
    return replace(state, marks=state.marks | PROPOSED if proposed else state.marks - PROPOSED)


def _said(state: State) -> tuple[object, ...]:
    return state.content, state.title, state.attrs, state.project, state.priority
