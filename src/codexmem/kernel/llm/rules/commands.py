"""What a shell command was for: looking, testing, changing files, version control, installing, or something else.

Looking around and moving about (ls, cd, git status) is nothing to remember.
"""

from collections.abc import Iterator
from dataclasses import replace

from codexmem.kernel.llm import shell
from codexmem.kernel.llm.clip import line
from codexmem.kernel.llm.evidence import files_of_command, found_in
from codexmem.kernel.llm.paths import relative
from codexmem.kernel.llm.rules import changes, failures, git, testruns
from codexmem.kernel.llm.rules.records import ChangeRecord, CommandRecord, LookRecord, Record, TestRecord, Verb
from codexmem.kernel.llm.rules.testruns import TestRun
from codexmem.kernel.llm.rules.wording import Wording
from codexmem.kernel.llm.shell import ShellCommand
from codexmem.kernel.llm.tools import Response, command_of, response_of
from codexmem.kernel.model.capture import CapturedEvent

_INSTALLERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(install), frozenset(remove))
    for name, install, remove in (
        ("pip", ("install",), ("uninstall",)), ("pip3", ("install",), ("uninstall",)),
        ("npm", ("install", "i", "add", "ci"), ("uninstall", "remove", "rm")),
        ("pnpm", ("install", "i", "add"), ("remove", "rm")), ("yarn", ("install", "add"), ("remove",)),
        ("bun", ("install", "add", "i"), ("remove",)), ("uv", ("add", "sync"), ("remove",)),
        ("poetry", ("add", "install"), ("remove",)), ("cargo", ("add", "install"), ("remove", "uninstall")),
        ("gem", ("install",), ("uninstall",)), ("bundle", ("install", "add"), ("remove",)),
        ("apt", ("install",), ("remove", "purge")), ("apt-get", ("install",), ("remove", "purge")),
        ("brew", ("install",), ("uninstall", "remove")), ("apk", ("add",), ("del",)),
        ("dnf", ("install",), ("remove",)),
        ("composer", ("require", "install"), ("remove",)), ("conda", ("install",), ("remove",)),
    )
}  # fmt: skip


def installer(command: ShellCommand) -> tuple[str, bool, list[str]] | None:
    """Which tool installs or removes what; None for another command."""
    texts = list(command.texts)
    if len(texts) > 2 and texts[0].rpartition("/")[2].startswith("python") and texts[1] == "-m":
        texts = texts[2:]
    if texts[:2] == ["uv", "pip"]:
        texts = texts[1:]
    if not texts:
        return None
    name = texts[0].rpartition("/")[2]
    if name not in _INSTALLERS:
        return None
    verb = next((text for text in texts[1:] if not text.startswith("-")), "")
    install, remove = _INSTALLERS[name]
    if verb not in install | remove:
        return None
    after = texts[texts.index(verb) + 1 :]
    named = [text for text in after if not text.startswith(("-", ".", "/")) and not text.endswith((".txt", ".toml"))]
    return name, verb in remove, named


def install_records(event: CapturedEvent, found: list[ShellCommand], words: Wording) -> Iterator[CommandRecord]:
    """What these commands, which have succeeded, installed or removed."""
    for command in found:
        if (installed := installer(command)) is None:
            continue
        name, removed, named = installed
        if not named:
            title = words.say("installed.all", tool=name)
        else:
            title = words.say("uninstalled" if removed else "installed", names=words.several(named), tool=name)
        yield CommandRecord(event, line(" ".join(command.texts), 60), "install", title)


