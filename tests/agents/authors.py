"""All five agents as authors of memories, end to end: `python -m tests.agents.authors`, or `just soak-authors`.

Each program is the real one, with codexmem installed into it as `codexmem install` does, and a scripted model on
loopback. First the person has a session of their own, which must start our hook and our MCP server: that proves the
installation. Then the agent is asked as a model is, with a prompt as long as one may be: nothing of ours may start,
nothing may reach the server, and no file of the home may hold anything of the prompt. Then its model refuses. Last a
real server asks it about a real session, and the next session begins with what it wrote (`author_sessions`). Ends with
an error if anything is not so. Names on the command line choose agents.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from codexmem.agents.authors.model import agent_model
from codexmem.kernel.llm.model import Message, ModelPrompt, Trouble, Unanswered
from tests._support.scripted_model import Call, Say
from tests.agents import author_sessions, four_agents
from tests.agents.author_sessions import AuthoredAnthropic, AuthoredGemini, AuthoredModel
from tests.agents.codex import Codex
from tests.agents.four_agents import OPENCODE_QUIET, Place
from tests.agents.installation import Installation
from tests.agents.loopback import loopback_only
from tests.agents.person import Person
from tests.agents.qwen import Qwen
from tests.agents.test_authors import ANSWER, SCHEMA, goes_on, settings_of
from tests.agents.witness import Witness

CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.197"
MARK = "codexmem-soak-4711"
QUESTION = f"{MARK} What was learned here?"
LONG = ModelPrompt(
    (Message("system", "You write memories."), Message("user", f"{QUESTION} {'材料 ' * 33_000}")), "m", SCHEMA, 500
)
SHORT = ModelPrompt((Message("user", "Question?"),), "memory", SCHEMA, 500)
KEY = (401, {"error": {"code": 401, "type": "authentication_error", "message": "Incorrect API key provided",
                       "status": "UNAUTHENTICATED"}})  # fmt: skip
OPENAI = {"error": {"type": "rate_limit_exceeded", "message": "Rate limit reached", "code": "rate_limit_exceeded"}}
GOOGLE = {"error": {"code": 429, "message": "You exceeded your rate limit. Please retry in 34s.",
                    "status": "RESOURCE_EXHAUSTED"}}  # fmt: skip
ANTHROPIC = {"type": "error", "error": {"type": "rate_limit_error", "message": "rate limit"}}
Refusal = tuple[int, dict[str, Any]]


class Refuser(Protocol):
    """A scripted model that can refuse."""

    refusal: Refusal | None


@dataclass(frozen=True)
class Driven:
    """An agent that is set up: how its person uses it, and what its model is asked."""

    name: str
    program: Path
    model: Refuser
    ask: Callable[[str], None]  # a session of the person's own, which the model ends with these words
    bodies: Callable[[], Sequence[Any]]  # of the requests, newest last
    prepare: Callable[[], None]  # the model will answer an author, from now on
    by_schema: Callable[[Any], bool]  # whether the program itself passed the schema on
    limit: Refusal
    environ: dict[str, str]


@contextlib.contextmanager
def codex(place: Place) -> Iterator[Driven]:
    """Codex."""
    program = place.programs / "codex"
    program.symlink_to(place.pinned.codex)
    with AuthoredModel() as model:
        model.refusal = None
        agent = Codex(place.pinned, place.person, model)
        agent.configure(f'[projects."{place.person.repository}"]\ntrust_level = "trusted"\n')

        def ask(answer: str) -> None:
            model.play(Say(answer))
            assert agent.exec("Look around.").code == 0

        yield Driven("codex", program, model, ask, lambda: [each.body for each in model.asked],
                     lambda: model.play(Say(json.dumps(ANSWER))),
                     lambda body: body["text"]["format"]["schema"] == SCHEMA, (429, OPENAI),
                     {"SCRIPTED_KEY": "x"})  # fmt: skip


@contextlib.contextmanager
def claude(place: Place) -> Iterator[Driven]:
    """Claude Code, whose settings hold server, key and model."""
    program = place.programs / "claude"
    program.symlink_to(next(place.more.glob("@anthropic-ai/claude-code-linux-*[!l]/claude")))
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    with AuthoredAnthropic() as model:
        settings = place.person.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        login = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-x"}
        settings.write_text(json.dumps({"env": login, "model": "scripted"}, indent=2))

        def by_schema(body: Any) -> bool:
            assert body["model"] == "scripted"
            return [tool["input_schema"]["properties"] for tool in body["tools"]] == [SCHEMA["properties"]]

        def ask(answer: str) -> None:
            model.play(answer)
            place.run([str(program), "-p", "Look around."], **quiet)

        yield Driven("claude-code", program, model, ask, lambda: model.asked, lambda: model.play(ANSWER), by_schema,
                     (429, ANTHROPIC), quiet)  # fmt: skip


@contextlib.contextmanager
def qwen(place: Place) -> Iterator[Driven]:
    """Qwen Code, whose settings hold server, key and model."""
    place.program("qwen", place.pinned.qwen)
    with AuthoredModel() as model:
        model.refusal = None
        agent = Qwen(place.pinned, place.person, model)
        agent.configure(settings_of(model))

        def ask(answer: str) -> None:
            model.play(Say(answer))
            assert agent.ask("Look around.").code == 0

        def by_schema(body: Any) -> bool:
            return [tool["function"]["parameters"]["properties"] for tool in body["tools"]] == [SCHEMA["properties"]]

        yield Driven("qwen-code", place.programs / "qwen", model, ask, lambda: [each.body for each in model.asked],
                     lambda: model.play(Call("structured_output", ANSWER)), by_schema, (429, OPENAI), {})  # fmt: skip


@contextlib.contextmanager
def gemini(place: Place) -> Iterator[Driven]:
    """Gemini CLI, whose folder holds the key."""
    program = place.programs / "gemini"
    place.program("gemini", place.more / "@google/gemini-cli/bundle/gemini.js")
    config = place.person.home / ".gemini" / "settings.json"
    config.parent.mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "model": {"name": "gemini-2.5-flash"},
    }
    config.write_text(json.dumps(settings, indent=2))
    with AuthoredGemini() as model:
        (config.parent / ".env").write_text(f"GEMINI_API_KEY=x\nGOOGLE_GEMINI_BASE_URL={model.url}\n")

        def ask(answer: str) -> None:
            model.play(Say(answer))
            place.run([str(program), "-o", "json", "-p", "Look around."])

        yield Driven("gemini-cli", program, model, ask, lambda: model.asked,
                     lambda: model.play(Say(json.dumps(ANSWER))), lambda _: False, (429, GOOGLE), {})  # fmt: skip


@contextlib.contextmanager
def opencode(place: Place) -> Iterator[Driven]:
    """OpenCode, whose configuration holds server, key and model."""
    program = place.programs / "opencode"
    program.symlink_to(four_agents.opencode_program(place.more))
    with AuthoredModel() as model:
        model.refusal = None
        model.aside = json.dumps(ANSWER)  # to a request without tools
        four_agents.configure_opencode(place.person, place.more, model.url)

        def ask(answer: str) -> None:
            model.play(Say(answer))
            place.run([str(program), "run", "--format", "json", "Look around."], **OPENCODE_QUIET)

        yield Driven("opencode", program, model, ask, lambda: [each.body for each in model.asked],
                     model.play, lambda _: False, (429, OPENAI), OPENCODE_QUIET)  # fmt: skip


AGENTS = {"codex": codex, "claude-code": claude, "qwen-code": qwen, "gemini-cli": gemini, "opencode": opencode}
COLUMNS = (
    "agent",
    "version",
    "answered",
    "schema by",
    "own session",
    "author's run",
    "left",
    "seconds",
    "limit",
    "login",
)


def driven(driven: Driven, place: Place, witness: Witness) -> tuple[str, ...]:
    """One agent's row."""
    witness.install(driven.name, place.programs)
    driven.ask("Done.")
    own = witness.started
    assert any("codexmem-hook" in each for each in own), own
    assert any("codexmem mcp" in each for each in own), own
    assert witness.reached
    witness.forget()
    driven.prepare()
    path = f"{place.programs}:{place.person.environment()['PATH']}"
    environ = place.person.environment(PATH=path, **driven.environ)
    began = time.monotonic()
    completion = agent_model(driven.name, environ).answer(LONG, goes_on)
    took_s = time.monotonic() - began
    assert json.loads(completion.text) == ANSWER, completion
    assert completion.completion_tokens >= 0
    assert witness.started == [], witness.started
    assert witness.reached == [], witness.reached
    (asked,) = driven.bodies()
    told = json.dumps(asked, ensure_ascii=False)
    assert LONG.messages[1].content.strip() in told
    schema = "program" if driven.by_schema(asked) else "prompt"
    assert schema == "program" or "Answer with one JSON object that fits" in told
    left = holding(place.person.home, MARK)
    driven.model.refusal = driven.limit
    refused, limit_s = trouble(driven.name, environ)
    assert refused is Trouble.RATE_LIMIT, refused
    driven.model.refusal = KEY
    unknown, login_s = trouble(driven.name, environ)
    assert unknown is Trouble.AUTH_INVALID, unknown
    assert witness.started == [], witness.started
    version = subprocess.run([driven.program, "--version"], capture_output=True, text=True, check=True, timeout=60,
                             env=environ, stdin=subprocess.DEVNULL).stdout.split()  # fmt: skip
    number = next(word for word in version if word[0].isdigit())
    return (driven.name, number, "yes", schema, f"{len(own)} started", "0 started, 0 reached", f"{len(left)} files",
            f"{took_s:.1f}", f"{refused} in {limit_s:.0f} s", f"{unknown} in {login_s:.0f} s")  # fmt: skip


