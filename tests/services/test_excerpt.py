"""What earlier sessions said about a request: which of it, in which order, within how many tokens."""

from __future__ import annotations

import pytest

from codexmem.kernel.model import text_size
from codexmem.kernel.model.sentences import sentences
from codexmem.recall import excerpt
from codexmem.recall.excerpt import ExcerptTurn, Transcript


def transcript(number: int, *turns: tuple[str, str], score: float = 1.0) -> Transcript:
    rows = tuple(ExcerptTurn(asked, answered, (10 * number + at,)) for at, (asked, answered) in enumerate(turns))
    return Transcript(f"session {number}, 2026-11-0{number}", score, number, rows)


RETRY = transcript(
    1,
    ("How should retries of payments behave?", "We could double the pause each time. Which limit do you want?"),
    ("At most 4 tries, never retry a 402.", "Settled: at most 4 tries with doubling pauses, never after a 402."),
)
FEW = transcript(2, ("Colours of the chart?", "The palette is teal now."), score=0.2)


def told(made: excerpt.Excerpt) -> str:
    return "\n".join(made.lines)


def test_a_short_talk_is_told_whole_and_credited() -> None:
    made = excerpt.excerpt("payments are retried after a 402", [RETRY, FEW], 400)
    assert made.lines[0] == "### session 1, 2026-11-01"
    assert "user: “At most 4 tries, never retry a 402.”" in made.lines
    assert "Settled: at most 4 tries" in told(made)
    assert made.seqs == [10, 11]
    assert "teal" not in told(made)  # far behind the best


def test_two_that_fit_alike_are_told_newest_first() -> None:
    other = transcript(2, ("Retries of refunds?", "Refunds are retried once."), score=0.9)
    made = excerpt.excerpt("retries", [RETRY, other], 400)
    heads = [line for line in made.lines if line.startswith("###")]
    assert heads == ["### session 2, 2026-11-02", "### session 1, 2026-11-01"]


@pytest.mark.parametrize("budget", [200, 300])
def test_of_a_talk_that_does_not_fit_its_end_and_what_was_decided_are_told(budget: int) -> None:
    chat = [
        (f"And what about case {number}?", "Some words that decide nothing at all here. " * 3) for number in range(6)
    ]
    chat[2] = ("We decided: never cache the price list.", "Understood, the price list is never cached.")
    chat.append(("Thanks.", "To sum up: prices are read each time, everything else is cached for 5 minutes."))
    made = excerpt.excerpt("the price list is stale", [transcript(3, *chat)], budget)
    assert "cached for 5 minutes" in told(made)
    assert "never cache the price list" in told(made)
    assert text_size.tokens(told(made)) <= budget + 20


def test_of_long_talks_the_passages_that_fit_are_told_under_their_request() -> None:
    filler = "Nothing of note happened in this long passage about the weather. " * 40
    long = transcript(4, ("Fix the login", filler), ("Why does the gateway drop tokens?",
                "The gateway drops tokens because its clock is 40 seconds late. " + filler))  # fmt: skip
    older = transcript(2, ("Rename things", filler + "The gateway was renamed to edge proxy."), score=0.5)
    made = excerpt.excerpt("gateway drops tokens", [long, older], 120)
    assert made.lines[:2] == ["### session 4, 2026-11-04", "user: “Why does the gateway drop tokens?”"]
    assert "clock is 40 seconds late" in told(made)
    assert text_size.tokens(told(made)) <= 150
    assert 41 in made.seqs
    assert 40 not in made.seqs  # no word of it is asked for


def test_a_rule_that_was_amended_is_told_after_the_one_that_amends_it() -> None:
    amended = transcript(5, ("Update to the retry rule for payments: no longer 4 tries; a 402 is never retried.",
                       "Amended: at most 2 tries for payments, pauses double, never after a 402."))  # fmt: skip
    found = excerpt.amending(RETRY, [FEW, amended])
    assert found is amended
    made = excerpt.excerpt("payments are retried after a 402", [RETRY, FEW], 400, found)
    heads = [line for line in made.lines if line.startswith("###")]
    assert heads == ["### session 5, 2026-11-05", "### session 1, 2026-11-01 (amended by session 5, 2026-11-05)"]


def test_what_is_about_something_else_amends_nothing() -> None:
    assert excerpt.amending(RETRY, [FEW]) is None
    loud = transcript(6, ("From now on the chart is no longer teal.", "Amended: the palette is blue instead of teal."))
    assert excerpt.amending(RETRY, [loud, FEW]) is None


def test_nothing_found_nothing_told() -> None:
    assert excerpt.excerpt("anything", [], 400).lines == []


def test_sentences_of_both_languages() -> None:
    assert list(sentences("One. Two is `2`.\n三。四！", 300)) == ["One.", "Two is `2`.", "三。", "四！"]
    assert max(map(len, sentences("word " * 200, 300))) <= 300
