"""The policy of a run: what is configured, what a person always allows in this project, and what guards the guard.

An agent may never touch the folder that holds the audit log, its key and the remembered rules, nor write the user's
configuration; these rules are always there. Rules that cannot be read make a policy that allows nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem.codecli import surroundings
from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.paths import Around
from codexmem.codecli.policy.rules import BUILT_IN
from codexmem.codecli.remembered_permissions import Always
from codexmem.kernel.model.errors import CodexmemError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem.codecli.configuration import Config

ALWAYS = "always in this project"
CONFIGURED = "configuration"


def around(cwd: str) -> Around:
    """Where paths are read from, with links resolved on this machine."""
    return Around(cwd, surroundings.home(), _resolved)


def root_of(cwd: str) -> Path:
    """The project's folder: the checkout around this place, else the place itself."""
    place = Path(cwd)
    return next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), place)


def policy_of(
    config: Config, cwd: str, always: Always | None = None, origins: Mapping[str, str] | None = None
) -> Policy:
    """The policy that holds; InvalidArgument says which rule cannot be read."""
    told = config.policy
    origins = origins or {}
    policy = Policy.parse(mode=told.mode, max_risk=told.max_risk, around=around(cwd))
    policy = policy.plus(deny=_guarding(), origin=BUILT_IN)
    policy = policy.plus(deny=told.denylist, origin=origins.get("policy.denylist", CONFIGURED))
    policy = policy.plus(ask=told.asklist, origin=origins.get("policy.asklist", CONFIGURED))
    policy = policy.plus(allow=told.allowlist, origin=origins.get("policy.allowlist", CONFIGURED))
    return policy.plus(allow=always.rules(), origin=ALWAYS) if always is not None else policy


def policy_or_nothing(config: Config, cwd: str, always: Always | None = None) -> Policy:
    """The policy that holds; where it cannot be read, one that allows nothing and says why."""
    try:
        return policy_of(config, cwd, always)
    except CodexmemError as error:
        return Policy.broken(f"{error.message}; {error.hint}" if error.hint else error.message)


def _guarding() -> list[dict[str, str]]:
    reason = "it guards what agents may do"
    return [
        {"path": surroundings.state_dir(), "reason": reason},
        {"path": surroundings.config_dir(), "risk": "write", "reason": reason},
    ]


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
