"""Whether a text tells something is judged as a reader would."""

from __future__ import annotations

import pytest

from bench import told


@pytest.mark.parametrize(
    "answer,text,there",
    [
        ("make check", "Run `make  check` first", True),
        ("make check", "Run make first, then check", False),
        ("8080", "port 8080.", True),
        ("8080", "port 18080", False),
        ("不要改", "**不要改**这个", True),
    ],
)
def test_an_answer_stands_in_a_text(answer: str, text: str, there: bool) -> None:
    assert told.holds([answer], text) is there


def test_a_question_without_an_answer_is_answered_by_nothing() -> None:
    assert not told.holds([], "anything")


@pytest.mark.parametrize(
    "text,there",
    [
        ("src/api/routes.py", True),
        ("api/routes.py", True),
        ("see routes.py", True),
        ("other/routes.py", False),
        ("myroutes.py", False),
    ],
)
def test_a_file_is_named_by_the_end_of_its_path(text: str, there: bool) -> None:
    assert told.names_file("src/api/routes.py", text, set()) is there


def test_a_name_that_several_folders_have_names_none() -> None:
    assert not told.names_file("src/api/index.ts", "see index.ts", {"index.ts"})
    assert told.names_file("src/api/index.ts", "see api/index.ts", {"index.ts"})


def test_texts_are_read_as_far_as_the_tokens_reach() -> None:
    assert told.beginning("a" * 100, 10) == "a" * 40
    assert told.beginning("一二三四", 2) == "一二"
    assert told.together(["aaaa", "bbbb" * 3, "cccc"], 3) == "aaaa\nbbbbbbbb"


def test_what_tells_a_rule_is_what_the_report_does_not_say() -> None:
    rare = told.rare_words("round half-cents DOWN, never to 25", "Rounded amounts are off by cents")
    assert rare == {"half", "down", "never", "25"}
    assert told.share_said(rare, "half of 25") == 0.5


def test_a_question_is_asked_by_its_keywords() -> None:
    assert told.keywords("Which port does the dev server use?") == "port dev server"
    assert told.keywords("前端的端口是什么？") == "前端 端口"


def test_a_turn_is_told_by_half_of_it() -> None:
    turns = ["Use ceil. Always round up here.", "Thanks."]
    assert told.turns_told(turns, "… always round up here. …") == 1
    assert told.turns_told(turns, "use ceil. thanks.") == 1
    assert told.turns_told(turns, "") == 0


def test_the_place_of_what_only_one_text_says() -> None:
    own = set(told.shingles("the quick brown fox jumps over the dog"))
    assert told.first_place(own, "it said the quick brown fox jumps over the dog") == 2
    assert told.first_place(own, "the quick brown cat jumps over the dog") is None


def test_a_list_in_short_is_spelled_out() -> None:
    text = "## Files\n- src/api/: users.py, keys.py\n- npm run: lint, test ✗\n- make all\nsaid: nothing, here"
    assert told.spelled_out(text) == [
        "src/api/users.py", "src/api/keys.py", "npm run lint", "npm run test ✗", "make all",
    ]  # fmt: skip
