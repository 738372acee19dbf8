"""The gatekeeper at work on a run's turns: masked first, then judged, so that what is written is what was judged."""

from __future__ import annotations

from codexmem.codecli.configuration import Config
from codexmem.codecli.post_run import Gatekeeper, Worth
from codexmem.codecli.redactor import Redactor
from codexmem.kernel.model.clipping import clip

_LOOKED_AT = 64_000  # characters of an answer


def gatekeeper_of(config: Config, redactor: Redactor, language: str = "en") -> Gatekeeper | None:
    """What the configuration asks for, with reasons in a language; None if nothing is to be written."""
    if config.gatekeeper.mode == "off":
        return None

    def judged(question: str, answer: str, *, top_score: float | None, strong_signal: bool) -> Worth:
        from codexmem.qa.gatekeeper import judging as gatekeeper

        outcome = gatekeeper.judge(
            redactor.text(clip(question, _LOOKED_AT)), redactor.text(clip(answer, _LOOKED_AT)), top_score=top_score,
            min_score=config.search.min_score, mode=config.gatekeeper.mode, strong_signal=strong_signal,
        )  # fmt: skip
        rules = tuple({"name": rule.name, "passed": rule.passed, "why": rule.why} for rule in outcome.rules)
        why, draft = outcome.explained(language), outcome.draft
        waits = outcome.key == "mode.no_signal" and all(rule.passed for rule in outcome.rules if rule.counts)
        if draft is None or not (outcome.writes or waits):
            return Worth(rules=rules, why=why)
        return Worth(
            draft.question, draft.answer, draft.summary, draft.tags, writes=outcome.writes, waits=waits, why=why,
            rules=rules, metadata={"gatekeeper": config.gatekeeper.mode, "strong_signal": strong_signal},
        )  # fmt: skip

    return judged
