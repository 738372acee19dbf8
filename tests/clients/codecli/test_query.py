"""The query: within its length, with what is telling, made of the input, recent turns and the repository."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.codecli.query import Checkout, build, entities
from codexmem.kernel.model import privacy

TRACE = """Traceback (most recent call last):
  File "/srv/shop/src/billing/invoice.py", line 88, in total_of
    raise InvoiceError("no currency")
billing.errors.InvoiceError: no currency"""


@given(st.text(max_size=4_000), st.lists(st.text(max_size=500), max_size=3), st.integers(100, 1_500))
def test_a_query_never_exceeds_its_length(asked: str, recent: list[str], limit: int) -> None:
    made = build(asked, recent=recent, repository=Checkout(("a/b.py",) * 9, "Shop"), project="shop", limit=limit)
    assert len(made) <= limit
    assert bool(made.strip()) == bool(privacy.strip(asked).strip())


@pytest.mark.clause("001 §4.1.2", "a long input keeps errors, paths and names within 1500 characters")
@pytest.mark.parametrize("limit", [800, 1500])
def test_what_is_telling_survives_much_noise(limit: int) -> None:
    noise = "the quick brown fox jumps over the lazy dog and then it rests for a while. " * 60
    since = "It began after we set --retry-limit in deploy/prod.yaml"
    asked = f"Why does the invoice job fail?\n{noise}\n{TRACE}\n{noise}\n{since}"
    made = build(asked, limit=limit)
    assert len(made) <= limit
    for telling in ("Why does the invoice job fail?", "/srv/shop/src/billing/invoice.py", "InvoiceError", "total_of",
                    "--retry-limit", "deploy/prod.yaml"):  # fmt: skip
        assert telling in made


def test_a_short_question_is_asked_as_it_is() -> None:
    assert build("端口是多少？", limit=1_500) == "端口是多少？"
    assert build("   ", limit=1_500) == ""


@pytest.mark.clause("001 §4.1.1", "what was said before, and what the README and changed files say, are part of it")
def test_context_is_part_of_a_short_question() -> None:
    place = Checkout(("src/pay.py", "README.md"), "Shop: sells things")
    made = build(
        "try that again", recent=["run pytest tests/pay", "it failed: PayError"], repository=place, project="shop"
    )
    for part in ("try that again", "pytest tests/pay", "PayError", "Shop: sells things", "src/pay.py", "shop"):
        assert part in made
    assert made.startswith("try that again")


@pytest.mark.parametrize(
    "asked,alone",
    [
        ("How do I rotate the signing key of the gateway?", True), ("端口是多少？", True), ("deploy gateway", True),
        ("为什么构建失败，提示找不到头文件？", True), ("fix tests/test_pay.py", True),
        ("try that again", False), ("继续", False), ("再试一次", False), ("fix the bug", False), ("why?", False),
        ("does it work with the gateway", False), ("这个怎么解决", False),
    ],
)  # fmt: skip
def test_a_question_that_stands_for_itself_is_not_mixed_with_others(asked: str, alone: bool) -> None:
    assert ("unrelated" not in build(asked, recent=["something unrelated"])) is alone


def test_of_the_repository_a_question_gets_what_it_speaks_of() -> None:
    place = Checkout(("src/gateway/keys.py", "docs/menu.md"), "Shop")
    made = build("How do I rotate the signing key of the gateway?", repository=place, project="shop")
    assert made == "How do I rotate the signing key of the gateway?\nsrc/gateway/keys.py"


def test_what_is_private_or_was_injected_is_no_part_of_it() -> None:
    asked = "deploy <private>the password</private> now <codexmem-context>old answer</codexmem-context>"
    made = build(asked, recent=["<private>more</private>"])
    assert made.split() == ["deploy", "now"]


def test_what_a_text_names() -> None:
    found = entities("see src/a/b.rs:12, std::io::Error, getUser(), MAX_SIZE, CVE-2024, E0308, v1.2.3 and --dry-run")
    for name in ("src/a/b.rs:12", "std::io::Error", "MAX_SIZE", "E0308", "--dry-run"):
        assert name in found


def test_a_hostile_text_takes_no_time() -> None:
    for text in (
        "a/" * 200_000,
        "a_" * 200_000,
        "aB" * 200_000,
        "error " * 80_000,
        "." * 400_000,
        "::a" * 130_000,
        "错误" * 200_000,
    ):
        began = time.process_time()
        build(text)
        assert time.process_time() - began < 1.0
