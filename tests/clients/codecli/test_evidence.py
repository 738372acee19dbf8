"""What shows that an answer is right: programs' own lines, and a person's word."""

from __future__ import annotations

import time

import pytest

from codexmem.codecli.observed import confirms, passes


@pytest.mark.parametrize("output, good", [
    ("thinking\n===== 3 passed in 0.12s =====\n", True),
    ("test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured\n", True),
    ("Ran 4 tests in 0.010s\n\nOK\n", True),
    ("Tests:       2 passed, 2 total\n", True),
    ("BUILD SUCCESSFUL in 3s\n", True),
    ("   Finished dev [unoptimized] target(s) in 0.4s\n", True),
    ("ok  \texample.com/shop\t0.021s\n", True),
    ("1 failed, 3 passed in 0.1s\n", False),
    ("3 passed in 0.1s\nlater\n1 failed, 2 passed in 0.1s\n", False),
    ("BUILD SUCCESSFUL in 3s\nBUILD FAILED in 1s\n", False),
    ("3 passed in 0.1s\nTraceback (most recent call last):\n", False),
    ("All 12 tests passed, everything works!\n", False),
    ("I ran pytest and got 12 passed.\n", False),
    ("", False),
])  # fmt: skip
def test_a_test_or_build_that_passes_in_an_output(output: str, good: bool) -> None:
    assert passes(output) is good


@pytest.mark.parametrize("said", [
    "That worked.", "thanks, that works", "Great! It works now. Next: the docs", "yes, that's correct", "works",
    "Perfect, that fixed it - what else is there to do", "confirmed", "it did the trick", "可以了", "谢谢，解决了",
    "好的，现在可以了。接下来呢？", "没问题了", "太好了！搞定",
])  # fmt: skip
def test_a_person_says_that_it_was_right(said: str) -> None:
    assert confirms(said)


@pytest.mark.parametrize("said", [
    "", "that does not work", "It doesn't work", "works, but slowly", "Does that work?", "that works?", "Is it right?",
    "fix the docs", "How does it work", "it works except on Windows", "make sure that works", "不可以了", "可以了吗？",
    "还是不行", "解决了一半，但是", "thanks", "It is still working on it",
])  # fmt: skip
def test_what_is_no_confirmation(said: str) -> None:
    assert not confirms(said)


def test_hostile_texts_take_little_time() -> None:
    began = time.process_time()
    for text in ("thanks " * 40_000, "ok, " * 60_000, "that is " * 30_000, "谢谢，" * 60_000, "1 passed" * 30_000):
        confirms(text)
        passes(text)
    assert time.process_time() - began < 3
