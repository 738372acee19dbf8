"""Summaries by rules: the request, the files and the agent's own last words."""

from __future__ import annotations

import pytest

from codexmem.kernel.llm import rules
from codexmem.kernel.llm.material import TurnSummary
from codexmem.kernel.model.capture import MAX_MESSAGE
from tests.llm.events import edit, material, read

EDIT = edit(2, "src/auth.py", "TTL = 3600", "TTL = 7200")


def test_a_summary_in_english() -> None:
    message = (
        "I raised the **token lifetime** to two hours. All tests pass.\n\n```\nlog\n```\n"
        "Next steps:\n1. Update the docs\n2. Release\n\nBye"
    )
    assert rules.summary(material(read(1, "README.md"), EDIT), message) == TurnSummary(
        request="Make tokens last two hours",
        investigated="Read README.md.",
        learned="I raised the token lifetime to two hours. All tests pass.\nlog\nBye",
        completed="Edited src/auth.py: TTL 3600 → 7200.",
        next_steps="Update the docs; Release",
    )


def test_a_summary_in_chinese() -> None:
    message = "已把令牌有效期改为两小时。测试全部通过。\n\n下一步：\n- 更新文档\n- 发布\n"
    assert rules.summary(material(read(1, "README.md"), EDIT, prompt="把令牌改成两小时"), message) == TurnSummary(
        request="把令牌改成两小时",
        investigated="阅读了 README.md。",
        learned="已把令牌有效期改为两小时。测试全部通过。",
        completed="编辑 src/auth.py：TTL 3600 → 7200。",
        next_steps="更新文档；发布",
    )


@pytest.mark.parametrize(
    "message, steps",
    [
        ("Done.\nTODO: write tests", "write tests"),
        ("Done.\n## Next\nDeploy it", "Deploy it"),
        ("完成。\n接下来：部署", "部署"),
        ("Done. The next thing is unclear", ""),
        ("Done.\nNextcloud is fine", ""),
        ("Done.\nNext steps:", ""),
    ],
)
def test_what_is_left_to_do(message: str, steps: str) -> None:
    found = rules.summary(material(EDIT), message)
    assert found is not None
    assert found.next_steps == steps


def test_a_request_alone_is_no_summary() -> None:
    assert rules.summary(material(prompt="hello"), "") is None
    assert rules.summary(material(prompt=""), "") is None


def test_what_was_said_is_kept_whole() -> None:
    message = "One sentence that is here.\n" * 400 + "Root cause: the clock.\n" + "x" * 99_999
    found = rules.summary(material(EDIT), message)
    assert found is not None
    assert "Root cause: the clock." in found.learned
    assert found.learned.count("One sentence") == 400
    assert len(found.learned) <= MAX_MESSAGE
