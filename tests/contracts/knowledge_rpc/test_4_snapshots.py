"""Contract 003: memory_backup and memory_restore."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tests._support.rpc_calls import Rpc

NAME = re.compile(r"memory_backup_[0-9]{8}_[0-9]{6}.*\.json")


def everything(rpc: Rpc) -> Any:
    return rpc.result("memory_dump")["data"]


def backup(rpc: Rpc) -> str:
    path: str = rpc.result("memory_backup")["backup_path"]
    return path


@pytest.mark.clause("003 §9", "status, message and the path of a private file with its time in the name")
def test_backup_answers_where_it_is(rpc: Rpc) -> None:
    result = rpc.result("memory_backup", {})
    assert set(result) == {"status", "message", "backup_path"}
    assert (result["status"], result["message"]) == ("ok", "Backup successful.")
    assert Path(result["backup_path"]).is_absolute() == (rpc.server.key is None)
    file = rpc.folder(result["backup_path"])
    assert NAME.fullmatch(file.name)
    assert file.name.startswith("memory_backup_")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.clause("003 §9", "the file is JSON and holds entries with their versions, files, and a manifest")
def test_backup_is_readable_json(rpc: Rpc, task: str) -> None:
    number = rpc.result("memory_add", ["内容", "摘要", ["标签"]])["id"]
    gone = rpc.result("memory_add", ["gone", "gone"])["id"]
    rpc.result("memory_delete", [gone])
    folder = rpc.folder(rpc.result("memory_init_workspace", [task])["path"])
    (folder / "笔记.md").write_text("文本")
    (folder / "link").symlink_to("/etc/passwd")
    result = rpc.result("memory_backup")
    assert result["message"].endswith("were left out.")
    made = json.loads(rpc.folder(result["backup_path"]).read_bytes())
    entries = {each["id"]: each["versions"] for each in made["knowledge"]}
    assert entries[number][-1]["state"]["attrs"] == {"summary": "摘要", "tags": ["标签"]}
    assert [version["op"] for version in entries[gone]] == ["add", "delete"]
    assert {"file": ["笔记.md"], "mode": 0o600} in made["workspaces"]
    assert made["manifest"]["entries"] == len(entries)
    assert made["manifest"]["left_out"] >= 1
    assert "root:" not in str(made["workspaces"])
    rpc.result("memory_cleanup", [task])


@pytest.mark.clause("003 §10", "the path as the document spells it leads to the same backup")
def test_restore_takes_the_spelling_of_the_document(rpc: Rpc) -> None:
    name = Path(backup(rpc)).name
    later = rpc.result("memory_add", ["later", "之后"])["id"]
    spelled = f".memory/backups/{name}"
    result = rpc.result("memory_restore", {"backup_path": spelled})
    assert result == {"status": "ok", "message": f"从 {spelled} 恢复成功"}
    assert later not in everything(rpc)["kb"]
    for wrong in (".memory", ".memory/backups/..", "/.memory/backups", ".memory/backups/x", "x/.memory/backups"):
        assert rpc.error("memory_restore", {"backup_path": f"{wrong}/{name}"})[0] == -32602


@pytest.mark.clause("003 §10", "entries and workspaces are as they were; what came since is gone; the message says so")
def test_restore_brings_everything_back(rpc: Rpc, task: str) -> None:
    kept = rpc.result("memory_add", ["kept", "保留"])["id"]
    deleted = rpc.result("memory_add", ["deleted later", "稍后删除"])["id"]
    folder = rpc.folder(rpc.result("memory_init_workspace", [task])["path"])
    (folder / "src").mkdir()
    (folder / "src" / "run.sh").write_text("echo 你好")
    (folder / "src" / "run.sh").chmod(0o755)
    (folder / "empty").mkdir()
    (folder / "raw").write_bytes(bytes(range(256)))
    before, path = everything(rpc), backup(rpc)
    later = rpc.result("memory_add", ["later", "之后"])["id"]
    rpc.result("memory_delete", [deleted])
    rpc.result("memory_cleanup", [task])
    rpc.result("memory_init_workspace", [f"{task}-later"])
    result = rpc.result("memory_restore", {"backup_path": path})
    assert result == {"status": "ok", "message": f"从 {path} 恢复成功"}
    assert everything(rpc) == before
    assert {kept, deleted} <= set(before["kb"])
    assert later not in before["kb"]
    assert stat.S_IMODE((folder / "src" / "run.sh").stat().st_mode) == 0o700
    assert (folder / "raw").read_bytes() == bytes(range(256))
    assert (folder / "empty").is_dir()
    rpc.result("memory_cleanup", [task])


@pytest.mark.clause("003 §10", "what was there before is backed up first and can be restored in turn")
def test_restore_keeps_what_was_there(rpc: Rpc) -> None:
    path = backup(rpc)
    number = rpc.result("memory_add", ["only in the later state", "后来"])["id"]
    later = everything(rpc)
    rpc.result("memory_restore", [path])
    assert number not in everything(rpc)["kb"]
    (kept,) = [each for each in rpc.folder(path).parent.glob("*before_restore*") if number in each.read_text()]
    rpc.result("memory_restore", [kept.name])
    assert everything(rpc) == later


@pytest.mark.clause("003 §10", "a path that leads anywhere else is refused without being read")
@pytest.mark.parametrize(
    "path",
    [
        "", ".", "/", "/etc/passwd", "../../etc/passwd", "memory_backup_20250813_120000.json/..", "~/x.json", "\n",
        "/dev/zero", "file:///etc/passwd", "backups/../memory_backup_20250813_120000.json", "x" * 5_000, "CON",
        "/tmp/memory_backup_20250813_120000.json", "memory_backup_20250813_120000.txt", "备份.json",
        "%2e%2e/memory_backup_20250813_120000.json", ".memory_backup_20250813_120000.json.unfinished",
    ],
)  # fmt: skip
def test_paths_that_are_refused(rpc: Rpc, path: str) -> None:
    assert rpc.error("memory_restore", {"backup_path": path})[0] == -32602


@pytest.mark.clause("003 §10", "a backup that is not there is an error that says so")
def test_restore_of_a_missing_backup(rpc: Rpc) -> None:
    assert rpc.error("memory_restore", ["memory_backup_20250813_120000.json"])[0] == -32001


@pytest.mark.clause("003 §10", "links, pipes, folders and second names in the backup folder are refused")
def test_restore_of_what_is_no_plain_file(rpc: Rpc, tmp_path: Path) -> None:
    root = rpc.folder(backup(rpc)).parent
    outside = tmp_path / "real.json"
    outside.write_bytes(rpc.folder(backup(rpc)).read_bytes())
    names = [f"memory_backup_20200101_00000{n}.json" for n in range(4)]
    (root / names[0]).symlink_to(outside)
    os.mkfifo(root / names[1])
    (root / names[2]).mkdir()
    os.link(outside, root / names[3])
    before = everything(rpc)
    try:
        for name in names:
            assert rpc.error("memory_restore", [name])[0] == -32002
    finally:
        for name in names[:2] + names[3:]:
            (root / name).unlink()
        (root / names[2]).rmdir()
    assert everything(rpc) == before


@pytest.mark.clause("003 §10", "a damaged backup is refused and nothing changes")
def test_restore_of_a_damaged_backup(rpc: Rpc) -> None:
    rpc.result("memory_add", ["第一", "first"])
    file = rpc.folder(backup(rpc))
    sound, before = file.read_bytes(), everything(rpc)
    damaged = file.with_name("memory_backup_20200101_000009.json")
    changed = [sound[:-1], sound[: len(sound) // 2], b"", sound + b"x", sound.replace("第一".encode(), "第二".encode())]
    changed += [sound.replace(b'"schema":1', b'"schema":2'), sound.replace(b'"created_ms"', b'"created_mz"', 1)]
    changed += [bytes([*sound[:at], sound[at] ^ 1, *sound[at + 1 :]]) for at in range(0, len(sound), len(sound) // 40)]
    try:
        for raw in changed:
            damaged.write_bytes(raw)
            assert rpc.error("memory_restore", [damaged.name])[0] == -32009
    finally:
        damaged.unlink()
    assert everything(rpc) == before
