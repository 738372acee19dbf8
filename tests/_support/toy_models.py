"""Models of a few hundred bytes that `fastembed` loads from their folders: a cross-encoder, which answers the mean of a
pair's token numbers, and an encoder, with a direction for each word.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_INT64, _FLOAT, _INT, _INTS = 7, 1, 2, 7  # as ONNX numbers element and attribute types
WORDS = ("[PAD]", "[UNK]", "poor", "fair", "good")  # the later, the better


def write_model(folder: Path) -> Path:
    """Write model and tokenizer; returns the folder."""
    return _write(folder, _model(), WORDS)


def write_encoder(folder: Path, words: Sequence[str] = WORDS, *, scale: float = 1.0) -> Path:
    """Write an encoder that knows these words; `scale` makes the first word's direction another one."""
    table = [[float(row == column) for column in range(len(words))] for row in range(len(words))]
    table[2][0] = scale - 1.0
    hidden = _value("hidden", _FLOAT, "width of input_ids", len(words))
    graph = _part(1, _text(1, "table") + _text(1, "input_ids") + _text(2, "hidden") + _text(4, "Gather"))
    graph += _text(2, "toy") + _part(5, _tensor("table", table))
    graph += _part(11, _value("input_ids", _INT64)) + _part(12, hidden)
    _write(folder, _number(1, 8) + _part(7, graph) + _part(8, _number(2, 13)), words)
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0, "hidden_size": len(words)}))
    return folder


def _write(folder: Path, model: bytes, words: Sequence[str]) -> Path:
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    (folder / "onnx" / "model.onnx").write_bytes(model)
    vocabulary = {word: number for number, word in enumerate(words)}
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


def _tensor(name: str, rows: Sequence[Sequence[float]]) -> bytes:
    raw = b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
    return _number(1, len(rows)) + _number(1, len(rows[0])) + _number(2, _FLOAT) + _text(8, name) + _part(9, raw)


def _value(name: str, element: int, width: str = "", size: int = 0) -> bytes:
    shape = _part(1, _text(2, "texts")) + _part(1, _text(2, width or f"width of {name}"))
    shape += _part(1, _number(1, size)) if size else b""
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
