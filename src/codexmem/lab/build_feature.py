"""The lab, put together from the parts of an open store.

Who answers in the lab: the agent of the configured profile, with the models that the settings name.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from codexmem.kernel.llm import choice as llm
from codexmem.kernel.llm.chat_choice import ChatModels
from codexmem.kernel.llm.choice import ModelChoice
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.writer import MODEL, RULES
from codexmem.kernel.opened import Kernel
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.labels import Labels
from codexmem.lab.lesson_extractor import Teacher
from codexmem.lab.model import RunTask
from codexmem.lab.service.agent import ProfileAgent
from codexmem.lab.service.bank import Bank, LessonReader
from codexmem.lab.service.catalog import Catalog
from codexmem.lab.service.evidence import Evidences, Shelves
from codexmem.lab.service.execution import Execution, RunAgent, RunTransitions, Unequipped
from codexmem.lab.service.feedback import Judging
from codexmem.lab.service.journal import BankReader, KnowledgeBase
from codexmem.lab.service.lab import DocumentLibrary, Lab, ReasoningBank, Working
from codexmem.lab.service.learning import Learning
from codexmem.lab.service.learning.consolidating import PlanWriter
from codexmem.lab.service.learning.sources import EvidenceOf
from codexmem.lab.service.learnings import Learnings, Rollbacks
from codexmem.lab.service.library import Library
from codexmem.lab.service.profiles import Profile, load
from codexmem.lab.service.reconciling import Reconciling, System
from codexmem.lab.service.runs import LabConfig, Runs
from codexmem.lab.service.trace import RunTrace
from codexmem.lab.store.catalog import CatalogTable
from codexmem.lab.store.evidence import EvidenceTable
from codexmem.lab.store.feedback import FeedbackTable
from codexmem.lab.store.learnings import LearningTable
from codexmem.lab.store.runs import RunTable
from codexmem.lab.store.trace import Steps, TraceTable
from codexmem.settings import SETTINGS, Settings

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
    provider = RULES if settings.provider == RULES else MODEL
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


def build(kernel: Kernel, settings: Settings, *, agent: RunAgent | None = None, teacher: Teacher | None = None) -> Lab:
    """The lab on an open store; `agent` answers and `teacher` learns in place of the configured ones."""
    db, queue, clock = kernel.db, kernel.queue, kernel.clock
    table = RunTable(db)
    trace = RunTrace(db, table, TraceTable(db), kernel.log, clock, _secrets(settings))
    chosen = profile_of(settings)
    shelving = _library(kernel, settings, table, trace, chosen)
    moves = RunTransitions(db, table, trace, queue, clock, shelving.shelves.are_empty)
    reconciling, working = Reconciling(db, table, Jobs(db), moves, queue, clock), Working()
    teacher = teacher or Teacher(llm.model_of(wish_of(settings)), may_spend=kernel.may_spend)
    banking = _bank(kernel, table, trace, chosen, teacher, shelving.evidence.of)
    catalog = Catalog(db, CatalogTable(db), trace, clock)
    learn = partial(banking.learning.queue, reason="feedback")
    answering = agent or agent_from(settings, chosen, shelving.shelves.shelf, banking.reader)
    return Lab(
        runs=Runs(
            db,
            table,
            moves,
            trace,
            queue,
            clock,
            _config(settings, chosen),
            *((has_model(settings),) if agent is None else ()),
        ),
        trace=trace,
        execution=Execution(db, table, Steps(db), trace, moves, clock, answering),
        moves=moves,
        reconciling=reconciling,
        system=System(db, table, reconciling, clock, working.look),
        working=working,
        banking=banking,
        shelving=shelving,
        catalog=catalog,
        judging=Judging(db, FeedbackTable(db), table, catalog, trace, clock, learn if settings.lab_learn else None),
        debug={each.name: settings.shown(each.name) for each in SETTINGS} if settings.enable_debug_endpoints else None,
    )


def _library(
    kernel: Kernel, settings: Settings, runs: RunTable, trace: RunTrace, chosen: ChosenProfile
) -> DocumentLibrary:
    """Documents of the folders that the settings name."""
    db, table = kernel.db, EvidenceTable(kernel.db)
    library = Library(db, kernel.table, kernel.memories, kernel.history, Labels(db), kernel.search)
    folders = {
        "kb_principles_dir": str(settings.kb_principles_dir or ""),
        "kb_modulation_dir": str(settings.kb_modulation_dir or ""),
    }
    shelves = Shelves(db, library, table, runs, trace, kernel.clock, folders, chosen.namespaces)
    return DocumentLibrary(library, Evidences(table, runs), shelves)


def _bank(
    kernel: Kernel, runs: RunTable, trace: RunTrace, chosen: ChosenProfile, teacher: Teacher, evidence: EvidenceOf
) -> ReasoningBank:
    """Lessons for the roles of the profile; `evidence` reads what a run was shown, by its alias."""
    db, clock, table, memories, history = kernel.db, kernel.clock, kernel.table, kernel.memories, kernel.history
    versions = VersionTable(db)
    bank = Bank(db, table, memories, kernel.search, runs, trace, clock, chosen.roles, history)
    learning = Learning(
        db, table, memories, runs, trace, kernel.queue, clock, bank, PlanWriter(memories, history, bank), teacher,
        FeedbackTable(db).of_run, evidence=evidence, roles=chosen.roles, spent=kernel.spent,
    )  # fmt: skip
    rollbacks = Rollbacks(db, table, memories, history, versions, runs, trace, bank, learning)
    learnings = Learnings(db, LearningTable(db), memories, history, versions)
    return ReasoningBank(bank, LessonReader(bank), learning, rollbacks, learnings)


def _config(settings: Settings, chosen: ChosenProfile) -> LabConfig:
    """What is configured for the lab."""
    return LabConfig(
        settings.openai_model, settings.openai_base_url, settings.kb_principles_dir, settings.kb_modulation_dir,
        settings.kb_roots, settings.lab_api_bases, chosen.name,
    )  # fmt: skip


def _secrets(settings: Settings) -> tuple[str, ...]:
    """Keys of ours that must not stand in any trace, wherever a model or a tool repeats them."""
    named = (settings.openai_api_key, settings.openai_embedding_api_key, settings.rerank_api_key, settings.api_key)
    return tuple(each for each in named if each)
