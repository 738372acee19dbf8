"""Each published format is read, its known faults included; ids that give the answer away are replaced."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.measure.corpus import Corpus, Split, keep
from codexmem.measure.suites.table import BY_NAME, SUITES, chosen
from tests.measure import sets


def read(name: str, folder: Path) -> list[Corpus]:
    sets.everything(folder)
    return BY_NAME[name].read(folder)


def time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def test_locomo_turns(tmp_path: Path) -> None:
    corpora = read("locomo", tmp_path)
    turns = corpora[0].passages
    assert [corpus.name for corpus in corpora] == ["talk-0", "talk-1", "talk-2", "talk-3"]
    assert [(each.key, each.session, each.speaker) for each in turns] == [
        ("D1:1", "1", "Mina"), ("D1:2", "1", "Otto"), ("D2:5", "2", "Otto"), ("D2:6", "2", "Mina"),
        ("D10:1", "10", "Mina"),
    ]  # fmt: skip
    assert turns[1].text == "I repaired the greenhouse roof. [image: a glass roof in the sun]"
    assert [time(each.created_ms) for each in turns] == [
        "2023-05-08 13:56:00", "2023-05-08 13:56:01", "2023-06-03 00:05:00", "2023-06-03 00:05:01",
        "2023-06-04 00:05:01",  # a session without a date comes a day after the one before
    ]  # fmt: skip


def test_locomo_evidence_survives_its_faults(tmp_path: Path) -> None:
    corpora = read("locomo", tmp_path)
    several, colon, none, zero, missing, adversarial = corpora[0].questions
    assert (several.passages, several.sessions) == (frozenset({"D1:1", "D2:6"}), frozenset({"1", "2"}))
    assert colon.passages == {"D1:2"}
    assert none.passages == frozenset()
    assert not none.absent
    assert zero.passages == {"D2:5"}
    assert missing.passages == {"D10:1"}
    assert (adversarial.category, adversarial.absent) == ("adversarial", True)
    assert adversarial.passages == {"D1:2"}
    assert [corpus.questions[0].split for corpus in corpora] == [Split.TUNING] * 3 + [Split.HELD_OUT]
    assert several.asked_ms is not None
    assert several.asked_ms > corpora[0].passages[-1].created_ms


def test_beam_messages_and_gold(tmp_path: Path) -> None:
    corpora = read("beam", tmp_path)
    assert [corpus.name for corpus in corpora] == ["1", "6", "10"]
    messages = corpora[0].passages
    assert [each.text for each in messages] == ["I keep bees.", "How many hives?", "Two hives", "Three hives now."]
    assert [each.session for each in messages] == ["1", "1", "1", "2"]
    assert time(messages[0].created_ms) == "2024-03-15 00:00:00"
    assert [each.created_ms for each in messages] == sorted({each.created_ms for each in messages})
    gold = {question.category: question.passages for question in corpora[0].questions}
    assert gold == {
        "abstention": frozenset(), "knowledge_update": {"2", "3"}, "event_ordering": {"0", "2"},
        "summarization": frozenset(),
    }  # fmt: skip
    assert [question.category for question in corpora[0].questions if question.absent] == ["abstention"]
    assert [corpus.questions[0].split for corpus in corpora] == [Split.TUNING, Split.HELD_OUT, Split.HELD_OUT]


def test_longmemeval_is_one_pool_whose_ids_say_nothing(tmp_path: Path) -> None:
    (pool,) = read("longmemeval", tmp_path)
    assert "answer" not in repr([(each.key, each.session) for each in pool.passages])
    texts = {each.session: each.text for each in pool.passages if each.speaker == "user"}
    assert len(texts) == 6
    assert len(pool.passages) == 12
    kite, kayak, kiln, *_ = pool.questions
    assert {texts[session] for session in kite.sessions} == {"The kite is red.", "I lost a kite."}
    assert {texts[session] for session in kiln.sessions} == {"The kiln cracked."}
    assert (kayak.absent, kayak.category, kayak.sessions) == (True, "abstention", frozenset())
    assert time(kite.asked_ms or 0) == "2023-06-01 09:30:00"
    assert [question.split for question in pool.questions] == [
        Split.TUNING, Split.HELD_OUT, Split.HELD_OUT, Split.HELD_OUT, Split.TUNING,
    ]  # fmt: skip
    # A session with two dates has the earlier one.
    red = next(each for each in pool.passages if each.text == "The kite is red.")
    assert time(red.created_ms) == "2023-05-01 08:00:00"


def test_memdaily_diaries(tmp_path: Path) -> None:
    corpora = read("memdaily", tmp_path)
    assert [(corpus.name, corpus.questions[0].category) for corpus in corpora] == [
        ("01_simple_roles-6", "simple"), ("05_post_processing_events-4", "post_processing"),
        ("05_post_processing_events-5", "post_processing"),
    ]  # fmt: skip
    assert [corpus.questions[0].split for corpus in corpora] == [Split.HELD_OUT, Split.HELD_OUT, Split.TUNING]
    diary = corpora[0]
    assert time(diary.passages[0].created_ms) == "2024-04-01 08:38:00"
    assert diary.questions[0].passages == {"0"}
    assert time(diary.questions[0].asked_ms or 0) == "2024-04-06 07:24:00"


def test_probe_hides_its_notes_among_distractors(tmp_path: Path) -> None:
    (corpus,) = read("probe", tmp_path)
    by_key = {each.key: each for each in corpus.passages}
    assert len(by_key) == len(corpus.passages) == 2 + 4  # the diaries hold four different messages
    assert by_key["note-0"].text == "部署脚本在周五冻结。"
    assert [question.passages for question in corpus.questions] == [{"note-0"}, {"note-1"}]
    assert {question.split for question in corpus.questions} == {Split.HELD_OUT}
    assert len({each.session for each in corpus.passages}) == len(corpus.passages)
    assert corpus == BY_NAME["probe"].read(tmp_path)[0]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_missing_set_says_what_is_missing(suite: object, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as raised:
        BY_NAME[suite.name].read(tmp_path)  # type: ignore[attr-defined]
    assert raised.value.details["reason"] == "no_question_set"


@pytest.mark.parametrize("text", ["not JSON", "[1]", '[{"conversation": {}}]', '{"a": 1}'])
def test_a_file_of_another_format_is_refused(text: str, tmp_path: Path) -> None:
    sets.locomo(tmp_path)
    (tmp_path / "locomo/locomo10.json").write_text(text)
    with pytest.raises(InvalidArgument, match="is not in the format of locomo"):
        BY_NAME["locomo"].read(tmp_path)


def test_all_takes_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no question set"):
        chosen("all", tmp_path)
    sets.memdaily(tmp_path)
    assert [suite.name for suite in chosen("all", tmp_path)] == ["memdaily"]
    sets.everything(tmp_path)
    assert [suite.name for suite in chosen("all", tmp_path)] == ["locomo", "beam", "longmemeval", "memdaily", "probe"]


def test_the_fingerprint_follows_the_text(tmp_path: Path) -> None:
    sets.everything(tmp_path)
    before = BY_NAME["beam"].fingerprint(tmp_path)
    assert before == BY_NAME["beam"].fingerprint(tmp_path)
    sets.write(tmp_path / "beam-100k/1/chat.json", [])
    assert BY_NAME["beam"].fingerprint(tmp_path) != before


def test_a_limit_spreads_over_the_suite_and_keeps_haystacks_whole(tmp_path: Path) -> None:
    corpora = read("locomo", tmp_path)
    assert sum(len(corpus.questions) for corpus in keep(corpora, Split.ALL, None)) == 24
    few = keep(corpora, Split.ALL, 2)
    assert [(corpus.name, len(corpus.questions)) for corpus in few] == [("talk-0", 1), ("talk-2", 1)]
    assert few[0].passages == corpora[0].passages
    assert [corpus.name for corpus in keep(corpora, Split.HELD_OUT, None)] == ["talk-3"]
    assert [corpus.name for corpus in keep(corpora, Split.TUNING, None)] == ["talk-0", "talk-1", "talk-2"]
    assert sum(len(corpus.questions) for corpus in keep(corpora, Split.ALL, 999)) == 24
