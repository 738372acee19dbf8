"""What a checkout says of itself, read from its files alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codexmem.codecli.query import Checkout, look
from codexmem.kernel.model import git_index

LONG_AGO = 1_500_000_000


def git(folder: Path, *words: str, **more: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **more}
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=folder, check=True,
                   capture_output=True, env=environ)  # fmt: skip


@pytest.fixture(params=["2", "4"])
def checkout(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return committed(tmp_path / "shop", "-c", f"index.version={request.param}")


def committed(folder: Path, *settings: str, form: str = "sha1") -> Path:
    """A checkout of four files that were written and committed long ago."""
    folder.mkdir()
    git(folder, "init", "-q", f"--object-format={form}")
    for name in ("kept.py", "src/pay.py", "src/payment.py", "源/商店.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("1\n")
        os.utime(folder / name, (LONG_AGO, LONG_AGO))
    git(folder, *settings, "add", ".")
    git(folder, "commit", "-qm", "x", GIT_COMMITTER_DATE=f"{LONG_AGO} +0000")
    return folder


def test_a_repository_says_what_changed_and_what_it_is(checkout: Path) -> None:
    assert look(str(checkout), 10) == Checkout()
    (checkout / "源/商店.py").write_text("22\n")
    os.utime(checkout / "源/商店.py", (LONG_AGO + 5, LONG_AGO + 5))
    (checkout / "kept.py").write_text("2\n")
    (checkout / "src/pay.py").unlink()
    (checkout / "README.md").write_text("\n<img src=x>\n[![badge](x)](y)\n# Shop 商店\nmore\n")
    seen = look(str(checkout), 10)
    assert seen.changed == ("kept.py", "源/商店.py", "src/pay.py")  # the last one first, the deleted one last
    assert seen.heading == "Shop 商店"
    assert look(str(checkout / "src"), 10).changed == seen.changed


def test_what_was_staged_since_the_last_commit_has_changed(checkout: Path) -> None:
    (checkout / "src/payment.py").write_text("2\n")
    (checkout / "new.py").write_text("3\n")
    git(checkout, "add", ".")
    assert set(look(str(checkout), 10).changed) == {"src/payment.py", "new.py"}
    git(checkout, "commit", "-qm", "y")
    assert look(str(checkout), 10).changed == ()


def test_a_copied_checkout_has_not_changed(checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(checkout, tmp_path / "copy", copy_function=shutil.copyfile)
    (tmp_path / "copy/.git/logs/HEAD").unlink()
    assert look(str(tmp_path / "copy"), 10).changed == ()
    (tmp_path / "copy/kept.py").write_text("3\n")
    assert look(str(tmp_path / "copy"), 10).changed == ("kept.py",)


def test_a_linked_worktree_has_changes_of_its_own(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "worktree", "add", "-q", str(tmp_path / "other"))
    (tmp_path / "other/kept.py").write_text("changed\n")
    assert look(str(tmp_path / "other"), 10).changed == ("kept.py",)
    assert look(str(checkout), 10).changed == ()


def test_sha256_is_read_too(tmp_path: Path) -> None:
    folder = committed(tmp_path / "shop", form="sha256")
    assert len(list(git_index.entries((folder / ".git/index").read_bytes()))) == 4
    (folder / "kept.py").write_text("changed\n")
    assert look(str(folder), 10).changed == ("kept.py",)


def test_submodules_and_files_left_alone_are_not_looked_at(checkout: Path) -> None:
    git(checkout, "update-index", "--skip-worktree", "kept.py")
    git(checkout, "update-index", "--assume-unchanged", "src/pay.py")
    for name in ("kept.py", "src/pay.py"):
        (checkout / name).write_text("changed\n")
    assert look(str(checkout), 10).changed == ()


def test_a_folder_without_git_says_less(tmp_path: Path) -> None:
    assert look(str(tmp_path), 10) == Checkout()
    assert look(str(tmp_path / "none"), 10) == Checkout()


def test_what_is_no_index_is_not_believed(checkout: Path) -> None:
    index = (checkout / ".git/index").read_bytes()
    assert len(list(git_index.entries(index))) == 4
    for cut in range(0, len(index), 7):
        list(git_index.entries(index[:cut]))
        list(git_index.entries(index[:cut] + bytes(len(index) - cut)))
        list(git_index.entries(index[:cut] + b"\xff" * 40 + index[cut + 40 :]))
    (checkout / ".git/index").write_bytes(index.replace(b"kept.py", b"../p.py"))
    assert not any(".." in path for path in look(str(checkout), 10).changed)


def test_pipes_are_not_waited_for(checkout: Path) -> None:
    os.mkfifo(checkout / "README.md")
    (checkout / "kept.py").unlink()
    os.mkfifo(checkout / "kept.py")
    (checkout / ".git/index").rename(checkout / ".git/index.kept")
    os.mkfifo(checkout / ".git/index")
    assert look(str(checkout), 10) == Checkout()
    (checkout / ".git/index").unlink()
    (checkout / ".git/index.kept").rename(checkout / ".git/index")
    assert look(str(checkout), 10).changed == ("kept.py",)


def test_a_look_takes_no_longer_than_it_may(checkout: Path) -> None:
    (checkout / "kept.py").write_text("changed\n")
    assert look(str(checkout), -1).changed == ()
