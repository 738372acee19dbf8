"""Items: when two questions are one, when answers agree, how well an item fits, and how it moves through its life."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codexmem.kernel.model import qa_words
from codexmem.kernel.model.agreement import Agreement, compare
from codexmem.kernel.model.attrs import QaAttrs
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.qa_words import Likeness, likeness, words
from codexmem.qa.model import items as qa
from codexmem.qa.model.validation import AnswerTrial, UnprocessableReport, trial

SAME = [
    ("How do I rotate the signing key of the gateway?", "How can we rotate the gateway's signing keys?"),
    ("What is the default port", "what's the default port???"),
    ("Why is the build not working?", "why doesn't the build work"),
    ("如何清理构建缓存？", "请问怎么清理构建的缓存呢"),
    ("为什么测试失败", "为何测试失败了？"),
    ("Redis 超时怎么设置", "如何设置 redis 超时"),
]
OTHER = [
    ("How do I enable the cache?", "How do I disable the cache?"),
    ("Why does the build fail?", "When does the build fail?"),
    ("Does it work?", "Does it not work?"),
    ("如何开启缓存", "如何关闭缓存"),
    ("怎么删除用户", "怎么添加用户"),
    ("configure the timeout of redis", "configure the timeout of kafka"),
    ("", ""),
    ("???", "how do I"),
]


@pytest.mark.parametrize("one, other", SAME)
def test_a_question_in_other_words_is_the_same(one: str, other: str) -> None:
    assert likeness(words(one), words(other)) is Likeness.SAME
    assert qa_words.key(one) == qa_words.key(other)


@pytest.mark.parametrize("one, other", OTHER)
def test_another_question_is_another(one: str, other: str) -> None:
    assert likeness(words(one), words(other)) is Likeness.OTHER


def test_a_question_that_says_a_little_more_is_narrower_and_one_that_says_something_else_is_alike() -> None:
    plain = words("How do I reset the administrator password of the staging database?")
    assert likeness(plain, words("reset administrator password staging database safely")) is Likeness.NARROWER
    assert likeness(plain, words("reset administrator password staging mirror database quickly")) is Likeness.ALIKE
    # Where the question word stands in the middle, two neighbours are parted.
    assert likeness(words("为什么测试失败"), words("测试为何失败了？")) is Likeness.NARROWER


def test_questions_without_words_have_keys_of_their_own() -> None:
    assert qa_words.key("???") != qa_words.key("!!!")
    assert qa_words.key("How do I?") != qa_words.key("What is it?")


@settings(max_examples=60)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_compared_and_the_order_does_not_matter(one: str, other: str) -> None:
    first, second = words(one), words(other)
    assert likeness(first, second) is likeness(second, first)
    assert compare(one, other) is compare(other, one)
    assert len(qa_words.key(one)) == 32
    assert compare(one, one) is Agreement.AGREES


@pytest.mark.parametrize(
    "text", ["a'" * 50_000, "`" * 100_000, "--" * 50_000, "1." * 50_000, "不" * 100_000, "\u0301" * 50_000]
)
@pytest.mark.slow
def test_hostile_text_takes_no_longer_than_other_text(text: str) -> None:
    # A minute is the limit of a test; anything but linear would pass it.
    assert compare(text, text + "x") in Agreement
    assert isinstance(qa_words.key(text), str)


@pytest.mark.parametrize(
    "one, other",
    [
        ("The port is 8080.", "The port is 9090."),
        ("Use Redis", "Use Postgres"),
        ("Use Redis for storing the user sessions in production", "Use Postgres for the user sessions in production"),
        ("Run `make clean` in the repository root", "Run `make purge` in the repository root"),
        ("Open gateway.toml, set timeout=30 and restart.", "Open gateway.toml, set timeout=60 and restart."),
        ("You should enable the cache in production.", "You should not enable the cache in production."),
        ("Yes, it is safe.", "No, it is not safe."),
        ("默认端口是 8080", "默认端口是 9090"),
        ("可以在生产环境开启缓存", "不要在生产环境开启缓存"),
        ("使用 Redis 存储生产环境的用户会话数据", "使用 Postgres 存储生产环境的用户会话数据"),
        ("旧版本支持这个参数，直接传入即可", "旧版本不支持这个参数，直接传入即可"),
        ("是", "否"),
    ],
)
def test_answers_that_cannot_both_be_right_contradict(one: str, other: str) -> None:
    assert compare(one, other) is Agreement.CONTRADICTS


@pytest.mark.parametrize(
    "one, other",
    [
        ("Run make clean", "Execute `make clean`"),
        ("Delete the cache folder and restart the server", "Remove the cache folder and restart the server"),
        (
            "Run gatewayctl rotate, wait for both replicas, then revoke the old key.",
            "Rotate with gatewayctl rotate. Wait until both replicas are ready and revoke the old key.",
        ),
        (
            "执行 make clean 并删除 .cache 目录；注意不要删除 vendor。",
            "执行 make clean，再删除 .cache 目录，注意不要删除 vendor",
        ),
        ("Set the timeout to 30 seconds.", "Set the timeout to 30 seconds. Restart the service afterwards, as root."),
    ],
)  # fmt: skip
def test_the_same_answer_in_other_words_agrees(one: str, other: str) -> None:
    assert compare(one, other) is Agreement.AGREES


def test_what_says_something_else_altogether_differs() -> None:
    first = "Open the settings page and choose Export from the menu on the left."
    second = "You need administrator rights; ask in the platform channel and wait for a colleague to grant them."
    assert compare(first, second) is Agreement.DIFFERS
    assert compare("", "something") is Agreement.DIFFERS


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({"success": True}, AnswerTrial(True, 1.0, False)),
        ({"success": False, "strength": 0.5}, AnswerTrial(False, 0.5, False)),
        ({"result": "pass"}, AnswerTrial(True, 1.0, False)),
        ({"result": " OK. "}, AnswerTrial(True, 1.0, False)),
        ({"result": "通过"}, AnswerTrial(True, 1.0, False)),
        ({"result": "失败！"}, AnswerTrial(False, 1.0, False)),
        ({"result": "failed", "success": False}, AnswerTrial(False, 1.0, False)),
        ({"result": "skipped"}, AnswerTrial(None, 1.0, False)),
        ({"result": "未知", "success": True}, AnswerTrial(True, 1.0, False)),
        ({"success": True, "strong": True}, AnswerTrial(True, 1.0, True)),
        ({"success": True, "strength": "strong"}, AnswerTrial(True, 1.0, True)),
        ({"success": True, "strength": "strong", "strong": False}, AnswerTrial(True, 1.0, False)),
        ({"success": True, "strength": "弱"}, AnswerTrial(True, 0.5, False)),
        ({"success": True, "strength": "0.25"}, AnswerTrial(True, 0.25, False)),
    ],
)
def test_a_report_is_read_by_all_of_its_fields(fields: dict[str, object], expected: AnswerTrial) -> None:
    given: dict[str, object] = {"success": None, "result": None, "strength": None, "strong": None, **fields}
    assert trial(**given) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields, said",
    [
        ({}, "neither success nor result"),
        ({"result": "  "}, "neither success nor result"),
        ({"strong": True}, "neither success nor result"),
        ({"success": False, "result": "通过"}, "says the opposite"),
        ({"success": True, "result": "failure"}, "says the opposite"),
        ({"result": "perhaps"}, "no word that is known"),
        ({"success": True, "strength": "huge"}, "neither a number nor a word"),
        ({"success": True, "strength": 1.5}, "not between 0 and 1"),
        ({"success": True, "strength": "nan"}, "not between 0 and 1"),
        ({"success": True, "strength": 0.0, "strong": True}, "signal_strength is 0"),
    ],
)  # fmt: skip
def test_a_report_that_contradicts_itself_or_says_nothing_is_refused(fields: dict[str, object], said: str) -> None:
    given: dict[str, object] = {"success": None, "result": None, "strength": None, "strong": None, **fields}
    with pytest.raises(UnprocessableReport, match=said):
        trial(**given)  # type: ignore[arg-type]


def test_steps_lead_up_and_down_one_at_a_time() -> None:
    up = [qa.promoted(status) for status in (Status.DEPRECATED, Status.EXPIRED, Status.CANDIDATE, Status.VALIDATED)]
    assert up == [Status.CANDIDATE, Status.CANDIDATE, Status.VALIDATED, Status.VALIDATED]
    down = [qa.demoted(status) for status in (Status.VALIDATED, Status.ACTIVE, Status.CANDIDATE, Status.EXPIRED)]
    assert down == [Status.CANDIDATE, Status.CANDIDATE, Status.DEPRECATED, Status.EXPIRED]


def test_only_what_is_offered_expires() -> None:
    assert qa.expires_ms(Status.CANDIDATE, 5) == 5 + 90 * 86_400_000
    assert qa.expires_ms(Status.VALIDATED, 5) == 5 + 365 * 86_400_000
    assert {qa.expires_ms(status, 5) for status in Status if status not in qa.OFFERED} == {None}


def test_anchors_are_found_as_they_are_written() -> None:
    first, second = "qa-1f-2", "qa-x_3.a"
    text = f"as {qa.anchor(first)} says, and {qa.anchor(second)}, again {qa.anchor(first)} [QA_REF kb-1] [QA_REF qa-]"
    assert qa.anchors_in(text) == (first, second)


def test_old_rows_are_read_and_defaults_cost_nothing() -> None:
    assert QaAttrs.from_json({"question": "q", "phrasings": ["p"]}) == QaAttrs(question="q", phrasings=("p",))
    assert QaAttrs(question="q").to_json() == {"question": "q"}
    full = QaAttrs("q", ("p",), "s", ("t",), "a", "src", ("alt",), '{"a":1}')
    assert QaAttrs.from_json(full.to_json()) == full


def test_every_phrasing_labels_the_item_and_as_many_are_kept_as_fit() -> None:
    attrs = QaAttrs(question="How do I deploy?", phrasings=("deploying to production",))
    asked = {value for facet, value in attrs.facets() if facet == "question"}
    assert asked == {qa_words.key("deploy"), qa_words.key("How do we deploy to production?")}
    many = qa.with_phrasings(attrs, [f"phrasing {number}" for number in range(100)])
    assert len(many) == qa.MAX_PHRASINGS
    assert many[0] == "deploying to production"
    assert qa.with_phrasings(attrs, ["How do I deploy?"]) == attrs.phrasings
