"""What a turn did, for counting: files, commands as they were typed, and the first line of each error.

Looking around (ls, cat, git status) is no activity. Two commands are the same if they run the same program for the same
purpose: options, variables and redirections do not tell them apart.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codexmem.kernel.llm import evidence, shell
from codexmem.kernel.llm.clip import line
from codexmem.kernel.llm.rules import failures, testruns
from codexmem.kernel.llm.tools import Family, Response, command_of, family_of, response_of
from codexmem.kernel.model.capture import CapturedEvent

_COMMANDS = 40
_ERRORS = 20
_VARIABLES = 40
_TYPED = 20_000  # characters of a command line that are searched for variables
_COMMAND = 300  # characters
_ERROR = 160
_NAMED = 4  # words that tell commands apart
_OUTPUT = 20_000  # characters of an output that are searched for an error
_LOOKING = frozenset({
    "cd", "ls", "ll", "pwd", "cat", "head", "tail", "less", "more", "bat", "nl", "wc", "grep", "egrep", "fgrep", "rg",
    "ag", "ack", "find", "fd", "tree", "file", "stat", "du", "df", "which", "type", "whereis", "echo", "printf",
    "true", "false", "test", "[", ":", "sleep", "wait", "date", "whoami", "id", "uname", "hostname", "env", "set",
    "unset", "history", "clear", "jobs", "kill", "pkill", "killall", "ps", "pgrep", "top", "lsof", "read", "exit",
    "return", "break", "continue", "for", "while", "if", "then", "else", "do", "done", "case", "esac", "fi", "sort",
    "uniq", "cut", "tr", "awk", "sed", "xargs", "tee", "diff", "cmp", "comm", "column", "jq", "yq", "touch", "mkdir",
    "rmdir", "rm", "mv", "cp", "ln", "chmod", "chown", "pushd", "popd", "open", "code", "vim", "vi", "nano", "man",
    "help", "alias", "git", "curl", "wget", "hash", "base64", "md5sum", "sha256sum", "strings", "xxd", "nc", "ping",
})  # fmt: skip
_ASKING = frozenset({"--help", "-h", "--version", "-v", "-V", "help", "version"})
_GIVEN = frozenset({"-c", "-e", "-p", "-"})  # a program that stands on the command line or comes with it
_INTERPRETERS = frozenset({"python", "python3", "node", "bun", "deno", "ruby", "perl", "php", "bash", "sh", "zsh"})
_PROGRAM = re.compile(r"[\w.~/@][\w.~/@+-]*")
_NUMBER = re.compile(r"#?\d+")
# What may stand before a command: programs that run another, and variables. Each character can be read in one way only,
# so a hostile line costs time in proportion to its length.
_BEFORE = re.compile(
    r"(?:(?:sudo|time|nohup|command|exec|env)|npx --yes|timeout(?: -\S+)* [\d.]+[smhd]?|"
    r"[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"'])*)\s+"
)
_VARIABLE = re.compile(r"(?<![\w$])[A-Z][A-Z0-9_]{3,40}=[\w./:@-]{1,100}")
_ENDS_NAME = re.compile(r"[<>&$'\"#{(]")
_ERROR_LINE = re.compile(
    r"^.{0,200}?((?:\b(?:[A-Z]\w*)?(?:Error|Exception)|\berror(?: TS\d+|\[\w+\])?|\bfatal|\bpanic|\bERR_\w+|"
    r"\bFAIL(?:ED)?|npm (?:ERR!|error)|错误|异常)[:!(\[ \uff1a].{8,300})$",
    re.MULTILINE,
)
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_WORD = re.compile(r"[A-Za-z]{3,}|[\u3400-\u9fff]{2,}")


@dataclass(frozen=True, slots=True)
class TurnActivity:
    """What was touched, run and met, each once, in the order in which it came."""

    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    failed_commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # with their values, that no command tells: of a file of settings, or an export

    def lines(self, language: str) -> Iterator[str]:
        """What was run and met, for people and for search."""
        chinese = language == "zh"
        ran, failed = ("运行\uff1a", "失败\uff1a") if chinese else ("Ran: ", "Failed: ")
        yield from (f"{ran}{command}" for command in self.commands)
        yield from (f"{failed}{command}" for command in self.failed_commands)
        yield from self.errors
        if self.variables:
            yield ("变量\uff1a" if chinese else "Set: ") + " ".join(self.variables)


def activity(events: Iterable[CapturedEvent]) -> TurnActivity:
    """What these calls together did."""
    events = tuple(events)
    worked: dict[str, str] = {}  # the form typed last, by what it is
    failed: dict[str, str] = {}
    errors: dict[str, None] = {}
    variables: dict[str, None] = {}
    for event in events:
        if family_of(event) is not Family.SHELL:
            continue
        response = response_of(event)
        if response.declined:
            continue
        broken = _broken(command_of(event), response)
        if not broken:
            variables |= dict.fromkeys(_VARIABLE.findall(command_of(event)[:_TYPED]))
        for text in shell.typed(command_of(event)):
            if name := command_name(text):
                (failed if broken else worked)[name] = line(text, _COMMAND)
        if broken and (said := error_line(response.text)):
            errors[said] = None
    # What a search came across was not chosen.
    files = evidence.files(event for event in events if family_of(event) not in {Family.SEARCH, Family.LIST})
    never = [text for name, text in failed.items() if name not in worked]
    changed = set(files.modified)
    ran, never = list(worked.values())[-_COMMANDS:], never[-_COMMANDS:]
    told = "\n".join((*ran, *never))
    return TurnActivity(
        tuple(path for path in files.read if path not in changed), files.modified, tuple(ran), tuple(never),
        tuple(errors)[-_ERRORS:], tuple(each for each in variables if each not in told)[-_VARIABLES:],
    )  # fmt: skip


def _broken(typed: str, response: Response) -> bool:
    """Whether a command did not do what it was to do; not every agent tells the exit code."""
    commands = shell.commands(typed)
    if failures.outcome(response, decides=all(command.decides for command in commands)) is False:
        return True
    runner = next(filter(None, map(testruns.runner_of, commands)), "")
    return bool(runner and testruns.read(runner, response.text).failed)


def command_name(text: str) -> str:
    """What tells a typed command from others: its program and what that is to do; empty for looking around."""
    start = 0
    while before := _BEFORE.match(text, start):
        start = before.end()
    typed = text[start:].split()
    if not typed or not _PROGRAM.fullmatch(typed[0]):
        return ""
    program = typed[0].rpartition("/")[2]
    if program in _LOOKING or typed[-1] in _ASKING or (program in _INTERPRETERS and typed[1:2] and typed[1] in _GIVEN):
        return ""
    return " ".join(_naming(typed))


def _naming(typed: Sequence[str]) -> Iterator[str]:
    """The program and its first operands, up to a number, a quote, or an option after two of them."""
    taken = 0
    for word in typed:
        if taken == _NAMED or _ENDS_NAME.match(word) or _NUMBER.fullmatch(word) or word == "\\":
            return
        if word.startswith("-") and word != "-m":
            if taken >= 2:
                return
            continue
        taken += 1
        yield word


def error_line(output: str) -> str:
    """The first line that names an error, from that name on; empty if none does."""
    for found in _ERROR_LINE.finditer(_COLORS.sub("", output[-_OUTPUT:])):
        said = line(found.group(1), _ERROR)
        if len(_WORD.findall(said)) >= 2:
            return said
    return ""
