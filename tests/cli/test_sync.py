"""`codexmem sync` in real repositories: two clones, two machines, branches, conflicts, deletions, renames, hooks."""

from __future__ import annotations

import os
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from codexmem.sync.cli import command
from codexmem.sync.cli.tree import MemoryFolder
from tests.cli.conftest import Call, Said

pytestmark = [pytest.mark.sqlite, pytest.mark.process]

BODY = "one\ntwo\nthree\nfour\nfive"


class Clone:
    """A checkout with git, and the store that its person uses."""

    def __init__(self, call: Call, root: Path, store: Path) -> None:
        self.call = call
        self.root = root
        self.store = store
        self.folder = root / ".codexmem" / "memory"

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout.strip()

    def sync(self, *args: str) -> Said:
        return self.call("sync", str(self.root), "--data-dir", str(self.store), "--project", "shop", "--json", *args)

    def outcomes(self, *args: str, code: int = 0) -> dict[str, str]:
        said = self.sync(*args)
        assert said.code == code, said
        return {each["path"]: each["outcome"] for each in said.json["files"]}

    def commit(self, message: str = "notes") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def file(self, name: str) -> Path:
        return self.folder / "notes" / "project" / f"{name}.md"

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.file(name).read_text()
        assert old in text
        self.file(name).write_text(text.replace(old, new))

    def note(self, verb: str, name: str, *args: str) -> Any:
        project = ["--project", "shop"] if verb == "create" else []
        said = self.call("memory", verb, f"project://{name}", *args, *project, "--data-dir", str(self.store), "--json")
        assert said.code == 0, said
        return said.json

    def says(self, name: str) -> str:
        return str(self.note("read", name)["content"])


@pytest.fixture
def git_home(home: Path) -> Path:
    (home / ".gitconfig").write_text(
        "[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n[pull]\nrebase = false\n"
    )
    return home


@pytest.fixture
def ann(call: Call, git_home: Path, tmp_path: Path) -> Clone:
    """A repository with one note in step, committed and pushed."""
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "shop.git")], check=True)
    subprocess.run(
        ["git", "clone", "-q", str(tmp_path / "shop.git"), str(tmp_path / "ann")], check=True, capture_output=True
    )
    clone = Clone(call, tmp_path / "ann", tmp_path / "data-ann")
    clone.note("create", "plan", BODY)
    assert clone.outcomes() == {"notes/project/plan.md": "updated"}
    clone.commit("first")
    clone.git("push", "-q", "origin", "main")
    return clone


def cloned(ann: Clone, name: str, store: Path) -> Clone:
    root = ann.root.parent / name
    subprocess.run(["git", "clone", "-q", str(ann.root.parent / "shop.git"), str(root)], check=True)
    return Clone(ann.call, root, store)


def test_files_are_the_same_bytes_on_every_machine_and_nothing_changes_by_itself(ann: Clone, tmp_path: Path) -> None:
    bob = cloned(ann, "bob", tmp_path / "data-bob")
    assert bob.outcomes() == {"notes/project/plan.md": "created"}
    assert bob.says("plan") == BODY
    assert (bob.git("status", "--porcelain"), ann.git("status", "--porcelain")) == ("", "")
    assert (bob.outcomes(), ann.outcomes(), ann.outcomes("--check")) == ({}, {}, {})


def test_an_edit_travels_by_git_from_one_machine_to_the_other_and_names_its_commit(ann: Clone, tmp_path: Path) -> None:
    bob = cloned(ann, "bob", tmp_path / "data-bob")
    bob.outcomes()
    bob.edit("plan", "two", "TWO")
    assert bob.outcomes("--check", code=1) == {"notes/project/plan.md": "taken"}
    sha = bob.commit("say it louder")
    assert bob.outcomes() == {"notes/project/plan.md": "taken"}
    bob.git("push", "-q")
    ann.note("update", "plan", "--old", "five", "--new", "FIVE")
    ann.git("pull", "-q")
    assert ann.outcomes() == {"notes/project/plan.md": "merged"}
    assert ann.says("plan") == "one\nTWO\nthree\nfour\nFIVE"
    versions = ann.note("versions", "plan")["versions"]
    assert f"commit {sha} by Ann" in str(versions)
    assert "FIVE" in ann.file("plan").read_text()


