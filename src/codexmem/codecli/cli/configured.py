"""The configuration as a command gets it: flags on top, warnings told, in the language of the moment."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from codexmem.codecli import config_files, surroundings
from codexmem.codecli.config_files import Loaded, Notice
from codexmem.console.command import current, option
from codexmem.console.messages import say


def configured(flags: Mapping[str, object] | None = None) -> Loaded:
    """Read every source; what is wrong but bearable is told beside the answer."""
    loaded = config_files.load(flags or {}, Path(surroundings.cwd()))
    for notice in loaded.warnings:
        current().note(said(notice), good=False)
    return loaded


def said(notice: Notice) -> str:
    """A warning of the configuration, translated."""
    return say(f"codecli.notice.{notice.reason}", **notice.values)


def memory_options(command: Any) -> Any:
    """The flags of every command that speaks to the memory."""
    decorators: list[Callable[[Any], Any]] = [
        option("--project-id", "project_id", metavar="ID", key="codecli.option.project_id"),
        option("--memory-url", "memory_url", metavar="URL", key="codecli.option.memory_url"),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command
