"""What holds beyond its session: rules, decisions, causes and open ends, told at the start."""

from __future__ import annotations

from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.memory import Kind, Memory, Origin, State, Status
from codexmem.recall.lasting import lasting


def texts(*turns: SummaryAttrs, budget: int = 400) -> list[str]:
    made = [
        Memory(number, str(number), Kind.SUMMARY, State(attrs.text(), attrs), 1, Origin.AGENT, 1, 1, f"s{number}")
        for number, attrs in enumerate(turns, 1)
    ]
    return [fact.text for fact in lasting(made[::-1], (), budget)]


def test_what_holds_is_told_and_what_was_done_is_not() -> None:
    told = texts(
        SummaryAttrs(
            request="Please never push to main without a review.",
            learned="Updated the parser and ran the tests. We decided to keep prices in cents, not in floats.\n"
            "The root cause was a stale lock file in `var/run`. Everything looks good now.",
            next_steps="The import of old orders is still missing.",
        ),
    )
    assert {
        "Please never push to main without a review.",
        "We decided to keep prices in cents, not in floats.",
    } <= set(told)
    assert not any("Updated" in text or "looks good" in text for text in told)


def test_what_is_asked_for_now_is_no_rule() -> None:
    told = texts(
        SummaryAttrs(request="Ok take a look at the @tasks.md list and let me know what needs to be done next."),
        SummaryAttrs(
            request="Please walk me through the env files that need to be updated before the deploy of app.py."
        ),
        SummaryAttrs(request="Don't take any action yet, I'd like to see the differences of the 2 files first."),
        SummaryAttrs(request="请检查一下 app.py 需要先改什么再部署。"),
        SummaryAttrs(learned="- Decision-making frameworks for each role in docs/roles.md"),
        SummaryAttrs(
            request="Let's never run in mock mode in production.", learned="- - Always apply `lint.cfg` here."
        ),
        SummaryAttrs(request="请务必先运行 make migrate 再发布。"),
    )
    assert told == [
        "请务必先运行 make migrate 再发布。",
        "Let's never run in mock mode in production.",
        "Always apply `lint.cfg` here.",
    ]


def test_chinese_counts_too() -> None:
    told = texts(SummaryAttrs(request="改一下按钮颜色", learned="已更新样式。以后金额必须用整数分保存，不要用浮点数。"))
    assert told == ["以后金额必须用整数分保存，不要用浮点数。"]


def test_causes_and_conditions_that_name_something_are_told() -> None:
    told = texts(
        SummaryAttrs(learned="The root cause was a stale lock file in `var/run`. It broke because of the weather."),
        SummaryAttrs(learned="Releases go out only on Tuesdays, after 2 approvals. We only had a look at it."),
        SummaryAttrs(learned="原因是预发命名空间里缺少 regcred 这个拉取镜像的凭据。这是因为之前没有看到它们。"),
        SummaryAttrs(learned="发布只在周二进行，先跑冒烟测试，再由值班的人打 tag。我只有一点时间来看看。"),
    )
    assert told == [
        "发布只在周二进行，先跑冒烟测试，再由值班的人打 tag。",
        "原因是预发命名空间里缺少 regcred 这个拉取镜像的凭据。",
        "Releases go out only on Tuesdays, after 2 approvals.",
        "The root cause was a stale lock file in `var/run`.",
    ]


def test_a_fact_is_told_once_as_it_was_said_last_and_gains_weight() -> None:
    old = SummaryAttrs(learned="We decided to keep prices in cents in the orders table.")
    new = SummaryAttrs(learned="As decided, we keep prices in cents in the orders table, never in floats.")
    other = SummaryAttrs(learned="We decided that the nightly report must run after the backup on host db2.")
    assert texts(old, new) == ["As decided, we keep prices in cents in the orders table, never in floats."]
    # Room for one of them: the one that two sessions said.
    assert texts(old, other, new, budget=25) == [
        "As decided, we keep prices in cents in the orders table, never in floats."
    ]


def test_questions_and_short_or_endless_lines_are_left_out() -> None:
    assert texts(SummaryAttrs(learned="Must we? Should we always use tabs here in this file?\nnever")) == []
    assert texts(SummaryAttrs(learned="")) == []


def test_what_was_told_already_is_not_told_again() -> None:
    said = "We decided to keep prices in cents, not in floats."
    memory = Memory(1, "1", Kind.SUMMARY, State(said, SummaryAttrs(learned=said)), 1, Origin.AGENT, 1, 1, "s")
    assert [fact.text for fact in lasting([memory], (), 400)] == [said]
    assert lasting([memory], (), 400, f"learned: {said}") == []


def test_statements_are_told_first_and_what_they_supersede_is_not() -> None:
    def statement(seq: int, text: str, status: Status = Status.ACTIVE) -> Memory:
        state = State(text, ObservationAttrs(concepts=("decision",)), status=status)
        return Memory(seq, str(seq), Kind.OBSERVATION, state, 1, Origin.HUMAN, 1, 1, "s")

    old, new = "We decided to use Jest for the unit tests.", "We no longer use Jest, use Vitest."
    turns = [
        Memory(1, "1", Kind.SUMMARY, State("", SummaryAttrs(request=old, learned="The port must be 8080.")), 1,
               Origin.AGENT, 1, 1, "s1")
    ]  # fmt: skip
    statements = [statement(3, new), statement(2, old, Status.DEPRECATED)]
    told = [fact.text for fact in lasting(turns, statements, 400)]
    assert told == [new, "The port must be 8080."]
    assert [fact.text for fact in lasting(turns, (), 400)] == [old, "The port must be 8080."]