def test_a_merge_in_git_is_one_edit_and_a_conflict_in_git_is_not_taken(ann: Clone, tmp_path: Path) -> None:
    bob = cloned(ann, "bob", tmp_path / "data-bob")
    bob.outcomes()
    for clone, word in ((ann, "ann"), (bob, "bob")):
        clone.edit("plan", "three", word)
        clone.outcomes()
        clone.commit(word)
    ann.git("push", "-q")
    pulled = subprocess.run(["git", "pull", "-q"], cwd=bob.root, capture_output=True, check=False)
    assert pulled.returncode != 0
    before = bob.file("plan").read_text()
    assert bob.outcomes(code=1) == {"notes/project/plan.md": "conflict"}
    assert (bob.outcomes("--check", code=1), bob.outcomes("--take-in", code=1)) == (
        {"notes/project/plan.md": "conflict"}, {"notes/project/plan.md": "conflict"},
    )  # fmt: skip
    assert (bob.says("plan").splitlines()[2], bob.file("plan").read_text()) == ("bob", before)
    bob.file("plan").write_text(bob.file("plan").read_text().partition("<<<<<<<")[0] + "ann and bob\nfour\nfive\n")
    bob.commit("both")
    assert bob.outcomes() == {"notes/project/plan.md": "taken"}
    bob.git("push", "-q")
    ann.git("pull", "-q")
    assert ann.outcomes() == {"notes/project/plan.md": "taken"}
    assert ann.says("plan") == bob.says("plan") == "one\ntwo\nann and bob\nfour\nfive"


def test_a_conflict_with_the_memory_shows_both_and_changes_nothing_until_it_is_resolved(ann: Clone) -> None:
    ann.note("update", "plan", "--old", "two", "--new", "memory")
    ann.edit("plan", "two", "file")
    assert ann.outcomes("--dry-run", code=1) == {"notes/project/plan.md": "conflict"}
    assert "<<<<" not in ann.file("plan").read_text()
    assert ann.outcomes(code=1) == {"notes/project/plan.md": "conflict"}
    shown = ann.file("plan").read_text()
    assert "<<<<<<< file\nfile\n=======\nmemory\n>>>>>>> memory, version 2\n" in shown
    assert ann.says("plan").splitlines()[1] == "memory"
    # Throwing the edit away is no answer; the same words without the marks are.
    ann.git("checkout", "-q", ".")
    assert ann.outcomes("--take-in") == {"notes/project/plan.md": "updated"}
    assert ann.says("plan").splitlines()[1] == "memory"
    ann.file("plan").write_text(shown.replace("<<<<<<< file\n", "").partition("=======")[0] + "three\nfour\nfive\n")
    assert ann.outcomes() == {"notes/project/plan.md": "taken"}
    assert ann.says("plan").splitlines()[1] == "file"


@pytest.mark.parametrize("side", ["file", "memory"])
def test_every_conflict_can_be_decided_for_one_side(ann: Clone, side: str) -> None:
    ann.note("update", "plan", "--old", "two", "--new", "memory")
    ann.edit("plan", "two", "file")
    ann.outcomes(code=1)
    ann.outcomes("--resolve", side)
    assert ann.says("plan") == BODY.replace("two", side)
    assert ann.file("plan").read_text().endswith(BODY.replace("two", side) + "\n")
    assert ann.outcomes() == {}


def test_an_answer_may_be_committed_and_a_pulled_text_is_no_answer(ann: Clone, tmp_path: Path) -> None:
    ann.note("update", "plan", "--old", "two", "--new", "memory")
    ann.edit("plan", "two", "file")
    ann.commit("mine")
    ann.outcomes(code=1)
    ann.git("checkout", "-q", ".")
    assert ann.outcomes(code=1) == {"notes/project/plan.md": "conflict"}
    bob = cloned(ann, "bob", tmp_path / "data-bob")
    bob.edit("plan", "two", "pulled")
    bob.commit("theirs")
    bob.git("push", "-q")
    ann.git("fetch", "-q")
    ann.git("reset", "-q", "--hard", "origin/main")
    assert ann.outcomes(code=1) == {"notes/project/plan.md": "conflict"}
    assert ann.says("plan").splitlines()[1] == "memory"
    text = ann.file("plan").read_text()
    ann.file("plan").write_text(text.partition("<<<<<<<")[0] + "all three\nthree\nfour\nfive\n")
    ann.commit("answer")
    assert ann.outcomes("--take-in") == {"notes/project/plan.md": "taken"}
    assert ann.says("plan").splitlines()[1] == "all three"


