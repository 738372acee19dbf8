"""Reading a repository's history: what comes of each commit, every form of one, and no program of a checkout."""

from __future__ import annotations

import os
import subprocess
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from codexmem.kernel.model.errors import InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.import_row import Broken, Flaw, ForeignMemory
from codexmem.recall.git_history import GitHistory
from tests._support.git import Repository

pytestmark = pytest.mark.process

WHY = "\n\nThe upstream resets its window after 13 seconds, so an eighth attempt always fails."


def rows(path: Path, **options: int) -> list[ForeignMemory]:
    return [row for row in read(path, **options) if isinstance(row, ForeignMemory)]


def read(path: Path, **options: int) -> list[ForeignMemory | Broken]:
    with closing(GitHistory(path, **options)) as history:  # type: ignore[arg-type]
        return list(history.rows())


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "shop")


def test_a_commit_becomes_a_row(made: Repository) -> None:
    made.commit("initial commit", "a.py")
    commit = made.commit(f"fix: cap attempts{WHY}\n\nSigned-off-by: Ada <a@b.c>", "src/重试.py", "with space.py")
    (row,) = rows(made.path / "src")
    assert (row.id, row.place) == (f"git-{commit}", f"git:{commit[:12]}")
    assert (row.title, row.text, row.type, row.subtitle) == ("fix: cap attempts", WHY.strip(), "bugfix", "Ada")
    assert (row.files_modified, row.project) == (("src/重试.py", "with space.py"), "shop")
    assert row.at_ms == 1_700_000_120_000


def test_parents_come_first_and_what_is_routine_is_told_as_such(made: Repository) -> None:
    made.commit(f"Choose SQLite{WHY}", "a")
    made.commit("wip", "b")
    made.git("checkout", "-q", "-b", "side")
    made.commit(f"feat: side{WHY}", "c")
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "-m", f"Merge branch 'side'\n\nTake the side road{WHY}", "side")
    seen = read(made.path)
    assert [row.title if isinstance(row, ForeignMemory) else row.flaw for row in seen] == [
        "Choose SQLite", Flaw.ROUTINE, "feat: side", "Take the side road",
    ]  # fmt: skip
    assert isinstance(seen[3], ForeignMemory)
    assert seen[3].files_modified == ("c",)


def test_all_forms_of_a_repository_are_read(made: Repository, tmp_path: Path) -> None:
    made.commit(f"Choose SQLite{WHY}", "a")
    made.commit(f"Choose WAL{WHY}", "a")
    titles = ["Choose SQLite", "Choose WAL"]
    made.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    made.git("clone", "-q", "--bare", str(made.path), str(tmp_path / "bare.git"))
    made.git("clone", "-q", "--shared", str(made.path), str(tmp_path / "shared"))
    made.git("clone", "-q", "--depth=1", made.path.as_uri(), str(tmp_path / "shallow"))
    for name in ("tree", "bare.git", "shared"):
        assert [row.title for row in rows(tmp_path / name)] == titles
    assert [row.title for row in rows(tmp_path / "shallow")] == titles[1:]
    made.git("pack-refs", "--all")
    made.git("gc", "-q")
    assert [row.title for row in rows(made.path)] == titles
    made.git("checkout", "-q", "--detach")
    assert [row.title for row in rows(made.path)] == titles
    sha256 = Repository(tmp_path / "wide", "--object-format=sha256")
    sha256.commit(f"Choose SHA-256{WHY}", "a")
    (row,) = rows(sha256.path)
    assert len(row.commit) == 64


def test_every_clone_has_the_same_fingerprint(made: Repository, tmp_path: Path) -> None:
    first = made.commit("one", "a")
    made.git("clone", "-q", str(made.path), str(tmp_path / "clone"))
    made.commit("two", "a")
    for path in (made.path, tmp_path / "clone"):
        with closing(GitHistory(path)) as history:
            assert history.fingerprint() == first[:16]


def test_only_the_newest_and_only_since(made: Repository) -> None:
    for number in range(4):
        made.commit(f"Choice {number}{WHY}", "a")
    assert [row.title for row in rows(made.path, newest=2)] == ["Choice 2", "Choice 3"]
    assert [row.title for row in rows(made.path, since_ms=1_700_000_180_000)] == ["Choice 2", "Choice 3"]


def test_reverts_name_what_they_take_back(made: Repository) -> None:
    one = made.commit(f"feat: cache{WHY}", "a")
    two = made.commit(f"feat: pool{WHY}", "b")
    by_hash = made.commit(f'Revert "feat: cache"\n\nThis reverts commit {one[:10]}.')
    made.commit('Revert "feat: pool"')
    made.commit(f'Reapply "feat: cache"\n\nThis reverts commit {by_hash}.')
    assert [row.reverts for row in rows(made.path)] == [(), (), (one,), (two,), (by_hash,)]


def test_a_merge_that_is_taken_back_takes_back_what_it_merged(made: Repository) -> None:
    made.commit("one", "a")
    made.git("checkout", "-q", "-b", "side")
    side = made.commit(f"feat: side{WHY}", "c")
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "-m", "Merge branch 'side'", "side")
    merge = made.git("rev-parse", "HEAD")
    made.commit(f"Revert \"Merge branch 'side'\"\n\nThis reverts commit {merge}, reversing\nchanges made to {side}.")
    assert rows(made.path)[-1].reverts == (merge, side)


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no git repository"):
        GitHistory(tmp_path)
    empty = Repository(tmp_path / "empty")
    with pytest.raises(NotFound, match="no commit yet"):
        GitHistory(empty.path)
    (empty.path / ".git" / "reftable").mkdir()
    with pytest.raises(InvalidArgument, match="reftable"):
        GitHistory(empty.path)


