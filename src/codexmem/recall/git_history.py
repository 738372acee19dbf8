"""The commits of a repository, read by a git that never sees the checkout.

A checkout's configuration, attributes and hooks can name programs for nearly everything that git does. So git is given
a repository of our own making, empty but for its own three-line configuration, and from the checkout only the folder of
its objects, which are data. Where its history ends (HEAD, a branch, a packed one, the boundary of a shallow clone) is
read here, from files. Missing objects of a partial clone are not fetched: our repository has no remote.

One commit is held at a time, whatever the length of the history; git itself holds the order of all.

What a commit message says: its subject, its body without trailers, what it takes back, and whether it tells anything
that is worth remembering. English and Chinese; no input or output.

Worth remembering is what explains (a body of its own) or what declares a change of behaviour in the conventional form
(`feat:`, `fix:`, `perf:`, `revert:`, anything with `!`). Merges, versions, typos, formatting and what robots commit
are routine.
"""

import contextlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from codexmem.kernel.model import file_blobs, ids, project
from codexmem.kernel.model.clipping import clip
from codexmem.kernel.model.errors import InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.file_blobs import MAX_STAMPS
from codexmem.kernel.model.import_row import GIT, MAX_REVERTS, MAX_TEXT, Broken, Flaw, ForeignMemory
from codexmem.kernel.model.memory import Kind

_CONVENTIONAL = re.compile(
    r"(?P<word>[A-Za-z]{2,12}|修复|修正|新增|功能|优化|性能|重构|回滚|还原|撤销|文档|样式|测试|杂项)"
    r"(?P<scope>\([^)\n]{0,60}\)|（[^）\n]{0,60}）)?(?P<breaking>!)?\s?[:：]\s*(?P<rest>.*)",  # noqa: RUF001
)
_WORDS = {
    "修复": "fix", "修正": "fix", "bugfix": "fix", "hotfix": "fix", "新增": "feat", "功能": "feat", "feature": "feat",
    "优化": "perf", "性能": "perf", "重构": "refactor", "回滚": "revert", "还原": "revert", "撤销": "revert",
}  # fmt: skip
_KNOWN = frozenset({
    "feat", "fix", "perf", "refactor", "revert", "docs", "style", "test", "tests", "chore", "build", "ci", "security",
})  # fmt: skip
_TELLING = frozenset({"feat", "fix", "perf", "revert", "security"})  # that tell something by their subject alone
_TYPES = {"fix": "bugfix", "security": "bugfix", "feat": "feature", "refactor": "refactor", "revert": "decision"}
_TRAILER = re.compile(
    r"(?i)(?:[\w-]+-by|cc|change-id|reviewed-on|link|git-svn-id|differential revision|pr-url|issue|bug|see-also|"
    r"x-[\w-]+|cr-[\w-]+|type|signed-off|skip-checks)\s?:\s|"
    r"\(cherry[ -]picked from commit [0-9a-f]+\)|"
    r"(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|see|part of|related to|关闭|修复|相关)[:：]?\s*"  # noqa: RUF001
    r"(?:[\w./-]*#\d+|https?://\S++|[A-Z]+-\d+)(?:[,，\s]++(?:[\w./-]*#\d+|https?://\S++|[A-Z]+-\d+))*\.?$|"  # noqa: RUF001
    r"\W*generated (?:with|by) \[?[\w .-]+|-{3,}$"
)
# What git itself notes of a merge that somebody had to settle by hand.
_CONFLICTS = re.compile(r"^#? ?Conflicts:\n(?:(?:#[ \t]+|\t)\S.*(?:\n|\Z))+", re.MULTILINE)
_ROBOT = re.compile(r"(?i)\[bot\]|\b(?:dependabot|renovate|greenkeeper|pre-commit-ci|snyk-bot|github-actions)\b")
_NEVER = re.compile(  # whatever the body says
    r"(?i)(?:fixup|squash|amend)! |wip\b|\[wip\]|(?:release|version|v)\s?v?\d+(?:\.\d+)+|"
    r"(?:chore|build|ci)\((?:release|deps(?:-dev)?)\)!?: (?:bump|update|release|v?\d)|"
    r"bump(?:ed|s)? (?:the )?version|(?:发布|版本)\s?v?\d|"
    r"bump \S+ from \S+ to \S+|update dependency \S+ to |(?:进行中|临时提交)"
)
_ROUTINE = re.compile(
    r"(?i)\b(?:typos?|spelling|misspell\w*|whitespace|formatt?(?:ing|ed)?|reformat\w*|lint(?:er|ing)?|flake8|pep-?8|"
    r"black|isort|prettier|ruff|bump\w*|changelog|readme|copyright|nits?|cosmetic\w*|indentation|trailing spaces?|"
    r"missing (?:comma|newline|import)|unused imports?|review comments?|oops)\b|"
    r"^(?:minor|misc|tmp|temp|test|update|cleanup|clean up|initial commit|first commit)\b[\w .]{0,20}$|"
    r"错别字|拼写|格式化|代码格式|调整格式|升级依赖|更新依赖|更新版本|更新日志|初始提交|小改动|更新文档"
)
_MERGE = re.compile(r"(?i)merge (?:branch|pull request|remote-tracking|tag|commit|changes|.{1,80} into )|合并")
_REVERT = re.compile(r'(?:Revert|Reapply|回滚|撤销|还原)\s*["“「](?P<old>.+)["”」](?:\s*\(#\d+\))?$')
_REVERTS = re.compile(r"(?i)(?:this )?(?:reverts?|reverting|回滚|撤销|还原)(?: of)?(?: commits?|提交)?[: ]+(?P<list>"
                      r"[0-9a-f]{7,64}(?:(?:,|，|、|\s|and)+[0-9a-f]{7,64})*)\b")  # fmt: skip  # noqa: RUF001
