"""What shows that an answer is right, where nothing but text is known: a test or build that passes, a person's word."""

# ruff: noqa: RUF001  (Chinese has punctuation of its own)

from __future__ import annotations

import re

from codexmem.kernel.model import testruns

_BUILT = re.compile(
    r"^(?:\[INFO\] )?BUILD SUCCESS(?:FUL)?\b|^\s{0,8}Finished .{1,80} target\(s\) in |^Build succeeded\."
    r"|^ok[ \t]+\S+[ \t]+[\d.]+s$"
    r"|^webpack .{0,80}compiled successfully|^\u2713 built in [\d.]+m?s$",
    re.MULTILINE,
)
_BROKEN = re.compile(
    r"^(?:\[ERROR\] |\[INFO\] )?BUILD FAIL|^error(?:\[E\d+\])?: |^npm (?:ERR!|error)|^make(?:\[\d+\])?: \*\*\*"
    r"|^Build FAILED|^FAIL[ \t:]|^--- FAIL|^Traceback \(most recent call last\)",
    re.MULTILINE,
)
_POLITE = r"(?:(?:thanks|thank you|great|perfect|nice|ok|okay|yes|yep|cool|awesome|good|wow|super)\b[\s,.!]*){0,4}"
_YES = re.compile(
    rf"\s*{_POLITE}(?:(?:that|this|it)(?:'s|\s+(?:is|was|has|really|all|now))?\s+(?:works?|worked|working|fixed|solved|did\s+it"
    r"|did\s+the\s+trick|helped|correct|right)|works(?:\s+(?:now|well|fine|great|perfectly))?|worked|confirmed|solved|fixed)\b",
    re.IGNORECASE,
)
_YES_ZH = re.compile(
    r"\s*(?:(?:谢谢|多谢|好的?|很好|太好了|嗯|对|是的|完美)[\s，,。！!]*){0,4}(?:这样|现在|问题|已经?)?"
    r"(?:可以了|成功了|解决了|管用了?|有效|没问题了|好了|搞定了?|确认|正确|能用了|通过了)"
)
_NO = re.compile(r"\bnot\b|n't\b|\bnever\b|\bbut\b|\bexcept\b|\bstill\b|\?|\uff1f|不|没(?!问题)|吗|但", re.IGNORECASE)
_END = re.compile(r"[.!;。！；\n]")


def passes(output: str) -> bool:
    """Whether the last test or build in an output went well, by the lines that their programs print."""
    run = testruns.read("", output)
    if run.failed or run.failing:
        return False
    built = [match.end() for match in _BUILT.finditer(output)]
    if not run.passed and not built:
        return False
    return not _BROKEN.search(output, built[-1] if built and not run.passed else 0)


def confirms(said: str) -> bool:
    """Whether a person begins by saying that the last answer was right."""
    yes = _YES.match(said) or _YES_ZH.match(said)
    if yes is None:
        return False
    end = _END.search(said, yes.end())
    return not _NO.search(said[: end.start() if end is not None else len(said)])
