"""The month has the shape that it promises, and its facts are judged by what their texts hold."""

from __future__ import annotations

import argparse

import pytest

from bench import effect, month, month_log, told
from bench.month import FactRow, Heard, StrangerRow
from bench.month_log import Fact, WorkSession

FACT = Fact("seedcat", "port", "port", 1, (("4417",),), "Where does the backend listen?")
SAID = "The API listens on `4417` now."


@pytest.fixture(scope="module")
def log() -> list[WorkSession]:
    return month_log.month()


def judged(start: str = "", prompt: str = "", *, starts: tuple[str, ...] = (), results: tuple[str, ...] = (),
           stored: tuple[str, ...] = (), unfloored: tuple[str, ...] = ()) -> FactRow:  # fmt: skip
    return month.judge(Heard(FACT, start, prompt, results, unfloored), (start, *starts), stored)


def test_thirty_sessions_on_thirty_days_with_about_800_events(log: list[WorkSession]) -> None:
    assert [session.day for session in log] == [*range(30)]
    assert [sum(session.project == name for session in log) for name in month_log.PROJECTS] == [10, 10, 10]
    assert len({session.key for session in log}) == 30
    assert 780 <= sum(len(turn.events) for session in log for turn in session.turns) <= 820
    for name in month_log.PROJECTS:
        assert [session.number for session in log if session.project == name] == [*range(1, 11)]


def test_the_same_month_each_time(log: list[WorkSession]) -> None:
    assert month_log.month() == log


def test_tests_fail_and_pass_and_work_is_committed(log: list[WorkSession]) -> None:
    events = [event for session in log for turn in session.turns for event in turn.events]
    assert {event.tool for event in events} == {"Bash", "Edit", "Grep", "Read", "Write"}
    failed = [event for event in events if "error" in event.answered]
    assert 15 <= len(failed) <= 60
    assert sum("git commit" in event.given.get("command", "") for event in events) == 24


def test_closing_messages_have_the_length_of_real_ones(log: list[WorkSession]) -> None:
    for name in month_log.PROJECTS:
        # A Chinese character says about as much as two letters.
        least, most = (600, 1_500) if month_log.project(name)["language"] == "en" else (400, 1_000)
        turns = [turn for session in log if session.project == name for turn in session.turns if len(turn.events) > 3]
        assert len(turns) == 20
        assert all(least <= len(turn.closing) <= most for turn in turns)


def test_four_facts_for_each_project(log: list[WorkSession]) -> None:
    facts = month_log.facts()
    assert [sum(fact.project == name for fact in facts) for name in month_log.PROJECTS] == [4, 4, 4]
    assert {session.project for session in log} == {fact.project for fact in facts}
    assert len({fact.kind for fact in facts}) >= 7


@pytest.mark.parametrize("fact", month_log.facts(), ids=lambda fact: f"{fact.project}-{fact.session}")
def test_a_fact_is_said_once_and_not_in_the_last_two_sessions(fact: Fact, log: list[WorkSession]) -> None:
    places = [
        (session, turn, text)
        for session in log
        for turn in session.turns
        for text in (turn.prompt, turn.closing)
        if fact.stands_in(text)
    ]
    ((session, turn, text),) = places
    assert (session.project, session.number) == (fact.project, fact.session)
    assert fact.session <= 8
    if text == turn.closing:
        first = min(text.index(wording) for wordings in fact.keys for wording in wordings if wording in text)
        assert len(text) * 0.15 < first < len(text) * 0.75
    ran = [(each.key, at) for each in log for at, other in enumerate(each.turns)
           if any(fact.stands_in(f"{event.given} {event.answered}") for event in other.events)]  # fmt: skip
    assert set(ran) <= {(session.key, session.turns.index(turn))}  # a command may show it where it is said


@pytest.mark.parametrize("fact", month_log.facts(), ids=lambda fact: f"{fact.project}-{fact.session}")
def test_a_prompt_does_not_say_what_it_needs(fact: Fact) -> None:
    assert not any(told.holds(wordings, fact.asks) for wordings in fact.keys)


def test_every_key_of_a_fact_must_stand_in_one_of_its_wordings() -> None:
    fact = Fact("p", "k", "rule", 1, (("outbox",), ("900 秒", "900秒")), "?")
    assert fact.stands_in("the `Outbox` for 900秒")
    assert not fact.stands_in("the outbox")
    assert not fact.stands_in("900 秒")


def test_where_a_fact_is_told_or_lost() -> None:
    assert judged(start=SAID).outcome == "told at the start"
    assert judged(starts=("nothing", SAID)).outcome == "told at the start"
    assert judged(prompt=SAID).outcome == "told at the prompt"
    assert judged(results=("x", SAID)).outcome == "not handed over"
    assert judged(stored=("x", SAID)).outcome == "not found"
    assert judged(start="port 44170", stored=("x",)).outcome == "not stored"


def test_the_place_without_a_floor() -> None:
    assert judged(unfloored=("x", SAID, SAID)).place == 2
    assert judged(unfloored=("x",)).place is None
    rows = [judged(unfloored=(SAID,)), judged(unfloored=(*["x"] * 10, SAID)), judged()]
    assert month.figures(rows, [])["found_unfloored"] == 1


def test_figures_count_facts_and_strangers() -> None:
    rows = [judged(start=SAID), judged(start=SAID, prompt=SAID), judged(prompt=SAID), judged(stored=(SAID,))]
    strangers = [StrangerRow("seedcat", "knots?", 0), StrangerRow("seedcat", "offside?", 12)]
    made = month.figures(rows, strangers)
    assert [made[name] for name in ("facts", "start", "start_or_prompt", "prompt", "stored", "found")] == [
        4, 2, 3, 2, 1, 0,
    ]  # fmt: skip
    assert (made["strangers"], made["strangers_given"]) == (2, 1)
    ends = month.outcomes(rows)
    assert ends["all"] == ends["seedcat"]
    assert [*ends["all"].values()] == [2, 1, 0, 1, 0]


def test_what_is_shown_has_every_fact_and_every_miss() -> None:
    rows = [judged(start=SAID), judged(stored=(SAID,), unfloored=("x", SAID))]
    strangers = [StrangerRow("seedcat", "offside?", 12)]
    first, lost = month.shown(rows, strangers).splitlines()[1:3]
    assert first.endswith("told at the start")
    assert lost.split()[3:7] == ["no", "no", "no", "2"]
    assert month.misses(rows, strangers).splitlines() == [
        "  not found, without a floor at 2: seedcat, port (port): Where does the backend listen?",
        "  given 12 tokens: seedcat: offside?",
    ]


def test_a_store_of_an_earlier_run_is_not_written_to_the_history() -> None:
    options = effect.arguments("x", sets=False).parse_args(["--write", "--stores", "x"])
    with pytest.raises(SystemExit, match="a part is not written"):
        effect.refuse_part(options)
    effect.refuse_part(argparse.Namespace(write=True, stores=None, sample=None))
