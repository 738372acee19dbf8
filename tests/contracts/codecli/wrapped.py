"""`mem-codecli run` as a program with an agent of the test's own behind it and the real QA service beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from codexmem.codecli.audit_log import AuditLog
from tests._support import warm
from tests._support.server import Server
from tests._support.wrapping import Screen

# The wrapper speaks HTTP, whatever is behind it: `test_engines.py` runs it beside each engine, and `test_3_1_memory.py`
# and `test_5_audit_push.py` have each call that it makes.
ON_SQLITE = pytest.mark.parametrize("engine_name", [pytest.param("sqlite", marks=pytest.mark.sqlite)], indirect=True)

QUESTION = "How do we deploy the shop?"
ANSWER = "1. Run the checks. 2. Tag the commit. 3. Push the tag. Note: never tag while a check fails."

# Keeps what it reads, and says what it was started with.
READS_ALL = """
    import json, sys
    from pathlib import Path
    Path("received").write_bytes(sys.stdin.buffer.read())
    print(json.dumps(sys.argv[1:]))
"""
READS_LINES = """
    import sys
    from pathlib import Path
    while True:
        print("> ", end="", flush=True)
        line = sys.stdin.readline()
        if not line or line.strip() == "bye":
            break
        with Path("received").open("a") as file:
            file.write(line)
        print("answered", len(line.split("\\n")), flush=True)
"""


@dataclass
class Wrapped:
    """A folder with an agent in it, and what came of running it."""

    work: Path
    home: Path
    server: Server
    project: str
    options: tuple[str, ...] = ("--memory-on",)
    more: dict[str, str] = field(default_factory=dict)

    def agent(self, text: str) -> None:
        """The agent is this program."""
        path = self.home / "agent"
        path.write_text(f"#!{sys.executable} -S\n{textwrap.dedent(text)}")
        path.chmod(0o755)

    @property
    def environ(self) -> dict[str, str]:
        """Of everything that is started here."""
        return {**os.environ, "MEM_CODECLI_COMMAND": str(self.home / "agent"), "TERM": "xterm",
                "MEM_CODECLI_MEMORY_TIMEOUT_MS": "15000", **self.more}  # fmt: skip

    def command(self, *arguments: str, options: tuple[str, ...] | None = None) -> list[str]:
        """What a person types."""
        chosen = self.options if options is None else options
        return [sys.executable, "-P", "-m", "codexmem.codecli.cli", "run", *chosen, "--", *arguments]

    def pipe(self, given: bytes, *arguments: str, options: tuple[str, ...] | None = None) -> Any:
        """With standard input from a program; those who give it a terminal or a shell start the real one."""
        command = [warm.program("mem-codecli"), *self.command(*arguments, options=options)[4:]]
        done = subprocess.run(command, env=self.environ, cwd=self.work, input=given, capture_output=True, timeout=90,
                              check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        return done

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """With a program at both ends that speaks when it likes."""
        with subprocess.Popen(self.command(*arguments), env=self.environ, cwd=self.work, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as running:  # fmt: skip
            yield running

    @contextmanager
    def screen(self, *arguments: str) -> Iterator[Screen]:
        """With a person at a terminal."""
        shown = Screen(self.command(*arguments), self.environ, self.work)
        try:
            yield shown
        finally:
            shown.close()

    @property
    def received(self) -> str:
        """What the agent read."""
        path = self.work / "received"
        return path.read_bytes().decode() if path.exists() else ""

    def knows(self, question: str = QUESTION, answer: str = ANSWER) -> str:
        """The memory has this, proven."""
        said = self.server.request("POST", "/v1/qa/candidates", {
            "project_id": self.project, "question": question, "answer": answer}).json  # fmt: skip
        self.server.request("POST", "/v1/qa/validate", {"project_id": self.project, "qa_id": said["qa_id"],
                                                        "success": True, "strong_signal": True})  # fmt: skip
        return str(said["qa_id"])

    def found(self, query: str = QUESTION) -> list[dict[str, Any]]:
        """What the memory has."""
        body = {"project_id": self.project, "query": query, "min_score": 0, "limit": 20}
        items: list[dict[str, Any]] = self.server.request("POST", "/v1/qa/search", body).json["items"]
        return items

    def shown(self) -> int:
        """How often the memory was told that the first item was shown."""
        return int(self.found()[0]["hits"]["shown"])

    def audited(self) -> list[dict[str, Any]]:
        """The rows of the audit log."""
        return list(AuditLog(self.home / ".local" / "state" / "mem-codecli" / "audit").rows())

    def trace(self, name: str) -> list[dict[str, Any]]:
        """The attributes of a trace's spans of this name."""
        lines = (self.work / "trace.jsonl").read_text().splitlines()
        return [told["attributes"] for line in lines if (told := json.loads(line))["name"] == name]
