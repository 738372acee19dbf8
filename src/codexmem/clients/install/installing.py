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

from codexmem.clients.install import files, formats
from codexmem.clients.install.agent import Agent, Person, Target
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.receipts import Kept, Receipt, Receipts
from codexmem.clients.install.undoing import undone
from codexmem.domain import redaction

_WAITS_S = 60.0
Fate = Literal["create", "change", "remove", "none"]


class Refused(Exception):
    """A file cannot be changed; nothing of this agent was."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Change:
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

    def __init__(self, person: Person, commands: Commands, data_dir: Path) -> None:
        self.person = person
        self.commands = commands
        self.receipts = Receipts(data_dir)

    def plan(self, agent: Agent) -> list[Change]:
        """What installing would change; Refused if a file cannot be."""
        return [self._planned(target) for target in agent.targets(self.person, self.commands)]

    def install(self, agent: Agent, shown: list[Change] | None = None) -> list[Change]:
        """Make the changes; files.Changed if they are not those that were shown."""
        with self._alone():
            changes = self.plan(agent)
            if shown is not None and [c.then for c in changes] != [c.then for c in shown]:
                raise files.Changed(changes[0].path)
            receipt = self.receipts.get(agent.name) or Receipt(agent.name)
            targets = agent.targets(self.person, self.commands)
            for target, change in zip(targets, changes, strict=True):
                assert change.then is not None
                before = self._before(target, change, receipt.of(target.path))
                receipt.note(Kept(target.path, before, change.then))
            self.receipts.keep(receipt)
            for change in changes:
                if change.fate != "none" and change.then is not None:
                    receipt.folders += files.replace(change.path, change.now, change.then)
            self.receipts.keep(receipt)
            return changes

    def plan_removal(self, agent: Agent) -> list[Change]:
        """What uninstalling would change."""
        receipt = self.receipts.get(agent.name) or Receipt(agent.name)
        targets = {target.path: target for target in agent.targets(self.person, self.commands)}
        paths = [*(kept.path for kept in receipt.files), *(path for path in targets if receipt.of(path) is None)]
        return [self._removal(path, targets.get(path), receipt.of(path)) for path in paths]

    def uninstall(self, agent: Agent) -> list[Change]:
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

    def _planned(self, target: Target) -> Change:
        now = _read(target.path)
        return Change(target.path, now, _edited(target, _text(target.path, now)).encode())

    def _before(self, target: Target, change: Change, kept: Kept | None) -> bytes | None:
        """What would be there without us."""
        if kept is None:
            return change.now
        if change.now in {kept.written, kept.before}:
            return kept.before
        return self._removal(target.path, target, kept).then

    def _removal(self, path: Path, target: Target | None, kept: Kept | None) -> Change:
        now = _read(path)
        if now is None:
            return Change(path, None, None)
        if kept is not None and now in {kept.written, kept.before}:
            return Change(path, now, kept.before)
        if target is None:
            return Change(path, now, now, since=True)
        text = _text(path, now)
        before = kept.before.decode("utf-8", "replace") if kept is not None and kept.before is not None else None
        plain = _stripped(target, text, before)
        then = plain
        if kept is not None:
            exact = undone(before or "", kept.written.decode("utf-8", "replace"), text)
            if exact is not None and _means(target, exact, plain):
                then = exact
        gone = then != text and (kept is None or kept.before is None) and target.is_empty(then)
        return Change(
            path, now, None if gone and kept is not None else then.encode(), since=then != text and kept is not None
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.receipts.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(self.receipts.folder / ".lock", timeout=_WAITS_S, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            raise Refused(self.receipts.folder, "another codexmem install is still at work") from None
        try:
            yield
        finally:
            lock.release()


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path)
    except OSError as error:
        raise Refused(path, error.strerror or str(error)) from None


def _text(path: Path, content: bytes | None) -> str:
    try:
        return files.text_of(content)
    except UnicodeDecodeError:
        raise Refused(path, "it is not text in UTF-8") from None


def _edited(target: Target, text: str) -> str:
    try:
        return target.edited(text)
    except formats.Refused as error:
        raise Refused(target.path, str(error)) from None


def _stripped(target: Target, text: str, before: str | None) -> str:
    try:
        return target.stripped(text, before)
    except formats.Refused as error:
        raise Refused(target.path, str(error)) from None


def _means(target: Target, text: str, other: str) -> bool:
    """Whether two texts say the same, so that the nicer one may be taken."""
    try:
        return formats.value_of(target.form, text) == formats.value_of(target.form, other)
    except formats.Refused:
        return text == other


def _shown(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8", "replace")
