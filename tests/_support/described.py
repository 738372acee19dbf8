"""Answers held against the interface description that the server itself gives: every field is named there, none is
missing, and each has its type.
"""

from __future__ import annotations

import functools
from typing import Any

from jsonschema import Draft202012Validator

from tests._support.server import Server


def require(api: Server, method: str, path: str, document: Any, status: int = 200) -> Any:
    """The document, which must be what the description says of this route's answer."""
    problems = sorted(_validator(api, method.lower(), path, status).iter_errors(document), key=str)
    assert not problems, [f"{problem.json_path}: {problem.message[:300]}" for problem in problems[:5]]
    return document


@functools.cache
def _validator(api: Server, method: str, path: str, status: int) -> Draft202012Validator:
    responses = _description(api)["paths"][path][method]["responses"]
    schema = responses[str(status) if str(status) in responses else "default"]["content"]["application/json"]["schema"]
    return Draft202012Validator(_closed(schema) | {"components": {"schemas": _schemas(api)}})


@functools.cache
def _description(api: Server) -> Any:
    return api.request("GET", "/openapi.json").json


@functools.cache
def _schemas(api: Server) -> dict[str, Any]:
    return {name: _closed(each) for name, each in _description(api)["components"]["schemas"].items()}


def _closed(schema: Any) -> Any:
    """The same, refusing fields that are not named."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _closed(each) for name, each in schema.items()}
    if "properties" in made and "additionalProperties" not in made:
        made["additionalProperties"] = False
    return made
