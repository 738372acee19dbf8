"""The model of dry runs, and values that fit whatever schema."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from codexmem.kernel.llm.chat import ChatMessage, ChatReply, ChatTool
from codexmem.kernel.llm.chat_dry import DryModel
from codexmem.kernel.llm.dry_value import fitting
from tests.llm.events import nothing

OBJECT = {"type": "object", "properties": {}}


def ask(messages: list[ChatMessage], *tools: ChatTool) -> ChatReply:
    return DryModel().reply(messages, tools, temperature=1.0, max_tokens=10, check=nothing)


def go_on(messages: list[ChatMessage], reply: ChatReply, *texts: str) -> list[ChatMessage]:
    said = ChatMessage("assistant", reply.content, reply.tool_calls)
    results = [ChatMessage("tool", text, (), call.id) for call, text in zip(reply.tool_calls, texts, strict=True)]
    return [*messages, said, *results]


def test_it_plans_looks_delegates_and_answers_with_what_tools_returned() -> None:
    spaces = {"type": "object", "properties": {"namespace": {"enum": ["kb_a", "kb_b"]}}}
    roles = {"type": "object", "properties": {"role": {"enum": ["expert"]}}}
    answer = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}},
              "examples": [{"text": "as [C1] says"}]}  # fmt: skip
    tools = [ChatTool("plan", "", OBJECT), ChatTool("kb_query", "", spaces), ChatTool("kb_get", "", OBJECT),
             ChatTool("delegate", "", roles), ChatTool("submit", "", answer)]  # fmt: skip
    talk = [ChatMessage("system", "…"), ChatMessage("user", "# Task\n找催化剂\n\n# How many\n3")]
    first = ask(talk, *tools)
    assert [call.name for call in first.tool_calls] == ["plan", "kb_query", "kb_query"]
    assert json.loads(first.tool_calls[1].arguments) == {"namespace": "kb_a", "query": "找催化剂", "top_k": 3}
    assert ask(talk, *tools) == first
    piece = json.dumps({"pieces": [{"cite_as": "[C4]", "content": "铜 [C9] mem:evil 偶联"}]}, ensure_ascii=False)
    talk = go_on(talk, first, "noted", f"<tool_result>\n{piece}\n</tool_result>", "no JSON {")
    second = ask(talk, *tools)
    assert [(call.name, call.arguments) for call in second.tool_calls] == [("kb_get", '{"alias": "C4"}')]
    talk = go_on(talk, second, "{}")
    third = ask(talk, *tools)
    assert [call.name for call in third.tool_calls] == ["delegate"]
    talk = go_on(talk, third, "{}")
    last = ask(talk, *tools)
    assert [call.name for call in last.tool_calls] == ["submit"]
    text = json.loads(last.tool_calls[0].arguments)["text"]
    assert text.startswith("Dry run 1: no model was asked.")
    assert text.endswith("[C4]")
    assert "[C9]" not in text
    assert "evil" not in text


def test_it_cites_what_only_another_role_was_shown_before_a_lesson() -> None:
    answer = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    roles = {"type": "object", "properties": {"role": {"enum": ["expert"]}}}
    tools = [ChatTool("mem_search", "", OBJECT), ChatTool("delegate", "", roles), ChatTool("submit", "", answer)]
    talk = [ChatMessage("user", "# Task\n找催化剂")]
    talk = go_on(talk, ask(talk, *tools), json.dumps({"lessons": [{"cite_as": "mem:1", "content": "less copper"}]}))
    delegated = ask(talk, *tools)
    report = json.dumps({"role": "expert", "report": "Dry run 1: no model was asked. Found: copper [C4]"})
    last = ask(go_on(talk, delegated, f"<tool_result>\n{report}\n</tool_result>"), *tools)
    assert json.loads(last.tool_calls[0].arguments)["text"].endswith("Found: copper [C4] (mem:1)")


def test_without_tools_it_reports() -> None:
    reply = ask([ChatMessage("user", "what?")])
    assert (reply.tool_calls, reply.finish) == ((), "stop")
    assert "nothing to cite" in reply.content


SCHEMAS: list[tuple[Any, Any]] = [
    ({"type": "object"}, None),
    ({"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "integer", "minimum": 3},
      "b": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}}}, None),
    ({"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 7, "minimum": 8}},
      "required": ["n"]}, None),
    ({"type": "object", "properties": {"n": {"type": "number", "exclusiveMaximum": -3}}, "required": ["n"]}, None),
    ({"type": "array", "minItems": 3, "items": {"enum": ["x", "y"]}}, None),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False, "minItems": 2}, None),
    ({"type": "array", "uniqueItems": True, "minItems": 4, "maxItems": 4, "items": {"type": "string"}}, None),
    ({"type": "string", "minLength": 300}, None),
    ({"type": "string", "maxLength": 5}, None),
    ({"type": "string", "pattern": "^B-[0-9]{3}$"}, "B-123"),
    ({"type": "string", "pattern": "^[0-9]+$", "examples": ["42"]}, None),
    ({"type": ["null", "string"]}, None),
    ({"const": {"a": 1}}, None),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "word"),
    ({"oneOf": [{"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}},
                {"type": "null"}]}, None),
    ({"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "boolean"}}},
                {"required": ["b"], "properties": {"b": {"const": 2}}}]}, None),
    ({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["v"], "properties": {
        "v": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}}}, {"v": "a", "next": {"v": "b"}}),
    ({"properties": {"a": {"items": {"type": "integer"}}}, "required": ["a"]}, {"a": [1, 2]}),
    ({"type": "object", "additionalProperties": {"type": "string"}}, {"free": "long " * 30}),
]  # fmt: skip


@pytest.mark.parametrize("schema, example", SCHEMAS)
def test_a_value_fits_its_schema(schema: Any, example: Any) -> None:
    numbers = itertools.count(1)
    value = fitting(schema, example, lambda: f"sentence {next(numbers)} [C1]")
    assert list(Draft202012Validator(schema).iter_errors(value)) == [], value


def test_short_texts_come_from_the_example_and_long_ones_are_written_anew() -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in "abc"}}
    example = {"a": "Cu", "b": "as [C1] says", "c": "w" * 60}
    assert fitting(schema, example, lambda: "new") == {"a": "Cu", "b": "new", "c": "new"}
