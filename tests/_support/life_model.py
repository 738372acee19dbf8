"""What one life for all kinds promises, in the plainest Python: dictionaries, full scans, no database.

Written from `docs/life.md`, not from the service's code. A state is a dictionary of what a reader could notice; every
memory keeps all its states in a list, and an undo works out from the list what stood before.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

Plain = dict[str, Any]
IN_USE = ("candidate", "active", "validated")
PUT_AWAY = ("deleted", "archived", "quarantined")
AGENTS_MAY = ("edit", "hide", "deprecate", "supersede", "merge", "split")
LOOKED_BACK = 20  # versions


class RefusedError(Exception):
    """The act makes no sense for one of the memories, so nothing happens to any."""


@dataclass
class Lived:
    """A memory: what it is, and every state it had, with the delta that wrote it."""

    kind: str
    states: list[Plain]
    deltas: list[str | None]
    by_person: bool = False  # who made it

    @property
    def now(self) -> Plain:
        return self.states[-1]

    def write(self, state: Plain, delta: str | None) -> None:
        self.states.append(state)
        self.deltas.append(delta)


@dataclass
class UndoState:
    """Whether a delta stands, and which one it took back."""

    reverted: bool = False
    reverts: str | None = None


@dataclass
class Act:
    """An act on memories, by a person or an agent."""

    name: str
    seqs: list[int]
    person: bool
    text: str | None = None  # as it is kept; empty where nothing is
    title: str | None = None
    type: str | None = None
    into: int | None = None
    parts: list[tuple[str, str | None]] = field(default_factory=list)


WORDS = ("content", "title", "told", "project", "priority")
CREDIT = {"corrected", "rewritten"}


@dataclass
class LifeModel:
    """All memories of one tenant."""

    memories: dict[int, Lived] = field(default_factory=dict)
    deltas: dict[str, UndoState] = field(default_factory=dict)

    def life(self, seq: int) -> str:
        """The word for where a memory is."""
        memory = self.memories[seq]
        status = memory.now["status"]
        followed = any(["supersedes", seq] in other.now["links"] for other in self.memories.values())
        if status in IN_USE:
            proposed = "proposed" in memory.now["marks"] or (memory.kind == "qa" and status == "candidate")
            return "proposed" if proposed else "active"
        if status == "expired":
            return "expired"
        if followed and status == ("archived" if memory.kind == "lesson" else "deprecated"):
            return "superseded"
        return "hidden" if status in PUT_AWAY else "deprecated"

    def act(self, act: Act) -> tuple[dict[int, Plain], list[Plain]]:
        """The states that the act would leave, by number, and those of new memories."""
        named = [*act.seqs, *([act.into] if act.into is not None else [])]
        if not act.person and act.name not in AGENTS_MAY:
            raise RefusedError
        if not act.person and any("withheld" in self.memories[seq].now["marks"] for seq in named):
            raise RefusedError
        after = {seq: copy.deepcopy(self.memories[seq].now) for seq in named}
        new: list[Plain] = []
        if act.name in {"supersede", "merge"}:
            self._replace(act, after)
        elif act.name == "edit":
            self._edit(act, act.seqs[0], after[act.seqs[0]], act.text, act.title)
        elif act.name == "split":
            new = self._split(act, after[act.seqs[0]])
        else:
            for seq in act.seqs:
                self._simple(act.name, seq, after[seq])
        for seq, state in after.items():
            if state != self.memories[seq].now:
                self._judge(act.person, seq, state)
                self._credit(act.person, seq, state)
        for state in new:
            state["marks"] = sorted({*state["marks"]} - CREDIT)
            if not act.person and self._told(self.memories[act.seqs[0]].kind, state):
                state["marks"] = sorted({*state["marks"], "proposed"})
            elif act.person:
                state["marks"] = sorted(self._left(self.memories[act.seqs[0]].kind, state) - {"proposed"})
        return {seq: state for seq, state in after.items() if state != self.memories[seq].now}, new

    @staticmethod
    def _told(kind: str, state: Plain) -> bool:
        return (kind == "note" and state["priority"] <= 2) or "pinned" in state["marks"]

    def _agreed(self, seq: int) -> Plain | None:
        """What a memory last said without being proposed."""
        return next((each for each in reversed(self.memories[seq].states) if "proposed" not in each["marks"]), None)

    def _kept(self, seq: int) -> bool:
        """Whether a person wants it told, so that no agent takes it away."""
        memory, agreed = self.memories[seq], self._agreed(seq)
        if agreed is None or memory.now["status"] not in IN_USE or agreed["status"] not in IN_USE:
            return False
        core = memory.kind == "note" and agreed["priority"] <= 2
        return core or "pinned" in memory.now["marks"]

    def _judge(self, person: bool, seq: int, state: Plain) -> None:
        """Words that are told unasked and that no person wrote wait for one; what is told no agent takes away."""
        kind, before, agreed = self.memories[seq].kind, self.memories[seq].now, self._agreed(seq)

        def same(other: Plain) -> bool:
            return all(other[name] == state[name] for name in WORDS)

        marks = set(state["marks"])
        if person:
            marks = self._left(kind, state)
            state["marks"] = sorted(marks if same(before) else marks - {"proposed"})
            return
        if self._kept(seq) and state["status"] not in IN_USE:
            raise RefusedError
        if "dismissed" in before["marks"] and state["status"] in IN_USE:
            raise RefusedError
        by_people = {"pinned", "withheld", "dismissed"}
        marks = (marks - by_people) | (set(before["marks"]) & by_people)
        state["marks"] = sorted(marks)
        told = self._told(kind, state)
        brought_back = before["status"] not in IN_USE and state["status"] in IN_USE
        if self._kept(seq) and not told:
            proposed = True
        elif self._kept(seq) and "proposed" in before["marks"] and agreed is not None and same(agreed):
            proposed = False
        elif not same(before) or (told and (brought_back or not self._told(kind, before))):
            proposed = told or self._kept(seq)
        else:
            proposed = "proposed" in {*marks, *before["marks"]}
        state["marks"] = sorted(marks | {"proposed"} if proposed else marks - {"proposed"})

    def _credit(self, person: bool, seq: int, state: Plain) -> None:
        """Words that are not of who made the memory say whose they are."""
        memory = self.memories[seq]
        credit = CREDIT & {*memory.now["marks"]}
        if any(memory.now[name] != state[name] for name in ("content", "title")):
            credit = set() if person is memory.by_person else {"corrected"} if person else {"rewritten"}
        state["marks"] = sorted({*state["marks"]} - CREDIT | credit)

    @staticmethod
    def _left(kind: str, state: Plain) -> set[str]:
        """The marks as a person leaves them: a note that is put away says so."""
        marks = set(state["marks"])
        return marks | {"dismissed"} if kind == "note" and state["status"] not in IN_USE else marks - {"dismissed"}

    def _simple(self, name: str, seq: int, state: Plain) -> None:
        kind, marks = self.memories[seq].kind, set(state["marks"])
        if name == "hide" and state["status"] not in PUT_AWAY:
            state["status"] = "archived" if kind == "lesson" else "deleted"
            self._by_hand(kind, state)
        elif name == "unhide" and state["status"] not in IN_USE:
            earlier = [each["status"] for each in self.memories[seq].states[:-1]][-LOOKED_BACK:]
            shown = [each for each in earlier if each in IN_USE]
            state["status"] = shown[-1] if shown else "active"
            self._by_hand(kind, state)
        elif name == "deprecate":
            self._retire(kind, state)
        elif name == "pin":
            marks = (marks - {"proposed", "withheld"}) | {"pinned"}
            if kind == "qa" and state["status"] == "candidate":
                state["status"] = "validated"
        elif name == "unpin":
            marks -= {"pinned"}
        elif name == "withhold":
            marks = (marks - {"pinned"}) | {"withheld"}
        elif name == "release":
            marks -= {"withheld"}
        elif name == "approve":
            marks -= {"proposed"}
            if kind == "qa" and state["status"] == "candidate":
                state["status"] = "validated"
        state["marks"] = sorted(marks)

    def _edit(self, act: Act, seq: int, state: Plain, text: str | None, title: str | None) -> None:
        kind, before = self.memories[seq].kind, copy.deepcopy(state)
        if state["status"] in PUT_AWAY or text == "" or (act.type is not None and kind != "observation"):
            raise RefusedError
        if text is not None and text != state["content"]:
            if title is None and state["title"] == state["content"] and kind not in {"qa", "knowledge"}:
                title = text  # its title was its text
            state["content"] = text
            told = {
                "observation": {"facts": []}, "summary": {"learned": text, "completed": ""},
                "qa": {"summary": "", "alternatives": []},
                "note": {"mentions": ["core://x"] if "core://x" in text else []},
            }  # fmt: skip
            state["told"] |= told.get(kind, {})
        if title is not None:
            state["title"] = title
            if kind == "summary":
                state["told"]["request"] = title
            elif kind == "knowledge":
                state["told"]["summary"] = title
            elif kind == "qa":
                phrasings = [each for each in state["told"]["phrasings"] if each != title]
                state["told"] |= {"question": title, "phrasings": phrasings}
        if act.type is not None:
            state["type"] = act.type
        if state != before:
            self._by_hand(kind, state)

    def _replace(self, act: Act, after: dict[int, Plain]) -> None:
        into = act.into
        assert into is not None
        others = [seq for seq in act.seqs if seq != into]
        if not others or after[into]["status"] not in IN_USE:
            raise RefusedError
        if act.name == "merge":
            for seq in others:
                same = (self.memories[seq].kind, after[seq]["project"]) == (
                    self.memories[into].kind, after[into]["project"],
                )  # fmt: skip
                if after[seq]["status"] in PUT_AWAY or not same:
                    raise RefusedError
            if act.text is not None:
                self._edit(act, into, after[into], act.text, None)
            for seq in others:
                self._take_over(self.memories[into].kind, after[into]["told"], after[seq]["told"])
        else:
            others = [seq for seq in others if after[seq]["status"] not in PUT_AWAY]
        for seq in others:
            if ["supersedes", seq] not in after[into]["links"]:
                after[into]["links"].append(["supersedes", seq])
            self._retire(self.memories[seq].kind, after[seq])
            after[seq]["links"] = [link for link in after[seq]["links"] if link != ["supersedes", into]]

    def _take_over(self, kind: str, told: Plain, other: Plain) -> None:
        """What one memory was found by, the other one is found by as well."""
        if kind == "observation":
            for name in ("concepts", "files"):
                told[name] = list(dict.fromkeys((*told[name], *other[name])))
        elif kind == "qa":
            asked = [each for each in (other["question"], *other["phrasings"]) if each and each != told["question"]]
            told["phrasings"] = list(dict.fromkeys((*told["phrasings"], *asked)))[:20]
        elif kind == "lesson":
            told["by_hand"] = True

    def _split(self, act: Act, whole: Plain) -> list[Plain]:
        seq = act.seqs[0]
        kind = self.memories[seq].kind
        if whole["status"] in PUT_AWAY or (kind == "qa" and any(title is None for _, title in act.parts)):
            raise RefusedError
        taken = {uri for memory in self.memories.values() for uri in memory.now["uris"]}
        new = []
        for text, title in act.parts:
            part = copy.deepcopy(whole)
            part["links"], part["uris"] = [["split_from", seq]], []
            if whole["uris"]:
                free = next(
                    f"{whole['uris'][0]}/{n}" for n in range(1, 1_000) if f"{whole['uris'][0]}/{n}" not in taken
                )
                taken.add(free)
                part["uris"] = [free]
            if kind == "qa":
                part["told"]["phrasings"] = []
            self._edit(act, seq, part, text, title if title is not None or not whole["title"] else text)
            new.append(part)
        self._retire(kind, whole)
        return new

    def _retire(self, kind: str, state: Plain) -> None:
        retired = "archived" if kind == "lesson" else "deprecated"
        if state["status"] not in PUT_AWAY and state["status"] != retired:
            state["status"] = retired
            self._by_hand(kind, state)

    @staticmethod
    def _by_hand(kind: str, state: Plain) -> None:
        if kind == "lesson":
            state["told"]["by_hand"] = True

    def roll_back(self, seq: int, number: int, *, person: bool, as_act: bool) -> Plain:
        """One memory as it was in a version, under the links and addresses it has now; marks are no words."""
        memory = self.memories[seq]
        if as_act and not person and ("withheld" in memory.now["marks"] or memory.now["status"] not in IN_USE):
            raise RefusedError
        state = copy.deepcopy(memory.states[number - 1])
        marks = {"proposed", *CREDIT} & set(state["marks"])
        state |= {
            "links": list(memory.now["links"]), "uris": list(memory.now["uris"]),
            "marks": sorted(set(memory.now["marks"]) - CREDIT | marks),
        }  # fmt: skip
        self._judge(person, seq, state)
        return state

    def undo(self, delta: str, *, strict: bool, person: bool) -> tuple[dict[int, Plain], list[int]]:
        """Every memory the delta touched as it stood before: what would be restored, and what was left."""
        restored, left = {}, []
        for seq, memory in sorted(self.memories.items()):
            mine = [place for place, by in enumerate(memory.deltas) if by == delta]
            if not mine:
                continue
            before = memory.states[mine[0] - 1] if mine[0] else memory.now | {"status": "deleted"}
            if before == memory.now:
                continue
            if len(memory.states) - mine[0] != len(mine) and not strict:
                left.append(seq)
                continue
            restored[seq] = copy.deepcopy(before)
            if person and not mine[0]:
                restored[seq]["marks"] = sorted(self._left(memory.kind, restored[seq]))
            if not person:
                credit = CREDIT & set(before["marks"])
                restored[seq]["marks"] = sorted(set(memory.now["marks"]) - CREDIT | credit)
                self._judge(False, seq, restored[seq])
        return restored, left
