"""Whether what an agent answered is worth being a candidate: four rules, each with a verdict that can be said.

A turn is first brought into the form in which it would be written (`gatekeeper_draft`), and that form is judged:

- `missing`: search found nothing, or nothing that scored `min_score`;
- `reusable`: no moment, person, machine or ticket in it (`gatekeeper_reusable`);
- `form`: a clear question, and an answer with structure, bounds and a sensible length (`gatekeeper_form`);
- `safe`: no secret in it, whatever level of redaction was chosen, and none that was masked before.

Mode `hard` writes when all four are kept. Mode `soft` writes when there is a strong signal besides, and then `missing`
is told but does not count: a confirmed answer is worth having beside one that search found, and the service merges
what is the same and shows side by side what contradicts. Mode `off` never writes.

Why a rule of the gatekeeper was kept or broken, in two languages; a verdict carries a key and its values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from codexmem.kernel.model import redaction
from codexmem.qa.gatekeeper.draft import QaDraft, distil
from codexmem.qa.gatekeeper.form import fault_of
from codexmem.qa.gatekeeper.reusable import is_reusable, signs

# ruff: noqa: RUF001


ENGLISH: dict[str, str] = {
    "missing.nothing": "search found nothing, so the answer is new",
    "missing.little": "the best match scored {top}, below {least}, so the answer is new",
    "missing.known": "search already found an answer that scored {top}, at least {least}",
    "reusable.yes": "nothing in it holds only once, for one person or on one machine",
    "reusable.once": "it is about one moment: “{found}”",
    "reusable.report": "it reports what was done instead of answering a question: “{found}”",
    "reusable.status": "the question asks how things stand now: “{found}”",
    "reusable.machine": "it holds a value of one machine: “{found}”",
    "reusable.person": "it holds something personal: “{found}”",
    "reusable.ticket": "it is about single changes or tickets: “{found}”",
    "reusable.several": "several signs say that it holds only once: {found}",
    "form.yes": "the question is clear, and the answer has steps or structure and says where it ends",
    "form.empty": "nothing is left of the question or the answer once greetings and injected text are gone",
    "form.vague": "the question says too little by itself: “{found}”",
    "form.no_question": "what was said is no question and no request for an explanation: “{found}”",
    "form.long_question": "the question is too long: {count} characters, at most {most}",
    "form.short": "the answer is too short: about {count} words, at least {least}",
    "form.long": "the answer is too long: {count} characters, at most {most}",
    "form.refusal": "the answer is a refusal or an apology: “{found}”",
    "form.error": "the answer is an error message: “{found}”",
    "form.promise": "the answer announces work instead of answering: “{found}”",
    "form.asks_back": "the answer asks back instead of answering: “{found}”",
    "form.guess": "the answer says itself that it is a guess: “{found}”",
    "form.shapeless": "the answer has no steps, list, table or code, and is too short to stand as prose",
    "form.unbounded": "the answer is short and says nothing of limits, conditions or exceptions",
    "safe.yes": "no secret was found in it",
    "safe.secret": "it holds a secret ({found})",
    "mode.off": "the gatekeeper is off: nothing is written",
    "mode.no_signal": "the mode is soft and no strong signal came, such as a passing test or a person's confirmation",
    "mode.rules": "a rule was broken: {found}",
    "mode.soft": "there was a strong signal, and the rules that count in soft mode are kept",
    "mode.hard": "all four rules are kept",
}

CHINESE: dict[str, str] = {
    "missing.nothing": "检索没有结果，说明这是新的答案",
    "missing.little": "最佳匹配得分 {top}，低于 {least}，说明这是新的答案",
    "missing.known": "检索已找到得分 {top} 的答案，不低于 {least}",
    "reusable.yes": "其中没有只对某一时刻、某个人或某台机器成立的内容",
    "reusable.once": "内容只针对某一时刻：“{found}”",
    "reusable.report": "内容是在汇报做了什么，而不是回答问题：“{found}”",
    "reusable.status": "问题问的是当前状态：“{found}”",
    "reusable.machine": "包含只属于某台机器的值：“{found}”",
    "reusable.person": "包含个人信息：“{found}”",
    "reusable.ticket": "内容只涉及个别改动或工单：“{found}”",
    "reusable.several": "多处迹象表明内容只适用一次：{found}",
    "form.yes": "问题明确，答案有步骤或结构，并说明了边界",
    "form.empty": "去掉寒暄和注入的内容后，问题或答案为空",
    "form.vague": "问题本身信息太少：“{found}”",
    "form.no_question": "这句话既不是提问，也不是要求解释：“{found}”",
    "form.long_question": "问题太长：{count} 个字符，最多 {most} 个",
    "form.short": "答案太短：约 {count} 个词，至少 {least} 个",
    "form.long": "答案太长：{count} 个字符，最多 {most} 个",
    "form.refusal": "答案是拒绝或道歉：“{found}”",
    "form.error": "答案是一条错误信息：“{found}”",
    "form.promise": "答案只是说将要做什么，并没有回答：“{found}”",
    "form.asks_back": "答案在反问，而不是回答：“{found}”",
    "form.guess": "答案自称只是猜测：“{found}”",
    "form.shapeless": "答案没有步骤、列表、表格或代码，作为一段文字又太短",
    "form.unbounded": "答案较短，且没有说明限制、条件或例外",
    "safe.yes": "没有发现密钥等秘密",
    "safe.secret": "包含秘密（{found}）",
    "mode.off": "闸门已关闭：不写入",
    "mode.no_signal": "当前为 soft 模式，且没有强信号（例如测试通过或本人确认）",
    "mode.rules": "未满足的规则：{found}",
    "mode.soft": "有强信号，且 soft 模式下计入的规则均已满足",
    "mode.hard": "四条规则全部满足",
}

NAMES: dict[str, dict[str, str]] = {
    "en": {"missing": "missing", "reusable": "reusable", "form": "form", "safe": "safe"},
    "zh": {"missing": "命中不足", "reusable": "可复用", "form": "结构达标", "safe": "安全合规"},
}


def said(key: str, values: Mapping[str, str], language: str = "en") -> str:
    """The sentence of this key; English for any language but Chinese."""
    return (CHINESE if language == "zh" else ENGLISH)[key].format(**values)


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
