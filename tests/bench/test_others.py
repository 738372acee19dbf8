"""Memories side by side: ours is driven as the others are, and what is measured is what happened."""

from __future__ import annotations

import base64
import subprocess
import sys
from array import array
from pathlib import Path

import httpx
import pytest

from bench.others import __main__ as others
from bench.others import encoder, inside

TEXTS = [
    "The payment gateway answers after at most 20 seconds under load.",
    "Deploys of the shop go to staging first, with DEPLOY_WAIT=90.",
    "对账文件按北京时间切分，订单按 UTC 存储。",
]
QUESTIONS = {"How long does the payment gateway take?": {0}, "对账文件按什么时间切分？": {2}}


@pytest.mark.parametrize("name", ["codexmem", "codexmem by MCP"])
def test_ours_finds_what_was_saved_one_by_one(name: str, tmp_path: Path) -> None:
    job = {"texts": TEXTS, "questions": list(QUESTIONS), "count": others.COUNT, "folder": str(tmp_path)}
    figures = others.figures_of({**others.RUNS[name](job, Path()), "disk": 3_000}, list(QUESTIONS.values()))
    assert figures["found"] == 1.0
    assert figures["memory_mb"] > 20
    assert 0 < figures["search_p50_ms"] <= figures["search_p95_ms"]
    assert figures["saved_a_second"] > 0


def test_what_does_not_come_back_is_not_found() -> None:
    ran = {"saved_s": [0.5, 0.5], "asked_s": [0.1, 0.2], "found": [[1], []], "whole_s": 4.0, "disk": 2_000, "memory": 0}
    figures = others.figures_of(ran, [{1, 7}, {0}])
    assert (figures["found"], figures["saved_a_second"], figures["disk_bytes"]) == (0.5, 0.5, 1_000)
    far = {**ran, "found": [[*range(2, 12), 1], []]}
    assert others.figures_of(far, [{1}, {0}])["found"] == 0.0


def test_the_shared_encoder_answers_in_both_forms() -> None:
    with encoder.served() as (address, dimension):
        (vector,) = inside.embed(address, ["the same text"])
        # What OpenAI's own client asks for.
        wish = {"model": "shared", "input": "the same text", "encoding_format": "base64"}
        (row,) = httpx.post(f"{address}/embeddings", json=wish).json()["data"]
    assert len(vector) == dimension
    assert array("f", base64.b64decode(row["embedding"])).tolist() == vector
    assert sum(number * number for number in vector) == pytest.approx(1, abs=1e-3)


def test_memory_is_that_of_the_whole_tree() -> None:
    child = "import time; kept = bytearray(60 << 20); time.sleep(1)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", parent]) as process, others.peak_memory(process.pid) as most:
        process.wait()
    assert 60 << 20 < most[0] < 120 << 20