_SHOWN = 60  # characters of a command in a title
_TRIVIAL = frozenset({
    "ls", "ll", "dir", "cd", "pwd", "echo", "printf", "true", "false", "clear", "which", "where", "type", "whoami",
    "id", "date", "sleep", "export", "set", "unset", "source", ".", "uname", "env", "printenv", "history", "exit", ":",
    "mkdir", "wc", "sort", "uniq", "tree", "stat", "file", "du", "df", "ps", "cut", "tr", "xargs", "test", "[", "wait",
    "jobs", "hostname", "basename", "dirname", "realpath", "alias", "for", "done", "chmod", "diff", "column", "jq",
    "awk", "nproc",
})  # fmt: skip
_LOOKING = frozenset({"cat", "head", "tail", "less", "more", "bat", "batcat", "nl", "tac"})
_SEARCHING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind"})
_CHANGING = frozenset({"tee", "mv", "rm", "cp", "touch", "truncate", "unlink", "apply_patch", "sed"})
_WITH_VALUE = frozenset({"-e", "-f", "-g", "-t", "-A", "-B", "-C", "-m", "--glob", "--type", "--include", "--exclude"})


def records(event: CapturedEvent, words: Wording) -> list[Record]:
    """What this command line did that is worth keeping."""
    text = command_of(event)
    response = response_of(event)
    found = shell.commands(text)
    if not found:
        return _unreadable(event, text, response, words)
    tests = [(command, runner) for command in found if (runner := testruns.runner_of(command))]
    if tests:
        command, runner = tests[-1]
        run = testruns.read(runner, response.text)
        passed = _passed(run, response, command, len(found))
        error = failures.telling(response.text) if passed is False else ""
        tested = TestRecord(event, _shown(command), run, passed, error)
        return [tested, *(() if passed is False else git.records(event, found, response, words))]
    worth = [command for command in found if not _trivial(command)]
    looks = _looks(event, found, response, text)
    only_looks = all(_is_look(command) for command in worth)
    succeeded = failures.outcome(response, decides=only_looks or all(command.decides for command in worth))
    if succeeded is False and worth:
        if response.exit_code == 1 and only_looks:
            return list(looks)  # a search that found nothing
        # What only filters the output of another command is not what failed.
        return [_failure(event, next((each for each in reversed(worth) if not each.fed), worth[-1]), response, words)]
    result: list[Record] = [*looks, *_changes(event, text, worth, words)]
    done = [command for command in worth if _is_look(command) or _is_change(command)]
    landmarks = [*git.records(event, found, response, words), *install_records(event, found, words)]
    if succeeded or not failures.telling(response.text):
        done += [command for command in worth if _known(command)]
    else:  # what the output proves, for an error in it may be of another command
        landmarks = [record for record in landmarks if record.succeeded]
        done += [command for command in worth if any(_shown(command) == record.command for record in landmarks)]
    result += landmarks
    rest = [command for command in worth if not any(command is each for each in done)]
    if rest:
        result.append(replace(_plain(event, rest[-1], response, words), succeeded=succeeded is True))
    return result


def _passed(run: TestRun, response: Response, command: ShellCommand, commands: int) -> bool | None:
    """Whether a run of tests passed; None if nobody knows.

    A line that failed may have failed in a later command than the tests, and one without an exit code may print an
    error that belongs to a test which passed.
    """
    if run.failed:
        return False
    succeeded = failures.outcome(response, decides=command.decides)
    if succeeded is False and run.passed and (commands > 1 or not response.failed):
        return None
    return None if run.passed == 0 else succeeded


def _trivial(command: ShellCommand) -> bool:
    if command.writes:
        return False
    if git.is_quiet(command):
        return True
    if "--version" in command.texts or "--help" in command.texts:
        return True
    return command.name in _TRIVIAL or not command.name


def _is_look(command: ShellCommand) -> bool:
    in_place = any(text.startswith(("-i", "--in-place")) for text in command.texts[1:])
    return not command.writes and (
        command.name in _LOOKING or command.name in _SEARCHING or (command.name == "sed" and not in_place)
    )


def _is_change(command: ShellCommand) -> bool:
    git_moves = command.name == "git" and command.texts[1:2] in (["mv"], ["rm"])
    return bool(command.writes) or git_moves or (command.name in _CHANGING and not _is_look(command))


def _known(command: ShellCommand) -> bool:
    return command.name == "git" or installer(command) is not None


def _shown(command: ShellCommand) -> str:
    return line(" ".join(command.texts), _SHOWN)