def test_checking_out_an_old_branch_rolls_nothing_back(ann: Clone) -> None:
    ann.git("branch", "old")
    ann.note("create", "later", "not on the old branch")
    ann.edit("plan", "two", "TWO")
    ann.outcomes()
    ann.commit("newer")
    ann.git("checkout", "-q", "old")
    assert ann.outcomes("--take-in") == {"notes/project/plan.md": "updated"}
    assert ann.git("status", "--porcelain") == ""  # hooks leave the checkout alone
    assert (ann.says("plan").splitlines()[1], ann.says("later")) == ("TWO", "not on the old branch")
    ann.git("checkout", "-q", "main")
    assert ann.outcomes() == {}
    ann.git("checkout", "-q", "old")
    said = ann.sync()
    assert (said.json["absent"], ann.outcomes()) == (1, {})
    assert "TWO" in ann.file("plan").read_text()
    ann.git("checkout", "-q", ".")
    # What we wrote there is thrown away: still nothing that anybody said.
    assert ann.outcomes("--take-in") == {"notes/project/plan.md": "updated"}
    # Somebody edits there all the same: that edit alone is taken.
    ann.edit("plan", "five", "FIVE")
    ann.commit("on the old branch")
    assert ann.outcomes() == {"notes/project/plan.md": "merged"}
    assert ann.says("plan") == "one\nTWO\nthree\nfour\nFIVE"


def test_going_back_and_reverting_are_told_apart(ann: Clone) -> None:
    ann.edit("plan", "two", "TWO")
    ann.commit("louder")
    ann.outcomes()
    ann.git("reset", "-q", "--hard", "HEAD~1")
    assert ann.outcomes("--take-in") == {"notes/project/plan.md": "updated"}
    ann.git("reset", "-q", "--hard", "HEAD@{1}")
    ann.outcomes()
    ann.git("revert", "--no-edit", "HEAD")
    assert ann.outcomes() == {"notes/project/plan.md": "taken"}
    assert ann.says("plan") == BODY


def test_a_deletion_hides_the_memory_and_bringing_the_file_back_shows_it(ann: Clone, tmp_path: Path) -> None:
    bob = cloned(ann, "bob", tmp_path / "data-bob")
    bob.outcomes()
    bob.file("plan").unlink()
    assert bob.outcomes() == {"notes/project/plan.md": "deleted"}
    assert bob.call("memory", "read", "project://plan", "--data-dir", str(bob.store)).code == 3
    bob.git("checkout", "-q", ".")
    assert bob.outcomes() == {"notes/project/plan.md": "revived"}
    bob.file("plan").unlink()
    sha = bob.commit("no plan")
    assert [each["cause"][:47] for each in bob.sync().json["files"]] == [f"commit {sha}"]
    bob.git("push", "-q")
    ann.git("pull", "-q")
    assert ann.outcomes() == {"notes/project/plan.md": "deleted"}
    # And the other way: what is deleted in the memory loses its file, unless somebody edited that.
    ann.note("create", "idea", "x")
    ann.outcomes()
    ann.commit("idea")
    ann.note("delete", "idea")
    assert ann.outcomes() == {"notes/project/idea.md": "removed"}
    assert not ann.file("idea").exists()


def test_a_folder_that_is_gone_deletes_nothing_and_many_deletions_are_asked_about(ann: Clone) -> None:
    for number in range(12):
        ann.note("create", f"n{number}", "x")
    ann.outcomes()
    for path in ann.folder.rglob("n*.md"):
        path.unlink()
    said = ann.sync()
    assert (said.code, "12 of 13 files are gone" in said.json["error"]["message"]) == (2, True)
    subprocess.run(["rm", "-rf", str(ann.folder)], check=True)
    assert set(ann.outcomes().values()) == {"updated"}
    assert len(list(ann.folder.rglob("*.md"))) == 13


def test_a_renamed_note_gets_the_address_of_its_place_and_keeps_the_old_one(ann: Clone) -> None:
    ann.file("plan").rename(ann.file("roadmap"))
    assert ann.outcomes() == {"notes/project/roadmap.md": "taken"}
    assert (ann.says("roadmap"), ann.says("plan")) == (BODY, BODY)
    assert "uri: project://roadmap\naliases:\n  - project://plan\n" in ann.file("roadmap").read_text()
    copy = ann.file("copy")
    copy.write_text(ann.file("roadmap").read_text())
    assert ann.outcomes() == {"notes/project/copy.md": "created"}
    assert "uri: project://copy\n---" in copy.read_text()
    assert ann.outcomes() == {}


def test_a_new_file_needs_no_fields(ann: Clone) -> None:
    ann.file("port").write_text("The port is 5179\r\n", newline="")
    assert ann.outcomes("--take-in") == {"notes/project/port.md": "created"}
    assert ann.file("port").read_bytes() == b"The port is 5179\r\n"
    ann.outcomes()
    assert ann.file("port").read_bytes().startswith(b"---\nid: ")
    assert ann.says("port") == "The port is 5179"
    assert ann.outcomes() == {}


