"""The author: a model that says what finished turns mean, and whose every claim is held against what it cites.

An answer that does not fit is sent back once with what is wrong. Whenever the model is away, too dear or unusable there
are no operations, and what rules wrote stands: they have said what happened before anybody is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codexmem.capture.claims import CitedEvidence, proven
from codexmem.kernel.llm import evidence, structured
from codexmem.kernel.llm.asking import Asking, ModelTrial
from codexmem.kernel.llm.material import AuthorAnswer, FinishedTurn, KnownMemory, ModelOutcome, Operation, OperationKind
from codexmem.kernel.llm.model import Check, Model
from codexmem.kernel.llm.prompts import review
from codexmem.kernel.llm.prompts import turns as question
from codexmem.kernel.llm.prompts.turns import TurnQuestion
from codexmem.kernel.llm.structured import SaidChange, SaidMemory
from codexmem.kernel.model import ids
from codexmem.kernel.model.statement import LastingKind

_REPEATED = 2  # memories that must show a rule


class TurnAuthor:
    """A model, if there is one. Every call may come from any thread."""

    def __init__(self, model: Model | None = None, *, may_spend: Callable[[int], bool] = lambda _: True,
                 room: int = question.ROOM, now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self._model = model
        self._asking = Asking(may_spend, now_s)
        self.room = room

    @property
    def model(self) -> str | None:
        """The model's name; None where nobody is to be asked."""
        return None if self._model is None else self._model.name

    def ask(
        self, project: str, turns: Sequence[FinishedTurn], known: Sequence[KnownMemory], check: Check
    ) -> AuthorAnswer:
        """What the model makes of these turns, as far as the evidence bears it."""
        if self._model is None or not turns:
            return AuthorAnswer()
        asked = question.ask(project, turns, known, room=self.room)
        trial = self._asking.ask(self._model, asked.prompt, structured.memories, check)
        return _answer(trial, [judge(said, asked) for said in trial.value or ()])

    def review(self, project: str, known: Sequence[KnownMemory], check: Check) -> AuthorAnswer:
        """What the model wants to be done to what a project knows."""
        if self._model is None or not known:
            return AuthorAnswer()
        trial = self._asking.ask(self._model, review.ask(project, known), structured.review, check)
        return _answer(trial, [judge_change(said, known) for said in trial.value or ()])


def _answer(trial: "ModelTrial[Any]", judged: "list[Judgement]") -> AuthorAnswer:
    answered = trial.answered and trial.value is not None
    end = ModelOutcome.SUCCESS if answered else ModelOutcome.FALLBACK_USED
    return AuthorAnswer(
        operations=tuple(each.operation for each in judged if each.operation is not None),
        outcomes=(*trial.outcomes, end),
        kept=sum(each.kept for each in judged),
        refused=tuple(text for each in judged for text in each.refused),
        questions=1,
        prompt_tokens=trial.prompt_tokens,
        completion_tokens=trial.completion_tokens,
        model_ms=trial.model_ms,
        error_class=trial.error_class,
        error=trial.error,
        wait_s=trial.wait_s,
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is left of something that a model wants to be remembered."""

    operation: Operation | None
    kept: int = 0  # claims
    refused: tuple[str, ...] = ()


def judge(said: SaidMemory, asked: TurnQuestion) -> Judgement:
    """The operation, without what its sources do not bear; none if nothing is left of it."""
    cited = [asked.sources[number - 1] for number in dict.fromkeys(said.rests_on) if 0 < number <= len(asked.sources)]
    known = next((each for each in asked.known if each.label.casefold() == said.target.strip().casefold()), None)
    told = tuple(filter(None, (said.title, said.text)))
    op = _operation(said.op, known)
    if not cited:
        return Judgement(None, refused=told or (f"{op.value} {said.target}",))
    captured = tuple(source.event for source in cited if source.event is not None)
    shown = tuple(source.seq for source in cited if source.seq is not None)
    by_person = any(source.by == "person" for source in cited)
    if op is OperationKind.CONFIRM:
        assert known is not None
        return Judgement(Operation(op, kind_of(said.kind), target=known.seq, events=shown, by_person=by_person), kept=1)
    texts = [source.text for source in cited]
    if op is OperationKind.UPDATE and known is not None:
        texts.append(known.text)
    left = proven(said.title, said.text, CitedEvidence(texts))
    if left.is_empty:
        return Judgement(None, refused=left.refused)
    files = evidence.files(captured)
    return Judgement(
        Operation(
            op, kind_of(said.kind), target=known.seq if known is not None else None, title=left.title, text=left.text,
            events=shown, files_read=files.read, files_modified=files.modified,
            by_person=by_person, reason=said.reason, unproven=left.refused,
        ),
        kept=len(told) - min(len(told), len(left.refused)), refused=left.refused,
    )  # fmt: skip


def judge_change(said: SaidChange, known: Sequence[KnownMemory]) -> Judgement:
    """What a model wants to be done to known memories, as far as they bear it."""
    by_label = {each.label.casefold(): each for each in known}
    keep = by_label.get(said.keep.strip().casefold())
    drop = _meant(said.drop, by_label, but=keep)
    told = tuple(filter(None, (said.title, said.text)))
    if said.op.strip().lower() == "rule":
        shown = _meant(said.rests_on, by_label)
        left = proven(said.title, said.text, CitedEvidence(each.text for each in shown))
        if len(shown) < _REPEATED or left.is_empty:
            return Judgement(None, refused=left.refused or told)
        added = Operation(
            OperationKind.ADD, LastingKind.RULE, title=left.title, text=left.text, reason=said.reason,
            unproven=left.refused,
        )  # fmt: skip
        return Judgement(added, kept=len(told), refused=left.refused)
    if keep is None or not drop:
        return Judgement(None, refused=told or (f"{said.op} {said.keep}",))
    op = OperationKind.SUPERSEDE if said.op.strip().lower() == "supersede" else OperationKind.MERGE
    left = proven(said.title, said.text, CitedEvidence([keep.text, *(each.text for each in drop)]))
    text = left.text if op is OperationKind.MERGE else ""
    return Judgement(
        Operation(
            op, kind_of(keep.kind), target=keep.seq, title=left.title if text else "", text=text, reason=said.reason,
            dropped=tuple(each.seq for each in drop), unproven=left.refused,
        ),
        kept=1, refused=left.refused,
    )  # fmt: skip


def _meant(labels: Sequence[str], known: Mapping[str, KnownMemory], but: KnownMemory | None = None
           ) -> list[KnownMemory]:  # fmt: skip
    found = (known.get(label.strip().casefold()) for label in dict.fromkeys(labels))
    return [each for each in found if each is not None and each != but]


def _operation(word: str, known: KnownMemory | None) -> OperationKind:
    """What is meant: whatever speaks of a memory that was not shown is something new."""
    try:
        op = OperationKind(word.strip().lower() or "add")
    except ValueError:
        op = OperationKind.ADD
    return op if known is not None else OperationKind.ADD


def kind_of(word: str) -> LastingKind:
    """The kind that a model names, by its own word if that is one of ours."""
    plain = word.strip().lower().replace("_", "-").replace(" ", "-")
    try:
        return LastingKind(plain)
    except ValueError:
        return LastingKind.DISCOVERY
