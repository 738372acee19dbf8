"""Whether a text carries another."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.quotation import Quotations

ENGLISH = "Never deploy on Fridays, because the on-call engineer is alone and the rollback takes an hour."
CHINESE = "周五不要部署：值班工程师只有一人，而且回滚需要一个小时，客户会抱怨。"


@pytest.mark.parametrize(
    "text, carries",
    [
        (f"I was told: {ENGLISH}", True),
        ("`never DEPLOY on fridays`\n- because the on-call engineer is alone", True),
        ("because the rollback takes an hour, the engineer on call is alone: deploy when it suits", False),
        ("We deploy on Mondays.", False),
        (f"Notiz: {CHINESE}", True),
        ("据说周五不要部署，值班工程师只有一人而且回滚需要一个小时", True),
        ("周五可以部署", False),
    ],
)
def test_a_run_of_words_is_a_quotation_whatever_the_punctuation(text: str, carries: bool) -> None:
    assert Quotations([ENGLISH, CHINESE]).in_text(text) is carries


def test_one_language_of_a_text_in_two_is_a_quotation() -> None:
    both = Quotations([f"{ENGLISH} 客户已经同意每周二上午十点进行部署并且提前通知值班人员"])
    assert both.in_text("记住客户已经同意每周二上午十点进行部署并且提前通知值班人员")


def test_what_is_short_is_carried_only_whole_and_what_is_shorter_never() -> None:
    short = Quotations(["the port is 8123 here", "yes"])
    assert short.in_text("note that the port is 8123, here and there")
    assert not short.in_text("the port is 8124 here")
    assert not short.in_text("yes")
    assert not Quotations(["yes"])
