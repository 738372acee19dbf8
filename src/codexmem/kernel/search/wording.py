"""Turns of phrase that say what a query asks for and what a text tells, in English and Chinese.

Each is a hint and weighs little: whether somebody asks about himself, asks what the assistant said, asks when or how
many, and whether a text tells a time, a number, or a rule that is meant to last.
"""

import re

_I = re.IGNORECASE

FIRST_PERSON = re.compile(r"\bi\b(?!/)|\b(?:my|me|mine|myself|we|our)\b|我|咱", _I)  # not I/O
ASKS_ASSISTANT = re.compile(
    r"\byou(?:r| had| have|'ve)?(?: \w+)? (?:suggest|recommend|told|tell|gave|give|provid|mention|said|list|explain|"
    r"describ|wrote|answer)|\b(?:last|previous|earlier|our) (?:chat|conversation)|\bremind me\b|"
    r"你(?:之前|上次|刚才|曾经?)?(?:说|推荐|建议|提到|告诉|给过|列)",
    _I,
)
ASKS_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:time|date|day|month|year)\b|\bhow long\b|\bhow many (?:days|weeks|months|years|hours)\b|"
    r"什么时候|何时|哪天|几号|几点|多久|哪一?年|哪个?月|日期|时间",
    _I,
)
ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|old|often|long|tall|far|big|large|fast)\b|\bwhat (?:number|percentage|price|cost|version|port)"
    r"\b|多少|几[个次天年岁人台条]|多[大高长久快远]|版本|端口",
    _I,
)
# What only asks, in Chinese: English question words are stop words, these run into what is asked about.
ONLY_ASKS = re.compile(
    r"(?:在|到|从|要|是|由|跟|和)?(?:什[么麼](?:时候|時候|时间|時間|地方|东西|東西|样|樣|人)?|怎[么麼](?:样|樣|办|辦|做|弄|回事|了)?|"
    r"怎样|怎樣|如何|为[何啥]|為何|为什[么麼]|為什[么麼]|何时|何時|哪[些个個里裡儿兒天位种種]|哪一[个個天些种種]|多少|多久|"
    r"(?:周|星期|礼拜|禮拜)[几幾]|[几幾](?:号|號|点|點|月|天|次|个|個)|是不是|有没有|有沒有|能不能|可不可以|要不要|会不会|會不會|"
    r"是否|能否|可否|请问|請問|告诉我|告訴我|我想知道|想知道|帮我|幫我|我们|我們|你们|你們|咱们|应该|應該|应当|可以|能够|能夠|"
    r"还记得|還記得|记不记得)(?:要|会|會|能|该|該|才|是|得|用|呢|吗|嗎|呀|啊|的)?"
)
TELLS_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this (?:week|month|year|weekend|morning|summer|winter|spring|"
    r"fall|autumn)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|"
    r"october|november|december|weekend|(?:19|20)\d\d|\d+ (?:days?|weeks?|months?|years?)|recently|"
    r"few (?:days|weeks|months|years))\b|昨天|今天|明天|前天|后天|上周|下周|这周|上个?月|下个?月|去年|今年|明年|"
    r"(?<![0-9一二三四五六七八九十])[0-9一二三四五六七八九十]++[年月日号点天]|周[一二三四五六日末]|星期",
    _I,
)
TELLS_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|several|once|twice|first|second|third|half)"
    r"\b|[一二三四五六七八九十两百千万]",
    _I,
)
STANDING = re.compile(
    r"^\s*(?:please )?(?:always|never|from now on|remember to|make sure to always)\b|"
    r"\b(?:i|we) (?:really |generally |usually |always )?(?:prefer|like to|'d rather|would rather|want you to)\b|"
    r"\b(?:always|never|only) (?:use|include|format|provide|give|explain|mention|show|ask|run|write|commit|test)\b|"
    r"总是|一律|以后都|今后|不要再|必须|务必|偏好|更喜欢|习惯用",
    _I,
)
# What a rule is told by; a text without any of these is not looked at more closely.
STANDING_MARKS = (
    "always", "never", "only ", "from now on", "remember", "prefer", "rather", "like to", "want you", "make sure",
    "总是", "一律", "以后都", "今后", "不要再", "必须", "务必", "偏好", "更喜欢", "习惯用",
)  # fmt: skip
UNSPACED_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # as the inside of a class
# The same of a time; each alternative above has one of these.
TIME_MARKS = (
    "day", "week", "month", "year", "ago", "last", "next", "this ", "tonight", "tomorrow", "recently", "19", "20",
    "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
    "天", "周", "月", "年", "日", "号", "点", "星期",
)  # fmt: skip
NUMBER_MARKS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "dozen", "couple", "several", "once",
    "twice", "first", "second", "third", "half",
)  # fmt: skip
_FIGURE = re.compile(r"[\d一二三四五六七八九十两百千万]")
UNSPACED = re.compile(f"[{UNSPACED_CHARACTERS}]")


def is_standing(beginning: str) -> bool:
    """Whether the text lays down a rule or a preference for later."""
    low = beginning.lower()
    return any(map(low.__contains__, STANDING_MARKS)) and STANDING.search(beginning) is not None


def tells_time(text: str) -> bool:
    """Whether the text tells a time."""
    low = text.lower()
    return any(map(low.__contains__, TIME_MARKS)) and TELLS_TIME.search(text) is not None


def tells_number(text: str) -> bool:
    """Whether the text tells a number."""
    if _FIGURE.search(text) is not None:
        return True
    low = text.lower()
    return any(map(low.__contains__, NUMBER_MARKS)) and TELLS_NUMBER.search(text) is not None
