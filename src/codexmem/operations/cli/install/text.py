"""How changes of files and the outcome of checks are told.

What `init`, `install` and `uninstall` share: whose files, which agents, where the server is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codexmem.console.messages import chinese_errors, language, say
from codexmem.console.output import UsageProblem
from codexmem.hook.surroundings import environment
from codexmem.settings import PREFIX, Settings

if TYPE_CHECKING:
    from codexmem.agents import InstallableAgent
    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.installing import FileChange, Installer
    from codexmem.agents.install.proof import ProofStep
    from codexmem.agents.install.targets import UserHome
    from codexmem.console.output import Output


UNTOUCHED = "none"
_FATES = {
    "create": "install.create",
    "change": "install.change",
    "remove": "install.remove",
    UNTOUCHED: "install.same",
}

_PLACE = re.compile(r"line (?P<line>\d+), column (?P<column>\d+): (?P<what>.+)", re.DOTALL)

# Why an agent does not record, and what to do about it.
_PROBLEMS = {
    "unregistered": ("install.why_unregistered", "install.how_unregistered"),
    "unread": ("install.why_unread", "install.how_unread"),
    "switched_off": ("install.why_switched_off", "install.how_switched_off"),
    "trust_unknown": ("install.why_trust_unknown", "install.how_trust_unknown"),
    "untrusted": ("install.why_untrusted", "install.how_untrusted"),
    "server_away": ("install.why_server_away", "install.how_server_away"),
    "hook_slow": ("install.why_hook_slow", "install.how_hook_slow"),
    "hook_failed": ("install.why_hook_failed", "install.how_hook_failed"),
    "lost": ("install.why_lost", "install.how_lost"),
    "no_program": ("install.why_no_program", "install.how_no_program"),
    "no_tools": ("install.why_no_tools", "install.how_no_tools"),
}


def spoken(check: ProofStep) -> tuple[str, str]:
    """What is wrong with a check that failed, and what to do about it."""
    why, how = _PROBLEMS[check.problem]
    values = {**check.values, "problem": problem_text(str(check.values.get("problem", "")))}
    return say(why, **values), say(how, **values)


def refused_text(path: object, problem: str) -> str:
    """That a file was not changed, why, and what to do; as far as we can say it in the language of the moment."""
    return say("install.refused", path=path, problem=problem_text(problem))


def problem_text(problem: str) -> str:
    """What is wrong with a file, as far as we can say it in the language of the moment."""
    if language() == "en":
        return problem
    refusals = chinese_errors()["refusals"]
    place = _PLACE.fullmatch(problem)
    if place is None:
        return refusals.get(problem, problem)
    what = refusals.get(place["what"], place["what"])
    return chinese_errors()["refused_at"]["line"].format(line=place["line"], column=place["column"], what=what)


def changes_text(title: str, changes: Sequence[FileChange], refused: str) -> str:
    """What would happen to each file, with the exact change."""
    if refused:
        return f"{title}\n{refused}"
    lines = [title]
    for change in changes:
        lines.append(say(_FATES[change.fate], path=change.path))
        if change.since:
            lines.append(say("uninstall.since", path=change.path))
        if change.fate != UNTOUCHED:
            lines.append(change.diff())
    return "\n".join(lines)


def proven(checks: Sequence[ProofStep]) -> dict[str, object]:
    """The checks, for programs."""
    from codexmem.agents.install.proof import is_recording

    said = []
    for check in checks:
        why, how = _PROBLEMS.get(check.problem, ("", ""))
        words = {"why": say(why, **check.values), "how": say(how, **check.values)} if why else {}
        said.append({"check": check.name, "ok": check.ok, **words, **check.values})
    return {"recording": is_recording(list(checks)), "checks": said}


def outcome_text(title: str, refused: str, checks: Sequence[ProofStep] | None, output: Output) -> str:
    """One line if all is well, else what is wrong and what to do."""
    from codexmem.agents.install.proof import is_recording

    if refused or checks is None:
        return output.painted(say("install.not_recording", agent=title), False) + f"\n  {refused}"
    tools = next((check.values["count"] for check in checks if check.name == "tools" and check.ok), 0)
    good = is_recording(list(checks))
    key = "install.not_recording" if not good else "install.recording" if tools else "install.without_tools"
    lines = [output.painted(say(key, agent=title, count=tools), good and bool(tools))]
    for check in checks:
        if not check.ok:
            why, how = spoken(check)
            lines += [f"  {say('doctor.why')}{why}", f"  {say('doctor.how')}{how}"]
    return "\n".join(lines)


_FOR_THIS_CALL = ("flag", "environment")


def person() -> UserHome:
    """Whoever runs the command."""
    from codexmem.agents.install.targets import UserHome

    return UserHome(Path.home(), dict(environment()))


def commands_of(settings: Settings, tools: str = "memory") -> ProgramCommands:
    """Our programs, told what an agent's environment would not tell them."""
    from codexmem.agents.install.commands import find

    given = {
        f"{PREFIX}{name.upper()}": str(getattr(settings, name))
        for name in ("url", "port")
        if settings.origins[name].startswith(_FOR_THIS_CALL) and getattr(settings, name)
    }
    return find(environment(), settings.data_dir, given, toolset="" if tools == "all" else "recall")


def installer_of(settings: Settings, tools: str = "memory") -> Installer:
    """What installs for this person."""
    from codexmem.agents.install.installing import Installer

    return Installer(person(), commands_of(settings, tools), settings.data_dir)


def named(names: Sequence[str]) -> list[InstallableAgent]:
    """The agents of these names, each once."""
    from codexmem.agents import ALIASES, installable

    known = installable()
    found: dict[str, InstallableAgent] = {}
    for given in names:
        name = ALIASES.get(given.lower(), given.lower())
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, [*known, *ALIASES], n=1)
            hint = say("usage.did_you_mean", name=near[0]) if near else say("install.known", names=", ".join(known))
            raise UsageProblem(say("install.no_agent", name=given[:40]), hint=hint)
        found[name] = known[name]
    return list(found.values())


def detected() -> list[InstallableAgent]:
    """The agents that are on this machine."""
    from codexmem.agents import installable

    whose = person()
    return [agent for agent in installable().values() if agent.found(whose)]


def see_help() -> str:
    """Where to read more about the running command."""
    return say("usage.see_help", command=click.get_current_context().command_path)
