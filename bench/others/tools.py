"""A memory that agents reach by MCP over standard input and output.

The SDK's own client does not say which process it started, and the memory of that process is measured.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

PROTOCOL = "2025-06-18"


class ToolServer:
    """The program, asked one thing at a time."""

    def __init__(self, command: Sequence[str | Path], environ: Mapping[str, str], folder: Path) -> None:
        self._log = (folder / "stderr.log").open("wb")
        self._process = subprocess.Popen(
            list(map(str, command)), cwd=folder, env=dict(environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._log, text=True,
        )  # fmt: skip
        self._number = 0

    def __enter__(self) -> Self:
        who = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": who})
        self._say({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()

    @property
    def pid(self) -> int:
        """Of the program."""
        return self._process.pid

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """What a tool answers."""
        result = self._ask("tools/call", {"name": tool, "arguments": dict(arguments)})
        text = "\n".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {text[:500]}")
        return text

    def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._number += 1
        self._say({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number and "method" not in answer:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"the program ended: {self._process.poll()}")

    def _say(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()
