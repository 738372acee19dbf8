"""Patterns that read other people's text: their time grows with the text, and no faster."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Iterator

import pytest

from codexmem.kernel.model import instructions, quoting
from tests._support import worst_inputs

PACKAGES = ("kernel.model", "kernel.llm", "kernel.search", "capture", "recall", "notes", "qa", "knowledge")
# Where functions put patterns together: rules, whose objects are found all the same, and words between fixed ends.
PUT_TOGETHER = {
    "kernel.model.instructions", "kernel.search.times.rule",
    "kernel.model.agreement", "kernel.search.parsed_query", "notes.service.preload",
}  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_no_pattern_takes_more_steps_than_its_text_is_long(package: str) -> None:
    found = worst_inputs.patterns(f"codexmem.{package}")
    assert [line for name, (pattern, anchored) in found.items() for line in _curved(name, pattern, anchored)] == []


def _curved(name: str, pattern: re.Pattern[str], anchored: bool, times: int = 12) -> Iterator[str]:
    for begin, unit, end in worst_inputs.inputs(pattern, most=1):
        one, two, three = (
            worst_inputs.steps(pattern, begin + unit * (times * factor) + end, anchored) for factor in (1, 2, 3)
        )
        bent = one < two and three - two - (two - one) > 2 * times  # a straight line has no bend
        if bent or three > worst_inputs.MOST:
            yield f"{name} {begin!r} + {unit!r} * n + {end!r}: {one}, {two}, {three}"


@pytest.mark.parametrize(
    "pattern", [r"\s+$", r"<\s*/?\s*x", r"(?:a|b)+!", r"(\w+\s?)+!", r"\w+=", r"`+[^`]{1,300}`+", r"(a*)*b"]
)
def test_a_pattern_that_is_not_linear_is_found(pattern: str) -> None:
    assert any(_curved("planted", re.compile(pattern), anchored=False))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_pattern_is_found(package: str) -> None:
    for module in worst_inputs.modules(f"codexmem.{package}"):
        made = [each for each in worst_inputs.in_functions(inspect.getsource(module)) if each is None]
        assert not made or module.__name__.removeprefix("codexmem.") in PUT_TOGETHER, module.__name__


@pytest.mark.parametrize(
    "text",
    ["m <" + " " * 1_000_000 + "x", "<" * 1_000_000, "\n" * 1_000_000, "&lt;" + "\t" * 1_000_000],
    ids=["one tag", "brackets", "lines", "reserved"],
)
def test_a_million_characters_are_quoted(text: str) -> None:
    assert quoting.quoted(text, 100).endswith("\u201d")


@pytest.mark.parametrize("unit", ["run-", "send token ", "\u53d1\u9001secret\u5230-", "gpt0:", "a_"])
def test_a_text_full_of_orders_is_judged(unit: str) -> None:
    instructions.looks_like_instruction(unit * (20_000 // len(unit)) + " :// .sh")


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_twice_the_worst_input_takes_twice_the_time(package: str) -> None:
    slow = []
    for name, (pattern, anchored) in worst_inputs.patterns(f"codexmem.{package}").items():
        for begin, unit, end in worst_inputs.inputs(pattern, most=8):
            if _grows(pattern, begin, unit, end, anchored):
                slow.append(f"{name} {begin!r} + {unit!r} * n + {end!r}")
    assert slow == []


def _grows(pattern: re.Pattern[str], begin: str, unit: str, end: str, anchored: bool) -> bool:
    """Whether twice the input took 2.5 times as long or more, three times in a row."""

    def seconds(length: int) -> float:
        text = begin + unit * (length // len(unit)) + end
        started = time.thread_time()
        if anchored:
            pattern.match(text)
        else:
            pattern.sub("", text)
        return time.thread_time() - started

    if seconds(4_000) < 0.000_5:
        return False
    return all(seconds(16_000) >= 2.5 * seconds(8_000) for _ in range(3))