_REVERTS_MERGE = re.compile(r"(?i)reversing\s+changes\s+made\s+to")
_REVERT_LINE = re.compile(r"(?i)^(?:this )?reverts? (?:commits? [0-9a-f]{7,64}|[\w./-]+#\d+).*$", re.MULTILINE)
_SHA = re.compile(r"[0-9a-f]{7,64}")
_SQUASHED = re.compile(r"\(#\d+\)$|\(!\d+\)$")
_BULLET = re.compile(r"^\s*[*•-]\s+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]{2,}|\d[\w.]*")
_SUBJECT_WORDS, _BODY_WORDS, _LONG_BODY_WORDS = 4, 5, 15
_PER_WORD = 2  # Chinese characters that say as much as a word


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A message taken apart."""

    subject: str
    body: str  # without trailers
    word: str = ""  # conventional type: feat, fix, …
    breaking: bool = False
    rest: str = ""  # the subject after its conventional type
    reverts: tuple[str, ...] = ()  # hashes, maybe short
    reverted_subject: str = ""  # of the commit that it takes back
    reverts_merge: bool = False

    @property
    def is_revert(self) -> bool:
        """Whether it takes another commit back."""
        return bool(self.reverts or self.reverted_subject)

    @property
    def type(self) -> str:
        """As which type of observation it is kept; what was reviewed and explained is a decision."""
        if self.is_revert or self.breaking or (_SQUASHED.search(self.subject) and _size(self.body) >= _BODY_WORDS):
            return "decision"
        return _TYPES.get(self.word, "change")


def parsed(message: str, *, merge: bool = False) -> CommitMessage:
    """Take a message apart; that of a merge is named by what it merges, where it says so."""
    lines = _CONFLICTS.sub("", message.replace("\r\n", "\n").replace("\r", "\n")).strip().split("\n")
    subject, rest = " ".join(lines[0].split()), lines[1:]
    if merge and _MERGE.match(subject):
        said = [line for line in rest if line.strip() and not _TRAILER.match(line.strip())]
        if len(said) > 1:  # a single line is the title of a branch whose commits say it themselves
            subject = " ".join(said[0].split())
            rest = rest[rest.index(said[0]) + 1 :]
    conventional = _CONVENTIONAL.match(subject)
    word = conventional["word"].lower() if conventional else ""
    word = _WORDS.get(word, word)
    known = conventional is not None and word in _KNOWN
    old = _REVERT.match(subject)
    whole = "\n".join(rest)
    hashes = [found for each in _REVERTS.finditer(whole) for found in _SHA.findall(each["list"])]
    reverted = old["old"].strip() if old else conventional["rest"].strip() if known and word == "revert" else ""  # type: ignore[index]
    return CommitMessage(
        subject,
        _without_trailers(rest),
        word if known else "",
        bool(known and conventional["breaking"]) or "\nBREAKING CHANGE: " in message,  # type: ignore[index]
        conventional["rest"] if known else subject,  # type: ignore[index]
        tuple(dict.fromkeys(hashes)),
        reverted,
        bool(_REVERTS_MERGE.search(whole)),
    )


def tells(said: CommitMessage, *, author: str = "", merge: bool = False) -> bool:
    """Whether it is worth remembering."""
    if not said.subject or _ROBOT.search(author) or _NEVER.match(said.subject):
        return False
    if merge and _MERGE.match(said.subject):
        return False
    if said.is_revert:
        return True
    explained = _size("\n".join(line for line in said.body.split("\n") if not _is_routine_bullet(line)))
    if said.body == said.subject:
        explained = 0
    if _ROUTINE.search(said.rest):
        return explained >= _LONG_BODY_WORDS
    if explained >= _BODY_WORDS:
        return True
    return (said.word in _TELLING or said.breaking) and _size(said.rest) >= _SUBJECT_WORDS


def text_of(said: CommitMessage) -> str:
    """What its memory tells beyond its title: the body, without the line that names what is taken back."""
    return _REVERT_LINE.sub("", said.body).strip() if said.is_revert else said.body


def _without_trailers(lines: list[str]) -> str:
    kept = [line.rstrip() for line in lines if not _TRAILER.match(line.strip())]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _is_routine_bullet(line: str) -> bool:
    """A line of a squashed branch that tells of no more than its own commit."""
    bullet = _BULLET.match(line)
    if bullet is None:
        return False
    text = line[bullet.end() :]
    return bool(_NEVER.match(text) or _ROUTINE.search(text) or _MERGE.match(text)) or _size(text) < _SUBJECT_WORDS


def _size(text: str) -> int:
    """Its words; Chinese has no spaces between them."""
    chinese = len(_CHINESE.findall(text))
    return len(_WORD.findall(_CHINESE.sub(" ", text))) + chinese // _PER_WORD


_HASH = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
_FIELDS = 5  # of a commit, before its files
_FORMAT = "%H%x00%P%x00%an%x00%at%x00%B"
_MOST_BYTES = 4 * MAX_TEXT  # of one field
_MOST_FILES = 100  # of a commit; what changes more is about none of them
_SMALL = 1 << 16  # bytes of a file that names a commit
_SHALLOW = 1 << 22
_PACKED = 1 << 28  # bytes of packed references that are looked through
_MERGES = 500  # taken back, whose commits git is asked for one by one
_DEEP = 5  # references that name each other
_RECENT = 10_000  # commits among which one is found by its subject or short hash
_SAID = 300  # characters of git's own complaint
_LAST_MS = 4_102_444_800_000  # the year 2100
_LONGEST_S = 86_400.0  # for the longest history


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, as git tells it."""

    hash: str
    parents: tuple[str, ...]
    author: str
    at_s: int | None
    message: str
    files: tuple[str, ...]
    blobs: tuple[str, ...] = ()  # stamps of what it left of them


