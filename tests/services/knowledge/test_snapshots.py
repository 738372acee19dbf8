"""Snapshots: undoing a restore, keeping history, and standing wherever a restore is broken off."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from codexmem.kernel.model.errors import CodexmemError, InvalidArgument
from codexmem.kernel.model.history import Mode, Op, WriteContext
from codexmem.kernel.model.memory import Kind, Origin
from codexmem.kernel.model.query import Id
from codexmem.kernel.store.database import Database, acting_as
from codexmem.knowledge.service import Knowledge
from codexmem.knowledge.service.snapshot_file import FORMAT
from tests._support import services
from tests._support.knowing import entries_of, knowledge_on, tree_of

BY = WriteContext("test")
KINDS = frozenset({Kind.KNOWLEDGE})
STEPS = ["verified", "kept", "building", "built", "planned", "applied", "committed", "switched"]


class KilledError(BaseException):
    """The process ends here."""


def killed_at(name: str) -> Callable[[str], None]:
    def step(reached: str) -> None:
        if reached == name:
            raise KilledError

    return step


@pytest.fixture
def built(database: Database) -> services.Services:
    return services.build(database)


@pytest.fixture
def knowledge(database: Database, tmp_path: Path, built: services.Services) -> Knowledge:
    return knowledge_on(database, tmp_path, built)


def place(tmp_path: Path, tenant: str) -> Path:
    return tmp_path / "workspaces" / (tenant if tenant != "local" else "")


def test_a_restore_is_one_delta_that_can_be_taken_back(knowledge: Knowledge, built: services.Services) -> None:
    first = knowledge.entries.add("一", "first", ["a"], BY)
    second = knowledge.entries.add("二", "second", [], BY)
    path = knowledge.snapshots.backup().path
    knowledge.entries.delete(first.id, BY)
    third = knowledge.entries.add("三", "third", [], BY)
    later = entries_of(knowledge)
    done = knowledge.snapshots.restore(path, BY)
    assert (done.changed, set(entries_of(knowledge))) == (2, {first.id, second.id})
    ops = [version.op for version in built.history.versions(Id(first.id), KINDS)]
    assert ops == [Op.RESTORE, Op.DELETE, Op.ADD]
    undone = built.history.rollback_delta(done.delta, Mode.STRICT, BY)
    assert len(undone.restored) == 2
    assert entries_of(knowledge) == later == {second.id: "二", third.id: "三"}


def test_restoring_what_is_there_already_writes_nothing(knowledge: Knowledge, built: services.Services) -> None:
    memory = knowledge.entries.add("unchanged", "s", [], BY)
    done = knowledge.snapshots.restore(knowledge.snapshots.backup().path, BY)
    assert done.changed == 0
    assert built.memories.get(Id(memory.id), KINDS).version == 1


def test_an_erased_entry_comes_back_with_its_versions_as_an_import(
    knowledge: Knowledge, built: services.Services
) -> None:
    memory = knowledge.entries.add("port 8080", "端口", ["net"], BY)
    built.memories.append(Id(memory.id), KINDS, "or 37877", BY)
    path = knowledge.snapshots.backup().path
    built.history.forget([memory.seq], BY)
    knowledge.snapshots.restore(path, BY)
    back = built.memories.get(Id(memory.id), KINDS)
    assert (back.state.content, back.origin, back.created_ms) == (
        "port 8080\nor 37877",
        Origin.IMPORT,
        memory.created_ms,
    )
    assert [v.state.content for v in built.history.versions(Id(memory.id), KINDS)][-1] == "port 8080"


@pytest.mark.parametrize("step", STEPS)
def test_broken_off_anywhere_it_is_wholly_old_or_wholly_new(
    step: str, database: Database, tmp_path: Path, tenant: str
) -> None:
    knowledge = knowledge_on(database, tmp_path)
    knowledge.entries.add("old", "旧", [], BY)
    old_task = place(tmp_path, tenant) / "old-task"
    knowledge.workspaces.init("old-task")
    (old_task / "a.txt").write_text("旧")
    path = knowledge.snapshots.backup().path
    old = entries_of(knowledge), tree_of(place(tmp_path, tenant))
    knowledge.entries.add("newer", "新", [], BY)
    knowledge.workspaces.cleanup("old-task", BY)
    knowledge.workspaces.init("new-task")
    new = entries_of(knowledge), tree_of(place(tmp_path, tenant))
    # No exception handler of a killed process runs: the recovery that a living one would try is kept from it.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("codexmem.knowledge.service.workspace_root.ExclusiveAccess._journal", lambda _: None)
        patched.setattr("codexmem.knowledge.service.workspace_root.ExclusiveAccess._sweep", lambda _: None)
        with pytest.raises(KilledError):
            knowledge.snapshots.restore(path, BY, step=killed_at(step))
    again = knowledge_on(database, tmp_path)
    found = entries_of(again), tree_of(place(tmp_path, tenant))
    assert found == (old if step in {"committed", "switched"} else new)
    assert again.workspaces.init("works-again")
    assert [each.name for each in (tmp_path / ".workspaces" / tenant).iterdir()] == ["lock"]
    again.snapshots.restore(path, BY)
    assert (entries_of(again), tree_of(place(tmp_path, tenant))) == old


def test_a_living_restore_that_fails_leaves_everything(knowledge: Knowledge, tmp_path: Path, tenant: str) -> None:
    path = knowledge.snapshots.backup().path
    knowledge.entries.add("stays", "留", [], BY)
    knowledge.workspaces.init("stays")
    before = entries_of(knowledge), tree_of(place(tmp_path, tenant))
    for step in STEPS[:6]:
        with pytest.raises(KilledError):
            knowledge.snapshots.restore(path, BY, step=killed_at(step))
        assert (entries_of(knowledge), tree_of(place(tmp_path, tenant))) == before
        assert [each.name for each in (tmp_path / ".workspaces" / tenant).iterdir()] == ["lock"]


def test_tenants_see_only_their_own(database: Database, tmp_path: Path, tenant: str, engine_name: str) -> None:
    if engine_name == "sqlite":
        assert tenant == "local"
        return
    knowledge = knowledge_on(database, tmp_path)
    knowledge.entries.add("mine", "我的", [], BY)
    knowledge.workspaces.init("shared-name")
    path = knowledge.snapshots.backup().path
    with acting_as(f"{tenant}-other"):
        assert entries_of(knowledge) == {}
        assert not knowledge.workspaces.active()
        with pytest.raises(CodexmemError, match="there is no backup"):
            knowledge.snapshots.restore(path, BY)
        with pytest.raises(CodexmemError, match="there is no workspace"):
            knowledge.workspaces.cleanup("shared-name", BY)
        for spelling in (f"backups/memory/{tenant}/{Path(path).name}", str(tmp_path / "backups/memory" / tenant / "x")):
            with pytest.raises(InvalidArgument):
                knowledge.snapshots.restore(spelling, BY)
    assert entries_of(knowledge)


def crafted(knowledge: Knowledge, tmp_path: Path, tenant: str, said: str, files: str, counts: dict[str, int]) -> str:
    """A backup that vouches for itself and says what it likes."""
    manifest = {
        "created_ms": 1,
        "version": "x",
        "entries": 0,
        "tasks": 0,
        "files": 0,
        "size": 0,
        "left_out": 0,
    } | counts
    body = f'{{"format":"{FORMAT}","schema":1,\n"knowledge":[\n{said}],"workspaces":[\n{files}],"manifest":'
    body += json.dumps(manifest) + ",\n"
    name = "memory_backup_20200101_000000.json"
    knowledge.snapshots.backup()
    root = tmp_path / "backups" / "memory" / (tenant if tenant != "local" else "")
    (root / name).write_text(body + f'"sha256":"{hashlib.sha256(body.encode()).hexdigest()}"}}\n')
    return name


@pytest.mark.parametrize(
    "entries, files, counts",
    [
        ("", '{"task":"../x"}\n', {"tasks": 1}),
        ("", '{"task":"a"}\n,{"file":["..","x"],"mode":384}\n', {"tasks": 1, "files": 1}),
        ("", '{"task":"a"}\n,{"file":["a/b"],"mode":384}\n', {"tasks": 1, "files": 1}),
        ("", '{"task":"a"}\n,{"file":["/etc/x"],"mode":384}\n', {"tasks": 1, "files": 1}),
        ("", '{"task":"a"}\n,{"folder":["x\\u0000"]}\n', {"tasks": 1}),
        ("", '{"task":"a"}\n,{"file":["missing","x"],"mode":384}\n', {"tasks": 1, "files": 1}),
        ("", '{"task":"a"}\n,{"folder":["f"]}\n,{"folder":["f"]}\n', {"tasks": 1}),
        ("", '{"task":"a"}\n,{"link":["x"],"to":"/etc"}\n', {"tasks": 1}),
        ("", '{"text":"x"}\n', {}),
        ("", '{"task":"a"}\n,{"file":["x"],"mode":384}\n,{"base64":"!"}\n', {"tasks": 1, "files": 1}),
        ("", "[1]\n", {}),
        ("", "not json\n", {}),
        ("", '{"task":"a"}\n', {"tasks": 2}),
        ('{"id":"kb-1"}\n', "", {"entries": 1}),
        ('{"id":7,"versions":[]}\n', "", {"entries": 1}),
        ('{"id":"kb-1","created_ms":1,"versions":[]}\n', "", {"entries": 1}),
        ('{"id":"kb-1","created_ms":-1,"versions":[{"state":{}}]}\n', "", {"entries": 1}),
        ("[" * 5_000 + "\n", "", {"entries": 1}),
        ("", "", {"entries": 1}),
        ("", "", {"entries": -1}),
    ],
)
def test_a_crafted_backup_changes_nothing(
    entries: str, files: str, counts: dict[str, int], knowledge: Knowledge, tmp_path: Path, tenant: str
) -> None:
    knowledge.entries.add("stays", "留", [], BY)
    knowledge.workspaces.init("stays")
    name = crafted(knowledge, tmp_path, tenant, entries, files, counts)
    before = entries_of(knowledge), tree_of(tmp_path / "workspaces")
    with pytest.raises(CodexmemError) as refused:
        knowledge.snapshots.restore(name, BY)
    assert refused.value.code == "damaged"
    assert (entries_of(knowledge), tree_of(tmp_path / "workspaces")) == before


def test_a_newer_schema_is_told_from_damage(knowledge: Knowledge, tmp_path: Path, tenant: str) -> None:
    name = crafted(knowledge, tmp_path, tenant, "", "", {})
    file = next(tmp_path.rglob(name))
    file.write_text(file.read_text().replace('"schema":1', '"schema":2'))
    with pytest.raises(CodexmemError, match="newer codexmem"):
        knowledge.snapshots.restore(name, BY)


def test_two_backups_in_one_second_have_two_names(knowledge: Knowledge) -> None:
    paths = [knowledge.snapshots.backup().path for _ in range(3)]
    assert len(set(paths)) == 3
    for path in paths:
        knowledge.snapshots.restore(path, BY)


def test_a_journal_that_is_not_ours_stops_changes_and_nothing_else(
    knowledge: Knowledge, tmp_path: Path, tenant: str
) -> None:
    knowledge.workspaces.init("before")
    journal = tmp_path / ".workspaces" / tenant / "journal"
    journal.write_text("not ours")
    with pytest.raises(CodexmemError, match="journal") as refused:
        knowledge.workspaces.init("after")
    assert refused.value.code == "dependency_unavailable"
    knowledge.entries.add("entries go on", "s", [], BY)
    journal.unlink()
    assert knowledge.workspaces.init("after")