def trouble(name: str, environ: dict[str, str]) -> tuple[Trouble | None, float]:
    """What a refusal is understood as, and after how long."""
    began = time.monotonic()
    try:
        agent_model(name, environ).answer(SHORT, goes_on)
    except Unanswered as error:
        return error.trouble, time.monotonic() - began
    return None, time.monotonic() - began


def holding(folder: Path, text: str) -> list[Path]:
    """The files in which a text is."""
    files = [path for path in folder.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    return [path for path in files if text.encode() in path.read_bytes()]


def main(names: Sequence[str]) -> None:
    """Two tables, row by row."""
    more = four_agents.install(CLAUDE_CODE)
    with loopback_only():
        say(COLUMNS)
        say(["---"] * len(COLUMNS))
        for name in names or AGENTS:
            with settled(name, more) as (agent, place, folder), Witness(place.person, folder / "codexmem") as witness:
                say(driven(agent, place, witness))
        say([])
        say(author_sessions.COLUMNS)
        say(["---"] * len(author_sessions.COLUMNS))
        for name in names or AGENTS:
            with settled(name, more) as (agent, place, folder):
                seen = author_sessions.remembered(agent, place, folder)
                say(seen.row(name))
                seen.check()


@contextlib.contextmanager
def settled(name: str, more: Path) -> Iterator[tuple[Driven, Place, Path]]:
    """An agent of somebody new, and a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        person = Person(Path(folder), "shop")
        programs = Path(folder) / "bin"
        programs.mkdir()
        place = Place(person, programs, Installation.find(), more)
        with AGENTS[name](place) as agent:
            yield agent, place, Path(folder)


def say(cells: Sequence[str]) -> None:
    """One line of the table."""
    print(f"| {' | '.join(cells)} |" if cells else "", flush=True)  # noqa: T201 - this is what the module is run for


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)  # the programs are those of the environment
    main(sys.argv[1:])
