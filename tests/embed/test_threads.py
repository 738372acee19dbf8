"""A local encoder takes as many cores as it was given, in a process of its own where nothing else computes."""

from __future__ import annotations

import json
import subprocess
import sys

_ENCODE = """
import json, time
from codexmem.kernel.embed import local

embedder = local.small(threads=1)
embedder.query("load the model")
texts = [f"memory {n}: the server listens on port {n} and 中文 text is kept beside it " * 12 for n in range(48)]
process, thread, wall = time.process_time(), time.thread_time(), time.perf_counter()
embedder.passages(texts)
for n in range(40):
    embedder.query(f"which port does server number {n} use?")
print(json.dumps({
    "process": time.process_time() - process,
    "thread": time.thread_time() - thread,
    "wall": time.perf_counter() - wall,
}))
"""


def test_one_thread_is_one_thread() -> None:
    done = subprocess.run([sys.executable, "-c", _ENCODE], capture_output=True, text=True, check=True, timeout=120)
    spent = json.loads(done.stdout)
    assert spent["process"] <= 1.1 * spent["wall"], spent
    # Also where other programs take the cores, so that helpers that spin get little time on the wall's clock.
    assert spent["process"] <= 1.1 * spent["thread"], spent
