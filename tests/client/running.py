"""An example, run several times: each run is a process of its own; the libraries are loaded once for all of them."""

from __future__ import annotations

import ast
import importlib
import json
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Self

ENDED = "-- ended: "


class Example:
    """A program that has loaded what the example imports, and waits."""

    def __init__(self, path: Path, env: Mapping[str, str]) -> None:
        self._command = [sys.executable, "-m", "tests.client.running", str(path)]
        self._env = {**env, "PYTHONPATH": os.pathsep.join(sys.path)}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True)  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, said: str) -> str:
        """Run it with this argument; what it printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(said) + "\n")
        self._process.stdin.flush()
        printed: list[str] = []
        for line in self._process.stdout:
            if line.startswith(ENDED):
                assert line == f"{ENDED}0\n", "".join(printed)
                return "".join(printed).strip()
            printed.append(line)
        raise AssertionError("".join(printed))


def serve(path: str) -> None:
    """Load, then run once for each line."""
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            importlib.import_module(node.module)
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            os._exit(_ran(path, json.loads(line)))
        _, status = os.waitpid(child, 0)
        print(f"{ENDED}{os.waitstatus_to_exitcode(status)}", flush=True)  # noqa: T201  the answer


def _ran(path: str, said: str) -> int:
    sys.argv = [path, said]
    code = 0
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
