"""JSON schemas of answers (Draft 2020-12): whether one can be used, and what is wrong with an answer.

References lead inside the schema only: nothing is ever fetched. The library is loaded where it is needed: most
programs never check an answer.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote

MOST = 10  # problems told at once
_MAX_DEPTH = 64
_DRAFT = "2020-12"


def unfit(schema: Mapping[str, object]) -> str | None:
    """Why this cannot be the schema of an answer, in words that go on after "expected"; None if it can."""
    if schema.get("type") != "object":
        return 'a schema of an object: type = "object"'
    for pointer in _references(schema, 0):
        if pointer != "#" and not pointer.startswith("#/"):
            return f"references inside the schema only (#/$defs/…), not {pointer[:80]!r}"
        if not _leads(schema, pointer):
            return f"references that lead somewhere, not {pointer[:80]!r}"
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"a JSON schema (Draft 2020-12): {_place(error)}: {error.message[:200]}"
    except RecursionError:
        return "a schema that is not nested so deep"
    return None


def problems(schema: Mapping[str, object], answer: Any) -> list[str]:
    """What is wrong with an answer, the first few things, in words for a model or a person; empty if it fits."""
    from referencing.exceptions import Unresolvable

    try:
        found = islice(_validator(schema).iter_errors(answer), 200)
        return [f"{_place(each)}: {_told(each)}" for each in sorted(found, key=lambda each: list(map(str, each.path)))][
            :MOST
        ]
    except (Unresolvable, RecursionError) as error:
        return [f"it cannot be checked: {type(error).__name__}"]


def _validator(schema: Mapping[str, object]) -> Any:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # Without a registry of our own, the library would fetch what it does not know.
    registry: Registry[Any] = Registry()
    return Draft202012Validator(schema, registry=registry)


def _place(error: Any) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in error.path).lstrip(".") or "it"


def _told(error: Any) -> str:
    # The library's message repeats the value whole.
    match error.validator:
        case "minItems" | "maxItems" if isinstance(error.instance, list):
            return f"has {len(error.instance)} entries, {error.validator} is {error.validator_value}"
        case "minLength" | "maxLength" if isinstance(error.instance, str):
            return f"has {len(error.instance)} characters, {error.validator} is {error.validator_value}"
    return str(error.message)[:300]


def _leads(schema: Any, pointer: str) -> bool:
    for part in pointer.removeprefix("#").split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list) and key.isdecimal() and int(key) < len(schema):
            schema = schema[int(key)]
        elif isinstance(schema, dict) and key in schema:
            schema = schema[key]
        else:
            return False
    return isinstance(schema, dict | bool)


def _references(value: Any, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        yield "a schema nested so deep"
    elif isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, str) and (key in {"$ref", "$dynamicRef"} or (key == "$schema" and _DRAFT not in each)):
                yield each
            else:
                yield from _references(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each, depth + 1)
