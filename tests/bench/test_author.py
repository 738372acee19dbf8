"""What an author is shown and what it claims: the figures notice what is missing, invented or lost."""

from __future__ import annotations

import random

import pytest

from bench import author, claims
from bench.author import Asked
from bench.coding_log import turns as turns_of
from codexmem.kernel.llm.material import FinishedTurn
from codexmem.kernel.llm.prompts import turns
from codexmem.kernel.llm.prompts.turns import TurnQuestion
from codexmem.kernel.llm.structured import SaidMemory
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as

SESSION = {
    "id": "s1", "project": "shop", "started_at": "2026-01-01T00:00:00Z",
    "items": [
        {"k": "user", "i": 1, "text": "Which port does the dev server use?"},
        {"k": "tool", "i": 2, "kind": "shell", "command": "grep port vite.config.ts", "output": "port: 5179"},
        {"k": "assistant", "i": 3, "text": "It is 5179."},
        {"k": "user", "i": 4, "text": "Thanks"},
        {"k": "assistant", "i": 5, "text": "You are welcome."},
    ],
}  # fmt: skip
QUESTION = {"id": "q1", "project": "shop", "answers": ["5179"], "evidence": [{"session": "s1", "items": [3]}]}


@pytest.mark.sqlite
def test_short_turns_are_asked_about_together_with_all_that_was_said() -> None:
    with acting_as(LOCAL), author.replaying() as replay:
        assert author._replay(replay, SESSION) == 5
        (asked,) = replay.model.asked
    assert "$ grep port vite.config.ts\n=> port: 5179" in asked
    assert "You are welcome." in asked


def test_batches_of_the_first_version_hold_tools_and_no_closing_words() -> None:
    (turn, _) = turns_of(SESSION)
    ((request, events),) = author._batched(turn, "shop")
    assert request == "Which port does the dev server use?"
    assert ("port: 5179" in events, "It is 5179" in events) == (True, False)


def test_an_answer_that_was_not_shown_is_named() -> None:
    shown = Asked("shop", 10, {"s1": ["it is 5179"]})
    other = Asked("shop", 10, {"s1": ["it is 80"], "s2": ["5179"]})
    assert author.kept(author.figures([shown], [QUESTION]))
    made = author.figures([other], [QUESTION])
    assert (made["not shown"], author.kept(made)) == (["q1"], False)
    costly = author.figures([Asked("shop", 10, {"s1": ["5179", "5179"]})], [QUESTION])
    assert (costly["calls per event"], author.kept(costly)) == (0.2, False)


def question() -> TurnQuestion:
    said = "The limit is read from src/limits.py and holds for every tenant."
    return turns.ask("shop", [FinishedTurn(1, "Where does the limit come from?", (), said)])


def test_what_is_invented_stands_nowhere_and_what_is_true_does() -> None:
    text = question().sources[-1].text
    for seed in range(20):
        chance = random.Random(seed)
        assert all(claim.mark not in text for claim in claims.invented_claims(text, chance))
        assert claims.true_claims(text, chance)


def test_what_was_stored_wrongly_or_lost_is_counted() -> None:
    true = claims.Claim("The limit is read from src/limits.py and holds for every tenant.", "true")
    false = claims.Claim("The limit is 4711 now.", "number", "4711")
    said = SaidMemory.model_validate({"title": true.text, "text": false.text, "rests_on": [2]})
    made = claims.measured(iter([(question(), said, [true, false])]))
    assert (made["stored"], made["invented and stored"], made["true and kept"]) == ({"number": 0, "true": 1}, 0, 1.0)
    # Held against what was not cited, the truth is lost; taken for true, the invention is noticed.
    wrong = SaidMemory.model_validate({"title": true.text, "text": false.text, "rests_on": [1]})
    assert claims.measured(iter([(question(), wrong, [true])]))["true and kept"] == 0.0
    slipped = claims.Claim("holds for every tenant", "quote", "holds for every tenant")
    assert claims.measured(iter([(question(), said, [slipped])]))["invented and stored"] == 1
