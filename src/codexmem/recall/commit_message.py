"""What a commit message says: its subject, its body without trailers, what it takes back, and whether it tells anything
that is worth remembering. English and Chinese; no input or output.

Worth remembering is what explains (a body of its own) or what declares a change of behaviour in the conventional form
(`feat:`, `fix:`, `perf:`, `revert:`, anything with `!`). Merges, versions, typos, formatting and what robots commit
are routine.
"""

import re
from dataclasses import dataclass

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
    r"(?:[\w./-]*#\d+|https?://\S+|[A-Z]+-\d+)(?:[,，\s]+(?:[\w./-]*#\d+|https?://\S+|[A-Z]+-\d+))*\.?$|"  # noqa: RUF001
    r"\W*generated (?:with|by) \[?[\w .-]+|-{3,}$"
)
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
_HASH = re.compile(r"[0-9a-f]{7,64}")
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
    lines = message.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
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
    hashes = [found for each in _REVERTS.finditer(whole) for found in _HASH.findall(each["list"])]
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
