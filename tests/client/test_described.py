"""Everything the client asks for and reads stands in the published description of the interface."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from codexmem.client import calls, calls_qa
from codexmem.client.call import KEY_HEADER, ApiCall

DESCRIPTION = json.loads((Path(__file__).parents[2] / "docs" / "openapi" / "codexmem.json").read_text(encoding="utf-8"))
BUILDERS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": build
    for module in (calls, calls, calls_qa)
    for name, build in inspect.getmembers(module, inspect.isfunction)
    if build.__module__ == module.__name__
}
_SAMPLES: dict[str, object] = {"bool": True, "int": 1, "float": 0.5, "str": "x", "Sequence[int]": [1],
                               "Sequence[str]": ["x"], "Mapping[str, object]": {"x": 1}}  # fmt: skip


def filled(build: Callable[..., ApiCall[Any]]) -> ApiCall[Any]:
    """The call with every argument given."""
    given = {
        name: _SAMPLES[parameter.annotation.partition(" | ")[0]]
        for name, parameter in inspect.signature(build).parameters.items()
    }
    return build(**given)


def operation(call: ApiCall[Any]) -> dict[str, Any]:
    found: dict[str, Any] = DESCRIPTION["paths"][call.path][call.method.lower()]
    return found


def resolved(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """What a schema may be: references followed, alternatives apart, without null."""
    if "$ref" in schema:
        return resolved(DESCRIPTION["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return [each for one in schema["anyOf"] for each in resolved(one)]
    return [schema] if schema.get("type") != "null" else []


def test_there_are_calls_to_hold_against_it() -> None:
    assert len(BUILDERS) > 30


@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_asked_is_described(name: str) -> None:
    call = filled(BUILDERS[name])
    described = operation(call)
    parameters = {(each["in"], each["name"]) for each in described.get("parameters", ())}
    assert {("query", each) for each in call.query} <= parameters
    assert {("path", each) for each in call.named} == {each for each in parameters if each[0] == "path"}
    assert (("header", KEY_HEADER) in parameters) == call.keyed, "what may carry a key carries one"
    assert (call.body is not None) == ("requestBody" in described)
    if call.body is not None:
        bodies = resolved(described["requestBody"]["content"]["application/json"]["schema"])
        assert all(set(call.body) <= set(body["properties"]) for body in bodies)
        assert all(set(body.get("required", ())) <= set(call.sent or {}) for body in bodies)
    if call.safe:
        assert call.method == "GET" or call.path in {"/api/observations/batch", "/v1/qa/search", "/api/forget"}


@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_read_is_described(name: str) -> None:
    call = filled(BUILDERS[name])
    answers = operation(call)["responses"]
    assert {status for status in answers if status.startswith("2")} <= {"200", "201", "202"}
    for status, answer in answers.items():
        if status.startswith("2") and call.answer is not None:
            schemas = resolved(answer["content"]["application/json"]["schema"])
            if call.many:
                schemas = [each for schema in schemas for each in resolved(schema["items"])]
            # Search and timeline answer text unless they are asked for JSON, which the client does.
            schemas = [each for each in schemas if each.get("title") != "TextAnswer"]
            assert schemas
            for schema in schemas:
                assert list(missing(call.answer, schema, "")) == []


def missing(model: type[BaseModel], schema: dict[str, Any], place: str) -> Iterator[str]:
    """Fields of a model that the description lacks, or does not promise where the model needs them."""
    for name, field in model.model_fields.items():
        wire = field.alias or name
        if wire not in schema["properties"]:
            yield f"{place}{wire}"
            continue
        if field.is_required() and wire not in schema.get("required", ()):
            yield f"{place}{wire} is not promised"
        for inner in models_in(field.annotation):
            for each in resolved(schema["properties"][wire]):
                for found in resolved(each["items"]) if each.get("type") == "array" else [each]:
                    yield from missing(inner, found, f"{place}{wire}.")


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    # `tuple[Item, ...]` passes for a class, and is none.
    if not typing.get_args(annotation) and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from models_in(argument)


def test_a_field_that_is_gone_is_noticed() -> None:
    class Stale(BaseModel):
        status: str
        gone: int

    assert list(missing(Stale, DESCRIPTION["components"]["schemas"]["HealthAnswer"], "")) == ["gone"]
