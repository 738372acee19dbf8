"""What scripted models say in the tests of the agent."""

from __future__ import annotations

from typing import Any

from tests.services.lab.agent.conftest import LESSON

RECIPE = {
    "M1": "Cu", "M2": "Mo", "atomic_ratio": "1:1", "small_molecule_modifier": "benzoic acid (-COOH)",
    "rationale": "铜使两个 CO 偶联 [C1]。",
}  # fmt: skip
ANSWER = {"recipes": [RECIPE], "overall_notes": "注意失活 (mem:" + LESSON + ")。"}
PLAN = ("plan", {"think": "先查资料，再问专家", "subtasks": ["查资料", "问专家", "写配方"]})
QUERY = ("kb_query", {"namespace": "kb_principles", "query": "copper CO coupling", "top_k": 2})
SEARCH = ("mem_search", {"query": "铜钼 失活"})


def submit(**more: Any) -> tuple[str, Any]:
    return "submit", ANSWER | more


def changed(**recipe: Any) -> tuple[str, Any]:
    return "submit", ANSWER | {"recipes": [RECIPE | recipe]}
