"""`codexmem plugins`: plugins for the agents' own shops, with the commands of this installation, in a folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from codexmem.console.command import Command, current, setting_option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import chosen
from codexmem.operations.cli.install.text import commands_of

_OURS = Path("plugins/codex/.codex-plugin/plugin.json")  # tells that a folder was written by this command
# How each program is told to take its plugin; the file is that of the guide.
_TAKE = {
    "claude-code": "claude plugin marketplace add {folder} && claude plugin install codexmem@codexmem",
    "codex": "codex plugin marketplace add {folder} && codex plugin add codexmem@codexmem",
    "gemini-cli": "gemini extensions install {folder}/plugins/gemini-cli",
    "qwen-code": "qwen extensions install {folder}/plugins/qwen-code",
    "opencode": 'opencode.json: "plugin": [{quoted}]',
}


@click.command("plugins", cls=Command, key="plugins")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@setting_option("port", metavar="PORT")
@setting_option("data_dir", metavar="DIR")
def plugins(folder: Path, port: str | None, data_dir: str | None) -> None:
    """Write every plugin below a folder."""
    from codexmem.agents.install.plugins import tree

    where = folder.absolute()
    if where.is_dir() and any(where.iterdir()) and not (where / _OURS).is_file():
        raise UsageProblem(say("plugins.taken", folder=where), hint=say("plugins.taken_hint"))
    files = tree(commands_of(chosen(port=port, data_dir=data_dir)))
    _write(where, files)
    typed, quoted = shlex.quote(str(where)), json.dumps(str(where / "plugins" / "opencode"), ensure_ascii=False)
    take = {agent: words.format(folder=typed, quoted=quoted) for agent, words in _TAKE.items()}
    output = current()
    document: dict[str, object] = {"folder": str(where), "files": sorted(files), "take": take}
    output.result(document, "\n".join(f"{agent}: {words}" for agent, words in take.items()))
    output.note(say("plugins.done", count=len(files), folder=where), good=True)


def _write(where: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
