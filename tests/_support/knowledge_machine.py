"""Random lives of a knowledge base and its workspaces against a plain model: dictionaries, copied for a backup."""

from __future__ import annotations

import copy
import itertools
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from codexmem.http.params import parsed
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.store.database import Database, acting_as
from codexmem.knowledge.tools import BY_NAME, CallContext
from tests._support import services
from tests._support.knowing import knowledge_on

VOCABULARY = ("walrus", "banjo", "glacier", "容器", "数据库")
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=3, unique=True)
TASKS = st.sampled_from(("task-1", "T.3", "4_x", "任务"))
BAD_TASKS = st.sampled_from(("..", "a/b", "", ".x", "任／务", "务" * 43, "x" * 200))
FILES = st.sampled_from(("a.txt", "src/b.md", "src/deep/c", "数据.json"))
LEVELS = st.sampled_from((None, "kb", "workspace", "all"))
PICK = st.integers(0, 50)
_MEMORY = Path("/dev/shm")
_tenants = itertools.count(1)


@dataclass
class Model:
    """What should be there."""

    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    tasks: dict[str, dict[str, str]] = field(default_factory=dict)
    backups: list[tuple[str, dict[str, dict[str, Any]], dict[str, dict[str, str]]]] = field(default_factory=list)


def machine_for(db: Database, tenant_prefix: str) -> type[RuleBasedStateMachine]:
    """The state machine on this store; every example begins with nothing in it and has a data directory of its own."""

    class KnowledgeMachine(RuleBasedStateMachine):
        @initialize()
        def start(self) -> None:
            # A SQLite store has one tenant: its words are not told apart by tenant.
            self.tenant = db.engine.ambient_tenant or f"{tenant_prefix}-{next(_tenants)}"
            self.data_dir = Path(tempfile.mkdtemp(dir=_MEMORY if _MEMORY.is_dir() else None))
            built = services.build(db)
            self.traces = built.traces
            self.knowledge = knowledge_on(db, self.data_dir, built)
            self.model = Model()
            everything = Filter(frozenset({Kind.KNOWLEDGE}), statuses=frozenset(Status))
            with acting_as(self.tenant):
                while left := built.memories.page(everything, PageRequest(500)).items:
                    built.history.forget([memory.seq for memory in left], WriteContext("test"))

        def call(self, name: str, **params: Any) -> dict[str, Any]:
            verb = BY_NAME[name]
            with acting_as(self.tenant):
                asked = CallContext(WriteContext("test"))
                return verb.answer(self.knowledge, parsed(verb.parameters, params), asked).document()

        def fails(self, code: str, name: str, **params: Any) -> None:
            try:
                found: object = self.call(name, **params)
            except CodexmemError as error:
                found = error.code
            assert found == code, f"{name} was answered {found}"

        def folder(self, task: str) -> Path:
            shared = db.engine.ambient_tenant is None
            return self.data_dir.joinpath("workspaces", *([self.tenant] if shared else []), task)

        @rule(words=WORDS, title=WORDS, tags=st.none() | WORDS)
        def add(self, words: list[str], title: list[str], tags: list[str] | None) -> None:
            entry = {"content": " ".join(words), "summary": " ".join(title), "tags": tags or []}
            result = self.call("memory_add", **entry | {"tags": tags})
            assert result["summary"] == entry["summary"]
            assert result["id"] not in self.model.entries.keys() | self.model.gone
            self.model.entries[result["id"]] = entry

        @rule(pick=PICK)
        def delete(self, pick: int) -> None:
            known = sorted(self.model.entries) + sorted(self.model.gone) + ["kb-unknown"]
            name = known[pick % len(known)]
            if name not in self.model.entries:
                self.fails("not_found", "memory_delete", kb_id=name)
                return
            assert self.call("memory_delete", kb_id=name) == {"status": "success", "id": name}
            del self.model.entries[name]
            self.model.gone.add(name)

        @rule(word=st.sampled_from(VOCABULARY), top_k=st.none() | st.integers(1, 100))
        def query(self, word: str, top_k: int | None) -> None:
            fitting = {name for name, entry in self.model.entries.items() if _says(entry, word)}
            results = self.call("memory_query", query=word, top_k=top_k)["results"]
            assert len(results) == min(len(fitting), top_k or 3)
            for result in results:
                entry = self.model.entries[result["id"]]
                assert result == {"id": result["id"], "summary": entry["summary"], "content": entry["content"]}
                assert result["id"] in fitting

        @rule(task=TASKS)
        def init(self, task: str) -> None:
            if self.model.tasks.get(task):
                self.fails("conflict", "memory_init_workspace", task_id=task)
                return
            assert self.call("memory_init_workspace", task_id=task)["path"].endswith(f"workspaces/{task}")
            self.model.tasks[task] = {}

        @rule(task=BAD_TASKS, cleanup=st.booleans())
        def refuse(self, task: str, cleanup: bool) -> None:
            self.fails("invalid_argument", "memory_cleanup" if cleanup else "memory_init_workspace", task_id=task)

        @precondition(lambda self: self.model.tasks)
        @rule(pick=PICK, file=FILES, words=WORDS)
        def write(self, pick: int, file: str, words: list[str]) -> None:
            task = sorted(self.model.tasks)[pick % len(self.model.tasks)]
            path = self.folder(task) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(" ".join(words))
            self.model.tasks[task][file] = " ".join(words)

        @rule(task=TASKS)
        def cleanup(self, task: str) -> None:
            if task not in self.model.tasks:
                self.fails("not_found", "memory_cleanup", task_id=task)
                return
            result = self.call("memory_cleanup", task_id=task)
            assert (result["status"], result["path"].endswith(task)) == ("success", True)
            del self.model.tasks[task]
            assert not self.folder(task).exists()

        @rule(level=LEVELS)
        def dump(self, level: str | None) -> None:
            answer = self.call("memory_dump", level=level)
            assert set(answer) == {"status", "data"}
            shown = {"kb": answer["data"]} if level == "kb" else {"workspace": answer["data"]}
            shown = answer["data"] if level in {None, "all"} else shown
            if "kb" in shown:
                assert shown["kb"] == self.model.entries
            if "workspace" in shown:
                assert {task: each["files"] for task, each in shown["workspace"].items()} == self.model.tasks

        @rule(words=WORDS, level=LEVELS)
        def search(self, words: list[str], level: str | None) -> None:
            answer = self.call("memory_search", query=" ".join(words), level=level)
            found = {(each["source"], each["key"]): each["value"] for each in answer["results"]}
            entries = {
                ("kb", name): entry
                for name, entry in self.model.entries.items()
                if all(_says(entry, word) for word in words)
            }
            files = {
                ("workspace", f"{task}/{file}"): {"line": 1, "text": text}
                for task, held in self.model.tasks.items()
                for file, text in held.items()
                if all(word in text.split() for word in words)
            }
            expected = (entries if level != "workspace" else {}) | (files if level != "kb" else {})
            if len(entries) <= 20:
                assert found == expected, (words, level, set(found) ^ set(expected), found, expected)

        @rule()
        def backup(self) -> None:
            answer = self.call("memory_backup")
            assert (answer["status"], answer["message"]) == ("ok", "Backup successful.")
            state = copy.deepcopy((self.model.entries, self.model.tasks))
            self.model.backups.append((answer["backup_path"], *state))

        @precondition(lambda self: self.model.backups)
        @rule(pick=PICK)
        def restore(self, pick: int) -> None:
            path, entries, tasks = self.model.backups[pick % len(self.model.backups)]
            answer = self.call("memory_restore", backup_path=path)
            assert answer == {"status": "ok", "message": f"从 {path} 恢复成功"}
            self.model.gone |= self.model.entries.keys() - entries.keys()
            self.model.gone -= entries.keys()
            self.model.entries, self.model.tasks = copy.deepcopy((entries, tasks))

        @rule(path=st.sampled_from(("/etc/passwd", "../x.json", "", "memory_backup_20200101_000000.txt")))
        def refuse_restore(self, path: str) -> None:
            self.fails("invalid_argument", "memory_restore", backup_path=path)

        @invariant()
        def status_agrees(self) -> None:
            if hasattr(self, "model"):
                active = "active" if self.model.tasks else "clean"
                expected = {"status": "ok", "kb_status": "loaded", "workspace_status": active}
                assert self.call("memory_get_status") == expected

        def teardown(self) -> None:
            if not hasattr(self, "model"):
                return
            try:
                self.dump(level="all")
                left = [path.name for path in (self.data_dir / ".workspaces").glob("*/*")]
                assert set(left) <= {"lock"}, left
            finally:
                self.traces.close()  # what it still has to write goes to a store that is soon gone
                shutil.rmtree(self.data_dir)

    return KnowledgeMachine


def _says(entry: dict[str, Any], word: str) -> bool:
    return word in f"{entry['content']} {entry['summary']} {' '.join(entry['tags'])}".split()
