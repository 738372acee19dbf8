"""A working directory's project: the repository's name, the same from every worktree, without touching the disk."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codexmem.kernel.model.project import UNNAMED, identity, normalised, origin


def disk(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def git(folder: Path, *arguments: str) -> None:
    identity_of_author = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *identity_of_author, *arguments], cwd=folder, check=True, capture_output=True, env=env)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.mark.parametrize(
    "url, whole, name",
    [
        ("git@github.com:owner/my-app.git", "github.com/owner/my-app", "my-app"),
        ("https://github.com/owner/my-app.git", "github.com/owner/my-app", "my-app"),
        ("https://GitHub.com/owner/my-app/", "github.com/owner/my-app", "my-app"),
        ("https://user:token@github.com/owner/my-app", "github.com/owner/my-app", "my-app"),
        ("ssh://git@github.com:22/owner/my-app.git", "github.com/owner/my-app", "my-app"),
        ("git://[::1]:9418/owner/my-app.git", "[::1]:9418/owner/my-app", "my-app"),
        ("https://gitlab.com/group/sub/my-app.git", "gitlab.com/group/sub/my-app", "my-app"),
        ("host:my-app.git", "host/my-app", "my-app"),
        ("/srv/git/my-app.git", "/srv/git/my-app", "my-app"),
        ("../my-app", "../my-app", "my-app"),
        ("file:///srv/git/my-app.git/", "/srv/git/my-app", "my-app"),
        (r"C:\repos\my-app.git", "C:/repos/my-app", "my-app"),
        ("git@gitee.com:公司/订单服务.git", "gitee.com/公司/订单服务", "订单服务"),
    ],
)
def test_one_repository_has_one_name(url: str, whole: str, name: str, repository: Path) -> None:
    assert normalised(url) == whole
    git(repository, "remote", "add", "origin", url)
    assert identity(str(repository), disk) == name
    assert origin(str(repository), disk) == whole


def test_without_origin_it_is_the_folder_of_the_repository(repository: Path) -> None:
    inside = repository / "src" / "deep"
    inside.mkdir(parents=True)
    assert identity(str(inside), disk) == "checkout"
    assert identity(f"{inside}/", disk) == "checkout"
    assert origin(str(inside), disk) == str(repository)


def test_worktrees_are_one_project(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "feature"), "-b", "feature")
    inside = tmp_path / "feature" / "src"
    inside.mkdir()
    assert identity(str(inside), disk) == "checkout"
    git(repository, "remote", "add", "origin", "git@h:o/my-app.git")
    assert identity(str(inside), disk) == identity(str(repository), disk) == "my-app"


def test_worktrees_of_a_bare_repository_are_one_project(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "central.git"))
    git(tmp_path / "central.git", "remote", "remove", "origin")
    git(tmp_path / "central.git", "worktree", "add", "-q", str(tmp_path / "work"))
    assert identity(str(tmp_path / "work"), disk) == "central"


def test_a_submodule_is_its_own_project(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "first")
    git(repository, "submodule", "add", "-q", str(library), "vendor/lib")
    assert identity(str(repository / "vendor" / "lib"), disk) == "library"
    assert identity(str(repository / "vendor"), disk) == "checkout"


def test_what_git_is_told_wins_and_holds_for_worktrees(repository: Path, tmp_path: Path) -> None:
    git(repository, "remote", "add", "origin", "git@h:acme/api.git")
    git(repository, "config", "codexmem.project", "acme-api")
    git(repository, "worktree", "add", "-q", str(tmp_path / "feature"), "-b", "feature")
    assert identity(str(repository), disk) == "acme-api"
    assert identity(str(tmp_path / "feature"), disk) == "acme-api"


def test_the_same_name_from_elsewhere_can_be_told_apart(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(repository, "remote", "add", "origin", "git@h:acme/api.git")
    git(other, "remote", "add", "origin", "git@h:initech/api.git")
    assert identity(str(repository), disk) == identity(str(other), disk) == "api"
    assert origin(str(repository), disk) != origin(str(other), disk)


def test_without_git_it_is_the_folder() -> None:
    nothing = lambda _: None  # noqa: E731
    assert identity("/home/me/notes", nothing) == "notes"
    assert identity("/home/me/笔记/", nothing) == "笔记"
    assert identity(r"C:\Users\me\my-app", nothing) == "my-app"
    assert identity(r"\\server\share\my-app", nothing) == "my-app"
    assert identity("/", nothing) == UNNAMED
    assert identity("", nothing) == UNNAMED
    assert identity("C:\\", nothing) == UNNAMED
    assert identity("/a/" + "x" * 500, nothing) == "x" * 200
    assert identity("/a/b\nc", nothing) == "b c"


def test_a_repository_on_windows() -> None:
    files = {
        "C:/src/app/.git/HEAD": "ref: refs/heads/main\n",
        "C:/src/app/.git/config": '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@h:o/my-app.git\n',
        "D:/trees/feature/.git": "gitdir: C:/src/app/.git/worktrees/feature\n",
        "C:/src/app/.git/worktrees/feature/commondir": "../..\n",
    }
    assert identity(r"C:\src\app\lib", files.get) == "my-app"
    assert identity(r"D:\trees\feature", files.get) == "my-app"


def test_a_folder_called_git_is_no_repository() -> None:
    assert identity("/a/b/c", {"/a/.git/HEAD": "x"}.get) == "a"
    assert identity("/a/b/c", {"/a/.git/config": "x"}.get) == "c"


@pytest.mark.parametrize(
    "config, name",
    [
        ('[remote "origin"]\n\turl = "git@h:o/quoted.git"\n', "quoted"),
        ('[remote "origin"]\n\turl = git@h:o/noted.git ; the new one\n', "noted"),
        ('[remote "origin"] url = git@h:o/inline.git\n', "inline"),
        ('[REMOTE "origin"]\n\tURL = git@h:o/loud.git\n', "loud"),
        ('[remote "origin"]\n\turl = git@h:o/one.git\n\turl = git@h:o/two.git\n', "two"),
        ('[remote "upstream"]\n\turl = git@h:o/other.git\n', "root"),
        ('[remote "origin"]\n\tfetch = x\n', "root"),
        ("not a configuration", "root"),
    ],
)
def test_the_configuration_is_read_as_git_reads_it(config: str, name: str) -> None:
    assert identity("/x/root", {"/x/root/.git/HEAD": "x", "/x/root/.git/config": config}.get) == name


def test_broken_pointers_end() -> None:
    assert identity("/x/y", {"/x/y/.git": "gitdir: /nowhere\n"}.get) == "y"
    assert identity("/x/y", {"/x/y/.git": "garbage"}.get) == "y"
    assert identity("/" + "a/" * 5_000, lambda _: None) == "a"
