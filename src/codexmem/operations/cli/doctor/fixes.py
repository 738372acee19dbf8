"""What `doctor --fix` fixes: for a finding, the one thing that puts it right without losing anything.

Each fix looks again at what it is about to change, because a server may have started since the check. What has no fix
here needs a person: its finding says what helps.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from codexmem.console.messages import explain, say
from codexmem.console.store import place_of, transfer_of
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.operations.cli.install.text import refused_text

if TYPE_CHECKING:
    from codexmem.operations.cli.doctor.finding import Finding
    from codexmem.settings import Settings

Values = Mapping[str, Any]
_COUNTED = 100_000  # waiting memories that a bar counts, at most
_LOOKS_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Fix:
    """How a finding is fixed. `key` names what is said of it: done, and with `.would` before it is."""

    key: str
    act: Callable[[Settings, Finding], Values]  # what there is to say of it beyond the finding's own values


@dataclass(frozen=True, slots=True)
class FixResult:
    """What became of one finding."""

    check: str
    outcome: Literal["fixed", "would", "failed"]
    what: str

    def document(self) -> dict[str, str]:
        """For programs."""
        return {"check": self.check, "outcome": self.outcome, "what": self.what}


class _Stays(Unavailable):
    """It could not be fixed; its text comes from the catalogue."""

    spoken = True


def fixable(findings: Iterable[Finding], settings: Settings) -> list[Finding]:
    """Those that --fix would fix, each agent once, in the order in which it is safe."""
    wanted: dict[tuple[str, str], Finding] = {}
    receipts = _receipts(settings)
    for finding in findings:
        fix = FIXES.get(finding.key)
        # Without a receipt nobody has said that we belong there, and nobody could take us out again.
        if fix is not None and (fix.act is not _reinstall or finding.values["name"] in receipts):
            wanted.setdefault((finding.check, fix.key), finding)
    order = list(FIXES)
    return sorted(wanted.values(), key=lambda finding: order.index(finding.key))


def apply_fixes(findings: Sequence[Finding], settings: Settings, *, dry_run: bool) -> list[FixResult]:
    """Fix them one after the other; one that fails does not keep the next from being tried."""
    return [_fixed(finding, settings, dry_run=dry_run) for finding in fixable(findings, settings)]


def _fixed(finding: Finding, settings: Settings, *, dry_run: bool) -> FixResult:
    chosen = FIXES[finding.key]
    if dry_run:
        return FixResult(finding.check, "would", say(f"{chosen.key}.would", **finding.values))
    try:
        values = chosen.act(settings, finding)
    except CodexmemError as error:
        problem, hint = explain(error)
        return FixResult(finding.check, "failed", f"{problem}{f' ({hint})' if hint else ''}")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return FixResult(finding.check, "failed", f"{where}{error.strerror or error}")
    return FixResult(finding.check, "fixed", say(chosen.key, **(finding.values | dict(values))))


def _close_folder(settings: Settings, _: Finding) -> Values:
    folder = settings.data_dir
    # The folder first: from then on nobody else comes to what is in it.
    for path in (folder, *sorted(folder.iterdir())):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode & 0o077 and not path.is_symlink():
            path.chmod(mode & 0o700)
    return {}


def _withdraw(settings: Settings, _: Finding) -> Values:
    """Take away what a server that was killed has left; its lock went with it."""
    from codexmem.client import background
    from codexmem.kernel.store import inspection

    path = settings.data_dir / "server.json"
    left = path.read_bytes()
    if inspection.owned(settings.database_url) or background.look(place_of(settings)) is not None:
        raise _Stays(say("doctor.stays_started"))
    if path.read_bytes() == left:
        path.unlink()
    background.forget_attempt(settings.data_dir)
    return {"file": str(path)}


def _back_up(settings: Settings, _: Finding) -> Values:
    from codexmem.console.progress import bar

    with bar(say("backup.copying")) as progress:
        return {"path": str(transfer_of(settings).backup(progress=progress).folder)}


def _upgrade(settings: Settings, _: Finding) -> Values:
    from codexmem.kernel.store.opening import open_database

    kept = transfer_of(settings).before_upgrade()
    # Opening takes the owner's lock first: two programs must not migrate one file.
    open_database(settings.database_url).close()
    return {"path": str(kept.folder) if kept else "-"}


def _catch_up(settings: Settings, _: Finding) -> Values:
    from codexmem.console.backend import opened
    from codexmem.console.progress import bar
    from codexmem.kernel.model.tenant import LOCAL
    from codexmem.kernel.store.index_backlog import CatchingUp

    with opened(settings, LOCAL) as core, bar(say("index.rebuilding")) as progress:
        backlog = CatchingUp(core.db)
        total = backlog.count_waiting(limit=_COUNTED)
        looked = ids.monotonic()

        def proceed() -> None:
            nonlocal looked
            if ids.monotonic() - looked > _LOOKS_EVERY_S:
                looked = ids.monotonic()
                progress(total - backlog.count_waiting(limit=_COUNTED), total)

        done = core.indexer.catch_up(proceed)
    return {"count": f"{done.embedded:,}", "worded": f"{done.worded:,}"}


def _reinstall(settings: Settings, finding: Finding) -> Values:
    from codexmem.agents import installable
    from codexmem.agents.install.installing import InstallRefused
    from codexmem.client.files import StaleFile
    from codexmem.operations.cli.install.text import installer_of, person

    try:
        agent = installable()[finding.values["name"]]
        entry = agent.server(person())
        tools = "all" if entry is not None and "--toolset" not in entry.command else "memory"
        changes = installer_of(settings, tools).install(agent)
    except InstallRefused as refusal:
        raise _Stays(refused_text(refusal.path, refusal.problem)) from None
    except StaleFile as changed:
        raise _Stays(say("install.changed", path=changed)) from None
    return {"paths": ", ".join(str(change.path) for change in changes if change.fate != "none") or "-"}


def _receipts(settings: Settings) -> list[str]:
    from codexmem.agents.install.receipts import InstallReceipts

    return InstallReceipts(settings.data_dir).agents()


# In the order in which they are made: close what is open, keep a copy, and only then change anything.
FIXES: Mapping[str, Fix] = {
    "doctor.data_dir_open": Fix("doctor.fix_folder", _close_folder),
    "doctor.backup_none": Fix("doctor.fix_backup", _back_up),
    "doctor.backup_old": Fix("doctor.fix_backup", _back_up),
    "doctor.server_stale": Fix("doctor.fix_server", _withdraw),
    "doctor.schema_later": Fix("doctor.fix_schema", _upgrade),
    "doctor.index_unworded": Fix("doctor.fix_words", _catch_up),
    "doctor.index_behind": Fix("doctor.fix_index", _catch_up),
    "doctor.agent_lost": Fix("doctor.fix_agent", _reinstall),
    "doctor.agent_part": Fix("doctor.fix_agent", _reinstall),
    "doctor.agent_moved": Fix("doctor.fix_agent", _reinstall),
    "doctor.agent_untrusted": Fix("doctor.fix_agent", _reinstall),
    "doctor.agent_tools": Fix("doctor.fix_agent", _reinstall),
}
