"""The agent of a profile: takes a run's task, finds model, knowledge base and lessons for it, and answers.

What may pass lets the run wait and go on from its journal; what will not is told with its class. A run keeps the
profile it began with, whatever becomes of the file meanwhile.
"""

from collections.abc import Callable

from codexmem.kernel.llm.chat import ChatModel
from codexmem.kernel.llm.chat_choice import ChatModels
from codexmem.kernel.llm.chat_dry import DryModel
from codexmem.kernel.llm.model import Trouble, Unanswered
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.job import RetryLater
from codexmem.lab.model import RunOutput, RunTask
from codexmem.lab.service.agent.recap import Recap
from codexmem.lab.service.agent.tools import RunBudget, Toolbox
from codexmem.lab.service.journal import BankReader, Journal, KnowledgeBase
from codexmem.lab.service.profiles import Profile, profile_of
from codexmem.lab.service.runs import NO_MODEL, NO_MODEL_HINT

_PASSING = frozenset({Trouble.TRANSIENT, Trouble.RATE_LIMIT})


class ModelFailed(CodexmemError):
    """There is no model, or it will not answer until somebody does something; the message begins with the class."""

    code = "dependency_unavailable"


class ProfileAgent:
    """Answers the runs of a lab; every run may come from any thread."""

    def __init__(self, profile: Profile, models: ChatModels, shelves: Callable[[RunTask], KnowledgeBase],
                 bank: BankReader) -> None:  # fmt: skip
        self._profile = profile
        self._models = models
        self._shelves = shelves
        self._bank = bank

    def answer(self, task: RunTask, journal: Journal) -> RunOutput:
        """Do the task, or what is left of it."""
        journal.check()
        if (kept := journal.done("output")) is None:
            output = self._answered(task, journal)
            aliases = list(output.citations)
            kept = journal.record(
                "output", output.to_json(),
                (EventType.CITATIONS_RESOLVED, {"aliases": aliases, "resolved": dict(output.citations)}),
                (EventType.MEMORIES_RESOLVED, {"mem_ids": list(output.memory_ids)}),
            )  # fmt: skip
        return RunOutput(kept["recipes_json"], kept["citations"], tuple(kept["memory_ids"]))

    def _answered(self, task: RunTask, journal: Journal) -> RunOutput:
        model, profile = self._model(task), self._begun_with(journal)
        budget = RunBudget(profile.limits)
        tools = Toolbox(profile, journal, self._shelves(task), self._bank, budget)
        try:
            return Recap(task, journal, profile, model, tools, budget).run()
        except Unanswered as error:
            told = f"{error.trouble.value}: {error.message}" + (f"; {error.hint}" if error.hint else "")
            if error.trouble in _PASSING:
                delay_ms = int(error.wait_s * 1_000) if error.wait_s > 0 else None
                raise RetryLater(told, error_class=error.trouble.value, delay_ms=delay_ms) from None
            raise ModelFailed(told, hint=error.hint) from None

    def _model(self, task: RunTask) -> ChatModel:
        if task.dry_run:
            return DryModel()
        model = self._models.get(str(task.config.get("llm_model", "")), str(task.config.get("openai_api_base", "")))
        if model is None:
            raise ModelFailed(f"{ModelFailed.code}: {NO_MODEL}; {NO_MODEL_HINT}", hint=NO_MODEL_HINT)
        return model

    def _begun_with(self, journal: Journal) -> Profile:
        kept = journal.done("profile")
        if kept is None:
            kept = journal.record("profile", {"profile": self._profile.to_json()})
        return self._profile if kept["profile"] == self._profile.to_json() else profile_of(kept["profile"])
