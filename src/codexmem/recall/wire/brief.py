"""The page of a project on the wire. Null means that it is not known."""

from collections.abc import Sequence
from typing import Self

from pydantic import Field

from codexmem.kernel.wire import WireAnswer
from codexmem.recall.brief_model import (
    DaySpan,
    HandedOver,
    LabelCounts,
    LearnedDay,
    MemoryConcern,
    ModelUse,
    ProjectCost,
    ProjectHealth,
    day_name,
)
from codexmem.recall.review_model import COUNTED
from codexmem.recall.wire.lifecycle import MemoryPage
from codexmem.recall.wire.sessions import SessionRow

MAX_PROJECTS = 20


class BriefDay(WireAnswer):
    """What was learned on one day."""

    day: str = Field(description="2026-11-18, by the clock that was asked for")
    memories: int
    sessions: int = Field(description="in which something was said or learned")
    types: dict[str, int] = Field(description="memories by type or, where they have none, by kind")


class BriefDays(WireAnswer):
    """`GET /api/brief/days`: days on which something was learned, oldest first."""

    days: tuple[BriefDay, ...]
    first: str = Field(description="the first day that was looked at")
    last: str = Field(description="today")
    timezone: int = Field(description="minutes that the clock is ahead of UTC, as was asked")

    @classmethod
    def of(cls, days: Sequence[LearnedDay], span: DaySpan) -> Self:
        """What was counted."""
        told = tuple(
            BriefDay(day=day_name(each.day), memories=each.memories, sessions=each.sessions, types=each.types)
            for each in days
        )
        return cls(days=told, first=day_name(span.first), last=day_name(span.last), timezone=span.offset)


class BriefLabel(WireAnswer):
    """A value, and how many memories have it."""

    value: str
    count: int


class BriefFacets(WireAnswer):
    """`GET /api/brief/facets`: the values that most memories have, at most 20 of each."""

    file: tuple[BriefLabel, ...]
    concept: tuple[BriefLabel, ...]
    type: tuple[BriefLabel, ...]
    agent: tuple[BriefLabel, ...] = Field(description="in whose sessions they were made")
    origin: tuple[BriefLabel, ...]
    whole: bool = Field(description="false if only the newest 2,000 memories of a kind were looked at")

    @classmethod
    def of(cls, found: LabelCounts) -> Self:
        """What was counted."""
        counts = {
            name: tuple(BriefLabel(value=value, count=count) for value, count in values)
            for name, values in found.values.items()
        }
        return cls(**counts, whole=found.whole)


class BriefDigest(MemoryPage):
    """`GET /api/brief/digest`: memories, newest first, and the sessions that these were made in."""

    sessions: tuple[SessionRow, ...] = Field(description="the last active first; without those saved by hand")


class HealthCount(WireAnswer):
    """A number that is a queue."""

    count: int
    more: bool = Field(description="whether there may be more: counting ends at a bound")
    page: str = Field(description="the address in the application where it is worked on, without the project")


class FileHealth(WireAnswer):
    """Memories compared with a checkout."""

    changed: HealthCount
    gone: HealthCount
    compared: int


class BriefHealth(WireAnswer):
    """`GET /api/brief/health`: what needs care."""

    proposed: HealthCount
    contradiction: HealthCount
    duplicate: HealthCount
    candidate: HealthCount = Field(description="answers that nobody has approved yet")
    never_told: HealthCount = Field(description="no agent was told it, and none opened it")
    unused: HealthCount = Field(description="told at least 20 times, never opened or confirmed")
    files: FileHealth | None = Field(description="null if the server sees no checkout of the project")

    @classmethod
    def of(cls, found: ProjectHealth) -> Self:
        """What was counted."""
        waiting, reading, stale = found.waiting, found.reading, found.stale

        def queue(reason: str, count: int) -> HealthCount:
            return HealthCount(count=count, more=count >= COUNTED, page=f"/ui/review?reason={reason}")

        def listed(concern: MemoryConcern, count: int, *, whole: bool) -> HealthCount:
            return HealthCount(count=count, more=not whole, page=f"/ui/memories?health={concern.value}")

        return cls(
            proposed=queue("proposed", waiting.proposed),
            contradiction=queue("contradiction", waiting.contradiction),
            duplicate=queue("duplicate", waiting.duplicate),
            candidate=HealthCount(
                count=waiting.qa_candidates, more=waiting.qa_candidates >= COUNTED, page="/ui/qa?status=candidate"
            ),
            never_told=listed(MemoryConcern.NEVER_TOLD, reading.never_told, whole=reading.whole),
            unused=listed(MemoryConcern.UNUSED, reading.unused, whole=reading.whole),
            files=None
            if stale is None
            else FileHealth(
                changed=listed(MemoryConcern.CHANGED, stale.changed, whole=stale.whole),
                gone=listed(MemoryConcern.GONE, stale.gone, whole=stale.whole),
                compared=stale.compared,
            ),
        )


