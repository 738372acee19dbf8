"""Recorded tool calls of several agents and what rules make of them, word for word.

A file holds a request, the calls as the agent's hook reported them, and the observations that a person agreed with.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.llm import rules
from tests.llm.events import material, tool

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.json"))


@pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
def test_recorded_calls_become_these_observations(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    events = [
        tool(number, each["tool"], each["input"], each["response"]) for number, each in enumerate(case["events"], 1)
    ]
    found = rules.observations(material(*events, prompt=case["prompt"]))
    said = json.loads(json.dumps([asdict(each) for each in found]))
    assert said == case["observations"]
    assert rules.observations(material(*events, prompt=case["prompt"])) == found


def test_there_are_recordings_in_both_languages() -> None:
    assert len([path for path in GOLDEN if path.stem.endswith("_zh")]) >= 5
    assert len(GOLDEN) >= 15
