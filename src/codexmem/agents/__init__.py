"""The coding agents, and all that is known of each: how it speaks to our hook, how it is set up and started.

An agent is a class in a module of its own, `AGENT` there, and is listed in `NAMES`. The hook loads that module whenever
the agent calls it, within milliseconds, so the module loads nothing but this one. The methods that read and change an
agent's files load what they need from `install` when they are called.

Payloads come from programs that change weekly: what is missing is left out, what is odd is passed on.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.targets import ConfigTarget, DetectedAgent, McpServerEntry, UserHome

# The agents that we know, as people type their names; the module has the same name with underscores.
NAMES = (
    "claude-code", "codex", "cursor", "gemini-cli", "qwen-code", "opencode", "cline", "copilot-cli", "kimi-code",
)  # fmt: skip
# mem-codecli looks for these first, in this order: their protocols let it answer for a person.
_ANSWERED = ("codex", "claude-code", "qwen-code", "gemini-cli", "opencode")
# People leave out the second word.
ALIASES = {name.partition("-")[0]: name for name in NAMES if "-" in name}
# Our moments, in the order in which a session has them.
CONTEXT, PROMPT, TOOL, STOP, END = "context", "session-init", "observation", "summarize", "session-complete"
_HOOK_S, _END_S = 10, 3  # seconds that an agent gives a hook; some agents cut the last one to three anyway
# Our name for a field, and what it is called in payloads; the first that is there counts.
_TEXTS = {
    "contentSessionId": ("contentSessionId", "content_session_id", "session_id", "sessionId", "sessionID", "id"),
    "cwd": ("cwd", "directory", "workspace", "workingDirectory", "working_directory"),
    "tool_name": ("tool_name", "toolName", "tool"),
    "tool_use_id": ("tool_use_id", "toolUseId", "callID", "call_id"),
    "last_assistant_message": ("last_assistant_message", "lastAssistantMessage", "prompt_response", "message"),
    "transcript_path": ("transcript_path", "transcriptPath"),
    "turn_id": ("turn_id", "turnId", "prompt_id", "promptId"),
    "agent_id": ("agent_id", "agentId"),
    "hook_event_name": ("hook_event_name", "hookEventName", "hookName"),
    "project": ("project",),
}
# Lines with which Gemini CLI and Qwen Code end what a shell command printed. The last two: it did not end by itself.
_SHELL_ENDS = ("Exit Code: ", "Background PIDs: ", "Process Group PGID: ", "Error: ", "Signal: ")
_STOPPED = frozenset(_SHELL_ENDS[-2:])
_VALUES = {
    "prompt": ("prompt", "user_prompt", "userPrompt", "query", "input"),
    "tool_input": ("tool_input", "toolInput", "arguments"),
    "tool_response": ("tool_response", "toolResponse", "tool_output", "toolOutput", "output", "result"),
}


class CodingAgent:
    """An agent that may call the hook; as it stands, one that we know nothing of and that speaks plainly."""

    name = "raw"  # as people type it, and the hook's platform
    title = ""
    programs: tuple[str, ...] = ()  # any of them tells that it is on the machine; mem-codecli starts the last
    tools: Mapping[str, str] = {}  # its names in hook payloads for tools that we know by another

    # Files that it reads by itself, so that nobody has to hand it what they say. A name or the end of a path counts in
    # every folder of a checkout; `~/.codex/` is the agent's own folder, wherever a person has moved it.
    reads: tuple[str, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = {}  # what it reads only where none of these files is
    reads_below = True  # whether it also reads those below the working directory, when it gets there

    # How mem-codecli runs it. Adapters are named as in its configuration.
    adapter = ""  # that reads what it prints; without one it prints plain text
    stream_adapter = "claude-json"  # that reads `stream-json`, where there is no other
    acp = ""  # the word that makes it speak the Agent Client Protocol, if it can
    approval_option = ""  # by which it is told in that protocol whether to ask before it uses tools
    ends_with_input = False  # whether it ends, in that protocol, when its input is closed

    @property
    def program(self) -> str:
        """What mem-codecli starts; empty if it starts nothing."""
        return self.programs[-1] if self.programs else ""

    def read(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """A payload under our own names, without what is missing."""
        record = {
            name: value for name, value in self.dialect(payload, environ).items() if value is not None and value != ""
        }
        if (tool := str(record.get("tool_name"))) in self.tools:
            record["tool_name"] = self.tools[tool]
        return record

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """What its payload says; what is missing may be empty."""
        return plain(payload)

    def unreported_calls(self, record: Mapping[str, object]) -> list[dict[str, object]]:
        """The tool calls of a turn that has ended which no hook was started for, under our own names."""
        return []

    def takes_context(self, event: str) -> bool:
        """Whether it can be told something at this moment."""
        return event in (CONTEXT, PROMPT)

    def answer(self, event: str, said: str, context: str) -> dict[str, object] | None:
        """What it is told: `said` is its own name of the event, `context` what it should know, if anything.

        Nothing, or JSON that is valid for this agent and this event. Codex refuses an answer with a key it does not
        know, so there is none to spare.
        """
        return self.told(event, said, context) if context and self.takes_context(event) else None

    def told(self, event: str, said: str, context: str) -> dict[str, object]:
        """The form in which it takes context."""
        return {"context": context}

    def reads_itself(self, file: str, cwd: str = "", is_known: Callable[[str], bool] = lambda _: False) -> bool:
        """Whether it reads a file of a checkout, or of a person, by itself when it works in `cwd`.

        `is_known` says whether a file is there, for what it reads in place of another.
        """
        from pathlib import PurePosixPath

        own = file.startswith("~/")
        path, folder = PurePosixPath(file), file.rpartition("/")[0]
        pattern = next((each for each in self.reads if each.startswith("~/") == own and path.match(each)), None)
        if pattern is None:
            return False
        below = str(path.parents[len(PurePosixPath(pattern).parts) - 1])  # where the pattern begins
        if not (own or self.reads_below or below == ".") and f"/{below}/" not in f"{cwd.rstrip('/')}/":
            return False
        others = self.replaced.get(pattern, ())
        nearby = [f"{folder}/{name}" for name in others if folder and not own]
        return not any(is_known(name) for name in (*others, *nearby))


class InstallableAgent(CodingAgent):
    """An agent that we can be installed into.

    As it stands, one of the family of Claude Code: it speaks as Claude Code does, and its hooks and MCP servers are in
    one settings file.
    """

    # Its names for our moments.
    moments: Mapping[str, str] = {
        CONTEXT: "SessionStart",
        PROMPT: "UserPromptSubmit",
        TOOL: "PostToolUse",
        STOP: "Stop",
        END: "SessionEnd",
    }
    second = 1000  # how many units of time a second has in its settings
    comments = False  # whether its own parser of JSON takes comments
    commas = False  # whether it takes a comma before a closing bracket
    trusts_hooks = False  # whether it runs only hooks that a person has trusted

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """A payload of the family. A sub-agent's stop is not the end of a turn."""
        record = plain(payload)
        record.setdefault("cwd", environ.get("CLAUDE_PROJECT_DIR", ""))
        if record.get("hook_event_name") == "SubagentStop":
            record["agent_id"] = record.get("agent_id") or "subagent"
        return record

    def told(self, event: str, said: str, context: str) -> dict[str, object]:
        """Under its own name for the moment."""
        moment = said if said in (self.moments[CONTEXT], self.moments[PROMPT]) else self.moments[event]
        return {"hookSpecificOutput": {"hookEventName": moment, "additionalContext": context}}

    def folder(self, person: UserHome) -> Path:
        """Where its configuration is; that it exists tells of the agent."""
        return person.home / f".{self.name}"

    def found(self, person: UserHome) -> DetectedAgent:
        """Whether it is on this machine: its program on the PATH, or its folder."""
        import shutil

        from codexmem.agents.install.targets import DetectedAgent

        path = person.environ.get("PATH", "")
        program = next((where for name in self.programs if (where := shutil.which(name, path=path))), "")
        folder = self.folder(person)
        return DetectedAgent(program, folder if folder.is_dir() else None)

    def timeout(self, event: str) -> int:
        """How long it is to wait for our hook, in its unit of time."""
        return (_END_S if event == END else _HOOK_S) * self.second

    def hooks_file(self, person: UserHome) -> Path:
        """Where its hooks are named."""
        return self.folder(person) / "settings.json"

    def servers_file(self, person: UserHome) -> Path:
        """Where its MCP servers are named."""
        return self.hooks_file(person)

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """The files to change; here its settings."""
        from codexmem.agents.install import json_settings
        from codexmem.agents.install.entries import Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget

        program, *words = commands.mcp
        server = {"command": program, "args": words, "trust": True}
        hooks = json_settings.groups(self.moments, commands, self.name, self.timeout)
        return [ConfigTarget(self.hooks_file(person), "json", [Member(("mcpServers", SERVER), server), *hooks])]

    def plugin(self, commands: ProgramCommands) -> dict[str, str]:
        """The files of a plugin that it installs by itself, by path; none if it has no such thing."""
        return {}

    def hook(self, person: UserHome, event: str) -> str:
        """The command that its files name for one of our moments, read from the disk; empty if none."""
        from codexmem.agents.install import json_settings

        return json_settings.command_in(json_settings.read(self.hooks_file(person)), self.moments[event])

    def server(self, person: UserHome) -> McpServerEntry | None:
        """Our MCP server as its files name it, read from the disk."""
        from codexmem.agents.install import json_settings

        return json_settings.server_in(json_settings.read(self.servers_file(person)))

    def unread(self, person: UserHome) -> list[tuple[Path, str]]:
        """Its JSON files that its own parser would refuse, and why: our entries in them do nothing."""
        paths = dict.fromkeys((self.hooks_file(person), self.servers_file(person)))
        there = [path for path in paths if path.suffix in {".json", ".jsonc"} and path.is_file()]
        problems = [(path, self.refusal(path.read_text("utf-8", "replace"))) for path in there]
        return [(path, problem) for path, problem in problems if problem]

    def refusal(self, text: str) -> str:
        """Why its own parser would refuse a text as JSON; empty if it would not."""
        from codexmem.agents.install import jsonc

        try:
            jsonc.value_of(text, comments=self.comments, commas=self.commas)
        except jsonc.MalformedJsonc as problem:
            return str(problem)
        return ""

    def obstacles(self, person: UserHome) -> list[str]:
        """Settings of the person's that keep hooks from running, as they are written."""
        return []

    def untrusted(self, person: UserHome) -> list[str] | None:
        """Commands of ours that it would skip, because nobody has trusted them; None if it cannot be asked."""
        return []

    def unmarked(self, person: UserHome) -> int:
        """How many of our hooks have no trust written down."""
        return 0

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, object]:
        """What it would tell a hook of a prompt."""
        return {"session_id": session, "cwd": cwd, "hook_event_name": self.moments[PROMPT], "prompt": prompt}


