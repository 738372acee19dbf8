"""Planning, making and taking back the changes in an agent's files.

A plan is made of what the files hold now and changes nothing. Making it good happens under a lock, from files read
anew; if they would now be changed otherwise than was shown, nothing is. What was there before us is remembered from the
first installation on, however often it is repeated.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from codexmem.agents import InstallableAgent
from codexmem.agents.install import formats
from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.receipts import FileReceipt, InstallReceipt, InstallReceipts
from codexmem.agents.install.targets import ConfigTarget, UserHome
from codexmem.client import files
from codexmem.kernel.model import redaction


def undone(before: str, written: str, today: str) -> str | None:
    """Today's text without our change; None if our lines are not all there as we wrote them."""
    old, ours, lines = (text.splitlines(keepends=True) for text in (before, written, today))
    made: list[str] = []
    at = 0
    for tag, start, end, from_, to in difflib.SequenceMatcher(None, ours, old, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        wanted = ours[start:end]
        place = _only(lines, wanted, at) if wanted else None
        if place is None:
            return None
        made += lines[at:place] + old[from_:to]
        at = place + len(wanted)
    return "".join(made + lines[at:])


def _only(lines: list[str], wanted: list[str], start: int) -> int | None:
    """Where these lines stand, if that is one place."""
    places = [at for at in range(start, len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]
    return places[0] if len(places) == 1 else None


_WAITS_S = 60.0
Fate = Literal["create", "change", "remove", "none"]


class InstallRefused(Exception):
    """A file cannot be changed; nothing of this agent was."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file: what it holds and what it should; None is no file."""

    path: Path
    now: bytes | None
    then: bytes | None
    since: bool = False  # others have changed the file since we did

    @property
    def fate(self) -> Fate:
        """What happens to it."""
        if self.now == self.then:
            return "none"
        return "create" if self.now is None else "remove" if self.then is None else "change"

    def diff(self) -> str:
        """The exact change. Secrets of the person's that stand beside it are masked."""
        if self.fate == "none":
            return ""
        now, then = (redaction.redact(_shown(content)).splitlines() for content in (self.now, self.then))
        names = (
            "/dev/null" if self.now is None else str(self.path),
            "/dev/null" if self.then is None else str(self.path),
        )
        return "\n".join(difflib.unified_diff(now, then, *names, lineterm=""))


class Installer:
    """Installs into the agents of one person, with receipts in one data directory."""

    def __init__(self, person: UserHome, commands: ProgramCommands, data_dir: Path) -> None:
        self.person = person
        self.commands = commands
        self.receipts = InstallReceipts(data_dir)

    def plan(self, agent: InstallableAgent) -> list[FileChange]:
        """What installing would change; Refused if a file cannot be, or if the agent would not read it."""
        return [self._planned(agent, target) for target in agent.targets(self.person, self.commands)]

    def install(self, agent: InstallableAgent, shown: list[FileChange] | None = None) -> list[FileChange]:
        """Make the changes; files.Changed if they are not those that were shown."""
        with self._alone():
            changes = self.plan(agent)
            if shown is not None and [c.then for c in changes] != [c.then for c in shown]:
                raise files.StaleFile(changes[0].path)
            receipt = self.receipts.get(agent.name) or InstallReceipt(agent.name)
            targets = agent.targets(self.person, self.commands)
            for target, change in zip(targets, changes, strict=True):
                assert change.then is not None
                before = self._before(target, change, receipt.of(target.path))
                receipt.note(FileReceipt(target.path, before, change.then))
            self.receipts.keep(receipt)
            for target, change in zip(targets, changes, strict=True):
                if change.fate != "none" and change.then is not None:
                    receipt.folders += files.replace(change.path, change.now, change.then, new_mode=target.mode)
            self.receipts.keep(receipt)
            return changes

    def plan_removal(self, agent: InstallableAgent) -> list[FileChange]:
        """What uninstalling would change."""
        receipt = self.receipts.get(agent.name) or InstallReceipt(agent.name)
        targets = {target.path: target for target in agent.targets(self.person, self.commands)}
        paths = [*(kept.path for kept in receipt.files), *(path for path in targets if receipt.of(path) is None)]
        return [self._removal(path, targets.get(path), receipt.of(path)) for path in paths]

    def uninstall(self, agent: InstallableAgent) -> list[FileChange]:
        """Take our changes back."""
        with self._alone():
            changes = self.plan_removal(agent)
            for change in changes:
                if change.fate == "remove" and change.now is not None:
                    files.remove(change.path, change.now)
                elif change.fate != "none" and change.then is not None:
                    files.replace(change.path, change.now, change.then)
            receipt = self.receipts.get(agent.name)
            if receipt is not None:
                files.remove_empty(receipt.folders)
                self.receipts.drop(agent.name)
            return changes

    def _planned(self, agent: InstallableAgent, target: ConfigTarget) -> FileChange:
        now = _read(target.path)
        then = _edited(target, _text(target.path, now))
        if target.form == "json" and target.entries and (problem := agent.refusal(then)):
            raise InstallRefused(target.path, problem)
        return FileChange(target.path, now, then.encode())

    def _before(self, target: ConfigTarget, change: FileChange, kept: FileReceipt | None) -> bytes | None:
        """What would be there without us."""
        if kept is None:
            return change.now
        if change.now in {kept.written, kept.before}:
            return kept.before
        return self._removal(target.path, target, kept).then

    def _removal(self, path: Path, target: ConfigTarget | None, kept: FileReceipt | None) -> FileChange:
        now = _read(path)
        if now is None:
            return FileChange(path, None, None)
        if kept is not None and now in {kept.written, kept.before}:
            return FileChange(path, now, kept.before)
        if target is None:
            return FileChange(path, now, now, since=True)
        text = _text(path, now)
        before = kept.before.decode("utf-8", "replace") if kept is not None and kept.before is not None else None
        plain = _stripped(target, text, before)
        then = plain
        if kept is not None:
            exact = undone(before or "", kept.written.decode("utf-8", "replace"), text)
            if exact is not None and _means(target, exact, plain):
                then = exact
        gone = then != text and (kept is None or kept.before is None) and target.is_empty(then)
        return FileChange(
            path, now, None if gone and kept is not None else then.encode(), since=then != text and kept is not None
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.receipts.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(self.receipts.folder / ".lock", timeout=_WAITS_S, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            raise InstallRefused(self.receipts.folder, "another codexmem install is still at work") from None
        try:
            yield
        finally:
            lock.release()


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path)
    except OSError as error:
        raise InstallRefused(path, error.strerror or str(error)) from None


def _text(path: Path, content: bytes | None) -> str:
    try:
        return files.text_of(content)
    except UnicodeDecodeError:
        raise InstallRefused(path, "it is not text in UTF-8") from None


def _edited(target: ConfigTarget, text: str) -> str:
    try:
        return target.edited(text)
    except formats.UneditableFile as error:
        raise InstallRefused(target.path, str(error)) from None


def _stripped(target: ConfigTarget, text: str, before: str | None) -> str:
    try:
        return target.stripped(text, before)
    except formats.UneditableFile as error:
        raise InstallRefused(target.path, str(error)) from None


def _means(target: ConfigTarget, text: str, other: str) -> bool:
    """Whether two texts say the same, so that the nicer one may be taken."""
    try:
        return formats.value_of(target.form, text) == formats.value_of(target.form, other)
    except formats.UneditableFile:
        return text == other


def _shown(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8", "replace")
