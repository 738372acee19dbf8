"""Recordings of real agents for tests that need none: `python -m tests.agents.recordings` makes them anew.

Each is one run of `mem-codecli run --record` against the scripted model, on a network of its own where that is allowed.
Places of this machine are given other names, so that a recording says nothing about who made it, and the manuals that
an agent sends along are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests._support.scripted_model import Call, Say, ScriptedModel, Step
from tests.agents.codex import Codex
from tests.agents.installation import Installation
from tests.agents.loopback import loopback_only
from tests.agents.person import PROGRAMS, Person
from tests.agents.qwen import Qwen

FOLDER = Path(__file__).parents[1] / "clients" / "codecli" / "recordings"
PROMPT = "How many orders are there? Count the lines of orders.txt. 有几个订单？"
ANSWER = "There are three orders: orders.txt has three lines. 共三个订单。"


@dataclass(frozen=True)
class Scene:
    """One recording: an agent, how it is called, and what its model does."""

    agent: str  # codex or qwen
    adapter: str
    arguments: tuple[str, ...]
    script: tuple[Step, ...]
    audit: str = "off"


COUNTING = "wc -l orders.txt"
COPYING = "cp orders.txt count.txt"  # Qwen Code asks about what writes, and not about what only reads


def _shell(command: str) -> Call:
    return Call("run_shell_command", {"command": command, "is_background": False})


SCENES = {
    "codex-exec": Scene(
        "codex", "codex", ("exec", "--json", PROMPT), (Call("exec_command", {"cmd": COUNTING}), Say(ANSWER))
    ),
    "codex-app-server": Scene(
        "codex", "codex-app-server", (PROMPT,), (Call("exec_command", {"cmd": COUNTING}), Say(ANSWER)), "auto"
    ),
    "qwen-acp": Scene("qwen", "acp", (PROMPT,), (_shell(COPYING), Say(ANSWER)), "auto"),
    "qwen-stream-json": Scene(
        "qwen", "claude-json", ("--yolo", "--output-format", "stream-json", PROMPT), (_shell(COUNTING), Say(ANSWER))
    ),
}


def record(name: str, installation: Installation, folder: Path) -> Path:
    """Make one recording below this folder."""
    scene = SCENES[name]
    person = Person(folder, "shop")
    person.write("orders.txt", "1 tea\n2 rice\n3 茶\n")
    target = folder / f"{name}.jsonl"
    with ScriptedModel() as model:
        model.play(*scene.script)
        command, environment = _configured(scene, installation, person, model)
        done = subprocess.run(
            [str(PROGRAMS / "mem-codecli"), "run", "--record", str(target), "--audit", scene.audit, "--",
             *scene.arguments],
            cwd=person.repository, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
            env=person.environment(
                MEM_CODECLI_COMMAND=command, MEM_CODECLI_CODECLI_ADAPTER=scene.adapter, **environment,
                MEM_CODECLI_POLICY_ALLOWLIST='["command:wc", "command:cp"]',
            ),
        )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{name} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    text = "".join(_without_manuals(target.read_text().splitlines(keepends=True)))
    for place, name_for_it in _names(person, installation):
        text = text.replace(place, name_for_it)
    target.write_text(text)
    return target


def _without_manuals(lines: Iterable[str]) -> Iterator[str]:
    """Leave out what Qwen Code tells of its own commands: half a megabyte of manuals, and its authors' text."""
    held: list[str] = []  # of one line of the agent, in pieces
    for line in lines:
        entry = json.loads(line)
        if entry.get("stream") != "stdout":
            yield line
            continue
        held.append(line)
        if entry.get("text", "").endswith("\n"):
            if "available_commands_update" not in held[0]:
                yield from held
            held = []


def _configured(
    scene: Scene, installation: Installation, person: Person, model: ScriptedModel
) -> tuple[str, dict[str, str]]:
    if scene.agent == "codex":
        Codex(installation, person, model).configure()
        return str(installation.codex), {"SCRIPTED_KEY": "x"}
    Qwen(installation, person, model).configure()
    return f"{installation.node} {installation.qwen} --auth-type openai", {
        "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "scripted",
        "QWEN_CODE_NO_RELAUNCH": "true", "NODE_COMPILE_CACHE": str(installation.compiled),
    }  # fmt: skip


def _names(person: Person, installation: Installation) -> Iterator[tuple[str, str]]:
    yield str(installation.codex), "/opt/agents/codex"
    yield str(installation.node), "/opt/agents/node"
    yield str(installation.qwen.parent), "/opt/agents/qwen"
    yield str(person.repository), "/home/li/shop"
    yield str(person.home), "/home/li"
    yield str(person.home.parent), "/home/li/folder"
    yield str(PROGRAMS), "/opt/agents/bin"


def main(names: list[str]) -> int:
    """Make the named recordings, or all."""
    installation = Installation.find()
    FOLDER.mkdir(exist_ok=True)
    with loopback_only():
        for name in names or SCENES:
            with tempfile.TemporaryDirectory() as folder:
                made = record(name, installation, Path(folder))
                (FOLDER / made.name).write_text(made.read_text())
            sys.stdout.write(f"{name}: {(FOLDER / made.name).stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
