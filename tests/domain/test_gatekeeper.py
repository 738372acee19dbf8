"""The four rules, the three modes, and how often they are right on turns that people labelled."""

# ruff: noqa: E501 - turns stand as they were said

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import pytest

from codexmem.qa.gatekeeper import judging as gatekeeper
from codexmem.qa.gatekeeper import judging as gatekeeper_sentences
from codexmem.qa.gatekeeper.judging import GatekeeperOutcome, distil, judge
from tests.domain.turns import Turn
from tests.domain.turns.hard import HARD
from tests.domain.turns.held_out import HELD_OUT
from tests.domain.turns.tuning import TUNING

GOOD, GOOD_ZH = TUNING[0], TUNING[12]


def judged(turn: Turn, **more: object) -> GatekeeperOutcome:
    given = {"top_score": None, "min_score": 0.2, "mode": "hard", **more}
    return judge(turn.question, turn.answer, **given)  # type: ignore[arg-type]


def broken(outcome: GatekeeperOutcome) -> list[str]:
    return [rule.name for rule in outcome.rules if not rule.passed]


def precision_and_recall(turns: Sequence[Turn]) -> tuple[float, float]:
    kept = [turn for turn in turns if judged(turn).writes]
    right = sum(turn.good for turn in kept)
    return right / len(kept), right / sum(turn.good for turn in turns)


@pytest.mark.parametrize("name, turns", [("tuning", TUNING), ("held out", HELD_OUT), ("near misses", HARD)])
def test_hard_mode_keeps_what_is_worth_keeping(name: str, turns: Sequence[Turn]) -> None:
    precision, recall = precision_and_recall(turns)
    sys.stdout.write(f"{name}: {len(turns)} turns, precision {precision:.2f}, recall {recall:.2f}\n")
    # Near misses are what rules without understanding cannot do well: the floor keeps them from getting worse.
    assert precision >= (0.8 if turns is HARD else 0.9)
    assert recall >= 0.8


def test_there_are_enough_turns_of_each_sort() -> None:
    assert len(TUNING) + len(HELD_OUT) >= 80
    for turns in (TUNING, HELD_OUT):
        assert {turn.fault for turn in turns} == {"", "reusable", "form", "safe"}
        assert 0.3 <= sum(not turn.question.isascii() for turn in turns) / len(turns) <= 0.7
        assert 0.3 <= sum(turn.good for turn in turns) / len(turns) <= 0.7
    assert not {turn.question for turn in TUNING} & {turn.question for turn in HELD_OUT}


@pytest.mark.parametrize(
    "turn", [turn for turn in (*TUNING, *HELD_OUT) if not turn.good], ids=lambda turn: turn.question
)
def test_what_is_refused_is_refused_by_the_rule_it_breaks(turn: Turn) -> None:
    assert turn.fault in broken(judged(turn))


@pytest.mark.clause("001 §4.4.1", "a top score below min_score, or no result, is too little; anything else is not")
def test_rule_1_asks_what_search_found() -> None:
    assert judged(GOOD, top_score=None).writes
    assert judged(GOOD, top_score=0.19).writes
    known = judged(GOOD, top_score=0.2)
    assert (known.writes, broken(known)) == (False, ["missing"])
    assert known.rules[0].why == "search already found an answer that scored 0.20, at least 0.20"


ONCE = [
    "It broke last night after the upgrade.", "The log is in /home/alice/project/app.log.", "PID 48213 holds the lock.",
    "It runs on stg-web-03.internal.acme.lan.", "Write to dana.whitfield@acme-corp.de about it.", "Call 13912345678.",
    "It came with commit 9fceb02d0ae598e95dc970b74767f19372d61af8.", "Open http://localhost:53117/ to see it.",
    "See SHOP-2211 and SHOP-2214.", "I renamed the module and all tests pass.", "昨天晚上重启之后恢复了。", "我已经修改并推送。",
    "临时文件在 /tmp/dev-20251115/ 下面。", "由王芳跟进，周五前完成。", "The file is C:\\Users\\bob\\notes.txt.",
]  # fmt: skip


@pytest.mark.clause("001 §4.4.2", "one moment, one person or one machine in an answer refuses it")
@pytest.mark.parametrize("once", ONCE)
def test_rule_2_refuses_what_holds_only_once(once: str) -> None:
    outcome = judged(Turn(GOOD.question, f"{GOOD.answer}\n\n{once}"))
    assert (outcome.writes, broken(outcome)) == (False, ["reusable"])


