"""Random lives of notes, played through the sixteen tools and on the plain model at once.

Every rule is one tool with arguments that are often wrong. After each step both agree on the answer; now and then, and
at the end, on every note with its history, its company, the lists, the views, the figures and the export.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from codexmem.http.tool import ToolInvocation
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Origin
from codexmem.kernel.store.database import Database, acting_as
from codexmem.notes.mcp import NOTES
from codexmem.notes.service import NoteService
from tests._support import services
from tests._support.notes_model import ModelNote, NotesModel, Said
from tests._support.noting import notes_on

NAMES = ["a://x", "a://y", "b://数据库", "b://x/deep", "core://me"]
URIS = st.sampled_from(NAMES)
TEXTS = st.sampled_from([
    "port 8080", "端口 8080", "one two one", "see a://x", "见b://数据库，和 a://y.", "x", "first\n\nsecond", "a://x a://y",
])  # fmt: skip
PRIORITIES = st.integers(0, 10)
DISCLOSURES = st.sampled_from(["", "when deploying", "改端口之前"])
_TOOLS = {tool.name: tool for tool in NOTES.tools}
_PERSON = WriteContext("machine", origin=Origin.HUMAN)
_tenants = itertools.count(1)


@dataclass(frozen=True)
class _Rooms:
    notes: NoteService

    def room(self, _: type[Any]) -> Any:
        return self.notes


def machine_for(db: Database, tenant_prefix: str) -> type[RuleBasedStateMachine]:
    """The state machine on this store; every example is a fresh tenant of it."""

    class NotesMachine(RuleBasedStateMachine):
        @initialize(texts=st.lists(TEXTS, min_size=1, max_size=3))
        def start(self, texts: list[str]) -> None:
            self.tenant = f"{tenant_prefix}-{next(_tenants)}"
            self.real = services.build(db)
            self.rooms = _Rooms(notes_on(db, self.real))
            self.model = NotesModel()
            for uri, text in zip(NAMES, texts, strict=False):
                self.create(uri=uri, text=text, priority=5, disclosure="")

        def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
            with acting_as(self.tenant):
                told = (
                    _TOOLS[tool]
                    .answer(self.rooms, ToolInvocation(arguments, "machine", "shop", Origin.HUMAN))
                    .structured
                )
            assert told is not None
            return told

        def refused(self, tool: str, **arguments: Any) -> None:
            try:
                self.ask(tool, **arguments)
            except CodexmemError:
                return
            raise AssertionError(f"{tool}({arguments}) should have been refused")

        @rule(uri=URIS, text=TEXTS, priority=PRIORITIES, disclosure=DISCLOSURES)
        def create(self, uri: str, text: str, priority: int, disclosure: str) -> None:
            arguments = {"uri": uri, "content": text, "priority": priority, "disclosure": disclosure}
            there = self.model.at(uri)
            if there is not None and not there.deleted:
                self.refused("create_memory", **arguments)
                return
            told = self.ask("create_memory", **arguments)
            if there is None:
                self.model.notes.append(ModelNote([Said(text, priority, disclosure, (uri,))]))
            else:
                there.write(content=text, priority=priority, disclosure=disclosure, status="active")
            note = self.model.at(uri)
            assert note is not None
            assert (told["version"], told["uri"]) == (note.version, note.now.uris[0])

        @rule(uri=URIS)
        def read(self, uri: str) -> None:
            note = self.model.standing(uri)
            if note is None:
                self.refused("read_memory", uri=uri)
                return
            note.reads += 1
            self.agree(self.ask("read_memory", uri=uri), note)

        @rule(uri=URIS, text=TEXTS, append=st.booleans(), priority=st.none() | PRIORITIES)
        def update(self, uri: str, text: str, append: bool, priority: int | None) -> None:
            note = self.model.standing(uri)
            arguments = {"uri": uri, "content": text, "append": append, "priority": priority}
            if note is None:
                self.refused("update_memory", **arguments)
                return
            content = f"{note.now.content}\n{text}" if append else text
            note.write(content=content, priority=note.now.priority if priority is None else priority)
            assert self.ask("update_memory", **arguments)["version"] == note.version

        @rule(uri=URIS, old=st.sampled_from(["8080", "one", "absent", "x"]), new=st.sampled_from(["37877", "新", ""]))
        def patch(self, uri: str, old: str, new: str) -> None:
            note = self.model.standing(uri)
            arguments = {"uri": uri, "old_string": old, "new_string": new}
            content = note.now.content if note is not None else ""
            after = content.replace(old, new)
            if note is None or content.count(old) != 1 or not after.strip():
                self.refused("update_memory", **arguments)
                return
            note.write(content=after)
            assert self.ask("update_memory", **arguments)["mode"] == "patch"

        @rule(uri=URIS, force=st.sampled_from([False, False, False, True]))
        def delete(self, uri: str, force: bool) -> None:
            note = self.model.at(uri) if force else self.model.standing(uri)
            if note is None:
                self.refused("delete_memory", uri=uri, force=force)
                return
            told = self.ask("delete_memory", uri=uri, force=force)
            if force:
                self.model.notes.remove(note)
            else:
                assert told["restorable_version"] == note.version
                note.write(status="deleted")

        @rule(uri=URIS, alias=URIS)
        def alias(self, uri: str, alias: str) -> None:
            note = self.model.standing(uri)
            if note is None or self.model.at(alias) is not None:
                self.refused("add_alias", target_uri=uri, alias_uri=alias)
                return
            self.ask("add_alias", target_uri=uri, alias_uri=alias)
            note.write(uris=(*note.now.uris, alias))

        @rule(uri=URIS, pick=st.integers(0, 20))
        def rollback(self, uri: str, pick: int) -> None:
            note = self.model.at(uri)
            if note is None or pick >= note.version:
                self.refused("rollback_memory", uri=uri, version=pick + 1)
                return
            said = self.model.rollback(note, pick + 1)
            told = self.ask("rollback_memory", uri=uri, version=pick + 1)
            note.past.append(said)
            assert (told["content"], told["version"]) == (said.content, note.version)

        @rule(uri=URIS, first=st.integers(1, 6), second=st.integers(1, 6))
        def diff(self, uri: str, first: int, second: int) -> None:
            note = self.model.at(uri)
            if note is None or max(first, second) > note.version:
                self.refused("diff_versions", uri=uri, version1=first, version2=second)
                return
            told = self.ask("diff_versions", uri=uri, version1=first, version2=second)
            contents = (told["version1"]["content"], told["version2"]["content"])
            assert contents == (note.past[first - 1].content, note.past[second - 1].content)
            assert bool(told["diff"]) == (contents[0].splitlines() != contents[1].splitlines())

        @rule(query=st.sampled_from(["8080", "端口", "deploying", "two"]), domain=st.sampled_from([None, "a", "b"]))
        def search(self, query: str, domain: str | None) -> None:
            told = self.ask("search_memory", query=query, domain=domain, limit=100)
            for row in told["memories"]:
                note = self.model.standing(row["uri"])
                assert note is not None
                assert domain is None or any(uri.startswith(f"{domain}://") for uri in note.now.uris)
            found = {row["uri"] for row in told["memories"]}
            for note in self.model.all_standing():
                inside = domain is None or any(uri.startswith(f"{domain}://") for uri in note.now.uris)
                if inside and query in f"{note.now.content} {note.now.disclosure}".split():
                    assert note.now.uris[0] in found

        @rule(low=st.none() | PRIORITIES, high=st.none() | PRIORITIES, domain=st.sampled_from([None, "a", "core"]))
        def listing(self, low: int | None, high: int | None, domain: str | None) -> None:
            asked = {"domain": domain, "priority_min": low, "priority_max": high, "limit": 200}
            if low is not None and high is not None and low > high:
                self.refused("list_memories", **asked)
                return
            expected = {
                note.now.uris
                for note in self.model.all_standing()
                if (low or 0) <= note.now.priority <= (10 if high is None else high)
                and (domain is None or any(uri.startswith(f"{domain}://") for uri in note.now.uris))
            }
            rows = self.ask("list_memories", **asked)["memories"]
            assert {(row["uri"], *row["aliases"]) for row in rows} == expected

        @rule(uri=URIS)
        def preload(self, uri: str) -> None:
            told = self.ask("preload_memory", context_type="intent", context_data=f"what of {uri.rpartition('/')[2]}?")
            core = {note.now.uris[0] for note in self.model.all_standing() if note.now.priority <= 2}
            assert {row["uri"] for row in told["core"]} == core
            note = self.model.standing(uri)
            if note is not None and note.now.priority > 2:
                assert note.now.uris[0] in {row["uri"] for row in told["related"]}
            assert all(row["reasons"] for row in told["related"])

        @precondition(lambda self: self.model.all_standing())
        @rule(strategy=st.sampled_from(["skip", "overwrite", "merge"]), text=TEXTS)
        def exchange(self, strategy: str, text: str) -> None:
            """An import of what is here plus something new, taken back again: nothing has changed but the versions."""
            document = self.ask("export_memories", include_relations=True)
            before = [note.now for note in self.model.notes]
            document["memories"].append({"uri": "new://note", "content": text, "priority": 0})
            told = self.ask("import_memories", data=document, strategy=strategy, keep_priority=True)
            assert (told["created"], told["changed"]) == (["new://note"], [])
            with acting_as(self.tenant):
                undone = self.real.history.rollback_delta(told["delta"], Mode.SAFE, _PERSON)
            assert len(undone.restored) == 1
            self.ask("delete_memory", uri="new://note", force=True)
            assert [note.now for note in self.model.notes] == before

        @precondition(lambda self: self.model.all_standing())
        @rule(pick=st.integers(0, 9), text=TEXTS, priority=PRIORITIES, undo=st.booleans())
        def overwrite(self, pick: int, text: str, priority: int, undo: bool) -> None:
            standing = self.model.all_standing()
            note = standing[pick % len(standing)]
            row = {"uri": note.now.uris[0], "content": text, "priority": priority, "origin": "agent"}
            told = self.ask("import_memories", data={"memories": [row]}, strategy="overwrite", keep_priority=True)
            before = note.now
            after = Said(text, priority, "", before.uris)
            if after == before:
                # What differs may be the project, which the model leaves out.
                note.past += [after] if told["changed"] else []
            else:
                assert told["changed"] == [note.now.uris[0]]
                note.past.append(after)
            if undo and told["delta"]:
                with acting_as(self.tenant):
                    self.real.history.rollback_delta(told["delta"], Mode.SAFE, _PERSON)
                note.past.append(before)

        @rule(summary=st.none() | TEXTS)
        def session(self, summary: str | None) -> None:
            told = self.ask("save_session", title="会话", summary=summary)
            assert (told["uri"] is None) == (summary is None)
            if summary is not None:
                self.model.notes.append(ModelNote([Said(summary, 5, "", (told["uri"],))]))

        def agree(self, told: dict[str, Any], note: ModelNote) -> None:
            now = note.now
            assert (told["content"], told["priority"], told["disclosure"]) == (
                now.content,
                now.priority,
                now.disclosure,
            )
            assert ((told["uri"], *told["aliases"]), told["status"]) == (now.uris, now.status)
            assert (told["version"], told["access_count"]) == (note.version, note.reads)
            relations = {(each["direction"], each["uri"], each["exists"]) for each in told["relations"]}
            assert relations == self.model.relations(note)

        def teardown(self) -> None:
            if not hasattr(self, "model"):
                return
            try:
                self.all_agree()
            finally:
                self.real.traces.close()

        def all_agree(self) -> None:
            for note in self.model.notes:
                if not note.now.uris:
                    continue
                uri = note.now.uris[0]
                told = self.ask("get_memory_versions", uri=uri, limit=100)
                assert told["current_version"] == note.version
                assert [row["priority"] for row in told["versions"]] == [each.priority for each in note.past[::-1]][
                    :100
                ]
                ways = self.ask("list_rollbacks", uri=uri, limit=100)["rollbacks"]
                assert [way["version"] for way in ways] == list(range(note.version - 1, 0, -1))[:100]
                for way in ways:
                    assert (not way["would_change"]) == (self.model.rollback(note, way["version"]) == note.now)
                if not note.deleted:
                    note.reads += 1
                    self.agree(self.ask("read_memory", uri=uri), note)
            boot = {row["uri"] for row in self.ask("read_memory", uri="system://boot")["memories"]}
            standing = self.model.all_standing()
            assert boot == {note.now.uris[0] for note in standing if note.now.priority <= 2}
            index = {row["uri"] for row in self.ask("read_memory", uri="system://index")["memories"]}
            assert index == {note.now.uris[0] for note in standing}
            assert self.ask("read_memory", uri="system://recent/100")["count"] == len(standing)
            figures = self.ask("get_memory_stats")
            assert figures["total"] == len(standing)
            exported = self.ask("export_memories", include_versions=True, include_relations=True)["memories"]
            assert {row["uri"]: len(row["versions"]) for row in exported} == {
                note.now.uris[0]: min(note.version, 100) for note in standing
            }

    return NotesMachine
