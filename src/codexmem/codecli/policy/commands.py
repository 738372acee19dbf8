"""What a shell command says, as far as that can be told without running it.

A command is read for two opposite purposes. For rules that deny or ask, everything it may mention counts: every word of
every part, quoted, nested or after a variable. For rules that allow, only a single command of plain words counts, with
nothing in it that a shell would act upon. Whatever is not understood makes the command unclear, and an unclear command
is never shown to keep a rule. Time is bounded: however deep commands are nested, so many characters are read.

What programs do with their words beyond what the words show: run what an option says, or write where they read.

Two questions are answered. Of any command: may it run something that its words do not spell out, now or later? Such a
command is unclear, and a person is asked where a rule that holds back could be about it. Of one that a rule allows by
its first words: does a later option make it write or run something? Then the rule does not cover it, because whoever
allowed `git log` did not allow `git log --output=…`. What is in none of these tables is taken at its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

# What may stand before a program: it and its own words are followed by another command.
_BEFORE = frozenset((
    "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "time", "nice", "ionice", "timeout", "stdbuf",
    "xargs", "setsid", "chroot", "unshare", "watch", "parallel", "busybox", "toybox", "strace", "flock", "runuser",
    "su", "find", "fd", "fdfind", "if", "then", "else", "elif", "do", "while", "until", "!", "export", "declare",
    "typeset", "local", "readonly", "set", "eval",
))  # fmt: skip
# Builtins of shells that define a command or put one off.
_DEFINING = frozenset(("alias", "trap", "function", "bind", "complete", "enable", "hash", "coproc", "mapfile",
                       "readarray", "fc", "abbr"))  # fmt: skip
_EDITORS = frozenset(("vi", "vim", "nvim", "view", "gvim", "rvim", "vimdiff", "ex", "ed", "emacs", "emacsclient", "kak",
                      "hx", "nano", "micro", "joe"))  # fmt: skip
_SCRIPTED_EDITORS = frozenset(("ex", "ed"))  # take their commands from the input
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=(.*)", re.DOTALL)
# Variables by which a program is told what to run, or where to find what it runs.
_TELLING = re.compile(
    r"PATH|ENV|IFS|SHELL|SHELLOPTS|CDPATH|PS\d|BASH_\w+|PROMPT\w*|GIT_\w+|LD_\w+|DYLD_\w+|\w*PAGER|\w*EDITOR|VISUAL|"
    r"BROWSER|\w*_COMMAND|\w*_?OPT|\w*_?OPTS|\w*OPTIONS|\w*FLAGS|\w+PATH|\w+RC|\w+STARTUP|LESSOPEN|LESSCLOSE|ZDOTDIR|"
    r"\w*_WRAPPER|\w*_RSH|\w*_SSH|XDG_CONFIG_\w+|HOME"
)
_HARMLESS_SETTINGS = ("color.", "user.", "advice.", "log.", "column.", "status.", "i18n.", "core.quotepath",
                      "core.autocrlf", "core.eol", "init.defaultbranch")  # fmt: skip
_SAFE_SED = re.compile(
    r"(?:(?:\d+|\$)(?:,(?:\d+|\$))?!?)?[pdq=]|(?:(?:\d+|\$)(?:,(?:\d+|\$))?)?s([/|#,:])(?:(?!\1)[^\\\n]|\\.)*"
    r"\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*"
)
_AWK = frozenset(("awk", "gawk", "mawk", "nawk"))
_ACTING_AWK = ("system", "|", ">", "getline", "@load", "@include")
_FOLDER_OPTIONS = ("--directory=", "--chdir=", "--work-tree=", "--git-dir=", "--cwd=", "--prefix=")
_MOST_GLUED = 8  # letters of options in one word
# Programs that read what is piped into them and run none of it.
_FILTERS = frozenset((
    "awk", "base64", "bat", "bzip2", "cat", "cmp", "column", "comm", "cut", "diff", "egrep", "expand", "fgrep", "fmt",
    "fold", "gawk", "grep", "gunzip", "gzip", "head", "hexdump", "iconv", "jq", "join", "less", "md5sum", "more", "nl",
    "od", "paste", "pbcopy", "pr", "rev", "rg", "sed", "sha1sum", "sha256sum", "shuf", "sort", "strings", "tac", "tail",
    "tee", "tr", "uniq", "wc", "xclip", "xxd", "xz", "yq", "zcat",
))  # fmt: skip
_MOST_PLACES = 100  # words of one command that may each be a program
_MOVING = frozenset(("cd", "chdir", "pushd"))


@dataclass(frozen=True, slots=True)
class _Options:
    """Options of a program that mostly reads by which it writes, sends or runs something."""

    short: str = ""
    long: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()  # of words with one dash, as `find` has them
    operands: int = 0  # so many file names, and the last is written to


_RUNNING_GIT = ("exec", "upload-pack", "receive-pack", "ext-diff", "open-files-in-pager", "extcmd", "tool")
_ACTING = {
    "git": _Options(long=("output", *_RUNNING_GIT)),
    "hg": _Options(long=("output", "config")),
    "find": _Options(begins=("-delete", "-exec", "-ok", "-fprint", "-fls")),
    "fd": _Options("xX", ("exec", "exec-batch")),
    "sort": _Options("o", ("output", "compress-program")),
    "sed": _Options("if", ("in-place", "file")),
    "rg": _Options(long=("pre", "hostname-bin")),
    "tree": _Options("o", ("output",)),
    "less": _Options("oO", ("log-file",), ("+",)),
    "man": _Options("PH", ("pager", "html")),
    "bat": _Options(long=("pager",)),
    "tar": _Options("IF", ("to-command", "use-compress-program", "checkpoint-action", "info-script",
                           "new-volume-script", "rsh-command")),
    "curl": _Options("oOTdFKDcXQ", ("output", "remote-name", "upload-file", "data", "form", "config", "dump-header",
                                    "cookie-jar", "request", "json", "quote", "url-query")),
    "date": _Options("s", ("set",)),
    "file": _Options("C", ("compile",)),
    "dmesg": _Options("cC", ("clear", "read-clear")),
    "yq": _Options("i", ("inplace",)),
    "uniq": _Options(operands=2),
    "xxd": _Options("r", operands=2),
    "rsync": _Options("e", ("rsh", "rsync-path")),
    "ssh": _Options("oF"), "scp": _Options("oFS"), "sftp": _Options("oFSbD"),
    "psql": _Options("cfo", ("command", "file", "output")),
    "sqlite3": _Options(begins=("-cmd", "-init")),
    "gdb": _Options("x", ("command", "eval-command", "init-command", "init-eval-command"), ("-ex", "-iex")),
}  # fmt: skip
_ACTING |= {"fdfind": _ACTING["fd"], "gsed": _ACTING["sed"], "gsort": _ACTING["sort"], "gfind": _ACTING["find"]}
_GIT_SHORT = {"grep": "O", "archive": "o", "format-patch": "o", "rebase": "x", "difftool": "xt", "fetch": "u",
              "ls-remote": "u", "clone": "uc", "pull": "u"}  # fmt: skip
# Among those, the options that run something: a command with one is unclear, whatever rule it meets.
_RUNNING = {
    "tar": _ACTING["tar"], "rsync": _ACTING["rsync"], "man": _Options("P", ("pager",)), "rg": _ACTING["rg"],
    "less": _Options(begins=("+",)), "sort": _Options(long=("compress-program",)), "ssh": _ACTING["ssh"],
    "scp": _ACTING["scp"], "sftp": _ACTING["sftp"], "gdb": _ACTING["gdb"], "sqlite3": _ACTING["sqlite3"],
    "psql": _Options("cf", ("command", "file")), "hg": _Options(long=("config",)), "bat": _ACTING["bat"],
    "git": _Options(long=(*_RUNNING_GIT, "exec-path", "config-env", "tree-filter", "index-filter", "msg-filter",
                          "env-filter", "commit-filter", "parent-filter")),
}  # fmt: skip


def name_of(word: str) -> str:
    """A program by its path, without the path."""
    return word.rpartition("/")[2].casefold()


def hides(words: Sequence[str]) -> bool:
    """Whether a command may run, now or later, what its words do not spell out."""
    if any(_TELLING.fullmatch(found[1]) for found in _assignments(words)):
        return True
    places = _programs(words)
    if len(places) > _MOST_PLACES:
        return True
    for at in places:
        name, rest = name_of(words[at]), words[at + 1 :]
        if name in _DEFINING and rest:
            return True
        if name in _SCRIPTED_EDITORS or (
            name in _EDITORS and any(each[:1] in {"-", "+"} and each[1:] for each in rest)
        ):
            return True
        if name in _AWK and any(sign in each for each in rest for sign in _ACTING_AWK):
            return True
        if name in {"sed", "gsed"} and _acts_in_sed(rest):
            return True
        if name in _RUNNING and _has(_RUNNING[name], rest):
            return True
        if name == "git" and _hides_in_git(rest):
            return True
    return False


def texts_run(words: Sequence[str]) -> Iterator[str]:
    """What a command that hides something may run, as far as a word holds it as text."""
    for found in _assignments(words):
        yield found[2]
    for word in words:
        value = word.partition("=")[2]
        for each in (word, value):
            inside = each.lstrip(":!+-' \"")
            if inside and (inside != each or " " in each):
                yield inside


def texts_given(words: Sequence[str]) -> Iterator[str]:
    """Texts with white space that a program is given by or after an option, or by a variable: it may run any."""
    optioned = False
    for word in words[1:]:
        head = word.split(maxsplit=1)[0] if word.strip() else ""
        if word.startswith("-"):
            optioned = True
            # The text may be glued to a letter, or to several: `env -iS'rm x'`.
            starts = range(2, min(len(head), _MOST_GLUED)) if not word.startswith("--") else ()
            texts = [word[start:] for start in starts]
        else:
            texts = [word] if optioned else []
        if "=" in head:
            texts.append(word.partition("=")[2])
        yield from (text for text in texts if len(text.split(maxsplit=1)) > 1)


def runs_input(words: Sequence[str]) -> bool:
    """Whether a program may run what is piped into it: any that is not known to only read it."""
    return bool(words) and name_of(words[0]) not in _FILTERS


def does_more(words: Sequence[str], named: int) -> bool:
    """Whether a plain command writes or runs something by an option after its first words, which a rule named."""
    if not words:
        return False
    name, rest = name_of(words[0]), words[named:]
    if name in {"sed", "gsed"} and _acts_in_sed(words[1:]):
        return True
    if name in _AWK:
        return any(sign in each for each in rest for sign in _ACTING_AWK) or any(each.startswith("-f") for each in rest)
    if name == "git" and len(words) > 1 and _has(_Options(_GIT_SHORT.get(words[1], "")), rest):
        return True
    options = _ACTING.get(name)
    return options is not None and (_has(options, rest) or _is_second_file(options, words))


def folders_entered(words: Sequence[str]) -> Iterator[str]:
    """Folders that paths in this command, or in those after it, may be relative to."""
    for at in _programs(words)[:_MOST_PLACES]:
        if name_of(words[at]) in _MOVING:
            yield next((each for each in words[at + 1 :] if each == "-" or not each.startswith("-")), "~")
    for at, word in enumerate(words):
        if word.startswith("-C"):
            yield from [word[2:]] if word[2:] else words[at + 1 : at + 2]
        elif word in {"--directory", "--chdir", "--work-tree", "--git-dir", "--cwd", "--prefix", "-D"}:
            yield from words[at + 1 : at + 2]
        else:
            yield from (word[len(each) :] for each in _FOLDER_OPTIONS if word.startswith(each))


def _programs(words: Sequence[str]) -> range:
    """Where a program may stand: first, and anywhere behind one that runs others."""
    at = 0
    while at < len(words) and _ASSIGNMENT.fullmatch(words[at]):
        at += 1
    if at == len(words):
        return range(0)
    return range(at, len(words)) if name_of(words[at]) in _BEFORE else range(at, at + 1)


def _assignments(words: Sequence[str]) -> Iterator[re.Match[str]]:
    """Variables that are set for a command, or by one that sets variables."""
    anywhere = bool(words) and name_of(words[0]) in _BEFORE
    for word in words:
        found = _ASSIGNMENT.fullmatch(word)
        if found is not None:
            yield found
        elif not anywhere:
            anywhere = name_of(word) in _BEFORE
            if not anywhere:
                return


def _hides_in_git(rest: Sequence[str]) -> bool:
    for at, word in enumerate(rest):
        if word == "-c" and at + 1 < len(rest) and not rest[at + 1].casefold().startswith(_HARMLESS_SETTINGS):
            return True
        if word in {"foreach", "run"} or (word == "config" and _sets(rest[at + 1 :])):
            return True
        if not word.startswith("-") and _has(_Options(_GIT_SHORT.get(word, "").replace("o", "")), rest[at + 1 :]):
            return True
    return False


def _sets(rest: Sequence[str]) -> bool:
    """Whether `git config` sets something that git may run later."""
    operands = [each for each in rest if not each.startswith("-") and each != "set"]
    return len(operands) > 1 and not operands[0].casefold().startswith(_HARMLESS_SETTINGS)


def _acts_in_sed(rest: Sequence[str]) -> bool:
    """Whether a script of sed can do more than print: it can write files and run commands."""
    if _has(_ACTING["sed"], rest):
        return True
    scripts = [rest[at + 1] for at, each in enumerate(rest[:-1]) if each in {"-e", "--expression"}]
    scripts = scripts or [each for each in rest if not each.startswith("-")][:1]
    return not all(_SAFE_SED.fullmatch(each) for each in scripts)


def _has(options: _Options, rest: Sequence[str]) -> bool:
    for word in rest:
        if any(word.startswith(each) and word != "-" for each in options.begins):
            return True
        if word.startswith("--"):
            given = word[2:].partition("=")[0]
            if given and any(each.startswith(given) or given.startswith(f"{each}-") for each in options.long):
                return True
        elif word.startswith("-") and any(each in word[1:] for each in options.short):
            return True
    return False


def _is_second_file(options: _Options, words: Sequence[str]) -> bool:
    return bool(options.operands) and sum(not each.startswith("-") for each in words[1:]) >= options.operands


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
_MOST_GIVEN = 64  # texts that some program may run


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
    perhaps: list[tuple[str, ...]] = field(default_factory=list)  # commands in texts that a program may or may not run
    fed: list[int] = field(default_factory=list)  # parts that the one before is piped into

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
        self._look_into_given(parts, scan)
        clear = scan.clear and all(each.clear for each in scan.nested)
        simple = parts[0] if scan.plain and scan.clear and len(parts) == 1 and "=" not in parts[0][0] else None
        folders = dict.fromkeys(each for part in parts for each in folders_entered(part))
        folders |= dict.fromkeys(each for nested in scan.nested for each in nested.folders)
        clear &= len(folders) <= MOST_FOLDERS and "-" not in folders
        inner = (*(part for each in scan.nested for part in each.parts), *scan.perhaps)
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
            if sign == "|" and "|" not in (text[place - 1 : place], text[place + 1 : place + 2]):
                scan.fed.append(len(scan.parts) - 1)
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
        if hides(part):
            scan.clear = False
            for count, text in enumerate(texts_run(part)):
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

    def _look_into_given(self, parts: Sequence[tuple[str, ...]], scan: _Scan) -> None:
        """Texts that some program may run: for rules that hold back they are commands; they allow and ask nothing."""
        texts = [text for part in parts for text in texts_given(part)]
        running = max((at for at in scan.fed if at < len(parts) and runs_input(parts[at])), default=0)
        texts += [word for part in parts[:running] for word in part[1:] if len(word.split(maxsplit=1)) > 1]
        scan.clear &= len(texts) <= _MOST_GIVEN
        if scan.depth < DEEPEST:
            for text in texts[:_MOST_GIVEN]:
                scan.perhaps += self.read(text, scan.depth + 1).parts

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
