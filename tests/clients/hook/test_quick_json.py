"""Our way to the JSON functions gives what the package gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model import quick_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)


@given(VALUES)
@pytest.mark.slow
def test_it_reads_and_writes_like_the_package(value: Any) -> None:
    assert quick_json.loads(json.dumps(value)) == value
    assert quick_json.loads(f" \n{json.dumps(value, indent=1, ensure_ascii=False)}\t") == value
    for plain in (True, False):
        assert quick_json.dumps(value, plain=plain) == json.dumps(value, ensure_ascii=plain, separators=(",", ":"))


@pytest.mark.parametrize("text", ["", " ", "{", "[1,", "tru", "{'a':1}", "1 2", '"a', "[" * 100_000])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|Expecting|more than one|Unterminated|too deeply"):
        quick_json.loads(text)


def test_it_is_lenient_where_agents_are() -> None:
    assert quick_json.loads('"a\nb"') == "a\nb"
    assert quick_json.loads("[NaN, Infinity]") == [None, None]
    assert quick_json.loads(f"[{'9' * 10_000}, 7]") == ["9" * 10_000, 7]


def test_the_package_stands_in_where_the_functions_are_missing() -> None:
    scan, write = quick_json._slow()
    assert scan('{"a":[1,"é"]}', 0) == ({"a": [1, "é"]}, 13)
    assert write({"a": "é"}, False) == '{"a":"é"}'
    assert write({"a": "é"}, True) == '{"a":"\\u00e9"}'
