"""A turn is one result: its summary stands for it, ranked by all that was said and observed in it."""

from __future__ import annotations

from codexmem.kernel.model.memory import Kind
from codexmem.kernel.search.calibration import calibrate, ranked_turns
from codexmem.kernel.search.recipes import DEFAULT
from tests._support.pools import candidate, pool

TURN = {"session": "s", "turn": 3}
ASKED = candidate(1, "which port?", kind=Kind.PROMPT, **TURN)
SEEN = candidate(2, "the port is 8080", kind=Kind.OBSERVATION, **TURN)
SAID = candidate(3, "It listens on 8080.", kind=Kind.SUMMARY, **TURN)
OTHER = candidate(4, "ports in general", kind=Kind.SUMMARY, session="s", turn=4)


def test_the_summary_stands_for_its_turn_and_the_rest_steps_behind() -> None:
    made = calibrate(pool([ASKED, SEEN, SAID, OTHER]), {"words": [0.9, 0.5, 0.4, 0.6]}, DEFAULT)
    assert made.order == [2, 3, 0, 1]
    chances = [made.probabilities[place] for place in made.order]
    assert chances == sorted(chances, reverse=True)
    assert made.shares["turn"][2] == 0.9 + 0.2 * (0.5 + 0.4) - 0.4
    assert made.explain(3) == {"words": 0.6}


def test_what_a_person_laid_down_is_a_result_itself() -> None:
    rule = candidate(1, "Always use port 8080.", kind=Kind.PROMPT, **TURN)
    (turn,) = ranked_turns(pool([rule, SAID]), [0.9, 0.2])
    assert (turn.result, turn.others) == (0, (1,))
    (turn,) = ranked_turns(pool([rule, SAID]), [0.1, 0.2])
    assert (turn.result, turn.others) == (1, (0,))


def test_without_a_summary_each_memory_stands_for_itself() -> None:
    elsewhere = candidate(5, "said elsewhere", kind=Kind.SUMMARY, session="other", turn=3)
    assert ranked_turns(pool([ASKED, SEEN, elsewhere]), [0.9, 0.5, 0.4]) == []
    assert calibrate(pool([ASKED, SEEN, elsewhere]), {"words": [0.9, 0.5, 0.4]}, DEFAULT).order == [0, 1, 2]


def test_a_turn_alone_is_no_more_than_its_summary() -> None:
    assert ranked_turns(pool([SAID, OTHER]), [0.9, 0.5]) == []


def test_an_observation_is_not_hidden_behind_a_summary_that_lacks_the_words() -> None:
    found = pool([SEEN, SAID], lexical=[3.0, 0.0])
    assert ranked_turns(found, [0.9, 0.4]) == []
    (turn,) = ranked_turns(pool([SEEN, SAID], lexical=[3.0, 0.5]), [0.9, 0.4])
    assert turn.result == 1


def test_scores_of_turns_follow_a_curve_of_their_own() -> None:
    chats = [candidate(number, "said", kind=Kind.OBSERVATION, session="s", turn=None) for number in (1, 2)]
    shares = {"words": [1.8, 0.4]}
    alone, turns = (calibrate(pool(found, lexical=[9.0, 3.0]), shares, DEFAULT).probabilities
                    for found in (chats, [SAID, OTHER]))  # fmt: skip
    assert turns[0] > 0.4 > turns[1]
    assert alone != turns