def _unreadable(event: CapturedEvent, text: str, response: Response, words: Wording) -> list[Record]:
    if not text.strip():
        return []
    shown = line(text.strip().partition("\n")[0], _SHOWN)
    return [_failure_of(event, shown, response, words) if response.failed else _said(event, shown, response, words)]


def _looks(event: CapturedEvent, found: list[ShellCommand], response: Response, text: str) -> list[LookRecord]:
    reading = [command for command in found if command.name in _LOOKING or command.name == "sed"]
    looks: list[LookRecord] = []
    paths = files_of_command(text, event.cwd, failed=response.failed).read if reading else ()
    if paths:
        looks.append(LookRecord(event, paths))
    for command in found:
        if command.name in _SEARCHING and not command.fed:
            pattern = _pattern(command)
            if pattern:
                looks.append(LookRecord(event, searched=line(pattern, 60), found=_matches(event, response)))
    return looks


def _pattern(command: ShellCommand) -> str:
    texts = command.texts[1:]
    if command.name in {"find", "fd", "fdfind"}:
        for option in ("-name", "-iname", "-path"):
            if option in texts[:-1]:
                return texts[texts.index(option) + 1]
        return texts[0] if command.name != "find" and texts and not texts[0].startswith("-") else ""
    for position, text in enumerate(texts):
        if text in {"-e", "--regexp"} and position + 1 < len(texts):
            return texts[position + 1]
        if not text.startswith("-") and (position == 0 or texts[position - 1] not in _WITH_VALUE):
            return text
    return ""


def _matches(event: CapturedEvent, response: Response) -> tuple[str, ...]:
    named = (relative(path, event.cwd) for path in found_in(response.text))
    return tuple(dict.fromkeys(path for path in named if path))


def _changes(event: CapturedEvent, text: str, worth: list[ShellCommand], words: Wording) -> Iterator[ChangeRecord]:
    verbs: dict[str, Verb] = {"rm": "deleted", "unlink": "deleted", "touch": "created"}
    modified = files_of_command(text, event.cwd, failed=False).modified
    only = {command.name for command in worth if _is_change(command)}
    if only == {"mv"} and len(modified) == 2:
        yield ChangeRecord(event, modified[0], "moved", to=modified[1])
        return
    for path in modified[:20]:
        verb: Verb = verbs.get(next(iter(only), ""), "edited") if len(only) == 1 else "edited"
        writing = next((command for command in worth if command.writes and command.heredoc), None)
        if writing is not None and len(modified) == 1:
            change = changes.whole(writing.heredoc, path, words)
            yield ChangeRecord(event, path, "rewrote", change.detail, change.plus, change.minus)
        else:
            yield ChangeRecord(event, path, verb)


def _failure(event: CapturedEvent, command: ShellCommand, response: Response, words: Wording) -> CommandRecord:
    return _failure_of(event, _shown(command), response, words)


def _failure_of(event: CapturedEvent, shown: str, response: Response, words: Wording) -> CommandRecord:
    error = failures.telling(response.text)
    if response.declined:
        what = words.say("declined", what=shown)
    elif response.exit_code:
        what = words.say("failed.code", command=shown, code=response.exit_code)
    else:
        what = words.say("failed", command=shown)
    title = words.say("detail", what=what, detail=words.quoted(error)) if error else what
    facts = (words.say("error.fact", error=error),) if error else ()
    return CommandRecord(event, shown, "failure", title, facts, "discovery")


def _plain(event: CapturedEvent, command: ShellCommand, response: Response, words: Wording) -> CommandRecord:
    return _said(event, _shown(command), response, words)


def _said(event: CapturedEvent, shown: str, response: Response, words: Wording) -> CommandRecord:
    last = next((row for row in reversed(response.text[-4_000:].splitlines()) if row.strip()), "")
    facts = (words.say("ran.fact", command=shown, said=line(last, 160)),) if last else ()
    return CommandRecord(event, shown, "plain", words.say("ran", command=shown), facts, "discovery")
