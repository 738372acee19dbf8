"""Taking in candidates: what is kept, what is merged, what is flagged, also when many come at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from codexmem.kernel.model.history import Mode
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.store.database import acting_as
from codexmem.qa.model.items import CONTRADICTS, KINDS, MAX_ALTERNATIVES, MAX_PHRASINGS, NewQa, attrs_of, linked
from codexmem.qa.model.validation import UnprocessableReport
from tests._support.asking import DAY_MS, ME, PROJECT, Asked

ROTATE = "How do I rotate the signing key of the gateway?"
STEPS = "Run gatewayctl rotate, wait for both replicas, then revoke the old key."
ANYWHERE = frozenset(Status)


def count(here: Asked, project: str = PROJECT) -> int:
    return len(here.real.memories.page(Filter(KINDS, project=project, statuses=ANYWHERE), PageRequest(100)).items)


def test_a_candidate_is_kept_without_what_is_private_or_secret(here: Asked) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    stored = here.tell(
        f"How do I log in? <private>{secret}</private>", f"Export TOKEN={secret} and <private>内部</private> log in.",
        summary=f"with {secret}", tags=("auth", " auth ", secret), metadata=f'{{"token": "{secret}", "run": 7}}',
        source=f"codex {secret}", author="ada", confidence=0.8,
    )  # fmt: skip
    memory = here.memory(stored.item.memory.id)
    assert secret not in str(memory)
    assert "内部" not in str(memory)
    attrs = attrs_of(memory)
    assert (attrs.question, attrs.tags[0], attrs.author) == ("How do I log in?", "auth", "ada")
    assert '"run":7' in attrs.metadata
    assert (memory.state.status, memory.state.confidence, memory.state.title) == (
        Status.CANDIDATE, 0.8, "How do I log in?"
    )  # fmt: skip
    assert memory.id.startswith("qa-")


@pytest.mark.parametrize(
    "fields",
    [
        {"question": "<private>x</private>"}, {"answer": " "}, {"question": "q" * 4_001}, {"answer": "a" * 200_001},
        {"tags": tuple(map(str, range(51)))}, {"author": "x" * 401}, {"metadata": f'{{"a": "{"x" * 20_000}"}}'},
    ],
)  # fmt: skip
def test_what_is_empty_or_too_long_is_refused(here: Asked, fields: dict[str, object]) -> None:
    given: dict[str, object] = {"question": ROTATE, "answer": STEPS, **fields}
    with pytest.raises(UnprocessableReport):
        here.qa.candidates.prepare(NewQa(PROJECT, **given))  # type: ignore[arg-type]
    assert count(here) == 0


def test_the_same_question_in_other_words_is_one_item_with_two_phrasings(here: Asked) -> None:
    first = here.tell(ROTATE, STEPS, tags=("gateway",))
    again = here.tell(
        "How can we rotate the gateway's signing keys?",
        "Rotate with gatewayctl rotate. Wait until both replicas are ready and revoke the old key.", tags=("keys",),
        summary="rotating keys",
    )  # fmt: skip
    assert (first.created, again.created) == (True, False)
    assert again.item.memory.id == first.item.memory.id
    attrs = attrs_of(again.item.memory)
    assert attrs.question == ROTATE
    assert attrs.phrasings == ("How can we rotate the gateway's signing keys?",)
    assert (attrs.tags, attrs.summary) == (("gateway", "keys"), "rotating keys")
    assert again.item.memory.state.content == STEPS
    # Somebody else came to the same answer: a little evidence.
    assert 0.5 < again.item.confidence < 0.55
    assert count(here) == 1


def test_the_same_text_again_is_no_news(here: Asked) -> None:
    here.tell(ROTATE, STEPS)
    *_, again = (here.tell(ROTATE, STEPS) for _ in range(5))
    assert (again.created, again.item.confidence, again.item.memory.version) == (False, 0.5, 1)


def test_chinese_questions_are_merged_as_well(here: Asked) -> None:
    first = here.tell("如何清理构建缓存？", "执行 make clean 并删除 .cache 目录")
    again = here.tell("请问怎么清理构建的缓存呢", "先执行 make clean，再删除 .cache 目录")
    assert not again.created
    assert again.item.memory.id == first.item.memory.id


def test_another_wording_of_the_answer_is_kept_beside_it(here: Asked) -> None:
    first = here.add(
        "Where do I export my data?", "Open the settings page and choose Export from the menu on the left."
    )
    for number, other in enumerate(("platform", "support", "release", "security")):
        text = (
            f"You need rights for that; ask in the {other} channel, wait for a colleague, and follow the guide there."
        )
        again = here.tell("where can I export my data", text)
        assert (again.created, again.item.memory.id) == (False, first), number
        if number:  # a channel more or less is the same answer
            assert len(attrs_of(again.item.memory).alternatives) <= MAX_ALTERNATIVES
    assert "platform channel" in attrs_of(here.memory(first)).alternatives[0]
    assert here.memory(first).state.content.startswith("Open the settings page")


@pytest.mark.parametrize(
    "question, one, other",
    [
        ("What is the default port?", "The default port is 8080.", "The default port is 9090."),
        ("默认端口是多少？", "默认端口是 8080", "默认端口是 9090"),
        ("May I enable the cache in production?", "You should enable the cache.", "You should not enable the cache."),
    ],
)
def test_answers_that_clash_are_two_items_that_name_each_other(
    here: Asked, question: str, one: str, other: str
) -> None:
    first = here.add(question, one)
    second = here.tell(question, other)
    assert second.created
    assert [each.id for each in second.item.contradicts] == [first]
    assert [each.id for each in here.item(first).contradicts] == [second.item.memory.id]
    # A third one that agrees with the second joins it.
    third = here.tell(f"{question}  ", other)
    assert (third.created, third.item.memory.id) == (False, second.item.memory.id)
    assert count(here) == 2


def test_a_clash_can_be_undone_as_one(here: Asked) -> None:
    first = here.add("What is the default port?", "It is port 8080.")
    second = here.add("What is the default port?", "It is port 9090.")
    (delta,) = here.real.history.deltas_of(f"qa:{PROJECT}")
    assert delta.cause == "contradiction"
    here.real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    assert here.item(first).contradicts == ()
    assert here.memory(second).state.status is Status.DELETED


def test_an_answer_that_was_refuted_does_not_come_back_under_another_id(here: Asked) -> None:
    refuted = here.add(ROTATE, STEPS)
    here.qa.reviewing.reject(refuted, PROJECT, ME)
    again = here.tell("How to rotate the gateway signing key", STEPS)
    assert (again.created, again.item.memory.id, again.item.status) == (False, refuted, Status.DEPRECATED)
    # Another answer to it is a new chance, and nothing stands against it.
    other = here.tell(ROTATE, "Call the platform team, they have a runbook and do this during office hours only.")
    assert (other.created, other.item.contradicts) == (True, ())


def test_what_has_expired_is_a_candidate_again_when_it_is_told_again(here: Asked) -> None:
    old = here.add(ROTATE, STEPS)
    here.real.clock.advance(91 * DAY_MS)
    here.qa.expiry.expire(ME)
    assert here.memory(old).state.status is Status.EXPIRED
    again = here.tell("How to rotate the gateway signing key", STEPS)
    assert (again.created, again.item.memory.id, again.item.status) == (False, old, Status.CANDIDATE)
    # And with new time before it.
    assert here.qa.expiry.expire(ME).expired == 0


def test_projects_have_nothing_to_do_with_each_other(here: Asked) -> None:
    first = here.add("What is the default port?", "It is port 8080.")
    other = here.tell("What is the default port?", "It is port 9090.", project="elsewhere")
    assert other.created
    assert other.item.contradicts == ()
    assert here.item(first).contradicts == ()


def test_a_question_that_is_nearly_the_same_is_found_by_the_search(here: Asked) -> None:
    question = "How do I reset the administrator password of the staging database?"
    answer = "Open the console, choose the staging database, select Users and press Reset next to the administrator."
    first = here.add(question, answer)
    here.real.clock.advance(DAY_MS)
    again = here.tell("How do I safely reset the administrator password of the staging database?", answer)
    assert (again.created, again.item.memory.id) == (False, first)


def test_no_more_phrasings_are_kept_than_fit(here: Asked) -> None:
    first = here.add("How do I deploy the shop?", "Run the release job and watch the dashboard until it is green.")
    for number in range(MAX_PHRASINGS + 5):
        asked = "please " * number + "how to deploy the shop"
        here.tell(asked, "Run the release job and watch the dashboard until it is green.")
    assert len(attrs_of(here.memory(first)).phrasings) == MAX_PHRASINGS
    assert count(here) == 1


def test_many_who_tell_the_same_at_once_make_one_item(here: Asked, tenant: str) -> None:
    phrasings = [ROTATE, "how to rotate the gateway signing key", "Rotating the signing key of our gateway?"]

    def tell(number: int) -> str:
        with acting_as(tenant):
            return here.tell(phrasings[number % 3], STEPS).item.memory.id

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(tell, range(24)))
    assert len(ids) == 1
    assert count(here) == 1
    attrs = attrs_of(here.memory(ids.pop()))
    assert {attrs.question, *attrs.phrasings} == set(phrasings)


def test_clashing_answers_at_once_end_in_two_items_that_name_each_other(here: Asked, tenant: str) -> None:
    def tell(number: int) -> str:
        with acting_as(tenant):
            return here.tell("What is the default port?", f"It is port {8080 + number % 2}.").item.memory.id

    with ThreadPoolExecutor(6) as pool:
        ids = sorted(set(pool.map(tell, range(12))))
    assert len(ids) == 2
    one, other = (here.memory(each) for each in ids)
    assert linked(one, CONTRADICTS) == (other.seq,)
    assert linked(other, CONTRADICTS) == (one.seq,)
