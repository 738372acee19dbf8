"""What a person decides, demands and prefers is kept until another statement supersedes it; on every engine."""

from __future__ import annotations

import pytest

from codexmem.capture.extraction import statements
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, Origin, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.search.statement_words import same, superseded
from codexmem.kernel.store.database import Database
from codexmem.recall.context import ContextRequest
from tests._support import capturing
from tests._support.capturing import Capturing

SUPERSEDES = (
    ("We no longer use Jest, use Vitest.", "We decided to use Jest for the unit tests."),
    ("Use Vitest instead of Jest from now on.", "We decided to use Jest for the unit tests."),
    ("Remember that the dev server listens on port 9090.", "Remember that the dev server listens on port 8080."),
    ("We decided to retry payments five times.", "We decided to retry payments three times."),
    ("约定失败后重试五次。", "约定失败后重试三次。"),
    ("We switched from Redis to Postgres for the queue.", "We agreed to keep the job queue in Redis."),
    ("Releases now go out on Tuesday instead of Friday.", "We decided that releases go out every Friday."),
    ("We no longer deploy on Fridays, we deploy on Tuesdays.", "We decided to deploy on Fridays only."),
    ("Never squash commits.", "Always squash commits."),
    ("记住，不要压缩提交。", "记住，压缩提交。"),
    ("我们改用 Vitest，不再使用 Jest。", "我们决定用 Jest 跑单元测试。"),
    ("以后提交信息改成英文。", "以后提交信息一律用中文。"),
    ("我们把缓存从 Redis 换成 Memcached。", "我们决定缓存使用 Redis。"),
)
BOTH_STAND = (
    ("From now on always run make lint before commit.", "Always run make test before commit."),
    ("We decided to use MySQL for billing.", "We decided to use Postgres for the orders."),
    ("We switched from Redis to Postgres for the queue.", "Never flush Redis in production."),
    ("Remember that the metrics port is 9100.", "Remember that the dev server listens on port 8080."),
    ("以后接口文档改用英文。", "以后提交信息一律用中文。"),
    ("日志级别改成 debug。", "记住日志库用 logrus。"),
)


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def turn(here: Capturing, prompt: str, session: str = "s1") -> None:
    here.say(prompt, session=session)
    here.intake.summarize(HookReport(session, message="Understood."))
    here.run()


def kept(here: Capturing, statuses: frozenset[Status] = VISIBLE) -> list[Memory]:
    wanted = Filter(frozenset({Kind.OBSERVATION}), statuses=statuses)
    return list(here.base.memories.page(wanted, PageRequest(limit=50)).items)


def test_a_decision_that_a_person_states_is_a_memory(here: Capturing) -> None:
    turn(here, "We decided to keep prices in cents. Remember that. Now fix the cart, it shows 3 items.")
    (memory,) = kept(here)
    attrs = memory.state.attrs
    assert isinstance(attrs, ObservationAttrs)
    assert (memory.state.type, memory.state.title) == ("decision", "We decided to keep prices in cents.")
    assert (attrs.concepts, attrs.prompt_number, memory.origin) == (("decision",), 1, Origin.HUMAN)


def test_said_again_it_is_confirmed_and_not_kept_twice(here: Capturing) -> None:
    turn(here, "以后金额一律用整数分保存。")
    for session in ("s2", "s3"):
        turn(here, "以后金额一律用整数分保存。顺便改一下按钮颜色", session)
    (memory,) = kept(here)
    assert memory.counters.valid == 2


def test_an_amendment_that_is_said_again_does_not_supersede_itself(here: Capturing) -> None:
    turn(here, "We decided to deploy on Fridays only.")
    for session in ("s2", "s3"):
        turn(here, "We no longer deploy on Fridays, we deploy on Tuesdays.", session)
    (new,) = kept(here)
    assert (new.state.content[:12], new.counters.valid) == ("We no longer", 1)
    assert len(kept(here, frozenset({Status.DEPRECATED}))) == 1


