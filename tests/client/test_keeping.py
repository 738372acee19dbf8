"""Names and values of other libraries survive being kept as notes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.client.adapters import keeping
from codexmem.kernel.model import address, note
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.memory import State

NAMES = st.lists(st.text(max_size=12), min_size=1, max_size=4)
TEXTS = st.one_of(st.text(max_size=30), st.sampled_from([
    "<private>", "</private>", "\\u003cprivate>x", "password=hunter2hunter2", "AKIAIOSFODNN7EXAMPLE",
    "-----BEGIN RSA PRIVATE KEY-----\nabc", "<codexmem-context>", "Bearer abcdefghijklmnop123456", '"', "\\",
]))  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(NAMES)
def test_names_are_read_back(names: list[str]) -> None:
    try:
        uri = address.writable(keeping.address("langgraph", names))
    except UnicodeEncodeError:
        return  # half a character is no name
    assert keeping.names(uri) == tuple(names)


@pytest.mark.parametrize("names", [["a", "b/c", ""], ["."], [".."], ["a.b", "%"], ["王", "u\u0308"], ["a b", " "]])
def test_names_that_addresses_do_not_allow(names: list[str]) -> None:
    assert keeping.names(address.writable(keeping.address("d", names))) == tuple(names)


def test_addresses_stay_readable() -> None:
    assert (
        keeping.address("langgraph", ["users", "li@example.com", "王 wang"])
        == "langgraph://users/li@example.com/王%20wang"
    )


@given(VALUES)
def test_whatever_the_server_takes_out_it_stays_a_value(value: object) -> None:
    text = keeping.written([value])
    kept = json.loads(note.fit(_state(text), "").content)
    assert isinstance(kept, list)
    # The server masks a little more where a name in the value looks like a line of settings, and cuts nothing.
    assert len(kept) == len(json.loads(text))


def test_what_is_harmless_is_kept_as_it_is() -> None:
    value = {"text": "likes <b>tea</b>, 喜欢茶", "n": [1, 2.5, None, True], "call_id": "call_de819a4898067da5f462b8e2"}
    assert json.loads(keeping.written(value)) == value


def test_what_is_private_or_secret_is_not() -> None:
    assert json.loads(keeping.written({"a": "x<private>y</private>z", "password": "hunter2hunter2"})) == {
        "a": "xz", "password": "[REDACTED:password]",
    }  # fmt: skip


def _state(text: str) -> State:
    return State(text, attrs=NoteAttrs(""), uris=("langgraph://a/b",))
