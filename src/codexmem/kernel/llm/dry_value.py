"""A value that fits a JSON schema, made from an example and from words that somebody supplies.

For dry runs: whatever shape a profile asks for comes out, without a model. Short texts, numbers and choices are those
of the example; long ones, and those that hold a citation in it, are written anew.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_DEPTH = 24
_MARK = re.compile(r"[\[【][^\[\]【】]*[\]】]|\bmem:")
_LONG = 40  # characters from which on a text counts as prose

Words = Callable[[], str]


def fitting(schema: Any, example: Any, words: Words) -> Any:
    """A value of the schema; `words` is asked for each longer text."""
    return _Making(schema, words).value(schema, example, 0)


class _Making:
    def __init__(self, root: Any, words: Words) -> None:
        self._root = root
        self._words = words

    def value(self, schema: Any, hint: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return self._free(hint)
        schema = self._plain(schema, hint)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return hint if hint in schema["enum"] else schema["enum"][0]
        if hint is None:
            hint = next(
                (each for each in (schema.get("default"), *schema.get("examples", ())) if each is not None), None
            )
        match self._type(schema, hint):
            case "object":
                return self._object(schema, hint if isinstance(hint, dict) else {}, depth)
            case "array":
                return self._array(schema, hint if isinstance(hint, list) else [], depth)
            case "string":
                return self._text(schema, hint if isinstance(hint, str) else None)
            case "integer" | "number" as kind:
                return _number(schema, hint, whole=kind == "integer")
            case "boolean":
                return hint if isinstance(hint, bool) else False
            case "null":
                return None
        return self._free(hint)

    def _plain(self, schema: dict[str, Any], hint: Any) -> dict[str, Any]:
        """The schema with references followed, parts joined and one of several choices taken."""
        for _ in range(MAX_DEPTH):
            if isinstance(schema.get("$ref"), str):
                rest = {key: each for key, each in schema.items() if key != "$ref"}
                schema = self._referred(schema["$ref"]) | rest
                continue
            choices = schema.get("anyOf") or schema.get("oneOf")
            parts = list(schema.get("allOf", ())) + ([_choice(choices, hint)] if choices else [])
            if not parts:
                break
            kept = {key: each for key, each in schema.items() if key not in {"anyOf", "oneOf", "allOf"}}
            schema = kept
            for part in parts:
                if isinstance(part, dict):
                    schema = _joined(schema, part)
        return schema

    def _referred(self, pointer: str) -> dict[str, Any]:
        found: Any = self._root
        for part in pointer.removeprefix("#").strip("/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if key:
                found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    def _object(self, schema: dict[str, Any], hint: dict[str, Any], depth: int) -> dict[str, Any]:
        known = schema.get("properties", {})
        wanted = [*schema.get("required", ()), *(key for key in known if key in hint)]
        if schema.get("additionalProperties", True) is not False:
            wanted += hint
        other = schema.get("additionalProperties", True)
        return {key: self.value(known.get(key, other), hint.get(key), depth + 1) for key in dict.fromkeys(wanted)}

    def _array(self, schema: dict[str, Any], hint: list[Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        count = int(min(max(len(hint) or len(first) or 1, least), most))
        return [
            self.value(first[place] if place < len(first) else schema.get("items", True),
                       hint[place % len(hint)] if hint else None, depth + 1)
            for place in range(count)
        ]  # fmt: skip

    def _text(self, schema: dict[str, Any], hint: str | None) -> str:
        bound = "pattern" in schema or "format" in schema
        if hint is not None and (bound or not (len(hint) > _LONG or _MARK.search(hint))):
            return hint
        text = self._words() if hint is not None or not bound else ""
        most = schema.get("maxLength", math.inf)
        if len(text) > most:
            text = (hint or text)[: int(most)]
        return text + "." * max(0, int(schema.get("minLength", 0)) - len(text))

    def _free(self, hint: Any) -> Any:
        if isinstance(hint, dict):
            return {key: self._free(each) for key, each in hint.items()}
        if isinstance(hint, list):
            return [self._free(each) for each in hint]
        return self._text({}, hint) if isinstance(hint, str) else hint

    @staticmethod
    def _type(schema: Mapping[str, object], hint: Any) -> str | None:
        named = schema.get("type")
        if isinstance(named, list):
            fits = [each for each in named if _is(hint, each)]
            return str((fits or [each for each in named if each != "null"] or ["null"])[0])
        if named is None:
            implied = {"properties": "object", "items": "array", "prefixItems": "array", "pattern": "string"}
            return next((kind for key, kind in implied.items() if key in schema), None)
        return str(named)


def _is(value: Any, kind: str) -> bool:
    types = {
        "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
        "number": (int, float),
    }  # fmt: skip
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, types.get(kind, ()))  # type: ignore[arg-type]


def _choice(choices: list[Any], hint: Any) -> Any:
    for each in choices:
        if isinstance(each, dict) and (
            ("type" in each and _is(hint, str(each["type"])) and set(each.get("required", ())) <= set(_keys(hint)))
            or ("enum" in each and hint in each["enum"])
            or ("const" in each and each["const"] == hint)
        ):
            return each
    return choices[0]


def _keys(hint: Any) -> list[str]:
    return list(hint) if isinstance(hint, dict) else []


def _joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    made = one | other
    if "properties" in one and "properties" in other:
        made["properties"] = one["properties"] | other["properties"]
    if "required" in one and "required" in other:
        made["required"] = [*one["required"], *other["required"]]
    return made


def _number(schema: dict[str, Any], hint: Any, *, whole: bool) -> int | float:
    value = hint if isinstance(hint, int | float) and not isinstance(hint, bool) else 0
    step = schema.get("multipleOf", 1 if whole else 0)
    least, above = schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf)
    most, below = schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf)
    if least <= value <= most and above < value < below and (not step or hint is not None or value % step == 0):
        return value
    low, high = max(least, above), min(most, below)
    if math.isinf(low):
        low = high - 1 if not math.isinf(high) else 0
    value = low if low == least else low + (step or min(1, (high - low) / 2 if not math.isinf(high) else 1))
    if step:
        value = math.ceil(value / step) * step
    return int(value) if whole else value
