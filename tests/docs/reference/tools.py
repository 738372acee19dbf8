"""The tools that agents get over MCP, as a model is told about them, and the methods of JSON-RPC with their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codexmem.app.mcp import DEFAULT, TOOLSETS
from codexmem.knowledge import rpc
from codexmem.knowledge.tools import VERBS
from tests.docs.pages import Language
from tests.docs.reference.markdown import both, code, page, table

MCP_TITLE = both("MCP tools", "MCP 工具")
_MCP_ABOUT = both(
    "What a client lists at `/mcp` or from `codexmem mcp`: the toolsets {default}, {count} tools. `--toolset NAME` or "
    "`/mcp/NAME` gives others. The descriptions are what the model reads. A name with `*` must be given.",
    "客户端从 `/mcp` 或 `codexmem mcp` 得到的工具：工具集 {default}，共 {count} 个。"
    "`--toolset 名称` 或 `/mcp/名称` 提供其他工具集。"
    "说明即模型读到的原文（英文）。带 `*` 的参数必须给出。",
)
_TRAITS = {"en": ("reads only", "may delete something", "repeating changes nothing"),
           "zh": ("只读", "可能移除内容", "重复调用不再改变")}  # fmt: skip
_ARGUMENTS = {"en": ("argument", "type", "means"), "zh": ("参数", "类型", "含义")}
RPC_TITLE = both("JSON-RPC methods", "JSON-RPC 方法")
_RPC_ABOUT = both(
    "`POST /rpc`, or `codexmem rpc` with one document a line. Parameters are given by name or, in this order, by "
    "position. [Knowledge](../knowledge.md) says what each answers.",
    "`POST /rpc`，或用 `codexmem rpc` 每行一个文档。参数按名称给出，或按下列顺序给出。"
    "说明为英文原文；各方法的回答见[知识库](../knowledge.zh.md)。",
)
_ERRORS = {"en": ("code", "means"), "zh": ("代码", "含义")}
_ERRORS_TITLE = both("Errors", "错误")
_PROTOCOL = {
    "PARSE_ERROR": both("the text is no JSON", "文本不是 JSON"),
    "INVALID_REQUEST": both("the message is no call", "消息不是一次调用"),
    "METHOD_NOT_FOUND": both("there is no such method", "没有这个方法"),
    "INVALID_PARAMS": both("a parameter is wrong", "参数有误"),
    "INTERNAL": both("an unexpected error", "出现意外错误"),
    "LATE": both("the batch took too long; this call was not run", "批次用时过长，此调用未执行"),
}


def render_mcp(language: Language) -> str:
    """The page of tools."""
    counted = sum(len(TOOLSETS[name].tools) for name in DEFAULT)
    parts = [_MCP_ABOUT[language].format(default=", ".join(map(code, DEFAULT)), count=counted)]
    for toolset in TOOLSETS.values():
        parts.append(f"## {toolset.name}")
        for tool in toolset.tools:
            traits = zip((tool.reads_only, tool.destroys, tool.repeatable), _TRAITS[language], strict=True)
            told = [name for holds, name in traits if holds]
            parts += [f"### {code(tool.name)}", tool.description, *([f"*{', '.join(told)}*"] if told else [])]
            parts.append(_arguments(language, tool.schema))
    return page(language, MCP_TITLE, *parts)


def render_rpc(language: Language) -> str:
    """The page of methods."""
    parts = [_RPC_ABOUT[language]]
    for verb in VERBS:
        schema = verb.parameters.model_json_schema()
        parts += [f"## {code(verb.name)}", verb.description, _arguments(language, schema)]
    errors = [[code(str(getattr(rpc, name))), said[language]] for name, said in _PROTOCOL.items()]
    errors += [[code(str(number)), code(name)] for name, number in rpc.CODES.items()]
    return page(language, RPC_TITLE, *parts, f"## {_ERRORS_TITLE[language]}", table(_ERRORS[language], errors))


def _arguments(language: Language, schema: Mapping[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = [
        [code(name + "*" * (name in needed)), _type(told), told.get("description", "")]
        for name, told in schema.get("properties", {}).items()
    ]
    return table(_ARGUMENTS[language], rows) if rows else ""


def _type(told: Mapping[str, Any]) -> str:
    if "anyOf" in told:
        return " | ".join(found for each in told["anyOf"] if (found := _type(each)) != "null")
    if "enum" in told:
        return " | ".join(f'"{each}"' for each in told["enum"])
    return str(told.get("type", "")) + (f" of {_type(told['items'])}" if told.get("items") else "")
