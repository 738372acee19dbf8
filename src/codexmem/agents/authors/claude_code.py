"""Claude Code as an author: its safe mode keeps login and model, and leaves out every customization.

`--bare` would do the same without the person's login, which is not read then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from codexmem.agents.authors.author import ROLE, Author, Invocation, RunFiles, Said, asked, count, whole
from codexmem.agents.authors.process import ProgramRun
from codexmem.agents.claude_code import AGENT
from codexmem.agents.install.json_settings import table
from codexmem.kernel.llm.model import ModelPrompt

_SETTINGS = {"disableAllHooks": True, "autoMemoryEnabled": False}
_ENVIRON = {
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
}


class ClaudeAuthor(Author):
    """`claude -p --safe-mode --json-schema`."""

    takes_schema = True
    prefixes = ("ANTHROPIC_", "CLAUDE_")
    kept = frozenset({"AWS_PROFILE", "AWS_REGION", "CLOUD_ML_REGION"})  # names of logins that its files hold
    dropped = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT")

    def invocation(self, prompt: ModelPrompt, files: RunFiles, environ: Mapping[str, str]) -> Invocation:
        """It takes the schema as an argument only."""
        words = (
            "--print", "--output-format", "json", "--safe-mode", "--strict-mcp-config", "--no-session-persistence",
            "--disable-slash-commands", "--no-chrome", "--permission-mode", "dontAsk", "--tools", "",
            "--settings", json.dumps(_SETTINGS), "--system-prompt", ROLE,
            "--json-schema", json.dumps(prompt.schema, separators=(",", ":")),
        )  # fmt: skip
        return Invocation(words, asked(prompt, with_schema=False), _ENVIRON)

    def said(self, run: ProgramRun, files: RunFiles) -> Said:
        """One result, with what the model said by the schema in a field of its own."""
        return result_of(run, structured="structured_output")


def result_of(run: ProgramRun, *, structured: str) -> Said:
    """The `result` of the family: alone, or the last of a list of events."""
    found = whole(run.output)
    events = found if isinstance(found, list) else [found]
    result = next((each for each in reversed(events) if table(each).get("type") == "result"), None)
    if result is None:
        return Said(failure=run.errors or run.output or "there is no result")
    answer = result.get("result")
    if structured in result:
        answer = json.dumps(result[structured], ensure_ascii=False)
    if result.get("is_error") or run.code or not isinstance(answer, str):
        words = (result.get("result"), table(result, "error").get("message"), result.get("subtype"), run.errors)
        return Said(failure="\n".join(str(each) for each in words if each))
    used = table(result, "usage")
    read = (count(used.get(f"{name}input_tokens")) for name in ("", "cache_creation_", "cache_read_"))
    taken = [each for each in read if each is not None]
    return Said(answer, "", sum(taken) if taken else None, count(used.get("output_tokens")))


AUTHOR = ClaudeAuthor(AGENT)