UNKNOWN = CodingAgent()


def agent_of(name: str) -> CodingAgent:
    """The agent that is meant; one that we do not know speaks plainly."""
    name = name.strip().lower()
    name = ALIASES.get(name, name)
    if name not in NAMES:
        return UNKNOWN
    module = __import__(f"codexmem.agents.{name.replace('-', '_')}", fromlist=["AGENT"])  # importlib costs its loading
    agent: CodingAgent = module.AGENT
    return agent


def installable() -> dict[str, InstallableAgent]:
    """Those that we can be installed into, by name, in the order in which they are shown: Codex first."""
    names = sorted(NAMES, key=lambda name: name != "codex")
    return {name: agent for name in names if isinstance(agent := agent_of(name), InstallableAgent)}


def startable() -> Iterator[CodingAgent]:
    """Those that mem-codecli can start, in the order in which it looks for them."""
    for name in (*_ANSWERED, *(name for name in NAMES if name not in _ANSWERED)):
        if (agent := agent_of(name)).program:
            yield agent


def started_by(program: str) -> CodingAgent:
    """The agent that a program is."""
    return next((agent for agent in startable() if agent.program == program), UNKNOWN)


def plain(payload: Mapping[str, object]) -> dict[str, object]:
    """What stands in a payload under our own field names, in snake_case or camelCase; every dialect begins with it."""
    record: dict[str, object] = {}
    for ours, theirs in _TEXTS.items():
        for name in theirs:
            value = payload.get(name)
            if isinstance(value, str) and value:
                record[ours] = value
                break
    for ours, theirs in _VALUES.items():
        for name in theirs:
            if payload.get(name) is not None:
                record[ours] = payload[name]
                break
    if "error" in payload and "tool_response" not in record:
        record["tool_response"] = {"error": payload["error"]}
    if "prompt" in record:
        record["prompt"] = text_in(record["prompt"])
    return record


