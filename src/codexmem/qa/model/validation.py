"""What a report about a tried answer says: did it work, how sure is the reporter, is it strong enough to decide.

Reporters fill different fields: `success` is plain; where it is missing, `result` is read by a list of words. Fields
that contradict each other are refused, because guessing would teach the memory the opposite of what was meant.
"""

import math
from dataclasses import dataclass, field

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.qa.model.belief import Signal

WORKED = frozenset((
    "pass", "passed", "passes", "success", "succeed", "succeeded", "successful", "ok", "okay", "yes", "y", "true",
    "valid", "validated", "correct", "confirmed", "works", "worked", "working", "good", "accepted", "approved",
    "verified", "fixed", "solved", "resolved", "done", "green", "通过", "已通过", "成功", "正确", "有效", "可用",
    "是", "对", "好", "已解决", "解决", "已验证", "验证通过", "确认", "没问题",
))  # fmt: skip
FAILED = frozenset((
    "fail", "failed", "fails", "failure", "error", "errored", "no", "n", "false", "invalid", "incorrect", "wrong",
    "refuted", "broken", "bad", "rejected", "unsolved", "red", "失败", "未通过", "不通过", "没通过", "错误", "不正确",
    "无效", "不可用", "否", "不对", "不行", "未解决", "没用", "报错", "有误",
))  # fmt: skip
UNDECIDED = frozenset((
    "unknown", "unclear", "inconclusive", "skip", "skipped", "pending", "partial", "n/a", "na", "none", "neutral",
    "未知", "不确定", "跳过", "待定", "部分", "无法判断",
))  # fmt: skip
# What reporters call a strength who do not count.
STRENGTHS = {"weak": 0.5, "low": 0.5, "弱": 0.5, "medium": 0.75, "normal": 0.75, "中": 0.75,
             "strong": 1.0, "high": 1.0, "强": 1.0}  # fmt: skip
_EXAMPLES = "pass, success, ok, 通过, fail, failed, 失败"


class UnprocessableReport(InvalidArgument):
    """Well-formed, and still nothing that could be done: fields contradict each other or say too little."""

    code = "unprocessable"


@dataclass(frozen=True, slots=True)
class AnswerTrial:
    """What was reported."""

    worked: bool | None  # None: it was tried, and nothing came of it
    strength: float  # of the reporter, 0 to 1
    strong: bool  # decides by itself


@dataclass(frozen=True, slots=True)
class QaReference:
    """One item that was put before somebody."""

    qa_id: str
    shown: bool
    used: bool
    message: str | None = None
    context: object = None

    @property
    def signals(self) -> tuple[Signal, ...]:
        """What it reports."""
        given = ((Signal.SHOWN, self.shown), (Signal.USED, self.used))
        return tuple(signal for signal, reported in given if reported)


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """An answer that was tried."""

    qa_id: str
    trial: AnswerTrial
    at_ms: int | None = None  # when, if the reporter says so
    facts: dict[str, object] = field(default_factory=dict)  # for the log


def trial(
    *, success: bool | None, result: str | None, strength: float | str | None, strong: bool | None
) -> AnswerTrial:
    """Read the fields together."""
    said = _read(result)
    if success is not None and said is not None and said.worked is (not success):
        raise UnprocessableReport(
            f"success is {str(success).lower()} and result {_shown(result)} says the opposite",
            hint="send one of the two, or let them agree",
        )
    if success is None and said is None:
        raise UnprocessableReport(
            "neither success nor result says whether it worked",
            hint=f"send success as true or false, or result as one of {_EXAMPLES}",
        )
    sure = _strength(strength)
    if strong and sure <= 0.0:
        raise UnprocessableReport("strong_signal is true and signal_strength is 0", hint="leave one of the two out")
    worked = success if success is not None or said is None else said.worked
    decides = strong if strong is not None else isinstance(strength, str) and sure >= 1.0
    return AnswerTrial(worked, sure, decides)


@dataclass(frozen=True, slots=True)
class _Result:
    """What the word of a result says; None: nothing was decided."""

    worked: bool | None


def _read(result: str | None) -> _Result | None:
    if result is None or not result.strip():
        return None
    word = " ".join(result.casefold().split()).strip(" .!。！")  # noqa: RUF001
    for words, worked in ((WORKED, True), (FAILED, False), (UNDECIDED, None)):
        if word in words:
            return _Result(worked)
    raise UnprocessableReport(
        f"result {_shown(result)} is no word that is known here", hint=f"use one of {_EXAMPLES}, or send success"
    )


def _strength(given: float | str | None) -> float:
    if given is None:
        return 1.0
    if isinstance(given, str):
        word = given.strip().casefold()
        if word in STRENGTHS:
            return STRENGTHS[word]
        try:
            given = float(word)
        except ValueError:
            raise UnprocessableReport(
                f"signal_strength {_shown(word)} is neither a number nor a word that is known here",
                hint=f"use a number from 0 to 1, or one of {', '.join(STRENGTHS)}",
            ) from None
    if not math.isfinite(given) or not 0.0 <= given <= 1.0:
        raise UnprocessableReport(f"signal_strength {given:g} is not between 0 and 1")
    return float(given)


def _shown(text: str | None) -> str:
    return repr((text or "")[:60])
