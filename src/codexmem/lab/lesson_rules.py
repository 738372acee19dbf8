"""Lessons without any model: what a person said and measured, beside what was asked and tried.

Nothing is concluded that the feedback does not say: its praise, its criticism and its measurements each become one
lesson, in the person's own words. The same feedback gives the same lessons.
"""
# ruff: noqa: RUF001

from typing import Any

from codexmem.kernel.llm.clip import clip, line
from codexmem.kernel.llm.language import Language, language_of
from codexmem.lab.feedback_model import Feedback, Share
from codexmem.lab.lesson_model import Proposal

_TITLE = 200
_SAID = 1_500  # characters of what a person wrote
_REQUEST = 160
_RECIPES = 3
_RECIPE = 200
_VALUE = 60
_PRODUCTS = 5

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "pros": "Worked: {said}",
        "cons": "Avoid or improve: {said}",
        "other": "Remark: {said}",
        "measured": "Measured products: {said}",
        "request": "Asked for: {text}",
        "recipes": "Tried: {text}",
        "score": "Score given: {text}",
        "mostly": "mostly {name}, {share} of {total}",
    },
    "zh": {
        "pros": "有效：{said}",
        "cons": "应避免或改进：{said}",
        "other": "备注：{said}",
        "measured": "实测产物：{said}",
        "request": "请求：{text}",
        "recipes": "所试配方：{text}",
        "score": "评分：{text}",
        "mostly": "以 {name} 为主，占 {total} 的 {share}",
    },
}  # fmt: skip


def proposals(request: str, output: dict[str, object] | None, feedback: Feedback) -> tuple[Proposal, ...]:
    """What the feedback says, each part as one lesson; nothing for feedback that says nothing."""
    spoken = " ".join((feedback.pros, feedback.cons, feedback.other)).strip()
    words = _WORDS[language_of(spoken or request)]
    tried = _tried(output)
    about = [words["request"].format(text=line(request, _REQUEST))]
    if tried:
        about.append(words["recipes"].format(text=tried))
    if feedback.score is not None:
        about.append(words["score"].format(text=f"{feedback.score:g}"))
    said = {"pros": feedback.pros, "cons": feedback.cons}
    if not feedback.pros.strip() and not feedback.cons.strip():
        said["other"] = feedback.other
    found = [
        Proposal(line(text, _TITLE), "\n".join((words[name].format(said=clip(text.strip(), _SAID)), *about)))
        for name, text in said.items()
        if text.strip()
    ]
    measured = _measured(feedback.products, words)
    if measured:
        title = line(f"{tried or line(request, _REQUEST)}: {measured}", _TITLE)
        found.append(Proposal(title, "\n".join((words["measured"].format(said=measured), *about))))
    return tuple(found)


def _measured(products: tuple[Share, ...], words: dict[str, str]) -> str:
    there = sorted(
        (each for each in products if each.fraction > 0), key=lambda each: (-each.fraction, each.product_name)
    )
    if not there:
        return ""
    listed = ", ".join(f"{line(each.product_name, _VALUE)} {each.fraction:.1%}" for each in there[:_PRODUCTS])
    first = words["mostly"].format(
        name=line(there[0].product_name, _VALUE),
        share=f"{there[0].fraction:.1%}",
        total=f"{sum(e.value for e in products):g}",
    )
    return f"{first} ({listed})" if len(there) > 1 else first


def _tried(output: dict[str, object] | None) -> str:
    """The first recipes in short, whatever fields a profile gives them; long texts are reasons, not recipes."""
    recipes: Any = (output or {}).get("recipes_json")
    lists = [each for each in recipes.values() if isinstance(each, list)] if isinstance(recipes, dict) else []
    items = [each for each in (lists[0] if lists else []) if isinstance(each, dict)]
    shown = [
        ", ".join(f"{name} {value}" for name, value in item.items() if _is_plain(value))[:_RECIPE]
        for item in items[:_RECIPES]
    ]
    return "; ".join(each for each in shown if each)


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _VALUE and "[" not in value
    return isinstance(value, int | float) and not isinstance(value, bool)
