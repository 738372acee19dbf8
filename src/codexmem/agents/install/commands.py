"""The commands that agents are told to run, by whole paths: an agent that no shell has started has another PATH.

Agents hand on few variables of the environment. Where ours says where the store or the server is, and a bare one would
find another, the commands say it themselves.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codexmem.hook import surroundings

_FLAGS = {"CODEXMEM_DATA_DIR": "--data-dir", "CODEXMEM_PORT": "--port", "CODEXMEM_URL": "--url"}


@dataclass(frozen=True, slots=True)
class ProgramCommands:
    """How our programs are called, and what they must be told."""

    hook_words: tuple[str, ...]
    program_words: tuple[str, ...]
    told: Mapping[str, str] = field(default_factory=dict)  # variables of ours that a bare environment lacks
    toolset: str = "recall"  # that agents are offered; empty for more than that

    def hook(self, platform: str, event: str) -> str:
        """The hook, as a shell runs it."""
        return shlex.join((*self.hook_prefix, platform, event))

    @property
    def hook_prefix(self) -> tuple[str, ...]:
        """The hook without its arguments."""
        return (*self._before, *self.hook_words)

    @property
    def _before(self) -> tuple[str, ...]:
        return ("env", *(f"{name}={value}" for name, value in self.told.items())) if self.told else ()

    @property
    def program(self) -> tuple[str, ...]:
        """The command line."""
        return (*self._before, *self.program_words)

    @property
    def mcp(self) -> tuple[str, ...]:
        """The MCP server over stdio."""
        told = [word for name, value in self.told.items() for word in (_FLAGS[name], value)]
        return (*self.program_words, "mcp", *(("--toolset", self.toolset) if self.toolset else ()), *told)

    def serve(self, *flags: str) -> tuple[str, ...]:
        """The server, in the foreground."""
        return (*self.program_words, "serve", *flags)


def find(
    environ: Mapping[str, str], data_dir: Path, given: Mapping[str, str], *, toolset: str = "recall"
) -> ProgramCommands:
    """Our programs as they are installed, and what they must be told; `given` are variables said for this call only."""
    bare = surroundings.look({"HOME": environ["HOME"]} if environ.get("HOME") else {})
    told = dict(given)
    if "CODEXMEM_URL" not in told and str(data_dir) != bare.data_dir:
        told["CODEXMEM_DATA_DIR"] = str(data_dir)
    path = environ.get("PATH", "")
    # An agent starts them in a checkout, whose folders Python would take for packages without -P.
    return ProgramCommands(
        _program("codexmem-hook", path) or (sys.executable, "-P", "-m", "codexmem.hook"),
        _program("codexmem", path) or (sys.executable, "-P", "-m", "codexmem.cli"),
        told,
        toolset,
    )


def _program(name: str, path: str) -> tuple[str, ...]:
    """Its script: as a person would call it if that is ours, else beside our own Python."""
    beside = Path(sys.executable).parent / name
    if os.name != "posix" or not beside.is_file():  # elsewhere a script is no program
        return ()
    called = shutil.which(name, path=path)
    if called is not None and Path(called).samefile(beside):
        return (os.path.abspath(called),)  # noqa: PTH100  (a link stays a link: it outlives what it points to)
    return (str(beside),)
