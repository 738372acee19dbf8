"""Reading a command line, as far as it is plain: simple commands with their words and redirections.

This is evidence, not execution: whatever depends on the shell's state (variables, patterns, substitutions) is marked
as not literal and proves nothing. Time is linear in the length, which is bounded.
"""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

MAX_CHARS = 20_000

_SEPARATORS = frozenset({";", "&", "&&", "||", "|", "|&", "\n", "(", ")", ";;"})
_REDIRECTIONS = frozenset({">", ">>", ">|", "&>", "&>>", "<", "<<", "<<-", "<<<", ">&", "<&", "<>"})
_OPERATORS = tuple(sorted(_SEPARATORS | _REDIRECTIONS, key=len, reverse=True))
_KEYWORDS = frozenset({"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "time"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_DURATION = re.compile(r"[\d.]{1,10}[smhd]?")
_WRAPPERS = frozenset({"sudo", "command", "exec", "nohup", "nice", "stdbuf", "doas"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    text: str
    literal: bool = True  # means itself, whatever the shell's state


@dataclass(slots=True)
class ShellCommand:
    """One simple command."""

    words: list[Word] = field(default_factory=list)
    writes: list[Word] = field(default_factory=list)  # files that output is redirected to
    heredoc: str = ""  # text that is given to it in place
    fed: bool = False  # reads what the command before it says
    decides: bool = True  # whether the line can end with 0 only if this command did

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def texts(self) -> list[str]:
        """Its words as text."""
        return [word.text for word in self.words]

    @property
    def operands(self) -> list[Word]:
        """Its words without program and options."""
        return [word for word in self.words[1:] if not word.text.startswith("-")]


def commands(line: str) -> list[ShellCommand]:
    """The simple commands in their order; none if the line is too odd to read."""
    return list(_commands(line[:MAX_CHARS]))


@lru_cache(maxsize=256)  # several rules look at the same line
def _commands(line: str) -> tuple[ShellCommand, ...]:
    found: list[ShellCommand] = []
    try:
        _collect(_tokens(line), found)
    except _Odd:
        return ()
    return tuple(unwrapped for each in found for unwrapped in _unwrapped(each))


def typed(line: str) -> list[str]:
    """The simple commands as they were typed, variables and all, without redirections; none if it is too odd to read.

    A line break inside quotes or a text in place does not end a command.
    """
    line = line[:MAX_CHARS]
    found: list[str] = []
    awaited: list[str] = []
    position = start = end = 0
    redirected = False
    try:
        while position < len(line):
            operator = next((each for each in _OPERATORS if line.startswith(each, position)), "")
            if operator in ("<<", "<<-"):
                position += len(operator)
                while line[position : position + 1] in (" ", "\t"):
                    position += 1
                word, position = _word(line, position)
                awaited.append(word.text)
                redirected = True
            elif operator in _SEPARATORS:
                found.append(line[start:end])
                position += len(operator)
                while operator == "\n" and awaited:
                    _, position = _heredoc(line, position, awaited.pop(0))
                start = end = position
                redirected = False
            elif operator:
                position, redirected = position + len(operator), True
            elif line[position].isspace():
                position += 1
            elif line[position] == "#":
                position = line.find("\n", position)
                if position < 0:
                    break
            else:
                word, position = _word(line, position)
                if word.text.isdigit() and line.startswith((">", "<"), position):
                    redirected = True
                if not redirected:
                    end = position
    except _Odd:
        return []
    found.append(line[start:end])
    return [text for each in found if (text := " ".join(each.split()))]


class _Odd(Exception):
    """Not a line that we can read."""


_Token = Word | str  # a word, an operator, or a text in place (begins with NUL)


def _collect(tokens: list[_Token], found: list[ShellCommand]) -> None:
    current = ShellCommand()
    undecided = ended = 0  # how many of the first commands do not decide; that end before another begins
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if isinstance(token, Word):
            current.words.append(token)
        elif token.startswith("\0"):
            current.heredoc = token[1:]
        elif token in _SEPARATORS:
            if current.words or current.writes:
                undecided = max(undecided, ended)
                found.append(current)
            if token in {"|", "|&"}:
                current.decides = False
                ended = len(found) if tokens[position - 2] == ")" else ended
            elif token in {"||", "&"}:
                undecided = len(found)
            elif token in {";", ";;", "\n"}:
                ended = len(found)
            current = ShellCommand(fed=token in {"|", "|&"})
        else:
            target = tokens[position] if position < len(tokens) else None
            if not isinstance(target, Word):
                raise _Odd
            position += 1
            if token in {">", ">>", ">|", "&>", "&>>"} or (token == ">&" and not target.text.strip("-").isdigit()):
                current.writes.append(target)
    if current.words or current.writes:
        undecided = max(undecided, ended)
        found.append(current)
    for each in found[:undecided]:
        each.decides = False


def _unwrapped(command: ShellCommand) -> list[ShellCommand]:
    """Without what only surrounds a command: assignments, keywords, sudo, a shell with the command as its argument."""
    words = command.words
    start = 0
    while start < len(words):
        text = words[start].text
        if text in _KEYWORDS or text in _WRAPPERS or _ASSIGNMENT.match(text):
            start += 1
        elif text == "env":
            start += 1
            while start < len(words) and (words[start].text.startswith("-") or _ASSIGNMENT.match(words[start].text)):
                start += 1
        elif text == "timeout":
            start += 1
            while start < len(words) and (words[start].text.startswith("-") or _DURATION.fullmatch(words[start].text)):
                start += 1
        else:
            break
    words = words[start:]
    if len(words) >= 3 and words[0].text.rpartition("/")[2] in _SHELLS and words[1].text in {"-c", "-lc", "-ic"}:
        inner = commands(words[2].text) if words[2].literal else []
        return [replace(each, decides=each.decides and command.decides) for each in inner]
    if not words and not command.writes:
        return []
    return [replace(command, words=words)]


def _tokens(line: str) -> list[_Token]:
    tokens: list[_Token] = []
    awaited: list[str] = []  # ends of texts in place that begin at the next line
    position = 0
    while position < len(line):
        character = line[position]
        if character == "\n":
            position += 1
            for end in awaited:
                body, position = _heredoc(line, position, end)
                tokens.append("\0" + body)
            awaited.clear()
            tokens.append("\n")
        elif character in " \t\r":
            position += 1
        elif line.startswith("\\\n", position):
            position += 2
        elif character == "#":
            position = line.find("\n", position)
            if position < 0:
                break
        elif operator := next((each for each in _OPERATORS if line.startswith(each, position)), ""):
            position += len(operator)
            tokens.append(operator)
        else:
            word, position = _word(line, position)
            if word.text.isdigit() and line.startswith((">", "<"), position):
                continue  # the number of a stream
            if tokens and tokens[-1] in ("<<", "<<-"):
                awaited.append(word.text)
            tokens.append(word)
    return tokens


def _word(line: str, position: int) -> tuple[Word, int]:
    text: list[str] = []
    literal = True
    while position < len(line):
        character = line[position]
        if character in " \t\r\n;&|<>()":
            break
        if character == "'":
            end = line.find("'", position + 1)
            if end < 0:
                raise _Odd
            text.append(line[position + 1 : end])
            position = end + 1
        elif character == '"':
            inner, plain, position = _quoted(line, position + 1)
            text.append(inner)
            literal = literal and plain
        elif character == "\\" and position + 1 < len(line):
            text.append(line[position + 1])
            position += 2
        elif line.startswith("$(", position):
            end = _closing(line, position + 2)
            text.append(line[position:end])
            position, literal = end, False
        else:
            literal = literal and character not in "$`*?[]{}~"
            text.append(character)
            position += 1
    return Word("".join(text), literal), position


def _quoted(line: str, position: int) -> tuple[str, bool, int]:
    text: list[str] = []
    literal = True
    while position < len(line):
        character = line[position]
        if character == '"':
            return "".join(text), literal, position + 1
        if character == "\\" and line[position + 1 : position + 2] in ('"', "\\", "$", "`", "\n"):
            text.append(line[position + 1].strip("\n"))
            position += 2
            continue
        literal = literal and character not in "$`"
        text.append(character)
        position += 1
    raise _Odd


def _closing(line: str, position: int) -> int:
    depth = 1
    while position < len(line):
        depth += {"(": 1, ")": -1}.get(line[position], 0)
        position += 1
        if depth == 0:
            return position
    raise _Odd


def _heredoc(line: str, position: int, end: str) -> tuple[str, int]:
    body: list[str] = []
    while position < len(line):
        stop = line.find("\n", position)
        stop = len(line) if stop < 0 else stop
        text = line[position:stop]
        position = stop + 1
        if text.strip() == end:
            position -= 1  # the line's end separates commands
            break
        body.append(text)
    return "\n".join(body), position
