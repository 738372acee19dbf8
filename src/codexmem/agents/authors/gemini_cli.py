"""Gemini CLI as an author: settings of the folder that it works in overrule the person's own for this run.

Settings of the system would too, but it refuses those below a temporary folder. It knows no schemas. It keeps a record
of every session and a list of every folder, from which ours are taken out again. The person's global file of
instructions is always read.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from codexmem.agents.authors.author import ROLE, Author, Invocation, RunFiles, Said, asked, count, whole
from codexmem.agents.authors.process import ProgramRun
from codexmem.agents.gemini_cli import AGENT
from codexmem.agents.install.json_settings import table
from codexmem.agents.install.targets import UserHome
from codexmem.kernel.llm.model import ModelPrompt

_NONE = "codexmem-none"  # a name that nothing has: an empty list would mean all
_SETTINGS = {
    "hooksConfig": {"enabled": False},
    "tools": {"core": [_NONE], "enableHooks": False},
    "mcp": {"allowed": [_NONE]},
    "context": {"fileName": _NONE},
    "skills": {"enabled": False},
    "general": {"maxAttempts": 2, "enableAutoUpdate": False},
}


class GeminiAuthor(Author):
    """`gemini --output-format json`, with the schema in the prompt."""

    prefixes = ("GEMINI_", "GOOGLE_GEMINI_", "GOOGLE_GENAI_")
    kept = frozenset({"GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"})

    def invocation(self, prompt: ModelPrompt, files: RunFiles, environ: Mapping[str, str]) -> Invocation:
        """A folder is trusted for one run without being remembered as such."""
        settings = files.work / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps(_SETTINGS), encoding="utf-8")
        words = (
            "--output-format", "json", "--approval-mode", "plan", "--extensions", "none", "--skip-trust",
            "--allowed-mcp-server-names", _NONE,
        )  # fmt: skip
        role = files.written("role.md", ROLE)
        besides = {"GEMINI_SYSTEM_MD": str(role), "GEMINI_CLI_NO_RELAUNCH": "true"}
        return Invocation(words, asked(prompt, with_schema=True), besides)

    def said(self, run: ProgramRun, files: RunFiles) -> Said:
        """One object, with the answer or an error in it."""
        found = table(whole(run.output))
        answer = found.get("response")
        if run.code or "error" in found or not isinstance(answer, str) or not answer.strip():
            failure = str(table(found, "error").get("message", ""))
            return Said(failure=failure or run.errors or "there is no response")
        used = [table(each, "tokens") for each in table(found, "stats", "models").values()]
        read = [amount for each in used if (amount := count(each.get("prompt"))) is not None]
        made = [amount for each in used if (amount := count(each.get("candidates"))) is not None]
        return Said(answer, "", sum(read) if read else None, sum(made) if made else None)

    def tidy(self, files: RunFiles, environ: Mapping[str, str]) -> None:
        """Its record of the session, known by the folder that it belongs to."""
        folder = AGENT.folder(UserHome(Path(environ.get("HOME", "")), environ))
        for owner in (*folder.glob("tmp/*/.project_root"), *folder.glob("history/*/.project_root")):
            with contextlib.suppress(OSError, ValueError):
                if owner.read_text(encoding="utf-8").strip() == str(files.work):
                    shutil.rmtree(owner.parent, ignore_errors=True)
        listed = folder / "projects.json"
        with contextlib.suppress(OSError, ValueError):
            found = whole(listed.read_text(encoding="utf-8"))
            if table(found, "projects").pop(str(files.work), None) is not None:
                fresh = listed.with_name(f"projects.json.{os.getpid()}.codexmem")
                fresh.write_text(json.dumps(found, indent=2), encoding="utf-8")
                fresh.replace(listed)


AUTHOR = GeminiAuthor(AGENT)
