"""What commit messages say, and which are worth remembering."""

from __future__ import annotations

import pytest

from codexmem.recall.git_history import parsed, tells, text_of

BODY = "\n\nThe upstream resets its window after 13 seconds, so an eighth attempt always fails."


@pytest.mark.parametrize(
    "message",
    [
        f"Cap the number of attempts{BODY}",
        f"fix: cap attempts{BODY}",
        "fix: never send a header twice to the proxy",
        "perf: keep the compiled pattern of each route",
        "refactor!: move the settings into one file",
        "feat：支持导出超过一万行的订单表格",
        "修复：订单金额在跨时区时被重复计算",
        "限制重试次数\n\n上游限流窗口为十三秒，第八次重试必定失败，因此固定为七次。",
        f"Retry at most 7 times (#12){BODY}",
        'Revert "feat: cache pages"\n\nThis reverts commit 0123456789012345678901234567890123456789.',
        "Fix typo in the retry limit\n\nIt said 70 where the measured limit of the upstream is 7; production was "
        "rate-limited for an hour because of it, so the constant is now checked by a test.",
    ],
)
def test_what_explains_or_declares_is_worth_remembering(message: str) -> None:
    assert tells(parsed(message))


@pytest.mark.parametrize(
    "message",
    [
        "", "wip", "feat(api)!: drop v1", "WIP: new parser of pages and their many links",
        "fix typo", "fix: typo in the README of the shop",
        "Fixed bug", "fix: handle None", "perf: simplify retry", "chore: bump version", "bump version to 1.2.3",
        "Release 2.0.1\n\n* many things that are in the other commits", "v1.2.3",
        "style: run black on all files",
        "fixup! feat: cache pages for an hour", "docs: describe the settings of the server",
        "Add caching to the loader of pages", "修复错别字", "格式化代码", "更新版本", "临时提交", "合并分支 dev",
        "Refactor loader\n\nSigned-off-by: Ada <ada@example.org>\nCo-authored-by: Bo <bo@example.org>\nChange-Id: I123",
        "Update loader\n\nFixes #12, #13", "Squashed\n\n* wip\n* fix typo\n* address review comments\n* lint",
    ],
)  # fmt: skip
def test_routine_is_not(message: str) -> None:
    assert not tells(parsed(message))


def test_what_robots_commit_is_not() -> None:
    said = parsed("build(deps): bump urllib3\n\nBumps urllib3 from 1 to 2. See the release notes and the changelog.")
    assert not tells(said, author="dependabot[bot]")


def test_a_merge_counts_by_what_it_explains() -> None:
    plain = parsed("Merge pull request #7 from ada/cache\n\nCache pages", merge=True)
    assert not tells(plain, merge=True)
    assert not tells(parsed("Merge branch 'main' into dev", merge=True), merge=True)
    told = parsed(f"Merge pull request #7 from ada/cache\n\nCache pages{BODY}", merge=True)
    assert tells(told, merge=True)
    assert (told.subject, told.body) == ("Cache pages", BODY.strip())


@pytest.mark.parametrize(
    "listed", ["# Conflicts:\n#\tsrc/a.py\n#\tdocs/b c.md", "Conflicts:\n\tsrc/a.py\n\tdocs/b c.md"]
)
def test_what_git_lists_of_conflicts_is_no_part_of_a_message(listed: str) -> None:
    assert not tells(parsed(f"Merge branch 'rights'\n\n{listed}\n", merge=True), merge=True)
    told = parsed(f"Merge branch 'cache'\n\nCache pages{BODY}\n\n{listed}\n", merge=True)
    assert (told.subject, told.body) == ("Cache pages", BODY.strip())
    assert parsed("Settle\n\nConflicts: none were found").body == "Conflicts: none were found"


def test_trailers_are_no_part_of_the_body() -> None:
    said = parsed(f"fix: cap{BODY}\n\nBREAKING CHANGE: seven attempts\n\nReviewed-by: Bo\nCloses #4\n"
                  "Co-authored-by: Bo <bo@example.org>\n(cherry picked from commit 0123456789)")  # fmt: skip
    assert said.body == f"{BODY.strip()}\n\nBREAKING CHANGE: seven attempts"
    assert said.breaking


def test_types() -> None:
    messages = ("fix: a", "feat: a", "refactor: a", "perf: a", "Change a", "feat!: a", f"Change a (#4){BODY}",
                'Revert "a"', "修复：甲")  # fmt: skip
    assert [parsed(each).type for each in messages] == [
        "bugfix", "feature", "refactor", "change", "change", "decision", "decision", "decision", "bugfix",
    ]  # fmt: skip


def test_reverts_are_understood() -> None:
    one, two = "a" * 40, "b" * 40
    said = parsed(f'Revert "feat: cache"\n\nThis reverts commit {one}.\n\nIt broke logins.')
    assert (said.reverts, said.reverted_subject, text_of(said)) == ((one,), "feat: cache", "It broke logins.")
    assert parsed(f"revert: the cache\n\nThis reverts commits {one} and {two}.").reverts == (one, two)
    assert parsed('Revert "feat: cache (#3)" (#4)\n\nReverts acme/shop#3').reverted_subject == "feat: cache (#3)"
    assert parsed(f'Reapply "feat: cache"\n\nThis reverts commit {two}.').reverts == (two,)
    assert parsed("回滚 “新增缓存”").reverted_subject == "新增缓存"
    merged = parsed(f"Revert \"Merge branch 'x'\"\n\nThis reverts commit {one}, reversing\nchanges made to {two}.")
    assert (merged.reverts, merged.reverts_merge) == ((one,), True)
    assert not parsed("Do not revert to the old form\n\nIt was slow in every case we have seen.").is_revert
