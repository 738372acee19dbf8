"""Contract 003: memory_init_workspace, memory_cleanup and memory_get_status."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests._support.rpc_calls import Rpc

HOSTILE = [
    "", ".", "..", "../x", "a/b", "/etc", "a\\b", "%2e%2e", "..%2f", "a b", "-a", ".hidden", "~", "~root", "a\nb",
    "x" * 129, "x" * 4096, "ａ", "ａ／ｂ", "..\u2215etc", "C:", "NUL:", "con\t", "a:b", "*", "?", "$HOME", "`id`",
    "\u202etask", "task\u200b", "任" * 43, "任务 一", "任务/一", "任务\uff0f一", "．．", "。。",
    "任务\u3000", "\u3164", "\u115f", "任务\ufe0f", "\u0301任务", "①", "任务🙂",
]  # fmt: skip


@pytest.mark.clause("003 §1", "answers the path of a folder that is there, empty and ours alone")
def test_init_makes_a_private_folder(rpc: Rpc) -> None:
    result = rpc.result("memory_init_workspace", {"task_id": "task-12345-abcde"})
    assert set(result) == {"path"}
    assert result["path"].endswith("workspaces/task-12345-abcde")
    assert Path(result["path"]).is_absolute() == (rpc.server.key is None)
    folder = rpc.folder(result["path"])
    assert list(folder.iterdir()) == []
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


@pytest.mark.clause("003 §1", "fresh or not at all: an empty one is answered again, a used one is a conflict")
def test_init_twice(rpc: Rpc, task: str) -> None:
    first = rpc.result("memory_init_workspace", [task])
    assert rpc.result("memory_init_workspace", [task]) == first
    (rpc.folder(first["path"]) / "状态.txt").write_text("in use")
    assert rpc.error("memory_init_workspace", [task])[0] == -32002
    assert (rpc.folder(first["path"]) / "状态.txt").read_text() == "in use"


@pytest.mark.clause("003 §1", "a name that is no plain name is refused, whatever it is")
@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_are_refused(rpc: Rpc, name: str) -> None:
    for method in ("memory_init_workspace", "memory_cleanup"):
        assert rpc.error(method, {"task_id": name})[0] == -32602


@pytest.mark.clause("003 §1", "names as long and odd as they may be")
@pytest.mark.parametrize(
    "name",
    [
        "a",
        "0",
        "A" * 128,
        "a..b",
        "x.",
        "1.-_",
        "CON",
        "nul.txt",
        "任务一",
        "修复-登录.v2",
        "任" * 42,
        "задача",
        "हिन्दी",
    ],
)
def test_names_that_are_taken(rpc: Rpc, name: str) -> None:
    path = rpc.result("memory_init_workspace", {"task_id": name})["path"]
    assert rpc.folder(path).name == name
    assert rpc.result("memory_cleanup", {"task_id": name}) == {"status": "success", "path": path}


@pytest.mark.clause("003 §1", "one name however its accents are encoded")
def test_names_are_normalised(rpc: Rpc) -> None:
    composed, decomposed = "caf\u00e9-任务", "cafe\u0301-任务"
    path = rpc.result("memory_init_workspace", {"task_id": decomposed})["path"]
    assert rpc.folder(path).name == composed
    assert rpc.result("memory_init_workspace", {"task_id": composed})["path"] == path
    assert rpc.result("memory_cleanup", {"task_id": decomposed}) == {"status": "success", "path": path}


@pytest.mark.clause("003 §5", "status success and the path; everything in it is gone for good")
def test_cleanup_removes_everything(rpc: Rpc, task: str) -> None:
    path = rpc.result("memory_init_workspace", {"task_id": task})["path"]
    folder = rpc.folder(path)
    deep = folder
    for level in range(80):
        deep = deep / f"d{level}"
        deep.mkdir()
    (deep / "深.txt").write_text("deep")
    os.mkfifo(folder / "pipe")
    (folder / "closed").mkdir()
    (folder / "closed" / "file").write_text("x")
    (folder / "closed").chmod(0o500)
    assert rpc.result("memory_cleanup", {"task_id": task}) == {"status": "success", "path": path}
    assert not folder.exists()
    assert "trash" not in str(list((rpc.server.data_dir / ".workspaces").rglob("*")))


@pytest.mark.clause("003 §5", "links are removed, what they lead to is not")
def test_cleanup_follows_no_link(rpc: Rpc, task: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep.txt").write_text("保留")
    folder = rpc.folder(rpc.result("memory_init_workspace", [task])["path"])
    (folder / "link").symlink_to(outside)
    (folder / "file").symlink_to(outside / "keep.txt")
    rpc.result("memory_cleanup", [task])
    assert (outside / "keep.txt").read_text() == "保留"


@pytest.mark.clause("003 §5", "a task's name that is a link itself is left alone")
def test_cleanup_of_a_link(rpc: Rpc, task: str, tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("保留")
    folder = rpc.folder(rpc.result("memory_init_workspace", [task])["path"])
    folder.rmdir()
    folder.symlink_to(tmp_path)
    try:
        for method in ("memory_cleanup", "memory_init_workspace"):
            assert rpc.error(method, [task])[0] == -32002
        assert "保留" not in str(rpc.result("memory_dump", {"level": "workspace"}))
        assert (tmp_path / "keep.txt").read_text() == "保留"
    finally:
        folder.unlink()


@pytest.mark.clause("003 §5", "an unknown task is an error that says so")
def test_cleanup_of_an_unknown_task(rpc: Rpc, task: str) -> None:
    code, message = rpc.error("memory_cleanup", {"task_id": task})
    assert (code, task in message) == (-32001, True)


@pytest.mark.clause("003 §6", "ok and loaded; clean without workspaces, active with one")
def test_status(rpc: Rpc, task: str) -> None:
    for name in rpc.result("memory_dump", ["workspace"])["data"]:
        rpc.result("memory_cleanup", [name])
    expected = {"status": "ok", "kb_status": "loaded", "workspace_status": "clean"}
    assert rpc.result("memory_get_status", {}) == expected
    assert rpc.result("memory_get_status") == expected
    rpc.result("memory_init_workspace", [task])
    assert rpc.result("memory_get_status", []) == {**expected, "workspace_status": "active"}
