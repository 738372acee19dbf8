"""What a shell command says, as far as that can be told without running it.

A command is read for two opposite purposes. For rules that deny or ask, everything it may mention counts: every word of
every part, quoted, nested or after a variable. For rules that allow, only a single command of plain words counts, with
nothing in it that a shell would act upon. Whatever is not understood makes the command unclear, and an unclear command
is never shown to keep a rule. Time is bounded: however deep commands are nested, so many characters are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from codexmem.codecli.policy import programs

LONGEST = 65_536  # characters of a command, and four times as many with all that is nested in it
DEEPEST = 8  # levels of commands inside commands
LONGEST_WORD = 4_096
MOST_WORDS = 2_000
MOST_FOLDERS = 4
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
_WRAPPING = _SHELLS - {"fish"}
_TRUSTED_FOLDERS = frozenset(("", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"))
_TAKING_TEXT = frozenset(("env", "su", "sudo", "ssh", "watch", "xargs", "parallel", "nohup", "timeout", "script"))
# Programs that run what they are given as text: what that does is not read.
_INLINE = frozenset(("python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "awk", "gawk",
                     "osascript", "pwsh", "powershell", "tclsh", "Rscript"))  # fmt: skip
_CODE = frozenset(("-c", "-e", "-r", "-p", "-pe", "-ne", "-E", "--eval", "--print", "-Command", "-command"))
_CODES = re.compile(r"-[a-zA-Z]*[ceE]")  # several options in one word
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_NUMBERS = frozenset("?#$!0123456789")
_OPERATORS = frozenset(";&|()<>\n\r")
_ACTED_UPON = frozenset("*?[]{}~#!\\$`")
_HERE = re.compile(r"\$(?:\{(HOME|PWD)\}|(HOME|PWD)(?![A-Za-z0-9_]))")
_INSIDE = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.\-]{0,20}://|(?<![\w.\-])[~/])[^\s'\"`;|&<>(){}\[\],]*")
_SOCKET = re.compile(r"/dev/(tcp|udp)/+([^/\s]+)")  # what a shell opens as a connection
_HOME_OF = re.compile(r"~[^/]+(?:/+|$)")
_CUTS = re.compile(r"[=:@,]")
_MOST_CUTS = 16
_MOST_TEXTS = 16  # words of one command that may take another as text


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command, read."""

    parts: tuple[tuple[str, ...], ...] = ()  # the words of every command in it, wherever it stands
    simple: tuple[str, ...] | None = None  # its words, if it is one plain command
    clear: bool = True  # whether all of it was understood
    folders: tuple[str, ...] = ()  # that relative paths may start from, beside the working directory


def read(text: str, *, home: str = "", cwd: str = "") -> ParsedCommand:
    """Read a command; `home` and `cwd` stand for the two variables whose values are known."""
    if not text.strip():
        return ParsedCommand(clear=not text)
    return _unwrapped(_Reader(home, cwd, 4 * LONGEST).read(text[:LONGEST], 0, whole=len(text) <= LONGEST))


def mentions(word: str) -> Iterator[str]:
    """All in a word that may be a path or an address: itself, what follows a sign in it, what stands inside."""
    word = word[:LONGEST_WORD]
    yield word
    for count, cut in enumerate(_CUTS.finditer(word)):
        if count < _MOST_CUTS and cut.end() < len(word):
            yield word[cut.end() :]
    for found in _INSIDE.finditer(word):
        yield found.group()
    for found in _SOCKET.finditer(word):
        yield f"{found[1]}://{found[2]}"
    if (other := _HOME_OF.match(word)) is not None:
        yield f"~/{word[other.end() :]}"  # it may be the same person's
    slash = word.find("/")
    if slash > 0 and word.startswith("-"):
        yield word[slash:]


