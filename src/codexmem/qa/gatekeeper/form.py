"""Whether a question is clear and its answer is one: with steps or structure, bounds and a sensible length."""

# ruff: noqa: RUF001

from __future__ import annotations

import re
from typing import NamedTuple

from codexmem.qa.gatekeeper.draft import MAX_ANSWER, MAX_QUESTION, QaDraft, sentences

LEAST_WORDS = 25  # of an answer; a Chinese character counts as two thirds of a word
_PROSE = 45  # words from which prose may stand without a list
_ENOUGH = 60  # words from which an answer may say nothing of its limits
_SHOWN = 60
_LEAST_SAID = 2  # words of a question that say what it is about
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.'/+#-]{0,60}")
_ASKING = re.compile(
    r"[?？]|\b(?:how|what|why|when|where|which|who|whether)\b"
    r"|\A(?:should|can|could|does|do|is|are|will|would|may|must|explain|describe|show|tell|compare|summari[sz]e|list"
    r"|document|teach|walk|give|outline|clarify|define|recommend|suggest|find out|help)\b"
    r"|如何|怎么|怎样|为什么|为何|什么|哪|吗|呢|能否|是否|能不能|可不可以|多少|区别|解释|说明|介绍|对比|比较|总结|列出|讲讲|请问|教",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\A(?:please )?(?:fix|add|rename|revert|remove|implement|update|refactor|make|use|set|write|create|configure"
    r"|enable|disable|convert|migrate|install|debug|test|build|run|replace|move|change|optimi[sz]e|deploy)\b"
    r"|\A(?:请|帮我|麻烦)?(?:把|将|改|修|加|删|写|实现|配置|启用|部署|优化|升级|重构)",
    re.IGNORECASE,
)
# Words that a question may consist of without saying anything.
_EMPTY = frozenset((
    "a", "about", "again", "all", "also", "am", "an", "and", "another", "any", "anything", "are", "as", "ask", "at",
    "be", "but", "can", "check", "come", "continue", "correct", "could", "did", "do", "does", "doing", "done", "else",
    "error", "explain", "find", "first", "fix", "for", "from", "get", "go", "going", "good", "great", "had", "has",
    "have", "help", "here", "hm", "hmm", "how", "i", "if", "in", "is", "it", "its", "just", "last", "let", "lgtm",
    "like", "look", "make", "may", "me", "mean", "more", "must", "my", "need", "new", "next", "nice", "no", "not",
    "now", "of", "off", "ok", "okay", "on", "one", "ones", "or", "other", "our", "out", "perfect", "please", "problem",
    "proceed", "right", "same", "say", "second", "see", "should", "show", "so", "some", "something", "still", "sure",
    "tell", "thank", "thanks", "that", "the", "them", "then", "there", "these", "they", "thing", "things", "this",
    "those", "to", "too", "try", "under", "up", "us", "use", "want", "was", "we", "well", "were", "what", "when",
    "where", "which", "who", "why", "will", "with", "work", "works", "would", "wrong", "y", "yeah", "yep", "yes",
    "you", "your", "happened", "happen", "whole", "really", "that's", "what's", "it's", "i'm", "don't", "doesn't",
    "isn't", "didn't", "can't",
))  # fmt: skip
_EMPTY_HAN = re.compile(
    r"怎么办|怎么样|怎么回事|怎么|如何|怎样|为什么|为何|什么|哪个|哪些|哪里|请问|请|帮我|帮忙|麻烦|看看|看一下|一下|一次|一遍|一步|下一步|继续"
    r"|可以了?|好的?|行|对|是的?|嗯|谢谢|多谢|辛苦了?|不错|没问题|知道了|明白了?|收到|再试|重试|试试|接着|然后|开始|确定|同意|没事"
    r"|这个|那个|这样|那样|这里|那里|这|那|它|会|能|吗|呢|啊|吧|呀|的|了|我|你|他|在|有|要|想|说|改|修|做|还|也|都|就|再|又|到|去|来|出"
    r"|问题|报错|错误|原因|解释|说明|处理|解决"
)
_REFUSAL = re.compile(
    r"\A(?:i'?m (?:really |very )?sorry|sorry\b|apologies|unfortunately,? i"
    r"|i (?:can't|cannot|could not|couldn't|am unable to|am not able to|do not|don't)"
    r" (?:help|assist|do|know|have|find|access|comply|reproduce|see|tell|provide|complete|determine)"
    r"|i'm (?:unable|not able)\b|as an ai\b|no idea\b|i have no\b"
    r"|抱歉|对不起|不好意思|很遗憾|我(?:也)?不(?:太)?(?:清楚|知道|确定)|我无法|我不能"
    r"|无法(?:完成|提供|回答|访问|处理)|这个我(?:也)?不)",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\A(?:traceback \(most recent call last\)|(?:api |fatal |internal )?error\b ?[:：(\d]"
    r"|\w{0,40}(?:Error|Exception): |stream disconnected|connection (?:refused|reset|error)|request timed out"
    r"|rate limit|(?:http )?(?:429|500|502|503)\b|usage limit|quota exceeded|错误[:：]|请求失败|连接超时|服务不可用)",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"\A(?:ok(?:ay)?[,.! ]+|sure[,.! ]+|alright[,.! ]+|great[,.! ]+|thanks[^.!\n]{0,40}[.!] |yes[,.! ]+)?"
    r"(?:i'?ll\b|i will\b|i'?m going to\b|let me\b|let's (?:start|first)|first,? i(?:'ll| will)|continuing\b"
    r"|give me a\b|(?:好的?[，,。 ]{0,3})?那?我?(?:先|再|就|会|来|继续|马上|现在|重新|接下来|接着)我?"
    r"(?:先|去|来|会|看|处理|运行|把|按|开始)"
    r"|(?:下一步|接下来|稍后)我|好的，我)",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\bi'?m (?:just )?guessing\b|\bi have not (?:seen|checked|looked)|\bi haven't (?:seen|checked|looked)|\bmy guess\b"
    r"|\bi(?: am|'m) not (?:really )?sure\b|\bthere can be many reasons\b"
    r"|我猜|我没有?(?:看过|确认过)|不太确定|可能是[^。]{0,20}吧",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^[ \t]{0,8}(?:[-*+•]|\d{1,2}[.)、]|[(（]?[一二三四五六七八九十\d]{1,2}[)）、])[ \t]*\S", re.MULTILINE
)
_TABLE = re.compile(r"^\s{0,4}\|.{1,400}\|\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_STEPS = re.compile(
    r"\b(?:first|then|next|finally|after that|afterwards)\b|首先|其次|然后|最后|接着|第[一二三四]", re.IGNORECASE
)
_BOUNDS = re.compile(
    r"\b(?:note|caveat|careful|caution|warning|only|unless|except|otherwise|however|but|instead|never|always|must"
    r"|cannot|can't|don't|do not|does not|doesn't|won't|isn't|not|limits?|limitation|at most|at least|before|after|if"
    r"|since|requires?|needs?|without|beware|avoid|provided|prefer|rather)\b"
    r"|注意|不要|避免|限制|局限|仅|只|除非|如果|若|否则|但|必须|不能|不会|不是|仍|超过|例外|建议|推荐|需要|前提|最多|至少"
    r"|默认|除外|不支持|风险",
    re.IGNORECASE,
)


class Fault(NamedTuple):
    """What is wrong with the form: the key of a sentence and its values."""

    key: str
    values: dict[str, str]


def fault_of(draft: QaDraft) -> Fault | None:
    """The first thing that is wrong, or None."""
    return _fault_of_question(draft) or _fault_of_answer(draft)


def words_in(text: str) -> int:
    """About how many words this is; Chinese has no gaps between them."""
    return len(_LATIN.findall(text)) + len(_HAN.findall(text)) * 2 // 3


def _fault_of_question(draft: QaDraft) -> Fault | None:
    question = draft.question
    if draft.lengths[0] > MAX_QUESTION:
        return Fault("form.long_question", {"count": str(draft.lengths[0]), "most": str(MAX_QUESTION)})
    said = {word for word in _LATIN.findall(question.lower()) if word.strip("'.") not in _EMPTY}
    han = len(_HAN.findall(_EMPTY_HAN.sub("", question)))
    if len(said) + han // 2 < _LEAST_SAID:
        return Fault("form.vague", {"found": question[:_SHOWN]})
    if not _ASKING.search(question) and not _ORDER.search(question):
        return Fault("form.no_question", {"found": question[:_SHOWN]})
    return None


def _fault_of_answer(draft: QaDraft) -> Fault | None:
    answer = draft.answer
    beginning = answer.lstrip("#*> \n")
    for key, pattern in (("form.refusal", _REFUSAL), ("form.error", _ERROR)):
        if (match := pattern.search(beginning)) is not None:
            return Fault(key, {"found": match.group()[:_SHOWN]})
    if draft.lengths[1] > MAX_ANSWER:
        return Fault("form.long", {"count": str(draft.lengths[1]), "most": str(MAX_ANSWER)})
    words = words_in(answer)
    structured = _is_structured(answer)
    said = sentences(answer)
    if (match := _PROMISE.search(beginning)) is not None and not structured:
        return Fault("form.promise", {"found": said[0][:_SHOWN]})
    asked = [each for each in said if each.endswith(("?", "？"))]
    dangling = bool(asked) and said[-1] in asked and (not structured or words < _PROSE)
    if dangling or len(asked) * 2 > len(said):
        return Fault("form.asks_back", {"found": asked[-1][:_SHOWN]})
    if (match := _GUESS.search(answer)) is not None:
        return Fault("form.guess", {"found": match.group()[:_SHOWN]})
    if words < LEAST_WORDS:
        return Fault("form.short", {"count": str(words), "least": str(LEAST_WORDS)})
    if not structured and (words < _PROSE or len(said) < 3):
        return Fault("form.shapeless", {})
    if words < _ENOUGH and not _BOUNDS.search(answer):
        return Fault("form.unbounded", {})
    return None


def _is_structured(answer: str) -> bool:
    """Whether there are steps, a list, a table, headings or code."""
    if answer.count("```") >= 2 or len(_LISTED.findall(answer)) >= 2 or len(_TABLE.findall(answer)) >= 2:
        return True
    return len(_HEADING.findall(answer)) >= 2 or (len(_STEPS.findall(answer)) >= 2 and len(sentences(answer)) >= 3)
