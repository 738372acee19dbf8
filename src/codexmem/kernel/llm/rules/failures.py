"""The line of an output that tells what went wrong."""

import re

from codexmem.kernel.llm.clip import line

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
        r"^(?:fatal|FATAL|ERROR|Error|ERRO|E)(?::| ) ?(.{3,300})$",
        r"^(.{0,200}(?:command not found|No such file or directory|Permission denied|not recognized as an).{0,200})$",
    )
)
# Without an exit code, only these are failures beyond doubt.
_CERTAIN = re.compile(
    r"^(?:Traceback \(most recent call last\):|npm ERR! |error: could not compile|\S+: command not found|"
    r"(?:bash|sh|zsh): .{1,200}: command not found)",
    re.MULTILINE,
)


def telling(output: str) -> str:
    """What went wrong, on one line; empty if no line looks like it."""
    end = output[-_LOOK_AT:]
    for pattern in _PATTERNS:
        if found := pattern.findall(end):
            return line(found[-1].strip().rstrip("."), _SAID)
    return ""


def is_failure(output: str) -> bool:
    """Whether an output without an exit code is one of a failure."""
    return _CERTAIN.search(output[-_LOOK_AT:]) is not None