class GitHistory:
    """The history that HEAD of one checkout or bare repository names, opened."""

    program = GIT

    def __init__(self, path: Path, *, project_name: str | None = None, since_ms: int | None = None,
                 newest: int | None = None, wait_s: float | None = None) -> None:  # fmt: skip
        self.path, folder = _git_folder(path)
        common = _common(folder)
        self.head = _head(folder, common)
        self.project = project_name or project.identity(str(self.path), _text)
        self._first = ""
        self._asked_merges = 0
        self._objects = f"{common}/objects"
        self._program = _git()
        self._limits = [
            *([f"--max-age={since_ms // 1000}"] if since_ms is not None else []),
            *([f"--max-count={newest}"] if newest is not None else []),
        ]
        self._until = ids.monotonic() + wait_s if wait_s is not None else None
        self._own = tempfile.TemporaryDirectory(prefix="codexmem-git-")
        _prepare(Path(self._own.name), self.head, _text(f"{common}/shallow", _SHALLOW) or "")

    def close(self) -> None:
        """Give back what was made."""
        self._own.cleanup()

    def fingerprint(self) -> str:
        """What tells this repository from others, in every clone of it: its first commit."""
        if not self._first:
            self._first = self._asked("rev-list", "--first-parent", "--max-parents=0", self.head).split()[-1]
        return self._first[:16]

    def total(self) -> int:
        """How many commits there are."""
        return int(self._asked("rev-list", "--count", *self._limits, self.head))

    def rows(self) -> Iterator[ForeignMemory | Broken]:
        """Every commit, parents before children, as a row or as one that is passed over."""
        recent = _RecentCommits()
        for commit in self.commits():
            merge = len(commit.parents) > 1
            said = parsed(commit.message, merge=merge)
            reverts = self._reverted(said, recent)
            recent.add(commit.hash, commit.message)
            if commit.at_s is None or not 0 <= commit.at_s * 1000 < _LAST_MS:
                yield Broken(Kind.OBSERVATION, 0, Flaw.NO_TIME)
            elif not tells(said, author=commit.author, merge=merge):
                yield Broken(Kind.OBSERVATION, 0, Flaw.ROUTINE)
            else:
                yield self._row(commit, said, reverts, commit.at_s * 1000)

    def _row(self, commit: Commit, said: CommitMessage, reverts: tuple[str, ...], at_ms: int) -> ForeignMemory:
        return ForeignMemory(
            Kind.OBSERVATION, 0, at_ms, project=self.project, text=clip(text_of(said), MAX_TEXT),
            type=said.type, title=clip(said.subject, MAX_TEXT), subtitle=commit.author, files_modified=commit.files,
            commit=commit.hash, reverts=reverts, blobs=commit.blobs,
        )  # fmt: skip

    def _reverted(self, said: CommitMessage, recent: "_RecentCommits") -> tuple[str, ...]:
        named = [full for each in said.reverts if (full := recent.hash_of(each)) is not None]
        if not named and (by_subject := recent.titled(said.reverted_subject)) is not None:
            named = [by_subject]
        if said.reverts_merge and self._asked_merges < _MERGES:
            # A merge that is taken back takes back what it merged.
            self._asked_merges += 1
            named += [each for merge in named[:1] for each in self._merged(merge)]
        return tuple(dict.fromkeys(named))[:MAX_REVERTS]

    def _merged(self, merge: str) -> list[str]:
        try:
            return self._asked("rev-list", f"--max-count={MAX_REVERTS}", f"{merge}^1..{merge}").split()
        except Unavailable:  # no commit of this repository, or the first
            return []

    def commits(self) -> Iterator[Commit]:
        """Every commit, parents before children; one at a time is held."""
        token = ids.secret(16)
        walk = ["rev-list", "--topo-order", "--reverse", *self._limits, self.head]
        show = ["diff-tree", "--stdin", "-z", "-r", "--root", "-m", "--diff-merges=first-parent", "--always",
                "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--raw", "--no-abbrev",
                "--encoding=UTF-8", f"--format={token}%x00{_FORMAT}"]  # fmt: skip
        with contextlib.ExitStack() as stack:
            errors = stack.enter_context(tempfile.TemporaryFile())
            walking = stack.enter_context(self._started(walk, subprocess.DEVNULL, errors))
            assert walking.stdout is not None
            showing = stack.enter_context(self._started(show, walking.stdout, errors))
            assert showing.stdout is not None
            walking.stdout.close()  # so that the first ends when the second does
            yield from _commits(_pieces(showing.stdout), token.encode())
            if showing.wait() or walking.wait():
                raise self._failed(errors)

    def _asked(self, *words: str) -> str:
        with tempfile.TemporaryFile() as errors, self._started(words, subprocess.DEVNULL, errors) as process:
            assert process.stdout is not None
            said = process.stdout.read(_SHALLOW)
            if process.wait():
                raise self._failed(errors)
        return said.decode("ascii", "replace").strip()

    @contextlib.contextmanager
    def _started(
        self, words: Sequence[str], stdin: int | IO[bytes], errors: IO[bytes]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A git that ends with us, or when its time is over."""
        process = subprocess.Popen(
            [self._program, "--no-pager", "--no-optional-locks", *words], stdin=stdin, stdout=subprocess.PIPE,
            stderr=errors, env=self._environment(), cwd=self._own.name,
        )  # fmt: skip
        left = _LONGEST_S if self._until is None else max(0.1, self._until - ids.monotonic())
        watch = threading.Timer(left, process.kill)
        watch.daemon = True
        watch.start()
        try:
            yield process
        finally:
            watch.cancel()
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
            process.wait()

    def _environment(self) -> dict[str, str]:
        """All that git is told: nothing of ours, of the person's or of the machine's configuration."""
        own = self._own.name
        return {
            "PATH": f"{Path(self._program).parent}{os.pathsep}{os.defpath}",
            "HOME": own,
            "XDG_CONFIG_HOME": own,
            "LC_ALL": "C",
            "GIT_DIR": own,
            "GIT_OBJECT_DIRECTORY": self._objects,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
        }

    def _failed(self, errors: IO[bytes]) -> Unavailable:
        errors.seek(0)
        said = " ".join(errors.read(4 * _SAID).decode("utf-8", "replace").split())[:_SAID] or "stopped"
        return Unavailable(
            f"git could not read the history of {self.path}: {said}",
            hint="objects of a partial clone are not fetched; `git fetch --refetch` in the checkout brings them",
            details={"reason": "git_failed", "path": str(self.path), "said": said},
        )


class _RecentCommits:
    """The last commits, by subject and by short hash: a revert may name either."""

    def __init__(self) -> None:
        self._hashes: OrderedDict[str, str] = OrderedDict()

    def add(self, commit: str, message: str) -> None:
        subject = " ".join(message.strip().partition("\n")[0].split())[:_SAID]
        for key in (f"={subject}", commit[:7]):
            self._hashes.pop(key, None)
            self._hashes[key] = commit
        while len(self._hashes) > 2 * _RECENT:
            self._hashes.popitem(last=False)

    def hash_of(self, named: str) -> str | None:
        """The whole of a hash."""
        if _HASH.fullmatch(named):
            return named
        found = self._hashes.get(named[:7])
        return found if found is not None and found.startswith(named) else None

    def titled(self, subject: str) -> str | None:
        return self._hashes.get(f"={subject[:_SAID]}") if subject else None


def _commits(pieces: Iterator[bytes], token: bytes) -> Iterator[Commit]:
    piece = next(pieces, None)
    while piece is not None:
        if piece.lstrip(b"\n") != token:
            raise Unavailable(
                "git answers in an unknown form", hint="use git 2.32 or later", details={"reason": "git_form"}
            )
        head = [each.decode("utf-8", "replace") for each in (next(pieces, b"") for _ in range(_FIELDS))]
        files: list[str] = []
        stamps: list[str] = []
        count = 0
        while (piece := next(pieces, None)) is not None and piece.lstrip(b"\n") != token:
            about = piece.lstrip(b"\n").split()
            name = next(pieces, b"").decode("utf-8", "replace") if piece.lstrip(b"\n").startswith(b":") else ""
            count += 1
            if name and len(files) < _MOST_FILES:
                files.append(name)
                stamps += _stamped(about, name)
        commit, parents, author, at, message = head
        if _HASH.fullmatch(commit):
            at_s = int(at) if re.fullmatch(r"\d{1,12}", at) else None
            kept = () if count > _MOST_FILES else tuple(files)
            yield Commit(commit, tuple(parents.split()), author[:200], at_s, message.replace("\0", ""), kept,
                         tuple(stamps)[:MAX_STAMPS] if kept else ())  # fmt: skip


def _stamped(about: Sequence[bytes], name: str) -> Iterator[str]:
    """The content that a commit left of a file; of one that it removed, and of a link or submodule, there is none."""
    if len(about) == 5 and about[1] in {b"100644", b"100755"}:
        stamp = f"{about[3].decode('ascii', 'replace')} {name}"
        if file_blobs.parsed(stamp) is not None:
            yield stamp


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """What stands between zero bytes; of one that is too long, the beginning."""
    held = bytearray()
    while chunk := stream.read(1 << 16):
        *whole, rest = chunk.split(b"\0")
        for part in whole:
            held += part[: _MOST_BYTES - len(held)]
            yield bytes(held)
            held.clear()
        held += rest[: _MOST_BYTES - len(held)]


def _git_folder(path: Path) -> tuple[Path, str]:
    """The working tree, and git's folder for it; a bare repository is both."""
    place = str(path.expanduser().absolute())
    if _text(f"{place}/HEAD") is not None and Path(place, "objects").is_dir():
        return Path(place), place
    found = project.working_tree(place, _text)
    if found is None:
        raise NotFound(
            f"there is no git repository at {place}",
            hint="name a folder inside a checkout, or a bare repository",
            details={"reason": "no_repository", "path": place},
        )
    return Path(found[0]), found[1]


def _common(folder: str) -> str:
    """Where a worktree keeps what it shares with others."""
    shared = (_text(f"{folder}/commondir") or "").strip()
    return os.path.normpath(Path(folder, shared)) if shared else folder


def _head(folder: str, common: str) -> str:
    """The commit that is checked out."""
    said = (_text(f"{folder}/HEAD") or "").strip()
    for _ in range(_DEEP):
        if _HASH.fullmatch(said):
            return said
        name = said.removeprefix("ref:").strip()
        parts = name.split("/")
        if name == said or parts[0] != "refs" or ".." in parts or "" in parts:
            break
        own = _text(f"{folder}/{name}") or _text(f"{common}/{name}") or _packed(f"{common}/packed-refs", name)
        said = own.strip()
    if Path(common, "reftable").is_dir():
        raise InvalidArgument(
            f"{common} keeps its branches in the reftable form, which cannot be read",
            hint="clone it with `git clone --ref-format=files` and import the clone",
            details={"reason": "reftable", "path": common},
        )
    raise NotFound(
        f"the repository at {common} has no commit yet",
        hint="check out a branch that has commits",
        details={"reason": "no_commits", "path": common},
    )


def _packed(path: str, name: str) -> str:
    file = _opened(path)
    if file is None:
        return ""
    ending = f" {name}".encode()
    with file:
        read = 0
        while read < _PACKED and (line := file.readline(_SMALL)):
            read += len(line)
            if line.rstrip(b"\n").endswith(ending):
                return line.split(b" ", 1)[0].decode("ascii", "replace")
    return ""


def _prepare(own: Path, head: str, shallow: str) -> None:
    """A repository that knows no more than how hashes are made and where history was cut off."""
    sha256 = len(head) == 64
    (own / "refs").mkdir()
    (own / "objects").mkdir()
    (own / "HEAD").write_text("ref: refs/heads/none\n")
    extension = "[extensions]\n\tobjectFormat = sha256\n" if sha256 else ""
    (own / "config").write_text(
        f"[core]\n\trepositoryFormatVersion = {int(sha256)}\n\tbare = true\n{extension}", encoding="ascii"
    )
    cut = [line for line in shallow.split() if _HASH.fullmatch(line) and len(line) == len(head)]
    if cut:
        (own / "shallow").write_text("".join(f"{line}\n" for line in cut), encoding="ascii")


def _git() -> str:
    program = shutil.which("git")
    # A relative folder on the path would let the working directory say which program is run.
    if program is None or not Path(program).is_absolute():
        raise Unavailable(
            "the program git was not found",
            hint="install git and see that it is on the PATH",
            details={"reason": "no_git"},
        )
    return program


def _text(path: str, most: int = _SMALL) -> str | None:
    """A file's first bytes as text; None if it is no regular file."""
    file = _opened(path)
    if file is None:
        return None
    with file:
        return file.read(most).decode("utf-8", "replace")


def _opened(path: str) -> IO[bytes] | None:
    """A regular file, and never a pipe that nobody writes to."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if stat.S_ISREG(os.fstat(number).st_mode):
            return os.fdopen(number, "rb")
    except OSError:
        pass
    os.close(number)
    return None