ALWAYS = [
    "Use UTF-8 and SHA-256; RFC-3339 dates sort well.", "It listens on localhost:8080.", "Put it below /home/user/.config.",
    "The default branch is called main.", "Tokens expire after 90 days.", "See /usr/share/doc and /var/log/app.log.",
    "Version 10.2.3.4 of the driver is needed.", "It was added in 2023.", "每周一执行一次即可。", "超过 10000 条会被拒绝。",
    "Write to admin@example.com in the examples.", "Commit messages are in the imperative.", "Bind to 0.0.0.0 in containers.",
]  # fmt: skip


@pytest.mark.parametrize("always", ALWAYS)
def test_rule_2_lets_pass_what_holds_for_all(always: str) -> None:
    assert judged(Turn(GOOD.question, f"{GOOD.answer}\n\n{always}")).writes


@pytest.mark.clause("001 §4.4.3", "vague questions, refusals, errors, promises, questions back and stubs are refused")
@pytest.mark.parametrize(
    "question, answer, key",
    [
        ("continue", GOOD.answer, "form.vague"),
        ("why?", GOOD.answer, "form.vague"),
        ("为什么会这样？", GOOD_ZH.answer, "form.vague"),
        ("the parser and the lexer", GOOD.answer, "form.no_question"),
        (GOOD.question, "I'm sorry, I can't do that here.", "form.refusal"),
        (GOOD_ZH.question, "抱歉，我无法访问该仓库。", "form.refusal"),
        (GOOD.question, "Error: 503 Service Unavailable", "form.error"),
        (GOOD.question, "Let me look at the tests first, then I can say.", "form.promise"),
        (GOOD_ZH.question, "好的，我先看一下索引的代码。", "form.promise"),
        (GOOD.question, "Which engine do you mean, SQLite or PostgreSQL?", "form.asks_back"),
        (GOOD_ZH.question, "请问是哪个项目？用的什么模型？", "form.asks_back"),
        (GOOD.question, "Run `just test-postgres`.", "form.short"),
        (GOOD.question, "It is somewhere in the documents of the project, which has some pages about tests, and they are "
         "good to read for everybody who works with the database and its engines.", "form.shapeless"),
        (GOOD.question, "- one way is the marker in the command of pytest that selects them\n- another way is the recipe in "
         "the justfile which does this for everybody", "form.unbounded"),
        (GOOD.question, "word " * 4_000, "form.long"),
        ("How " + "long " * 500, GOOD.answer, "form.long_question"),
        (GOOD.question, "I'm guessing here: it is `pytest -m postgresql`, as the marker in the configuration says so, and "
         "there seem to be no others, but somebody else may know.", "form.guess"),
        ("<private>How do I run it?</private>", GOOD.answer, "form.empty"),
    ],
)  # fmt: skip
def test_rule_3_asks_for_a_question_and_an_answer(question: str, answer: str, key: str) -> None:
    outcome = judged(Turn(question, answer))
    assert not outcome.writes
    assert {rule.name: rule for rule in outcome.rules}["form"].key == key


@pytest.mark.clause("001 §4.4.4", "a secret refuses, masked or not, whatever level of redaction is chosen")
@pytest.mark.parametrize(
    "secret", ["ghp_" + "a1B2" * 9, "[REDACTED:github]", "DB_PASSWORD=hunter22", "密码：Hunter2!x"]
)
def test_rule_4_refuses_secrets(secret: str) -> None:
    outcome = judged(Turn(GOOD.question, f"{GOOD.answer}\n\n{secret}"))
    assert (outcome.writes, broken(outcome)) == (False, ["safe"])
    assert "hunter" not in str(outcome.rules).lower()


@pytest.mark.clause("001 §3.2.6", "off never writes, soft only with strong_signal, hard by the four rules")
def test_modes() -> None:
    bad = TUNING[20]
    for strong_signal in (False, True):
        assert not judged(GOOD, mode="off", strong_signal=strong_signal).writes
        assert judged(GOOD, mode="hard", strong_signal=strong_signal).writes
        assert not judged(bad, mode="hard", strong_signal=strong_signal).writes
        assert judged(GOOD, mode="soft", strong_signal=strong_signal).writes is strong_signal
        assert not judged(bad, mode="soft", strong_signal=strong_signal).writes


def test_in_soft_mode_what_search_found_is_told_and_does_not_count() -> None:
    outcome = judged(GOOD, mode="soft", strong_signal=True, top_score=0.9)
    assert outcome.writes
    assert (outcome.rules[0].passed, outcome.rules[0].counts) == (False, False)


