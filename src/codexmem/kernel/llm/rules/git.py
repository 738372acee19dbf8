"""Version control: commits, branches, merges and pushes are landmarks; looking at history is not."""

import re
from collections.abc import Iterator

from codexmem.kernel.llm.clip import line
from codexmem.kernel.llm.rules.records import CommandRecord
from codexmem.kernel.llm.rules.wording import Wording
from codexmem.kernel.llm.shell import ShellCommand
from codexmem.kernel.llm.tools import Response
from codexmem.kernel.model import quoting
from codexmem.kernel.model.capture import CapturedEvent

QUIET = frozenset({
    "status", "log", "diff", "show", "branch", "add", "fetch", "remote", "rev-parse", "ls-files", "blame", "stash",
    "config", "restore", "checkout", "switch", "grep", "describe", "reflog", "worktree", "reset", "clean",
})  # fmt: skip
_COMMIT = re.compile(
    r"^\[(?P<branch>detached HEAD|[^\s\]]{1,120})(?: \([^)]{1,40}\))? "
    r"(?P<hash>[0-9a-f]{4,40})\] (?P<subject>.{1,300})$",
    re.MULTILINE,
)
_SIZE = re.compile(r"^ ?(\d+ files? changed.{0,80})$", re.MULTILINE)
_CONVENTIONAL = re.compile(r"^(?P<word>fix|feat|refactor)(?:\([^)]{0,60}\))?!?:")
_TYPES = {"fix": "bugfix", "feat": "feature", "refactor": "refactor"}


def records(
    event: CapturedEvent, found: list[ShellCommand], response: Response, words: Wording
) -> Iterator[CommandRecord]:
    """The landmarks among these commands, which have succeeded."""
    for command in found:
        if command.name != "git":
            continue
        texts = command.texts[1:]
        verb = next((text for text in texts if not text.startswith("-")), "")
        shown = line(" ".join(command.texts), 60)
        operands = [word.text for word in command.operands[1:] if word.literal]
        if verb == "commit":
            yield _commit(event, command, response, words)
        elif verb == "push":
            where = "/".join(operands[:2]) or "origin"
            yield CommandRecord(event, shown, "git", words.say("pushed", where=where))
        elif verb in {"merge", "rebase", "tag"} and operands:
            key = {"merge": "merged", "rebase": "rebased", "tag": "tagged"}[verb]
            yield CommandRecord(event, shown, "git", words.say(key, name=operands[0]))
        elif name := new_branch(command):
            yield CommandRecord(event, shown, "git", words.say("branched", name=name))


def new_branch(command: ShellCommand) -> str:
    """The branch that the command makes, if it does."""
    texts = command.texts
    for option in ("-b", "-B", "-c", "-C"):
        if texts[1:2] in (["checkout"], ["switch"]) and option in texts[:-1]:
            return texts[texts.index(option) + 1]
    return ""


def _commit(event: CapturedEvent, command: ShellCommand, response: Response, words: Wording) -> CommandRecord:
    said = _COMMIT.search(response.text)
    texts = command.texts
    message = next((texts[at + 1] for at, text in enumerate(texts[:-1]) if text in {"-m", "--message", "-am"}), "")
    if message.startswith("$("):  # a text in place inside the message: its first line after the mark
        message = next((row for row in message.splitlines()[1:] if row.strip()), "")
    whole = said.group("subject") if said else line(message.strip().partition("\n")[0], 120)
    subject = quoting.subject(whole)
    facts = []
    if said:
        facts.append(words.say("commit.fact", hash=said.group("hash"), branch=said.group("branch")))
    if size := _SIZE.search(response.text):
        facts.append(size.group(1))
    if subject != whole and len(facts) > 1:  # told when it is asked for
        facts.append(words.say("committed", subject=whole))
    conventional = _CONVENTIONAL.match(subject)
    kind = _TYPES[conventional.group("word")] if conventional else "change"
    shown = line(" ".join(command.texts), 60)
    key = "committed" if subject else "committed.unnamed"
    return CommandRecord(
        event, shown, "git", words.say(key, subject=subject, command=shown), tuple(facts), kind, succeeded=bool(said)
    )


def is_quiet(command: ShellCommand) -> bool:
    """Whether it only looks, or prepares."""
    verb = next((text for text in command.texts[1:] if not text.startswith("-")), "")
    return command.name == "git" and verb in QUIET and not new_branch(command)
