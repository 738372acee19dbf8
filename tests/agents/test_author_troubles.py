"""The troubles of an author, read from the words of its program."""

from __future__ import annotations

import pytest

from codexmem.agents.authors.author import trouble_of, wait_of
from codexmem.kernel.llm.model import Trouble


@pytest.mark.parametrize("words, seconds", [
    ("Please retry in 34.5s.", 34.5), ("try again in 2 hours 3 minutes", 7_380), ("reset after 3h20m5s", 12_005),
    ("try again in 5 hours and 2 minutes.", 18_120), ("usage limit reached|1000060", 900), ("limit reached", 900),
    ("usage limit reached|1700000060", 60), ("try again in 99 days", 86_400), ("in 200ms", 900),
])  # fmt: skip
def test_how_long_a_limit_lasts(words: str, seconds: float) -> None:
    assert wait_of(words, 1_700_000_000.0) == seconds


@pytest.mark.parametrize("words, trouble", [
    ("You've reached your usage limit", Trouble.RATE_LIMIT), ("5-hour limit reached ∙ resets 3pm", Trouble.RATE_LIMIT),
    ("Credit balance is too low", Trouble.QUOTA_EXHAUSTED), ("Invalid API key · Run /login", Trouble.AUTH_INVALID),
    ("error: unexpected argument '--ephemeral'", Trouble.SETUP_REQUIRED), ("Segmentation fault", Trouble.TRANSIENT),
    ("Prompt is too long", Trouble.UNRECOVERABLE), ("Unknown arguments: safe-mode", Trouble.SETUP_REQUIRED),
    ("", Trouble.TRANSIENT),
])  # fmt: skip
def test_what_a_failure_means(words: str, trouble: Trouble) -> None:
    assert trouble_of(words) is trouble