def test_an_unknown_mode_writes_nothing() -> None:
    assert not judged(GOOD, mode="harder").writes


def test_every_verdict_can_be_said_in_both_languages() -> None:
    assert gatekeeper_sentences.ENGLISH.keys() == gatekeeper_sentences.CHINESE.keys()
    seen = set()
    for turn in (*TUNING, *HELD_OUT, *HARD):
        for mode in gatekeeper.MODES:
            outcome = judged(turn, mode=mode, top_score=0.9 if mode == "soft" else None, strong_signal=True)
            assert [rule.name for rule in outcome.rules] == list(gatekeeper.RULES)
            assert outcome.why == outcome.explained("en")
            assert not outcome.explained("zh").isascii()
            for rule in outcome.rules:
                assert rule.why == rule.explained()[1]
                assert not "".join(rule.explained("zh")).isascii()
                seen.add(rule.key)
    assert len(seen) >= 15


def test_reasons_repeat_no_addresses_and_numbers() -> None:
    outcome = judged(Turn(GOOD.question, f"{GOOD.answer}\n\nWrite to dana.whitfield@acme-corp.de."))
    assert outcome.rules[1].why == "it holds something personal: “[REDACTED:email]”"


def test_a_draft_is_what_was_said_without_the_rest() -> None:
    draft = distil(
        "Hi! Please explain: why does `pip` raise ResolutionImpossible here? [QA_REF qa-12]\x1b[0m",
        "Sure! Great question. Two requirements exclude each other [QA_REF qa-7f].\n\n"
        "<codexmem-context>old answers</codexmem-context><private>mine</private>\n"
        "```console\npip check\n```\nLoosen one of them.\n\nLet me know if you need more help! Shall I do it?",
    )
    assert draft is not None
    assert draft.question == "Please explain: why does `pip` raise ResolutionImpossible here?"
    assert draft.answer.startswith("Two requirements exclude each other")
    assert draft.answer.endswith("Loosen one of them.")
    for gone in ("QA_REF", "old answers", "mine", "Sure", "Let me know", "Shall I", "\x1b"):
        assert gone not in draft.question + draft.answer
    assert draft.summary == "Two requirements exclude each other ."
    assert draft.tags[:2] == ("pip", "shell")


def test_a_chinese_draft() -> None:
    draft = distil(
        "你好，请问如何在 Docker 里装 numpy？",
        "好的，用 slim 镜像即可。\n1. `pip install numpy`\n2. 注意版本。\n\n需要我写好 Dockerfile 吗？",
    )
    assert draft is not None
    assert draft.question == "如何在 Docker 里装 numpy？"
    assert draft.answer == "用 slim 镜像即可。\n1. `pip install numpy`\n2. 注意版本。"
    assert draft.summary == "用 slim 镜像即可。"
    assert set(draft.tags) == {"docker", "numpy", "pip"}


def test_tags_name_errors_and_only_what_is_meant() -> None:
    tags = distil(
        "Why does `go test` fail?", "It raises ConnectionResetError. Rust and React go on. Let it rust; react."
    )
    assert tags is not None
    assert tags.tags[0] == "ConnectionResetError"
    plain = distil("How do I go on?", "Let it rust and react, and make it so that they node.")
    assert plain is not None
    assert plain.tags == ()


def test_nothing_is_left() -> None:
    assert distil("", "x") is None
    assert distil("x?", "<private>all of it</private>") is None


def test_a_long_answer_is_cut() -> None:
    draft = distil("How long?", "word " * 50_000)
    assert draft is not None
    assert len(draft.answer) < 13_000


HOSTILE = [
    "a", "?", "1. ", "|x|\n", "I've ", "at 1", "A-1", "PR ", "\n", "。", "`", "```", "0" * 9, "1" * 11, "x@", "a.b@c.d ",
    "\x1b[", "[QA_REF ", "<private>", "好的，", "由王", "commit a", "localhost:", "/tmp/", "a-", "a-0", "the ", "Mr. ",
    "did the ", "was it ", "a.internal", "今天", "Let me know ", "“", "{", "{0}", "%s",
]  # fmt: skip


@pytest.mark.slow
def test_no_hostile_turn_takes_long() -> None:
    slow = []
    for unit in HOSTILE:
        text = unit * ((1 << 16) // len(unit))
        began = time.thread_time()
        judge(text, text, top_score=None, min_score=0.2, mode="hard")
        if (taken := time.thread_time() - began) > 0.5:
            slow.append((unit, taken))
    assert not slow