def test_what_must_not_come_in_is_named_and_the_rest_goes_on(ann: Clone, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "s.md").write_text("outside")
    ann.file("secret").write_text(f"a\nb {secret}\n")
    ann.file("wrong").write_text("---\ntitle: [\n---\nx\n")
    ann.file("link").symlink_to(outside / "s.md")
    ann.file("user").write_text("---\nuri: user://me\n---\nx\n")
    ann.file("latin").write_bytes(b"caf\xe9")
    (ann.folder / "linked").symlink_to(outside, target_is_directory=True)
    ann.edit("plan", "two", "TWO")
    said = ann.sync()
    assert said.code == 1
    told = {each["path"].rpartition("/")[2]: each for each in said.json["files"]}
    assert {name: each["outcome"] for name, each in told.items()} == {
        "secret.md": "refused", "wrong.md": "refused", "link.md": "refused", "user.md": "refused",
        "latin.md": "refused", "plan.md": "taken",
    }  # fmt: skip
    assert (told["secret.md"]["reason"][:7], told["wrong.md"]["reason"][:7]) == ("line 2:", "line 2:")
    assert secret not in said.out
    assert ann.call("search", "outside", "--data-dir", str(ann.store), "--all-projects", "--json").json["results"] == []
    chinese = ann.call("sync", str(ann.root), "--data-dir", str(ann.store), "--project", "shop", "--lang", "zh")
    assert "拒绝" in chinese.out
    assert "是链接或不是普通文件" in chinese.out


