"""Private regions and injected blocks go, whatever their tags look like; the rest stays as it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model import privacy

CASES = {
    "nothing private": ("the port is 8123", "the port is 8123"),
    "one region": ("a <private>b</private> c", "a  c"),
    "two regions": ("a<private>b</private>c<private>d</private>e", "ace"),
    "nested": ("a <private>b <private>c</private> d</private> e", "a  e"),
    "nested, one not closed": ("a <private>b <private>c</private> d", "a "),
    "unclosed": ("a <private>b c", "a "),
    "tag without its end": ("a <private b c", "a "),
    "closing tag without its end": ("a <private>b</private c", "a "),
    "closed without being opened": ("a </private> b", " b"),
    "closed twice": ("a <private>b</private> c </private> d", "a  d"),
    "attributes": ('a <private reason="keys" level=2>b</private> c', "a  c"),
    "attribute with a bracket": ('a <private if="x>y">b</private> c', "a  c"),
    "attribute that looks like an end": ('a <private if="</private>">b</private> c', "a  c"),
    "any case": ("a <PRIVATE>b</Private> c", "a  c"),
    "space inside the tags": ("a < private >b< / private\n> c", "a  c"),
    "self-closing opens": ("a <private/> b", "a "),
    "two openings in one tag": ("a <private <private> b </private> c", "a "),
    "several lines": ("一\n<private>密码\n口令</private>\n二", "一\n\n二"),
    "full-width brackets": ("端口 ＜private＞8123＜/private＞ 好", "端口  好"),
    "escaped as HTML": ("a &lt;private&gt;b&lt;/private&gt; c", "a  c"),
    "escaped as JSON text": (r'{"a":"\u003cprivate\u003eb\u003C/private\u003E c"}', r'{"a":" c"}'),
    "JSON text with an escaped slash": (r"a <private>b<\/private> c", "a  c"),
    "a letter that grows when lowered": ("İİ <private>b</private> c", "İİ  c"),
    "tag put together by a removal": ("a <pri<private>x</private>vate>b", "a "),
    "other words": ("private int x; <privateKey> y; <private-note>z", "private int x; <privateKey> y; <private-note>z"),
    "generic type reads as a tag": ("List<Private> x", "List"),
    "our envelope": (f"<{privacy.CONTEXT_TAG} nonce=1f>old</{privacy.CONTEXT_TAG}>new", "new"),
    "our envelope, cut off": (f"new <{privacy.CONTEXT_TAG} nonce=1f>old", "new "),
    "our envelope as Gemini escapes it": (
        f"<hook_context>&lt;{privacy.CONTEXT_TAG}&gt;old&lt;/{privacy.CONTEXT_TAG}&gt;</hook_context>\n\nnew",
        "\n\nnew",
    ),
    "blocks of hosts": (
        "a<system-reminder>1</system-reminder>b<system_instruction>2</system_instruction>c"
        "<system-instruction>3</system-instruction>d<persisted-output>4</persisted-output>e"
        "<untrusted_context>5</untrusted_context>f<hook_context>6</hook_context>g"
        "<claude-mem-context>7</claude-mem-context>h",
        "abcdefgh",
    ),
    "lone tag of a host": ("see <system-reminder> in the source", "see <system-reminder> in the source"),
    "lone end of a host's block": ("see </system-reminder> there", "see </system-reminder> there"),
    "private inside a block": ("a<system-reminder><private>b</private></system-reminder>c", "ac"),
    "block around half a region": ("a<system-reminder><private>b</system-reminder>c", "a<system-reminder>"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_strip(case: str) -> None:
    text, left = CASES[case]
    assert privacy.strip(text) == left


VALUES: dict[str, tuple[Any, Any]] = {
    "plain": ({"a": [1, "x", None, True, 2.5]}, {"a": [1, "x", None, True, 2.5]}),
    "in a value": ({"a": "x <private>y</private>"}, {"a": "x "}),
    "deep": ({"a": [{"b": ["<private>y</private>z"]}]}, {"a": [{"b": ["z"]}]}),
    "in a key": ({"a<private>b</private>": 1}, {"a": 1}),
    "a private key takes its entry": ({"<private>k</private>": "v", "b": 2}, {"b": 2}),
    "an empty key stays": ({"": 1}, {"": 1}),
    "unclosed takes its own string only, and that is said": (
        {"a": "x <private>y", "b": "z"},
        {"a": f"x {privacy.REMOVED.format(10)}", "b": "z"},
    ),
    "closed without being opened": (
        {"a": "x", "b": "y</private>z"},
        {"a": "x", "b": f"z {privacy.REMOVED.format(11)}"},
    ),
    "all of it beside a lone tag of ours": (
        {"stdout": f"{'x' * 1200}</{privacy.CONTEXT_TAG}>", "<private>k": 1},
        {"stdout": privacy.REMOVED.format(1219)},
    ),
    "split over lines": (["a", "<private>", "b", 7, True, "</private>", "c"], ["a", "", "", None, None, "", "c"]),
    "split over an object, whose keys are inside too": (
        {"old": "a <private>b", "mid": {"k": "v"}, "new": "c</private> d", "n": 3},
        {"old": "a ", "n": 3},
    ),
    "a host's block is not split": (
        ["<system-reminder>", "code", "</system-reminder>"],
        ["<system-reminder>", "code", "</system-reminder>"],
    ),
    "text of JSON": ({"a": '{"k": "<private>v</private>"}'}, {"a": '{"k": ""}'}),
    "Chinese": ({"提示": "端口 <private>八千</private> 好"}, {"提示": "端口  好"}),
}


@pytest.mark.parametrize("case", VALUES)
def test_strip_value(case: str) -> None:
    value, left = VALUES[case]
    assert privacy.strip_value(value) == left


def test_a_value_is_not_changed_in_place() -> None:
    value = {"a": ["<private>x</private>"]}
    privacy.strip_value(value)
    assert value == {"a": ["<private>x</private>"]}


def test_nesting_without_end_is_cut() -> None:
    value: Any = "<private>x"
    for _ in range(500):
        value = [value]
    stripped = privacy.strip_value(value)
    for _ in range(privacy.DEEPEST):
        (stripped,) = stripped
    assert stripped == privacy.TOO_DEEP


@pytest.mark.parametrize(
    "text, private",
    [
        ("<private>all of it</private>", True),
        ("  <private>a</private>\n<private>b", True),
        ("secret</private> ", True),
        ("<private>a</private> b", False),
        ("", False),
        ("   ", False),
        ("<system-reminder>a</system-reminder>", False),
        ("private", False),
    ],
)
def test_is_private(text: str, private: bool) -> None:
    assert privacy.is_private(text) is private


PIECES = st.sampled_from([
    "<private>", "</private>", "<private", "</private", "<PRIVATE a=1>", "< /private >", "＜private＞",
    "&lt;/private&gt;", "<system-reminder>", "</system-reminder>", f"<{privacy.CONTEXT_TAG}>",
    f"</{privacy.CONTEXT_TAG}>", ">", "<", "pri", "vate>", " ", "密", "x", "\n", "/",
])  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
def test_nothing_private_is_left_and_twice_is_once(text: str) -> None:
    once = privacy.strip(text)
    assert not privacy.is_private(once + "x")
    assert privacy.strip(once) == once


@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_follows_an_opening_is_gone_unless_it_was_closed(text: str) -> None:
    assert "SECRET" not in privacy.strip(f"{text}<private>SECRET</private>")
    assert "SECRET" not in privacy.strip(f"{text}<private>SECRET")
    assert "SECRET" not in privacy.strip(f"<private>SECRET{text}".replace("/", ""))


@given(
    st.recursive(
        PIECES | st.integers(), lambda inside: st.lists(inside) | st.dictionaries(PIECES, inside), max_leaves=12
    )
)
@pytest.mark.slow
def test_values_keep_their_shape(value: Any) -> None:
    stripped = privacy.strip_value(value)
    assert privacy.strip_value(stripped) == stripped
    if isinstance(value, list):
        assert len(stripped) == len(value)


HOSTILE: dict[str, Callable[[int], str]] = {
    "nested openings": lambda n: "<private>" * n,
    "openings without end": lambda n: "<private " * n,
    "closings": lambda n: "</private>" * n,
    "pairs": lambda n: "<private>x</private>" * (n // 2),
    "space before names": lambda n: ("<" + " " * 5_000 + "private") * (n // 1_000),
    "only space": lambda n: " " * (9 * n) + "private",
    "pieces of tags": lambda n: "<pri" * (n // 2) + "<private>x</private>" + "vate>" * (n // 2),
    "blocks without end": lambda n: "<system-reminder>" * n,
    "blocks by halves": lambda n: "<system-reminder>" * (n // 2) + "</system-reminder>" * (n // 2),
    "brackets": lambda n: "<>" * (4 * n) + "private",
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.slow
def test_hostile_text_takes_linear_time(case: str) -> None:
    def seconds(n: int) -> float:
        text = HOSTILE[case](n)
        began = time.thread_time()  # of this thread alone, whatever else the machine does
        privacy.strip(text)
        return time.thread_time() - began

    half, whole = seconds(50_000), seconds(100_000)
    assert whole < 5.0
    assert whole < max(0.25, 5 * half)


@pytest.mark.slow
def test_many_openings_in_a_value_take_linear_time() -> None:
    def seconds(n: int) -> float:
        value = ["<private>"] * n + [{"k": "</private>"}] * n
        began = time.thread_time()
        privacy.strip_value(value)
        return time.thread_time() - began

    quarter, whole = seconds(5_000), seconds(20_000)
    assert whole < max(0.25, 8 * quarter)  # sixteen times would be quadratic; the speed of a machine is another matter
