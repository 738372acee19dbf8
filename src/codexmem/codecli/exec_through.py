"""A run that needs nothing of ours becomes the agent: the process is replaced, so that not a byte passes through us.

That is how memory off is transparent by construction: standard streams, exit code, signals, job control, terminal and
window size are the agent's own. Whoever waits for it waits for Python to start and for two or three looks at the disk,
so nothing is imported here that Python has not loaded by itself. Where anything is unclear (an option of ours, a file
of the project, a setting that cannot be read) this does not decide: `go` returns, and the commands do, which know all.
"""

from __future__ import annotations

import os

from codexmem.codecli import programs, surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OFF = "--memory-off"
VALUED = ("--project-id", "--memory-url", "--inject-mode", "--gatekeeper", "--audit", "--redact", "--stream-format",
          "--trace-json", "--record", "--lang", "--color")  # fmt: skip
FLAGS = ("--memory-on", OFF, "--tui", "--explain", "--json", "--no-input", "-q", "--quiet", "--debug", "--help")
SETTINGS_PREFIX = "MEM_CODECLI_"
PROJECT_FILE = ".mem-codecli.toml"
_ALIKE = 5  # characters of an option that make another one look like it
_DEEPEST = 64  # folders that are looked at on the way up


def go(arguments: Sequence[str]) -> None:
    """Become the agent, if nothing of ours is wanted; returns if it is, or if there is no agent to become."""
    ours, rest = split(arguments)
    if any(option != OFF for option in ours) or _resembles(arguments, ours, rest):
        return
    environ = surroundings.environ()
    if any(name.startswith(SETTINGS_PREFIX) for name in environ) or _project_has_file(surroundings.cwd()):
        return
    configured = _configured(f"{surroundings.config_dir(environ)}/config.toml", memory_off=OFF in ours)
    if configured is None:
        return
    command = programs.command(configured, environ)
    if command:
        become((*command, *rest), environ)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and what goes to the agent: everything from the first word that is none of our options.

    `--` ends our options and is not passed on. A word that only resembles one of ours is the agent's here; the command
    asks what was meant.
    """
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return list(arguments[:at]), list(arguments[at + 1 :])
        if word in VALUED:
            at += 2
        elif word in FLAGS or word.startswith(tuple(f"{name}=" for name in VALUED)):
            at += 1
        else:
            break
    return list(arguments[:at]), list(arguments[at:])


def _resembles(arguments: Sequence[str], ours: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether the agent's first word could be a slip in an option of ours; the command asks."""
    if not rest or arguments[len(ours)] == "--":
        return False
    return rest[0].startswith(tuple(name[:_ALIKE] for name in (*VALUED, *FLAGS) if len(name) > _ALIKE))


def become(command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Replace this process by the command. Returns only if that cannot be done; the caller says why."""
    place = programs.which(command[0], environ)
    if not place:
        return
    _as_before()
    try:
        os.execve(place, list(command), environ)  # noqa: S606  (an argument list, never a shell)
    except OSError:
        return


def _as_before() -> None:
    """Give signals back the meaning that Python takes from them at its start: what is ignored stays so in the agent."""
    import _signal  # type: ignore[import-not-found]

    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(_signal, name):
            _signal.signal(getattr(_signal, name), _signal.SIG_DFL)


def _project_has_file(cwd: str) -> bool:
    """Whether there is a file of the project that could tighten something; by the same rule as `config_files`."""
    folder, seen = os.path.abspath(cwd), []
    for _ in range(_DEEPEST):
        seen.append(os.path.lexists(os.path.join(folder, PROJECT_FILE)))
        if os.path.lexists(os.path.join(folder, ".git")):
            return any(seen)
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return seen[0]  # outside of a checkout nothing above counts


def _configured(path: str, *, memory_off: bool) -> Sequence[str] | None:
    """The command in the user's file; None if the file switches something on, or cannot be understood."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return programs.DEFAULT
    except OSError:
        return None
    # Its library takes half as long to load as Python itself; most people have no such file.
    import tomllib

    try:
        told = tomllib.loads(text.decode())
    except ValueError:
        return None
    memory, audit, codecli = _part(told, "memory"), _part(told, "audit"), _part(told, "codecli")
    if memory is None or audit is None or codecli is None:
        return None
    if (memory.get("on", False) is not False and not memory_off) or audit.get("mode", "off") != "off":
        return None
    command = codecli.get("command", programs.DEFAULT)
    if isinstance(command, str):
        return (command,) if command and not any(each.isspace() for each in command) else None
    if isinstance(command, list | tuple) and command and all(isinstance(word, str) and word for word in command):
        return command
    return None


def _part(told: Mapping[str, object], name: str) -> Mapping[str, object] | None:
    part = told.get(name, {})
    return part if isinstance(part, dict) else None