class ModelCost(WireAnswer):
    """Questions to a model, and what they cost."""

    calls: int
    tokens: int | None = Field(description="null if there were calls and no model said what they cost")
    unmeasured: int = Field(description="calls of which no model said what they cost")

    @classmethod
    def of(cls, use: ModelUse, **more: object) -> Self:
        """What was counted, with the further fields of a larger document."""
        return cls(calls=use.calls, tokens=use.tokens, unmeasured=use.unmeasured, **more)


class DayCost(ModelCost):
    """Of one day."""

    day: str = Field(description="2026-11-18, of UTC")


class NamedModelCost(ModelCost):
    """Of one model."""

    model: str | None = Field(description="null if it is not on record which model it was")


class NamedProjectCost(ModelCost):
    """Of one project."""

    project: str


class StoreCost(WireAnswer):
    """Of all projects, with work that belongs to none."""

    tokens: int
    calls: int | None


class GivenCounts(WireAnswer):
    """What agents of the project were given."""

    starts: int = Field(description="sessions that were given something at their start")
    prompts: int = Field(description="prompts that were given something")
    tokens: int
    memories: int | None = Field(description="different ones; this and the next two are null if it is not on record")
    used: int | None = Field(description="of these, opened by an agent, at whatever time")
    corrected: int | None = Field(description="of these, edited, replaced or put away after an agent was told them")
    whole: bool = Field(description="false if only the newest were counted")

    @classmethod
    def of(cls, given: HandedOver) -> Self:
        """What was counted."""
        known = given.memories
        return cls(
            starts=given.starts, prompts=given.prompts, tokens=given.tokens,
            memories=known.told if known else None, used=known.used if known else None,
            corrected=known.corrected if known else None, whole=given.whole and (known is None or known.whole),
        )  # fmt: skip


class BriefCost(WireAnswer):
    """`GET /api/brief/cost`: what a project's memory cost and gave. Days are those of UTC, as the daily limit's are."""

    days: tuple[DayCost, ...] = Field(description="every day of the time, oldest first")
    total: ModelCost
    models: tuple[NamedModelCost, ...]
    projects: tuple[NamedProjectCost, ...] = Field(description="of all projects, the 20 that cost most")
    store: StoreCost
    given: GivenCounts
    whole: bool = Field(description="false if only the newest answers of models were counted")

    @classmethod
    def of(cls, cost: ProjectCost) -> Self:
        """What was counted."""
        total = ModelUse()
        for each in cost.days.values():
            total.merge(each)
        projects = sorted(cost.projects.items(), key=lambda each: (-(each[1].tokens or 0), -each[1].calls, each[0]))
        models = sorted(cost.models.items(), key=lambda each: (-(each[1].tokens or 0), -each[1].calls, each[0] or ""))
        return cls(
            days=tuple(DayCost.of(use, day=day_name(day)) for day, use in sorted(cost.days.items())),
            total=ModelCost.of(total),
            models=tuple(NamedModelCost.of(use, model=name) for name, use in models),
            projects=tuple(NamedProjectCost.of(use, project=name) for name, use in projects[:MAX_PROJECTS]),
            store=StoreCost(tokens=cost.store_tokens, calls=cost.store_calls),
            given=GivenCounts.of(cost.given),
            whole=cost.whole,
        )