@dataclass
class _Scan:
    """One level of a command, being read."""

    depth: int
    parts: list[list[str]] = field(default_factory=lambda: [[]])
    word: list[str] = field(default_factory=list)
    begun: bool = False  # a word has begun, though it may be empty
    clear: bool = True
    plain: bool = True
    nested: list[ParsedCommand] = field(default_factory=list)

    def take(self, text: str) -> None:
        """Part of a word."""
        self.word.append(text)
        self.begun = True

    def end_word(self) -> None:
        """What was gathered is a word."""
        if self.begun:
            self.parts[-1].append("".join(self.word))
        self.word.clear()
        self.begun = False

    def end_part(self) -> None:
        """What comes now is another command."""
        self.end_word()
        if self.parts[-1]:
            self.parts.append([])


class _Reader:
    """Reads a command with all that is nested in it."""

    def __init__(self, home: str, cwd: str, left: int) -> None:
        self._home = home
        self._cwd = cwd
        self._left = left  # characters that may yet be read

    def read(self, text: str, depth: int, *, whole: bool = True) -> ParsedCommand:
        """Read one level."""
        self._left -= len(text)
        if depth > DEEPEST or self._left < 0:
            return ParsedCommand(clear=False)
        scan = _Scan(depth, clear=whole)
        place = 0
        while place < len(text):
            place = self._step(text, place, scan)
        scan.end_word()
        parts = [tuple(part) for part in scan.parts if part]
        if sum(map(len, parts)) > MOST_WORDS or any(len(word) > LONGEST_WORD for part in parts for word in part):
            scan.clear = False
        for part in parts:
            self._look_into(part, scan)
        clear = scan.clear and all(each.clear for each in scan.nested)
        simple = parts[0] if scan.plain and scan.clear and len(parts) == 1 and "=" not in parts[0][0] else None
        folders = dict.fromkeys(each for part in parts for each in programs.folders(part))
        folders |= dict.fromkeys(each for nested in scan.nested for each in nested.folders)
        clear &= len(folders) <= MOST_FOLDERS and "-" not in folders
        inner = (part for each in scan.nested for part in each.parts)
        return ParsedCommand((*parts, *inner), simple, clear, tuple(folders)[:MOST_FOLDERS])

    def _step(self, text: str, place: int, scan: _Scan) -> int:
        """Take in one sign, or one quotation; returns where to go on."""
        sign = text[place]
        if sign == "'":
            end = text.find("'", place + 1)
            if end < 0:
                scan.clear, end = False, len(text)
            scan.take(text[place + 1 : end])
            return end + 1
        if sign == '"':
            return self._quoted(text, place + 1, scan)
        if sign == "\\":
            scan.plain = False
            if text[place + 1 : place + 2] != "\n":
                scan.take(text[place + 1 : place + 2])
            return place + 2
        if sign in "$`":
            return self._expanded(text, place, scan)
        if sign in " \t":
            scan.end_word()
        elif sign in "<>":
            scan.plain = False
            scan.clear &= not text.startswith("<<", place)  # what is fed in line by line is not read
            scan.end_word()
        elif sign in _OPERATORS:
            scan.plain = False
            scan.end_part()
        elif sign in "{}":
            scan.plain = scan.clear = False
            scan.end_word()
        else:
            begins = not scan.begun
            scan.plain &= sign not in _ACTED_UPON and sign.isprintable() and not (begins and sign == "=")
            scan.take(sign)
        return place + 1

    def _quoted(self, text: str, place: int, scan: _Scan) -> int:
        scan.begun = True
        while place < len(text):
            sign = text[place]
            if sign == '"':
                return place + 1
            if sign == "\\":
                scan.plain = False
                after = text[place + 1 : place + 2]
                if after != "\n":
                    scan.take(after if after in {"$", "`", '"', "\\"} else sign + after)
                place += 2
            elif sign in "$`":
                place = self._expanded(text, place, scan)
            else:
                scan.take(sign)
                place += 1
        scan.clear = False
        return place

    def _expanded(self, text: str, place: int, scan: _Scan) -> int:
        """What begins with `$` or a backtick: a command in the place of a word, or a variable."""
        scan.plain = False
        scan.begun = True
        after = text[place + 1 : place + 2]
        if text[place] == "`" or after == "(":
            begin = place + 1 if text[place] == "`" else place + 2
            end = text.find("`", begin) if text[place] == "`" else _closing(text, begin)
            end = len(text) if end < 0 else end
            scan.nested.append(self.read(text[begin:end], scan.depth + 1))
            scan.clear = False  # what it will print is not known
            return end + 1
        if (here := _HERE.match(text, place)) is not None:
            scan.take(self._home if "HOME" in here.group() else self._cwd)
            return here.end()
        if after and after in _NUMBERS:
            scan.take("0")
            return place + 2
        if after.isalpha() or after in {"{", "_", "'", '"', "@", "*"}:
            scan.clear = False
        else:
            scan.take("$")
        return place + 1

    def _look_into(self, part: tuple[str, ...], scan: _Scan) -> None:
        """Commands given as text to a program that runs them."""
        if programs.hides(part):
            scan.clear = False
            for count, text in enumerate(programs.texts(part)):
                if count < _MOST_TEXTS and scan.depth < DEEPEST:
                    scan.nested.append(self.read(text, scan.depth + 1))
        first = next((at for at, word in enumerate(part) if not _ASSIGNED.match(word)), 0)
        texts = [at for at, word in enumerate(part) if _runs_text(word.rpartition("/")[2])]
        scan.clear &= len(texts) <= _MOST_TEXTS
        for at in texts[:_MOST_TEXTS]:
            name, rest = part[at].rpartition("/")[2], part[at + 1 :]
            if name in _SHELLS:
                self._look_into_shell(rest, scan, first=at == first)
            elif name == "eval" or (name in _TAKING_TEXT and any(" " in each for each in rest)):
                scan.nested.append(self.read(" ".join(rest), scan.depth + 1))
            elif _is_inline(name) and any(each in _CODE or _CODES.fullmatch(each) for each in rest):
                scan.clear = False

    def _look_into_shell(self, rest: tuple[str, ...], scan: _Scan, *, first: bool) -> None:
        code = next((at for at, each in enumerate(rest) if re.fullmatch(r"[-+][a-zA-Z]*c[a-zA-Z]*", each)), None)
        if code is not None:
            given = next((each for each in rest[code + 1 :] if not each.startswith(("-", "+"))), None)
            if given is None:
                scan.clear = False
            else:
                scan.nested.append(self.read(given, scan.depth + 1))
        elif first or not rest:
            # A script by its name is a program like others; a shell that is fed is not.
            scan.clear &= "-s" not in rest and any(not each.startswith("-") for each in rest)


def _runs_text(name: str) -> bool:
    return name in _SHELLS or name == "eval" or name in _TAKING_TEXT or _is_inline(name)


def _is_inline(name: str) -> bool:
    return name.rstrip("0123456789.") in _INLINE


def _closing(text: str, place: int) -> int:
    """Where the bracket before this place is closed; the end if nowhere."""
    level, quote = 1, ""
    while place < len(text):
        sign = text[place]
        if sign == "\\" and quote != "'":
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "()":
            level += 1 if sign == "(" else -1
            if not level:
                return place
        place += 1
    return len(text)


def _unwrapped(reading: ParsedCommand) -> ParsedCommand:
    """What `bash -lc '…'` runs, where that is all there is: some agents wrap every command so."""
    words = reading.simple
    if words is None or len(words) != 3 or words[1] not in {"-c", "-lc"}:
        return reading
    folder, _, name = words[0].rpartition("/")
    if name not in _WRAPPING or folder not in _TRUSTED_FOLDERS or words[0].startswith("/" + name):
        return reading
    return replace(reading, simple=_Reader("", "", LONGEST).read(words[2], 1).simple)
