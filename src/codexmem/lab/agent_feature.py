"""Who answers in the lab: the agent of the configured profile, with the models that the settings name."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.llm.chat_choice import ChatModels
from codexmem.kernel.llm.choice import ModelChoice
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.writer import AGENTS, MODEL
from codexmem.lab.model import RunTask
from codexmem.lab.service.agent import ProfileAgent
from codexmem.lab.service.desk import BankReader, KnowledgeBase
from codexmem.lab.service.execution import RunAgent, Unequipped
from codexmem.lab.service.profiles import Profile, load
from codexmem.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChosenProfile:
    """The configured profile, or why it cannot be used: a lab that is set up wrongly stops nothing else."""

    profile: Profile | None
    problem: str = ""

    @property
    def name(self) -> str:
        """What a batch is told that it runs with."""
        return self.profile.name if self.profile is not None else ""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """What its roles may search."""
        found = self.profile.roles.values() if self.profile is not None else ()
        return tuple(sorted({name for role in found for name in role.namespaces}))

    @property
    def roles(self) -> tuple[str, ...]:
        """Whom lessons can be for, besides everybody."""
        return tuple(self.profile.roles) if self.profile is not None else ()


def profile_of(settings: Settings) -> ChosenProfile:
    """Read the profile that the settings name."""
    try:
        return ChosenProfile(load(settings.lab_profile))
    except InvalidArgument as error:
        problem = f"CODEXMEM_LAB_PROFILE cannot be used: {error.message}"
        log.error("%s (%s)", problem, error.hint)
        return ChosenProfile(None, f"{problem}; {error.hint}")


def wish_of(settings: Settings) -> ModelChoice:
    """The model server that the settings name; an agent that writes memories answers nothing else."""
    provider = MODEL if settings.provider in AGENTS else settings.provider
    return ModelChoice(provider, settings.openai_model, settings.openai_base_url, settings.openai_api_key)


def has_model(settings: Settings) -> Callable[[str, str], bool]:
    """Whether there is somebody to ask, by the name of a model and the address of its server."""
    models = ChatModels(wish_of(settings))
    return lambda model, base_url: models.get(model, base_url) is not None


def agent_from(
    settings: Settings, chosen: ChosenProfile, shelves: Callable[[RunTask], KnowledgeBase], bank: BankReader
) -> RunAgent:
    """What answers requests."""
    if chosen.profile is None:
        return Unequipped(chosen.problem)
    return ProfileAgent(chosen.profile, ChatModels(wish_of(settings)), shelves, bank)
