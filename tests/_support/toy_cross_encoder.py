"""A cross-encoder of a few hundred bytes that `fastembed` loads from its folder: the mean of a pair's token numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_INT64, _FLOAT, _INT, _INTS = 7, 1, 2, 7  # as ONNX numbers element and attribute types
WORDS = ("[PAD]", "[UNK]", "poor", "fair", "good")  # the later, the better


def write_model(folder: Path) -> Path:
    """Write model and tokenizer; returns the folder."""
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(_model())
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer: dict[str, Any] = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, "pad_token": "[PAD]"}))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))
    return folder


def _model() -> bytes:
    cast = _node("Cast", "input_ids", "numbers", _text(1, "to") + _number(3, _FLOAT) + _number(20, _INT))
    axes = _text(1, "axes") + _number(8, 1) + _number(20, _INTS)
    mean = _node("ReduceMean", "numbers", "scores", axes)
    graph = _part(1, cast) + _part(1, mean) + _text(2, "toy")
    graph += _part(11, _value("input_ids", _INT64)) + _part(12, _value("scores", _FLOAT))
    return _number(1, 8) + _part(7, graph) + _part(8, _number(2, 13))


def _node(operation: str, source: str, target: str, attribute: bytes) -> bytes:
    return _text(1, source) + _text(2, target) + _text(4, operation) + _part(5, attribute)


def _value(name: str, element: int) -> bytes:
    shape = _part(1, _text(2, "texts")) + _part(1, _text(2, f"width of {name}"))
    return _text(1, name) + _part(2, _part(1, _number(1, element) + _part(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _part(field, value.encode())


def _part(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    said = bytearray()
    while value > 0x7F:
        said.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*said, value])
