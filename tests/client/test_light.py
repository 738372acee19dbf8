"""Whoever imports the client does not load the server, and a server loads MCP when somebody speaks it."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"sqlalchemy", "fastapi", "starlette", "uvicorn", "alembic", "openai", "mcp", "numpy", "click", "rich",
         "langgraph", "agents", "jsonschema", "tomlkit"}  # fmt: skip
PROGRAM = (
    "import json, sys, codexmem.client, codexmem.client.adapters.openai_agents; print(json.dumps(sorted(sys.modules)))"
)


def test_importing_it_is_light() -> None:
    loaded = json.loads(subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True).stdout)
    assert HEAVY & {each.split(".")[0] for each in loaded} == set()
    ours = {".".join(each.split(".")[1:3]) for each in loaded if each.startswith("codexmem.")}
    assert {each for each in ours if each.split(".")[0] != "client"} == {
        "hook", "hook.starting", "hook.surroundings", "http", "http.living", "http.moments", "kernel", "kernel.model",
        "kernel.wire",
        "notes", "notes.model", "notes.wire", "qa", "qa.model", "qa.wire",
    }  # fmt: skip


def test_a_server_begins_without_what_few_ask_for() -> None:
    program = "import json, sys, codexmem.app.server; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert {"mcp", "openai", "cryptography", "rich"} & {each.split(".")[0] for each in loaded} == set()
