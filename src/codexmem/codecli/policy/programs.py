"""What programs do with their words beyond what the words show: run what an option says, or write where they read.

Two questions are answered. Of any command: may it run something that its words do not spell out, now or later? Such a
command is unclear, and a person is asked where a rule that holds back could be about it. Of one that a rule allows by
its first words: does a later option make it write or run something? Then the rule does not cover it, because whoever
allowed `git log` did not allow `git log --output=…`. What is in none of these tables is taken at its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


def texts(words: Sequence[str]) -> Iterator[str]:
    """What a command that hides something may run, as far as a word holds it as text."""
    for found in _assignments(words):
        yield found[2]
    for word in words:
        value = word.partition("=")[2]
        for each in (word, value):
            inside = each.lstrip(":!+-' \"")
            if inside and (inside != each or " " in each):
                yield inside


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


def folders(words: Sequence[str]) -> Iterator[str]:
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
