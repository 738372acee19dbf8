"""What a shell command was for: looking, testing, changing files, version control, installing, or something else.

Looking around and moving about (ls, cd, git status) is nothing to remember.
"""

from collections.abc import Iterator

from codexmem.domain.capture import CapturedEvent
from codexmem.llm import shell
from codexmem.llm.clip import line
from codexmem.llm.evidence import files_of_command, found_in
from codexmem.llm.paths import relative
from codexmem.llm.rules import changes, failures, git, installs, testruns
from codexmem.llm.rules.records import Changed, Looked, Ran, Record, Tested, Verb
from codexmem.llm.rules.wording import Words
from codexmem.llm.shell import Command
from codexmem.llm.tools import Response, command_of, response_of

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


def records(event: CapturedEvent, words: Words) -> list[Record]:
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
        failed = bool(run.failed) or (response.failed and not run.passed) or _lost(response, len(found))
        tested = Tested(event, _shown(command), run, not failed, failures.telling(response.text) if failed else "")
        return [tested, *(() if failed else git.records(event, found, response, words))]
    worth = [command for command in found if not _trivial(command)]
    looks = _looks(event, found, response, text)
    failed = (response.failed or (response.exit_code is None and failures.is_failure(response.text))) and bool(worth)
    if failed:
        if response.exit_code == 1 and all(_is_look(command) for command in worth):
            return list(looks)  # a search that found nothing
        return [_failure(event, worth[-1], response, words)]
    result: list[Record] = [*looks, *_changes(event, text, worth, words)]
    result += git.records(event, found, response, words)
    result += installs.records(event, found, words)
    done = {id(command) for command in worth if _is_look(command) or _is_change(command) or _known(command)}
    rest = [command for command in worth if id(command) not in done]
    if rest:
        result.append(_plain(event, rest[-1], response, words))
    return result


def _lost(response: Response, commands: int) -> bool:
    """Whether the run failed although it counted no failing test: a usage error, or a later command's failure."""
    return response.failed and commands == 1


def _trivial(command: Command) -> bool:
    if command.writes:
        return False
    if git.is_quiet(command):
        return True
    if "--version" in command.texts or "--help" in command.texts:
        return True
    return command.name in _TRIVIAL or not command.name


def _is_look(command: Command) -> bool:
    in_place = any(text.startswith(("-i", "--in-place")) for text in command.texts[1:])
    return not command.writes and (
        command.name in _LOOKING or command.name in _SEARCHING or (command.name == "sed" and not in_place)
    )


def _is_change(command: Command) -> bool:
    git_moves = command.name == "git" and command.texts[1:2] in (["mv"], ["rm"])
    return bool(command.writes) or git_moves or (command.name in _CHANGING and not _is_look(command))


def _known(command: Command) -> bool:
    return command.name == "git" or installs.installer(command) is not None


def _shown(command: Command) -> str:
    return line(" ".join(command.texts), _SHOWN)


def _unreadable(event: CapturedEvent, text: str, response: Response, words: Words) -> list[Record]:
    if not text.strip():
        return []
    shown = line(text.strip().partition("\n")[0], _SHOWN)
    return [_failure_of(event, shown, response, words) if response.failed else _said(event, shown, response, words)]


def _looks(event: CapturedEvent, found: list[Command], response: Response, text: str) -> list[Looked]:
    reading = [command for command in found if command.name in _LOOKING or command.name == "sed"]
    looks: list[Looked] = []
    paths = files_of_command(text, event.cwd, failed=response.failed).read if reading else ()
    if paths:
        looks.append(Looked(event, paths))
    for command in found:
        if command.name in _SEARCHING and not command.fed:
            pattern = _pattern(command)
            if pattern:
                looks.append(Looked(event, searched=line(pattern, 60), found=_matches(event, response)))
    return looks


def _pattern(command: Command) -> str:
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


def _changes(event: CapturedEvent, text: str, worth: list[Command], words: Words) -> Iterator[Changed]:
    verbs: dict[str, Verb] = {"rm": "deleted", "unlink": "deleted", "touch": "created"}
    modified = files_of_command(text, event.cwd, failed=False).modified
    only = {command.name for command in worth if _is_change(command)}
    if only == {"mv"} and len(modified) == 2:
        yield Changed(event, modified[0], "moved", to=modified[1])
        return
    for path in modified[:20]:
        verb: Verb = verbs.get(next(iter(only), ""), "edited") if len(only) == 1 else "edited"
        writing = next((command for command in worth if command.writes and command.heredoc), None)
        if writing is not None and len(modified) == 1:
            change = changes.whole(writing.heredoc, path, words)
            yield Changed(event, path, "rewrote", change.detail, change.plus, change.minus)
        else:
            yield Changed(event, path, verb)


def _failure(event: CapturedEvent, command: Command, response: Response, words: Words) -> Ran:
    return _failure_of(event, _shown(command), response, words)


def _failure_of(event: CapturedEvent, shown: str, response: Response, words: Words) -> Ran:
    error = failures.telling(response.text)
    if response.exit_code:
        what = words.say("failed.code", command=shown, code=response.exit_code)
    else:
        what = words.say("failed", command=shown)
    title = words.say("detail", what=what, detail=error) if error else what
    facts = (words.say("error.fact", error=error),) if error else ()
    return Ran(event, shown, "failure", title, facts, "discovery")


def _plain(event: CapturedEvent, command: Command, response: Response, words: Words) -> Ran:
    return _said(event, _shown(command), response, words)


def _said(event: CapturedEvent, shown: str, response: Response, words: Words) -> Ran:
    last = next((row for row in reversed(response.text[-4_000:].splitlines()) if row.strip()), "")
    facts = (words.say("ran.fact", command=shown, said=line(last, 160)),) if last else ()
    return Ran(event, shown, "plain", words.say("ran", command=shown), facts, "discovery")
