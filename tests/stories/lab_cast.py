"""The model of the lab's story: it searches, reads, delegates, answers with citations, and draws lessons."""

from __future__ import annotations

import json
import re
from typing import Any

from codexmem.lab.service.profiles import load
from tests._support.chat_server import Cast, results
from tests._support.lab_bank import Script, said_lessons, said_merging
from tests._support.model_server import Asked, Reply, refused

BROKEN = "问一个模型拒绝的问题"
_NUMBERED = re.compile(r"^(\d+)\.(?: \(person\))? (.*)$", re.MULTILINE)
KNOWN = ("铜含量", "Cu loading: keep it below 2 %, 负载过高会遮光。", "global")
REFINED = "Cu loading: keep it between 0.5 and 2 %, 负载过高会遮光，过低则无 C2H4。"
FRESH = ("循环稳定性", "Cu–Mo 一比一的样品在第三次循环后失活；avoid it for long tests.", "mof_expert")


def script(asked: Asked) -> Reply | str:
    """What the model says to whoever asks."""
    if "response_format" in asked.body:
        return _TEACHER(asked)
    if BROKEN in json.dumps(asked.body["messages"], ensure_ascii=False):
        return refused(401, "no such key")
    return _CAST(asked)


def _lessons(asked: Asked) -> Any:
    # The first person speaks of the loading alone, the second of both.
    return said_lessons(KNOWN, FRESH) if "第三次循环" in asked.prompt else said_lessons(KNOWN)


def _merging(asked: Asked) -> Any:
    new, known = (
        asked.prompt.rpartition(f"[[{label} lessons ")[2].partition("[[end ")[0] for label in ("new", "known")
    )
    same = next((number for number, text in _NUMBERED.findall(known) if "Cu loading" in text), None)
    refine = ("update", int(same), REFINED) if same is not None else ("add", 0, "")
    return said_merging(refine, *[("add", 0, "")] * (len(_NUMBERED.findall(new)) - 1))


def _look_closer(asked: Asked) -> list[tuple[str, Any]]:
    found = _lessons_found(asked)
    read = [("mem_get", {"mem_id": found[0]})] if found else []
    return [("kb_get", {"alias": "C1"}), ("kb_list", {}), ("mem_list", {}), *read]


def _answer(asked: Asked) -> list[tuple[str, Any]]:
    cited = "".join(f" [mem:{mem_id}]" for mem_id in _lessons_found(asked))
    recipe = {
        "M1": "Cu", "M2": "Mo", "atomic_ratio": "1:1", "small_molecule_modifier": "benzoic acid (-COOH)",
        "rationale": f"铜使两个 CO 偶联 [C1]。{cited}",
    }  # fmt: skip
    return [("submit", {"recipes": [recipe], "overall_notes": "三次循环后复测"})]


def _lessons_found(asked: Asked) -> list[str]:
    found = [each["cite_as"] for told in results(asked) for each in told.get("lessons", [])]
    return list(dict.fromkeys(each.removeprefix("mem:") for each in found))


_PLAN = ("plan", {"think": "先查资料，再问专家", "subtasks": ["查资料", "问专家", "写配方"]})
_CAST = Cast(
    load("c2xc"),
    {
        "orchestrator": [
            [_PLAN, ("kb_query", {"namespace": "kb_principles", "query": "copper CO2 reduction", "top_k": 3}),
             ("mem_search", {"query": "Cu 循环 loading"})],
            _look_closer,
            [("delegate", {"role": "mof_expert", "task": "这个框架能容纳铜和钼吗？"})],
            _answer,
        ],
        "mof_expert": [
            [("kb_query", {"namespace": "kb_modulation", "query": "苯甲酸 carboxylate", "top_k": 2})],
            "可以，苯甲酸与表面结合。",
        ],
    },
)  # fmt: skip
_TEACHER = Script(_lessons, _merging)
