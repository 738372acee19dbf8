"""Whether what an agent answered is worth being a candidate: four rules, each with a verdict that can be said.

A turn is first brought into the form in which it would be written (`gatekeeper_draft`), and that form is judged:

- `missing`: search found nothing, or nothing that scored `min_score`;
- `reusable`: no moment, person, machine or ticket in it (`gatekeeper_reusable`);
- `form`: a clear question, and an answer with structure, bounds and a sensible length (`gatekeeper_form`);
- `safe`: no secret in it, whatever level of redaction was chosen, and none that was masked before.

Mode `hard` writes when all four are kept. Mode `soft` writes when there is a strong signal besides, and then `missing`
is told but does not count: a confirmed answer is worth having beside one that search found, and the service merges
what is the same and shows side by side what contradicts. Mode `off` never writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from codexmem.kernel.model import redaction
from codexmem.qa.gatekeeper.draft import QaDraft, distil
from codexmem.qa.gatekeeper.form import fault_of
from codexmem.qa.gatekeeper.reusable import is_reusable, signs
from codexmem.qa.gatekeeper.sentences import NAMES, said

MODES = ("off", "soft", "hard")
RULES = ("missing", "reusable", "form", "safe")
_PERSONAL = frozenset(("email", "phone", "ip", "user", "card", "id-number", "random"))  # masks that are no secrets
_MASK = re.compile(r"\[REDACTED:([a-z0-9-]{1,40})\]")

__all__ = ["MODES", "RULES", "GatekeeperOutcome", "QaDraft", "RuleVerdict", "distil", "judge"]


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What one rule says; `key` and `values` are its reason, to be said in a language."""

    name: str
    passed: bool
    key: str
    values: Mapping[str, str] = field(default_factory=dict)
    counts: bool = True  # whether the mode asks for it

    @property
    def why(self) -> str:
        """The reason in English."""
        return said(self.key, self.values)

    def explained(self, language: str = "en") -> tuple[str, str]:
        """The name of the rule and the reason, in a language (`en` or `zh`)."""
        return NAMES["zh" if language == "zh" else "en"][self.name], said(self.key, self.values, language)


@dataclass(frozen=True, slots=True)
class GatekeeperOutcome:
    """Whether a candidate is written, why, and what it would be."""

    writes: bool
    rules: tuple[RuleVerdict, ...]
    draft: QaDraft | None  # exactly what was judged
    key: str
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def why(self) -> str:
        """The reason in English."""
        return said(self.key, self.values)

    def explained(self, language: str = "en") -> str:
        """The reason in a language (`en` or `zh`)."""
        names = NAMES["zh" if language == "zh" else "en"]
        broken = ", ".join(names[rule.name] for rule in self.rules if rule.counts and not rule.passed)
        return said(self.key, {"found": broken}, language)


def judge(
    question: str,
    answer: str,
    *,
    top_score: float | None,
    min_score: float,
    mode: str,
    strong_signal: bool = False,
) -> GatekeeperOutcome:
    """The verdict on one turn; `top_score` is the best score of the search before it, None if it found nothing.

    Texts may be masked already or not; either way a secret refuses them. Linear in their length, which is cut.
    """
    draft = distil(question, answer)
    rules = (
        _missing(top_score, min_score, counts=mode != "soft"),
        _reusable(draft),
        _form(draft),
        _safe(draft),
    )
    broken = ", ".join(rule.name for rule in rules if rule.counts and not rule.passed)
    if mode not in {"soft", "hard"}:
        return GatekeeperOutcome(False, rules, draft, "mode.off")
    if mode == "soft" and not strong_signal:
        return GatekeeperOutcome(False, rules, draft, "mode.no_signal")
    if broken:
        return GatekeeperOutcome(False, rules, draft, "mode.rules", {"found": broken})
    return GatekeeperOutcome(True, rules, draft, f"mode.{mode}")


def _missing(top_score: float | None, min_score: float, *, counts: bool) -> RuleVerdict:
    if top_score is None:
        return RuleVerdict("missing", True, "missing.nothing", {}, counts)
    values = {"top": f"{top_score:.2f}", "least": f"{min_score:.2f}"}
    passed = top_score < min_score
    return RuleVerdict("missing", passed, "missing.little" if passed else "missing.known", values, counts)


def _reusable(draft: QaDraft | None) -> RuleVerdict:
    if draft is None:
        return RuleVerdict("reusable", False, "form.empty")
    found = signs(draft.question, draft.answer)
    if is_reusable(found):
        return RuleVerdict("reusable", True, "reusable.yes")
    if found[0].weight > 1:
        return RuleVerdict("reusable", False, f"reusable.{found[0].kind}", {"found": _safely(found[0].found)})
    shown = ", ".join(_safely(sign.found) for sign in found[:3])
    return RuleVerdict("reusable", False, "reusable.several", {"found": shown})


def _form(draft: QaDraft | None) -> RuleVerdict:
    if draft is None:
        return RuleVerdict("form", False, "form.empty")
    fault = fault_of(draft)
    if fault is None:
        return RuleVerdict("form", True, "form.yes")
    return RuleVerdict("form", False, fault.key, {name: _safely(value) for name, value in fault.values.items()})


def _safe(draft: QaDraft | None) -> RuleVerdict:
    if draft is None:
        return RuleVerdict("safe", True, "safe.yes")
    whole = f"{draft.question}\n{draft.answer}"
    masked = (kind for kind in _MASK.findall(whole) if kind not in _PERSONAL)
    kinds = list(dict.fromkeys((*masked, *redaction.kinds_in(whole))))
    if not kinds:
        return RuleVerdict("safe", True, "safe.yes")
    return RuleVerdict("safe", False, "safe.secret", {"found": ", ".join(kinds[:5])})


def _safely(found: str) -> str:
    """What is shown of a text in a reason: on one line, and without what a reason should not repeat."""
    return redaction.redact(" ".join(found.split()), level="strict").replace("{", "(").replace("}", ")")