def test_a_damaged_repository_is_an_error_and_not_an_end(made: Repository) -> None:
    first = made.commit(f"Choose SQLite{WHY}", "a")
    made.commit(f"Choose WAL{WHY}", "a")
    (made.path / ".git" / "objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(Unavailable, match="git could not read"):
        rows(made.path)


def test_a_git_that_waits_for_ever_is_stopped(made: Repository) -> None:
    first = made.commit(f"Choose SQLite{WHY}", "a")
    loose = made.path / ".git" / "objects" / first[:2] / first[2:]
    loose.unlink()
    os.mkfifo(loose)
    with pytest.raises(Unavailable):
        read(made.path, wait_s=1)


HOSTILE = """
[core]
    fsmonitor = {run} fsmonitor
    hooksPath = {hooks}
    pager = {run} pager
    editor = {run} editor
    sshCommand = {run} ssh
    gitProxy = {run} proxy
    askPass = {run}
    alternateRefsCommand = {run} alternates
    attributesFile = {attributes}
[pager]
    log = {run} pager-log
    rev-list = {run} pager-rev-list
    diff-tree = {run} pager-diff-tree
[log]
    showSignature = true
    mailmap = true
[gpg]
    program = {run}
[gpg "ssh"]
    program = {run}
    defaultKeyCommand = {run} key
[diff]
    external = {run} external
[diff "bad"]
    textconv = {run} textconv
    command = {run} command
[filter "bad"]
    clean = {run} clean
    smudge = {run} smudge
    process = {run} process
    required = true
[merge "bad"]
    driver = {run} driver
[alias]
    log = !{run} alias-log
    rev-list = !{run} alias-rev-list
    diff-tree = !{run} alias-diff-tree
[credential]
    helper = !{run} credential
[include]
    path = {included}
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::{run} remote
    uploadpack = {run} uploadpack
    promisor = true
    partialclonefilter = tree:0
    vcs = bad
[uploadpack]
    packObjectsHook = {run} pack
[trace2]
    eventTarget = {log}
"""


def test_no_program_that_a_checkout_names_is_run(
    made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.commit(f"Choose SQLite{WHY}", "a.txt")
    signed = made.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n", 1
    )
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"], cwd=made.path,
        input=signed.encode(), capture_output=True, check=True,
    )  # fmt: skip
    made.git("update-ref", "refs/heads/main", done.stdout.decode().strip())
    made.git("reset", "-q", "--hard")
    ran = tmp_path / "ran"
    program = tmp_path / "program.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\nexit 0\n')
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    for folder in (hooks, made.path / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in (
            "post-checkout",
            "reference-transaction",
            "post-index-change",
            "pre-auto-gc",
            "fsmonitor-watchman",
        ):
            (folder / name).write_bytes(program.read_bytes())
            (folder / name).chmod(0o755)
    for name in ("git", "git-remote-bad", "git-remote-ext"):  # found first by who looks in the working directory
        (made.path / name).write_bytes(program.read_bytes())
        (made.path / name).chmod(0o755)
    (made.path / ".gitattributes").write_text("* diff=bad filter=bad merge=bad\n")
    (made.path / ".git" / "info" / "attributes").write_text("* diff=bad filter=bad merge=bad\n")
    included = tmp_path / "included"
    included.write_text(f"[core]\n\tpager = {program} included\n")
    text = HOSTILE.format(run=program, hooks=hooks, attributes=tmp_path / "attributes", included=included,
                          log=tmp_path / "trace")  # fmt: skip
    with (made.path / ".git" / "config").open("a") as config:
        config.write(text)
    monkeypatch.chdir(made.path)
    found = rows(Path())
    assert [row.title for row in found] == ["Choose SQLite"]
    tree = made.path / ".git" / "objects"
    blob = subprocess.run(["git", "--git-dir", str(made.path / ".git"), "rev-parse", "HEAD^{tree}"],
                          capture_output=True, check=True).stdout.decode().strip()  # fmt: skip
    (tree / blob[:2] / blob[2:]).unlink()  # a partial clone lacks it: git would fetch
    with pytest.raises(Unavailable):
        rows(made.path)
    assert not ran.exists(), ran.read_text()
    assert not (tmp_path / "trace").exists()
    # The trap is one: git in this checkout does run what it names.
    subprocess.run(["git", "-C", str(made.path), "log", "-1", "--show-signature"], capture_output=True, check=False)
    assert ran.exists()


def test_a_path_cannot_pass_for_a_commit(made: Repository) -> None:
    fake = "0" * 40
    made.commit(f"Choose SQLite{WHY}", "\n", f"\n{fake}", fake)
    (row,) = rows(made.path)
    assert set(row.files_modified) == {"\n", f"\n{fake}", fake}


def test_memory_does_not_grow_with_the_history(made: Repository) -> None:
    made.commit("one", "a")
    stream = b"".join(
        b"commit refs/heads/main\ncommitter A <a@b.c> %d +0000\ndata %d\n%b\n%bM 100644 inline f%d\ndata 1\nx\n"
        % (1_700_000_000 + n, len(text), text, b"from refs/heads/main^0\n" if n == 0 else b"", n % 50)
        for n, text in ((n, b"Choice %d\n\n%b" % (n, b"because it was measured so " * 60)) for n in range(2_000))
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=made.path, input=stream, check=True)
    history = GitHistory(made.path)
    tracemalloc.start()
    try:
        count = sum(isinstance(row, ForeignMemory) for row in history.rows())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        history.close()
    assert count == 2_000
    assert peak < 3 << 20
