"""MCP sampling: the model of a connected agent as the author, asked through the bridge that the agent started.

A question waits here until a bridge whose client offers sampling takes it, which it may do only while a person has
chosen `sampling` as the writer. Taking is a lease: a bridge that holds a question says so again and again, and one that
stops saying it is gone; the question is then given out once more, and no third time. Where nobody is connected there
is no answer, and what rules wrote stands. Questions live in this process, which must be the one that runs the jobs.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from codexmem.agents.authors.author import ROLE, asked
from codexmem.kernel.llm.call_pauses import CallPauses
from codexmem.kernel.llm.model import Check, Completion, ModelPrompt, Trouble, Unanswered
from codexmem.kernel.model import ids
from codexmem.kernel.model.text_size import tokens
from codexmem.kernel.model.visibility import present_viewer
from codexmem.kernel.model.writer import SAMPLING

LEASE_S = 15.0
GONE_S = 40.0  # nobody is connected where nobody has looked for so long; bridges look twice a minute at least
ANSWER_S = 300.0  # people are asked for their consent first
REFUSED_S = 900.0  # a client, or its person, that refuses is left alone for so long
_TIMES = 2  # that a question is given out
_SLICE_S = 0.25
_SLOW_S = 240.0
_MAX_ANSWER = 200_000  # characters


@dataclass
class SampledQuestion:
    """One question on its way to a client."""

    id: str
    tenant: str
    text: str
    max_tokens: int
    system: str = ROLE
    private_to: str = ""  # the member whose agent alone may be asked
    holder: str = ""  # the bridge that has it
    until_s: float = 0.0  # for how long
    times: int = 0  # that it was given out
    answer: str | None = None
    refused: bool = False


class SampledModel:
    """Whatever model the acting tenant's clients have. Every call may come from any thread."""

    name = SAMPLING

    def __init__(self, tenant: Callable[[], str], *, now_s: Callable[[], float] = ids.monotonic) -> None:
        self._tenant = tenant
        self._now_s = now_s
        self._began_s = now_s()
        self._changed = threading.Condition()
        self._questions: dict[str, SampledQuestion] = {}
        self._seen_s: dict[str, float] = {}  # when a bridge of a tenant last asked
        self._pauses: dict[str, CallPauses] = {}

    def answer(self, prompt: ModelPrompt, check: Check) -> Completion:
        """What a connected client's model says."""
        tenant = self._tenant()
        pauses = self._pauses.setdefault(
            tenant, CallPauses(slow_s=_SLOW_S, longest_rest_s=REFUSED_S, breaker=None, now_s=self._now_s)
        )
        pauses.require("the agent that is connected over MCP")
        text = asked(prompt, with_schema=True)
        question = SampledQuestion(ids.bare(), tenant, text, prompt.max_tokens, private_to=present_viewer().sees)
        began_s = self._now_s()
        try:
            said = self._answered(question, check)
        except Unanswered as error:
            if error.trouble is not Trouble.SETUP_REQUIRED:  # whoever connects is asked at once
                pauses.failed(error, took_s=self._now_s() - began_s, deadline_s=ANSWER_S)
            raise
        pauses.worked()
        return Completion(said, tokens(text), tokens(said))

    def _answered(self, question: SampledQuestion, check: Check) -> str:
        began_s = self._now_s()
        with self._changed:
            self._questions[question.id] = question
            try:
                while question.answer is None:
                    check()
                    self._require_hope(question, began_s)
                    self._changed.wait(_SLICE_S)
                return question.answer
            finally:
                del self._questions[question.id]

    def _require_hope(self, question: SampledQuestion, began_s: float) -> None:
        """Raise once no answer can be expected any more."""
        now_s = self._now_s()
        if question.refused:
            message = "the agent that is connected over MCP refused the question"
            raise Unanswered(message, Trouble.RATE_LIMIT, wait_s=REFUSED_S)
        if question.holder and now_s >= question.until_s:
            question.holder = ""  # gone
        if not question.holder:
            since_s = max(self._seen_s.get(question.tenant, self._began_s), question.until_s)
            if question.times >= _TIMES:
                raise Unanswered("agents went away while they were asked", Trouble.TRANSIENT)
            if now_s - since_s >= GONE_S:
                hint = "start an agent whose MCP client offers sampling, or choose another writer: codexmem writer"
                raise Unanswered("no connected agent offers sampling", Trouble.SETUP_REQUIRED, hint=hint)
        if now_s - began_s >= ANSWER_S:
            message = f"no connected agent answered within {ANSWER_S:g} s"
            raise Unanswered(message, Trouble.TRANSIENT, prompt_tokens=tokens(question.text) if question.times else 0)

    def take(self, bridge: str, holding: str) -> SampledQuestion | None:
        """The next question for this bridge; none while the one that it holds is waited for, which it keeps."""
        tenant = self._tenant()
        with self._changed:
            now_s = self._now_s()
            self._seen_s[tenant] = now_s
            mine = [each for each in self._questions.values() if each.tenant == tenant]
            held = next((each for each in mine if each.id == holding and each.holder == bridge), None)
            if held is not None:
                held.until_s = now_s + LEASE_S
                return None
            own = ("", present_viewer().sees)
            free = (
                each for each in mine
                if not each.holder and each.times < _TIMES and each.answer is None and each.private_to in own
            )  # fmt: skip
            question = next(free, None)
            if question is not None:
                question.holder, question.until_s, question.times = bridge, now_s + LEASE_S, question.times + 1
            return question

    def settle(self, bridge: str, number: str, answer: str | None) -> bool:
        """A client's answer, or None for its refusal; whether anybody still waits for it from this bridge."""
        tenant = self._tenant()
        with self._changed:
            question = self._questions.get(number)
            if question is None or question.tenant != tenant or question.holder != bridge:
                return False
            question.answer, question.refused = answer[:_MAX_ANSWER] if answer is not None else None, answer is None
            self._changed.notify_all()
            return True