def test_no_link_leads_a_write_outside(ann: Clone, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    subprocess.run(["rm", "-rf", str(ann.folder / "notes")], check=True)
    (ann.folder / "notes").symlink_to(outside, target_is_directory=True)
    ann.sync("--yes")
    ann.note("create", "fresh", "x")
    assert ann.sync("--yes").code != 0
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("linked", [".codexmem", ".codexmem/memory"])
def test_a_folder_that_is_a_link_is_refused_in_words(ann: Clone, tmp_path: Path, linked: str) -> None:
    away = tmp_path / "away"
    away.mkdir()
    place = ann.root / linked
    if place.exists():
        place.rename(tmp_path / "moved")
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(away)
    for flags in ((), ("--check",), ("--take-in",)):
        said = ann.sync(*flags)
        assert said.code == 2, said
        assert f"{place.name} is a link or a file, not a folder" in said.json["error"]["message"]
    assert list(away.iterdir()) == []


def test_what_lies_beyond_the_limit_of_a_folder_is_named_and_not_read(
    ann: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.file("big").parent.mkdir(parents=True, exist_ok=True)
    ann.file("big").write_text("x" * 900)
    ann.file("more").write_text("y" * 900)
    monkeypatch.setattr("codexmem.sync.cli.tree._MOST_IN_ALL", 1_000)
    said = ann.sync("--take-in")
    refused = {each["path"]: each["reason"] for each in said.json["files"] if each["outcome"] == "refused"}
    assert refused == {"notes/project/more.md": "full", "notes/project/plan.md": "full"}


def test_ci_checks_files_without_a_store(ann: Clone, tmp_path: Path) -> None:
    bob = cloned(ann, "ci", tmp_path / "nothing")
    assert (bob.outcomes("--check"), (tmp_path / "nothing").exists()) == ({}, False)
    bob.file("plan").write_text("---\nbroken\n")
    assert bob.outcomes("--check", code=1) == {"notes/project/plan.md": "refused"}


def test_hooks_take_in_are_ours_alone_and_leave_no_trace(
    ann: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = tmp_path / "called"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codexmem").write_text(f'#!/bin/sh\necho "$@" >> {called}\nexit 1\n')
    (tmp_path / "bin" / "codexmem").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    hooks = ann.root / ".git" / "hooks"
    before = sorted(each.name for each in hooks.iterdir())
    (hooks / "post-merge").write_text("#!/bin/sh\necho mine\n")
    said = ann.sync("--install-hook")
    assert (said.code, said.json["foreign"], len(said.json["changed"])) == (1, ["post-merge"], 3)
    assert "sync --take-in" in (hooks / "post-commit").read_text()
    assert os.access(hooks / "post-commit", os.X_OK)
    ann.git("commit", "-q", "--allow-empty", "-m", "the hook never fails a commit")
    assert called.read_text() == "sync --take-in --quiet --folder .codexmem/memory\n"
    assert ann.sync("--remove-hook").code == 0
    assert sorted(each.name for each in hooks.iterdir()) == sorted([*before, "post-merge"])
    ann.git("config", "core.hooksPath", "elsewhere")
    assert ann.sync("--install-hook").code == 5


def test_a_whole_project_leaves_as_a_folder_and_comes_into_another_store(ann: Clone, tmp_path: Path) -> None:
    out, fresh = tmp_path / "out", Clone(ann.call, ann.root, tmp_path / "data-fresh")
    ann.note("create", "端口", "5179")
    assert len(ann.outcomes("--export", str(out))) == 2
    assert ann.sync("--export", str(out)).code == 2
    before = {path: path.read_bytes() for path in out.rglob("*.md")}
    assert set(fresh.outcomes("--import", str(out)).values()) == {"created"}
    assert (fresh.says("端口"), fresh.outcomes("--import", str(out))) == ("5179", {})
    assert {path: path.read_bytes() for path in out.rglob("*.md")} == before
    assert ann.outcomes("--check", code=1) == {"notes/project/端口.md": "updated"}


def test_a_watcher_takes_what_is_written(ann: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_LOOKS_EVERY_S", 0.05)
    seen: list[Any] = []
    whole = command._synced

    def synced(*given: Any, **more: Any) -> Any:
        if len(seen) == 1:
            ann.edit("plan", "two", "TWO")
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(whole(*given, **more))
        return seen[-1]

    monkeypatch.setattr(command, "_synced", synced)
    assert ann.sync("--watch").code == 130
    assert ann.says("plan").splitlines()[1] == "TWO"


def test_options_that_do_not_go_together_are_refused(ann: Clone) -> None:
    assert ann.sync("--check", "--watch").code == 2


def test_packed_objects_and_worktrees_are_read(ann: Clone, tmp_path: Path) -> None:
    for number in range(8):
        ann.edit("plan", "two", "two.") if number else None
        ann.git("commit", "-q", "--allow-empty", "-am", f"c{number}")
    ann.git("gc", "-q", "--prune=now")
    ann.git("pack-refs", "--all")
    sha = ann.git("rev-parse", "HEAD")
    assert [each["cause"] for each in ann.sync().json["files"]] == [f"commit {sha} by Ann"]
    ann.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    tree = Clone(ann.call, tmp_path / "tree", ann.store)
    tree.edit("plan", "five", "FIVE")
    assert tree.outcomes() == {"notes/project/plan.md": "taken"}
    tree.commit("in the worktree")
    assert (tree.outcomes(), ann.outcomes()) == ({}, {"notes/project/plan.md": "updated"})


def test_damaged_and_hostile_objects_make_the_answer_shorter_and_run_nothing(ann: Clone, tmp_path: Path) -> None:
    ann.edit("plan", "two", "TWO")
    ann.commit("edit")
    planted = tmp_path / "planted"
    ann.git("config", "core.fsmonitor", f"touch {planted}")
    ann.git("config", "core.pager", f"touch {planted}")
    (ann.root / ".gitattributes").write_text("*.md filter=evil diff=evil\n")
    ann.git("config", "filter.evil.clean", f"touch {planted}")
    ann.git("config", "diff.evil.textconv", f"touch {planted}")
    for number, path in enumerate(sorted((ann.root / ".git" / "objects").glob("??/*"))):
        path.chmod(0o600)
        path.write_bytes(
            [b"", b"junk", zlib.compress(b"tree 9\x00100644 x"), zlib.compress(b"commit 1\x00")][number % 4]
        )
    (ann.root / ".git" / "objects" / "pack" / "pack-1.idx").write_bytes(b"\xfftOc\x00\x00\x00\x02" + b"\xff" * 2_000)
    planted.unlink(missing_ok=True)
    assert [(each["outcome"], each["cause"]) for each in ann.sync().json["files"]] == [("taken", "working tree")]
    assert not planted.exists()
    assert ann.file("plan").stat().st_mode & 0o777 == 0o644


def test_what_somebody_writes_meanwhile_stays_and_is_no_answer(ann: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ann.note("update", "plan", "--old", "two", "--new", "memory")
    ann.edit("plan", "two", "file")
    whole = MemoryFolder.write

    def late(self: MemoryFolder, *given: Any) -> bool:
        ann.edit("plan", "file", "file, and more")
        monkeypatch.setattr(MemoryFolder, "write", whole)
        return whole(self, *given)

    monkeypatch.setattr(MemoryFolder, "write", late)
    said = ann.sync()
    assert (said.code, said.json["busy"]) == (1, 1)
    assert "file, and more" in ann.file("plan").read_text()
    assert ann.outcomes(code=1) == {"notes/project/plan.md": "conflict"}
    assert ann.says("plan").splitlines()[1] == "memory"