def text_in(value: Any) -> str:
    """The text of a message that may be a string, a part or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for name in ("text", "content", "parts"):
            if name in value:
                return text_in(value[name])
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_in, value)))
    return ""


def part_of(value: Mapping[str, object], name: str) -> dict[str, object]:
    """An object inside; empty if there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def for_the_model(response: Any) -> Any:
    """Of `{llmContent, returnDisplay}` what says most: the first, unless it is a wrapper around foreign text."""
    if not isinstance(response, dict) or not {"llmContent", "returnDisplay"} & response.keys():
        return response
    said, shown = response.get("llmContent"), response.get("returnDisplay")
    wrapped = "<untrusted_context" in text_in(said)
    chosen = shown if shown and (wrapped or not said) else said
    if response.get("error"):
        return {"output": chosen, "error": response["error"]}
    return chosen


def shell_answer(response: Any) -> Any:
    """What a shell command printed and its exit code, from the lines in which Gemini CLI and Qwen Code tell the model.

    Qwen Code names every exit code, Gemini CLI none that is 0. The last lines are theirs, all before is the command's.
    """
    said = text_in(response.get("llmContent")).strip() if isinstance(response, dict) else ""
    if said.startswith("<untrusted_context"):
        said = said.partition(">")[2].rpartition("</untrusted_context>")[0].strip()
    if not said.startswith(("Output: ", "Command: ")):
        return for_the_model(response)
    lines, ends = said.splitlines(), dict[str, str]()
    while name := next((each for each in _SHELL_ENDS if lines and lines[-1].startswith(each)), ""):
        ends.setdefault(name, lines.pop().removeprefix(name).strip())
    output = "\n".join(lines)
    output = (output if output.startswith("Output: ") else f"\n{output}").partition("Output: ")[2]
    answer: dict[str, object] = {"output": "" if output == "(empty)" else output}
    code = ends.get("Exit Code: ", "0" if said.startswith("Output: ") and not ends.keys() & _STOPPED else "")
    if code.removeprefix("-").isdecimal():
        answer["exit_code"] = int(code)
    if response.get("error"):
        answer["error"] = response["error"]
    return answer