def test_a_later_decision_supersedes_the_earlier_one(here: Capturing) -> None:
    turn(here, "We decided to use Jest for the unit tests.")
    turn(here, "Use Vitest instead of Jest, please rewrite the config.", "s2")
    (new,) = kept(here)
    (old,) = kept(here, frozenset({Status.DEPRECATED}))
    assert new.state.content == "Use Vitest instead of Jest, please rewrite the config."
    assert new.state.links == (("supersedes", old.seq),)
    assert here.base.memories.linked_to(old.seq) == [("supersedes", new.seq)]
    assert old.state.content == "We decided to use Jest for the unit tests."


def test_tasks_questions_code_and_documents_are_no_statements() -> None:
    assert statements("Replace the button with a link") != []  # kept only if it supersedes something
    assert all(each.kind is None for each in statements("Replace the button on the settings page with a link."))
    for text in (
        "Should we always use tabs?", "Fix the login, it must work on Safari.", "```\nAlways commit the parent.\n```",
        "**Decision: Standard vs Skill**", "如果你决定使用 Vercel，请告诉我", "for the `minsky.mdc` rule:",
        "Never mind, leave the parser as it is.", "部署以后页面一直白屏，帮我看看", "登录页要有记住密码的选项",
        "服务稳定了，继续下一步", "这个接口始终返回 404",
    ):  # fmt: skip
        assert statements(text) == [], text


def test_a_task_that_replaces_something_is_none_unless_it_amends_a_statement(here: Capturing) -> None:
    turn(here, "We decided to list open issues in CHANGELOG.")
    turn(here, "Use a map instead of a list here.", "s2")
    assert [memory.state.content for memory in kept(here)] == ["We decided to list open issues in CHANGELOG."]


@pytest.mark.parametrize("new, old", SUPERSEDES)
def test_what_names_what_it_replaces_supersedes(new: str, old: str) -> None:
    assert superseded(new, old)
    assert not same(new, old)


@pytest.mark.parametrize("new, old", BOTH_STAND)
def test_what_only_resembles_another_stands_beside_it(new: str, old: str) -> None:
    assert not superseded(new, old)
    assert not same(new, old)


def test_the_next_session_is_told_the_new_one_and_the_old_is_marked(here: Capturing) -> None:
    turn(here, "We decided to use Jest for the unit tests of the storefront checkout. Add the first one.")
    turn(here, "We no longer use Jest for unit tests of the storefront, use Vitest. Rewrite the config.", "s2")
    start = here.context.give(ContextRequest("demo")).text
    assert "We no longer use Jest for unit tests of the storefront, use Vitest." in start
    assert "We decided to use Jest" not in start.partition("## Rules")[2]
    prompt = "Which runner do the unit tests of the storefront checkout use, Jest or another?"
    told = here.context.give(ContextRequest("demo", prompt=prompt, session="s3")).text
    assert "We no longer use Jest" in told
    assert "[superseded] We decided to use Jest for the unit tests" in told


def test_the_past_still_finds_the_old_one_and_undoing_brings_it_back(here: Capturing) -> None:
    turn(here, "We decided to use Jest for the unit tests.")
    (old,) = kept(here)
    then = here.base.clock.now_ms()
    turn(here, "We no longer use Jest for the unit tests, use Vitest.", "s2")
    wanted = Filter(frozenset({Kind.OBSERVATION}))
    now = here.base.search(SearchQuery("Jest unit tests", wanted)).results
    assert [each.memory.seq for each in now] == [kept(here)[0].seq] != [old.seq]
    past = here.base.search(SearchQuery("Jest unit tests", wanted, as_of_ms=then)).results
    assert [each.memory.seq for each in past] == [old.seq]
    second = here.sessions.named("s2")
    assert second is not None
    here.base.history.undo_source(second.subject, Mode.STRICT, WriteContext("test"))
    assert [memory.seq for memory in kept(here)] == [old.seq]
