"""JSON with comments: whatever is not ours stays to the byte, and what an agent cannot read is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codexmem.agents.install import jsonc

LAYOUTS = [
    '{\n  "a": 1\n}\n',
    '{"a": 1}',
    '{\n\t"a": 1,\n}',
    '{\n  // first\n  "a": 1 // behind\n  /* last */\n}\n',
    '{\r\n    "a": [1, 2]\r\n}\r\n',
    '\ufeff{\n  "a": {"b": []}\n}',
    '{"a": "// no comment, \\" no end"}',
    '{\n  "mcpServers": {\n    "other": {"command": "x"} // theirs\n  },\n  "z": 1\n}\n',
]


@pytest.mark.parametrize("text", LAYOUTS)
def test_what_was_put_in_is_taken_out_to_the_byte(text: str) -> None:
    value = {"command": "/opt/bin/codexmem", "args": ["mcp"]}
    made = jsonc.insert(text, ("mcpServers", "codexmem"), value)
    before = jsonc.value_of(text)
    servers = before.get("mcpServers", {})
    assert jsonc.value_of(made) == {**before, "mcpServers": {**servers, "codexmem": value}}
    for comment in ("// first", "// behind", "/* last */", "// theirs"):
        assert (comment in made) == (comment in text)
    path = ("mcpServers", "codexmem") if servers else ("mcpServers",)
    assert jsonc.remove(made, path) == text


def test_a_comment_stays_with_what_it_is_about() -> None:
    text = '{\n  "a": 1 // about a\n}\n'
    assert jsonc.insert(text, ("b",), 2) == '{\n  "a": 1, // about a\n  "b": 2\n}\n'


@pytest.mark.parametrize("place,left", [(0, "[2, 3]"), (1, "[1, 3]"), (2, "[1, 2]")])
def test_an_element_is_cut_with_its_comma(place: int, left: str) -> None:
    assert jsonc.value_of(jsonc.remove('{"a": [1, 2, 3]}', ("a", place)))["a"] == json.loads(left)


def test_an_empty_file_becomes_a_document() -> None:
    assert jsonc.value_of("") == {}
    assert jsonc.append("", ("hooks", "Stop"), 1) == '{\n  "hooks": {"Stop": [1]}\n}\n'


@pytest.mark.parametrize(
    "text,where",
    [
        ("{", "line 1, column 2: it ends too early"),
        ('{"a" 1}', "line 1, column 6: a colon was expected"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: a comma or } was expected"),
        ('{"a": nope}', "line 1, column 7: a value was expected"),
        ("{} {}", "line 1, column 4: something follows the end"),
        ("{/* ", "line 1, column 2: a comment does not end"),
        ("{a: 1}", "line 1, column 2: a key in quotes was expected"),
        ('{"a": "\\x"}', "line 1, column 7: a value was expected"),
        ("[" * 300 + "]" * 300, "line 1, column 202: nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, where: str) -> None:
    with pytest.raises(jsonc.MalformedJsonc) as refused:
        jsonc.value_of(text)
    assert str(refused.value) == where


def test_something_else_in_the_way_is_refused() -> None:
    with pytest.raises(jsonc.MalformedJsonc, match="hooks is not an object"):
        jsonc.insert('{"hooks": 1}', ("hooks", "Stop"), 1)
    with pytest.raises(jsonc.MalformedJsonc, match="Stop is not a list"):
        jsonc.append('{"hooks": {"Stop": {}}}', ("hooks", "Stop"), 1)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
SPACE = st.sampled_from(["", " ", "\n", "\n  ", "// note, { \n", "/* } */", "\t"])


@st.composite
def written(draw: Any, value: Any) -> str:
    """The value in some layout, with comments and commas where they may be."""
    if isinstance(value, dict):
        parts = [f"{json.dumps(k)}{draw(SPACE)}:{draw(SPACE)}{draw(written(v))}" for k, v in value.items()]
    elif isinstance(value, list):
        parts = [draw(written(v)) for v in value]
    else:
        return json.dumps(value)
    said = ",".join(f"{draw(SPACE)}{part}{draw(SPACE)}" for part in parts)
    last = "," if parts and draw(st.booleans()) else ""
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{said}{last}{draw(SPACE)}{closing}"


@settings(max_examples=80, deadline=None)
@given(st.data())
@pytest.mark.slow
def test_any_layout_keeps_its_meaning(data: st.DataObject) -> None:
    value = data.draw(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
    text = data.draw(written(value))
    assert jsonc.value_of(text) == value
    if "codexmem" not in value:
        made = jsonc.insert(text, ("codexmem",), {"x": [1]})
        assert jsonc.value_of(made) == {**value, "codexmem": {"x": [1]}}
        back = jsonc.remove(made, ("codexmem",))
        assert jsonc.value_of(back) == value
        if value:
            assert back == text
