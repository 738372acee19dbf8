"""Qwen Code as an author: its safe mode leaves out hooks, servers, extensions and files of instructions.

With a schema its model answers by calling a tool that exists for this alone; every other tool ends the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from codexmem.agents.authors.author import ROLE, Author, Invocation, RunFiles, Said, asked, settings_over, whole
from codexmem.agents.authors.claude_code import result_of
from codexmem.agents.authors.process import ProgramRun
from codexmem.agents.install.json_settings import table
from codexmem.agents.qwen_code import AGENT
from codexmem.kernel.llm.model import ModelPrompt

_SYSTEM = Path("/etc/qwen-code/settings.json")
_SYSTEM_PATH = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
# A server that is busy or refuses is asked once more, not for minutes on end.
_SETTINGS = {"model": {"generationConfig": {"maxRetries": 0}}, "disableAllHooks": True}
_TOOLS = (
    "agent", "ask_user_question", "cron_create", "cron_delete", "cron_list", "edit", "enter_worktree", "exit_plan_mode",
    "exit_worktree", "get_goal", "glob", "grep_search", "list_agents", "list_directory", "loop_wakeup", "notebook_edit",
    "read_file", "read_mcp_resource", "record_artifact", "report_findings", "run_shell_command", "save_memory",
    "send_message", "skill", "task_stop", "todo_write", "tool_call", "tool_search", "update_goal", "web_fetch",
    "web_search", "write_file", "zoom_image",
)  # fmt: skip


class QwenAuthor(Author):
    """`qwen --safe-mode --json-schema`."""

    takes_schema = True
    prefixes = ("QWEN_",)

    def invocation(self, prompt: ModelPrompt, files: RunFiles, environ: Mapping[str, str]) -> Invocation:
        """The schema as a file; the process that would start itself anew with more memory is spared."""
        schema = files.written("schema.json", json.dumps(prompt.schema))
        words = (
            "--safe-mode", "--chat-recording", "false", "--approval-mode", "plan", "--output-format", "json",
            "--max-tool-calls", "0", "--exclude-tools", ",".join(_TOOLS), "--system-prompt", ROLE,
            "--json-schema", f"@{schema}",
        )  # fmt: skip
        over = files.written("settings.json", settings_over(_SYSTEM, environ.get(_SYSTEM_PATH, ""), _SETTINGS))
        return Invocation(
            words, asked(prompt, with_schema=False), {"QWEN_CODE_NO_RELAUNCH": "true", _SYSTEM_PATH: str(over)}
        )  # fmt: skip

    def said(self, run: ProgramRun, files: RunFiles) -> Said:
        """As Claude Code says it; a model that wrote its answer instead of calling the tool has answered too."""
        said = result_of(run, structured="structured_result")
        if said.answer is None and "structured_output" in said.failure and (written := _written(run)):
            return Said(written)
        return said


def _written(run: ProgramRun) -> str:
    """The last text of the model."""
    events = whole(run.output)
    messages = [table(each, "message") for each in events if table(each).get("type") == "assistant"]
    parts = messages[-1].get("content") if messages else None
    texts = [table(part).get("text") for part in parts] if isinstance(parts, list) else []
    return "".join(text for text in texts if isinstance(text, str)).strip()


AUTHOR = QwenAuthor(AGENT)
