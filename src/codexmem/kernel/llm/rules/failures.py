"""The line of an output that tells what went wrong."""

import re

from codexmem.kernel.llm.clip import line
from codexmem.kernel.llm.tools import Response

_LOOK_AT = 20_000  # characters at the end of an output
_SAID = 200

# From the most to the least telling; of each the last that was printed, because causes come after noise.
_PATTERNS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) \S{3,300} - (.{3,300})$",
        r"^(?:E\s{1,8})?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)(?:: .{0,300})?)$",
        r"^[ \t]{0,40}(error(?:\[E\d+\])?: .{1,300})$",
        r"(error TS\d+: .{1,300})$",
        r"^\S{1,300}:\d+:\d+: (?:fatal )?(error: .{1,300})$",
        r"^npm (?:ERR!|error) (?!code|errno|A complete log|Lifecycle|path|command)(.{3,300})$",
        r"^(panic: .{1,300})$",
        r"^((?:Uncaught )?[A-Z]\w*Error: .{1,300})$",
        r"^(Error response from daemon: .{3,300})$",
        r"^(?:fatal|FATAL|ERROR|Error|ERRO|E)(?::| ) ?(.{3,300})$",
        r"^(.{0,200}(?:command not found|No such file or directory|Permission denied|not recognized as an|"
        r"No module named |No rule to make target |\d: \S{1,80}: not found).{0,200})$",
    )
)
# A shell, an interpreter or a runner says that it did not do at all what it was asked for.
_REFUSALS = (
    r"(?:bash|sh|zsh|dash|/bin/\w{2,4}): .{1,200}: (?:command )?not found|\S{1,200}: command not found|"
    r"zsh: command not found|\S{0,200}python[\d.]{0,6}: No module named |"
    r"No module named |npm (?:ERR!|error) Missing script|(?:g?make(?:\[\d+\])?: )?\*\*\* No rule to make target|"
    r"(?:error: )?Recipe `.{1,80}` not found|error: (?:unrecognized subcommand|unexpected argument|no such command)|"
    r"error: Script not found|ERR_PNPM_NO_SCRIPT"
)
_REFUSED = re.compile(rf"^[ \t]{{0,4}}(?:{_REFUSALS})", re.MULTILINE)
# Without an exit code, only these are failures beyond doubt.
_CERTAIN = re.compile(
    rf"^[ \t]{{0,4}}(?:{_REFUSALS}|Traceback \(most recent call last\):|npm (?:ERR!|error) |error: could not compile|"
    r"error\[E\d{1,5}\]|g?make(?:\[\d{1,3}\])?: \*\*\* |Error response from daemon: )",
    re.MULTILINE,
)


def telling(output: str) -> str:
    """What went wrong, on one line; empty if no line looks like it."""
    end = output[-_LOOK_AT:]
    for pattern in _PATTERNS:
        if found := pattern.findall(end):
            return line(found[-1].strip().rstrip("."), _SAID)
    return ""


def outcome(response: Response, *, decides: bool) -> bool | None:
    """Whether a command succeeded, if that is known; `decides` says whether exit 0 speaks of it.

    Exit 0 proves nothing where it is another program's, as after a pipe, and where the output says that the command
    was refused. Without proof an output may still show a failure beyond doubt.
    """
    if response.failed:
        return False
    end = response.text[-_LOOK_AT:]
    if response.exit_code == 0 and decides:
        return None if _REFUSED.search(end) else True
    return False if _CERTAIN.search(end) else None
