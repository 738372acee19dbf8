"""What an agent used of what it was told: anchors prove it, overlap suggests it, a wrong claim is the worse error."""

from __future__ import annotations

import itertools
import time

import pytest

from codexmem.codecli.memory_client import RecalledItem
from codexmem.codecli.post_run import anchors, used_items

POOL = RecalledItem("qa-pool", "How large is the connection pool?", "Set pool_size to 20 and max_overflow to 5 in "
            "config/db.yaml, then restart the billing worker.", anchor="[QA_REF qa-pool]")  # fmt: skip
PORT = RecalledItem(
    "qa-port", "Which port does the gateway use?", "The gateway listens on 8123; health is at /api/readiness."
)
DEPLOY = RecalledItem(
    "qa-deploy", "如何部署商店服务？", "先打标签再推送镜像，然后在控制台确认灰度比例为百分之十，最后观察告警。"
)
CACHE = RecalledItem(
    "qa-cache",
    "Why are prices stale?",
    "The price cache is keyed by tenant; call PriceCache.invalidate() "
    "after import_prices finishes, or set PRICE_TTL=60.",
)
ALL = [POOL, PORT, DEPLOY, CACHE]


@pytest.mark.clause("001 §4.3", "used is told by the anchor that the agent repeats")
@pytest.mark.parametrize("said", ["As noted [QA_REF qa-port].", "[ qa_ref: QA-PORT ]", "see qa-port for this"])
def test_an_anchor_is_proof(said: str) -> None:
    assert used_items(ALL, said) == {"qa-port": "anchor"}


def test_another_id_that_begins_alike_is_another() -> None:
    assert used_items(ALL, "see qa-port-2 and xqa-port and [QA_REF qa-portal]") == {}
    assert anchors("[QA_REF qa-1] and [QA_REF qa-2]") == {"qa-1", "qa-2"}


@pytest.mark.parametrize(
    "said,expected",
    [
        ("I set pool_size to 20 and max_overflow to 5 in config/db.yaml and restarted the billing worker.", "qa-pool"),
        ("It listens on 8123, and you can ask /api/readiness for its health.", "qa-port"),
        ("先打标签，再推送镜像；然后在控制台确认灰度比例为百分之十。", "qa-deploy"),
        ("After import_prices I call PriceCache.invalidate(), since the cache is keyed by tenant; PRICE_TTL=60 helps.",
         "qa-cache"),
    ],
)  # fmt: skip
def test_what_only_the_item_told_shows_that_it_was_used(said: str, expected: str) -> None:
    assert used_items(ALL, said) == {expected: "overlap"}


@pytest.mark.parametrize(
    "said",
    [
        "", "Done.", "I restarted the worker and everything works now.", "The gateway uses a port; which, who knows.",
        "The connection pool has a size; see the documentation.", "部署商店服务需要权限，请联系管理员。", "8123",
        "I changed the configuration file and ran the tests; they pass.", "Set the value there and restart it.",
        "Prices are stale because the job did not run.", "我已经修复了这个问题，测试全部通过。",
    ],
)  # fmt: skip
def test_what_anybody_could_have_said_is_no_use(said: str) -> None:
    assert used_items(ALL, said, prompt="Why is this so? 如何部署商店服务？") == {}


def test_words_of_the_prompt_do_not_count() -> None:
    prompt = "Should I set pool_size to 20 and max_overflow to 5 in config/db.yaml, then restart the billing worker?"
    assert (
        used_items([POOL], "Yes: pool_size 20, max_overflow 5, config/db.yaml, restart the billing worker.", prompt)
        == {}
    )


def test_an_agent_that_repeats_its_prompt_used_nothing() -> None:
    told = "<codexmem-context>\n1. [QA_REF qa-port] 8123 /api/readiness\n</codexmem-context>\nuser: which port?"
    assert used_items(ALL, told) == {}


def test_answers_to_other_questions_are_not_claimed() -> None:
    answers = {item.qa_id: item.answer for item in ALL}
    wrong = [
        (item.qa_id, other) for item, other in itertools.permutations(ALL, 2)
        if item.qa_id in used_items([item], answers[other.qa_id])
    ]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize("piece", [".", "a/", "a.", "-_", "中", "[QA_REF ", "<private>", "word "])
def test_a_hostile_answer_takes_no_time(piece: str) -> None:
    began = time.process_time()
    used_items(ALL, piece * (400_000 // len(piece)))
    assert time.process_time() - began < 2.0
