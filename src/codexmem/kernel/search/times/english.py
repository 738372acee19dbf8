"""Times in English, and dates in digits.

Words that are also something else ("may", "march", "sat", "spring", a bare 2023) count only in company that makes a
time of them: a preposition, a day or a year beside them.
"""

import re
from collections.abc import Sequence
from datetime import date

from codexmem.kernel.search.times import calendar as cal
from codexmem.kernel.search.times.calendar import Calendar, CalendarUnit, Days, YearWindow
from codexmem.kernel.search.times.rule import Rule, Table
from codexmem.kernel.search.times.span import Grain

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "several": 5, "five": 5,
            "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}  # fmt: skip
_STEPS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_SEASONS = {"spring": cal.SPRING, "summer": cal.SUMMER, "autumn": cal.AUTUMN, "fall": cal.AUTUMN, "winter": cal.WINTER}
_QUARTERS = ("1", "2", "3", "4", "first", "second", "third", "fourth")
_THIRDS = {"early": 0, "mid": 1, "late": 2}
# The moving feasts are the range in which they fall.
_HOLIDAYS = {
    "christmas eve": cal.day(12, 24),
    "christmas": YearWindow((12, 24), (12, 26), Grain.PART),
    "xmas": cal.day(12, 25),
    "new year's eve": cal.day(12, 31),
    "new year": YearWindow((12, 31), (1, 2), Grain.PART),
    "halloween": cal.day(10, 31),
    "valentine": cal.day(2, 14),
    "independence day": cal.day(7, 4),
    "easter": YearWindow((3, 22), (4, 25), Grain.PART),
    "thanksgiving": YearWindow((11, 22), (11, 28), Grain.PART),
    "black friday": YearWindow((11, 23), (11, 29), Grain.PART),
}

_YEAR = r"(?P<year>(?:19|20)\d\d)(?![\w%]|[-/:.,]\d)"
_MONTH = (r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
          r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b(?:\.(?= ?\d))?")  # fmt: skip
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\w%]|[-/:.]\d)"
_NUMBER = rf"(?P<number>\d{{1,4}}|{'|'.join(_NUMBERS)})"
_UNIT = r"(?P<unit>minute|hour|day|week|month|quarter|year)s?\b"
_STEP = rf"(?P<step>{'|'.join(_STEPS)})"
_THIRD = r"(?P<third>early|mid|late)[ -](?:in |the )?"
_SEASON = rf"(?P<season>{'|'.join(_SEASONS)})\b"
_FRAMEWORK = (
    r"(?! (?:boot|framework|cloud|data|mvc|security|batch|beans?|app|apps|config|context|service|back|through))"
)
_HOLIDAY = rf"(?P<holiday>{'|'.join(_HOLIDAYS)})(?:'?s)?(?: day)?\b(?! egg)"
_OF_YEAR = rf"(?:,? (?:of |in )?(?:{_YEAR}|(?P<step>last|this|next) year\b))"
# Bare numbers that are counted things, not years.
_COUNTED = (
    r"(?! ?(?:ms|s|sec|px|kb|mb|gb|bytes?|rows?|lines?|tokens?|items?|times|errors?|requests?|users?|files?|hours|chars"
    r"|characters?|words?|records?|entries|points|dollars|usd|seconds|minutes|iterations|steps)\b)"
)


def _after(*words: str) -> str:
    """One of these words and a blank stand before; they are no part of the time."""
    return "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in words) + ")"


_IN = _after("in", "during", "since", "until", "till", "by", "before", "after", "of", "from", "through", "around",
             "between")  # fmt: skip


def _number(match: re.Match[str]) -> int:
    said = match["number"].lower()
    return int(said) if said.isdigit() else _NUMBERS[said]


def _month(match: re.Match[str]) -> int:
    return next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(match["month"].lower()[:3]))


def _weekday(match: re.Match[str]) -> int:
    return next(number for number, name in enumerate(_WEEKDAYS) if name.startswith(match["weekday"].lower()[:2]))


def _window(match: re.Match[str]) -> YearWindow:
    """The part of the year that a match names."""
    said = match.groupdict()
    if said.get("season"):
        return _SEASONS[said["season"].lower()]
    if said.get("holiday"):
        return _HOLIDAYS[said["holiday"].lower()]
    if said.get("quarter"):
        return cal.quarter(_QUARTERS.index(said["quarter"].lower()) % 4 + 1)
    if said.get("half"):
        return cal.HALVES[int(said["half"]) - 1]
    if said.get("day"):
        return cal.day(_month(match), int(said["day"]))
    window = cal.month(_month(match)) if said.get("month") else cal.YEAR
    return cal.third(_THIRDS[said["third"].lower()], window) if said.get("third") else window


def _annual(match: re.Match[str], calendar: Calendar) -> Days | None:
    """A part of the year, in the year or turn that the match names."""
    said, window = match.groupdict(), _window(match)
    if said.get("year"):
        year = int(said["year"])
        if not calendar.year(-100) <= year <= calendar.year(5):
            return None
        return _exact(year, *window.first) if window.grain is Grain.DAY else window.in_year(year)
    if said.get("step"):
        step = _STEPS[said["step"].lower()]
        by_year = match[0].lower().endswith("year") and not match[0].lower().endswith("new year")
        return window.in_year(calendar.year(step)) if by_year else calendar.turn(window, step)
    return calendar.annual(window, None)


def _exact(year: int, month: int, day: int) -> Days:
    at = date(year, month, day)
    return Days(at, at + cal.ONE_DAY, Grain.DAY)


def _iso(match: re.Match[str], calendar: Calendar) -> Days | None:
    said = match.groupdict()
    year, month = int(said["year"]), int(said["month"])
    if not calendar.year(-100) <= year <= calendar.year(5):
        return None
    return _exact(year, month, int(said["day"])) if said.get("day") else cal.month(month).in_year(year)


def _slashed(match: re.Match[str], calendar: Calendar) -> Sequence[Days]:
    """5/8/2023 is in May or in August: both."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
    orders = dict.fromkeys((month, day) for month, day in ((one, two), (two, one)) if month <= 12)
    return [_exact(year, month, day) for month, day in orders] if year <= calendar.year(5) else []


def _years(match: re.Match[str], calendar: Calendar) -> Days | None:
    first, last = int(match["year"]), int(match["until"])
    if not calendar.year(-100) <= first < last <= calendar.year(5):
        return None
    return Days(cal.YEAR.in_year(first).first, cal.YEAR.in_year(last).end, Grain.PART)


def _ago(match: re.Match[str], calendar: Calendar) -> Days:
    unit = match["unit"].lower()
    if unit in {"minute", "hour"}:
        return _past(match, calendar)
    if match["number"].lower() in {"few", "several"}:
        return calendar.roughly(_number(match), CalendarUnit(unit))
    return calendar.around(-_number(match), CalendarUnit(unit))


def _past(match: re.Match[str], calendar: Calendar) -> Days:
    unit = match["unit"].lower()
    if unit in {"minute", "hour"}:
        return calendar.past((_number(match) + 23) // 24 if unit == "hour" else 0, CalendarUnit.DAY)
    return calendar.past(_number(match), CalendarUnit(unit))


def _step(match: re.Match[str], calendar: Calendar) -> Days:
    step, said = _STEPS[match["step"].lower()], match.groupdict()
    if said.get("weekday"):
        return calendar.weekday(_weekday(match), step)
    unit = said["unit"].lower()
    return calendar.weekend(step) if unit == "weekend" else calendar.whole(step, CalendarUnit(unit))


_DAYS = {"today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "yesterday": -1,
         "last night": -1, "last evening": -1, "the day before yesterday": -2, "day before yesterday": -2,
         "tomorrow": 1}  # fmt: skip


def _named_day(match: re.Match[str], calendar: Calendar) -> Days:
    return calendar.whole(_DAYS[match["said"].lower()], CalendarUnit.DAY)


_FULL_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})\b(?!\.\w)"
_RULES: Sequence[Rule] = (
    # 2023-05-08, also at the head of a timestamp or of a file's name; 2023-05; 20230508.
    (r"(?<![.\-])(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d|[-/.]\d|[a-su-z_])", _iso),
    (r"(?<![.\-])(?P<year>(?:19|20)\d\d)/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?!\d|[-/.]\d|[a-su-z_])", _iso),
    (r"(?<![.\-/:])(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2])(?![\w/-]|\.\w)", _iso),
    (r"(?<![.\-/:#])(?P<year>20\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>[0-2]\d|3[01])(?![\w/-]|\.\w)", _iso),
    (r"(?<![.\-/:])(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>(?:19|20)\d\d)(?![\w/-]|\.\d)", _slashed),
    # 8 May 2023, the 8th of May; May 8th, 2023.
    (rf"(?:the )?{_DAY} (?:of )?{_MONTH}{_OF_YEAR}?", _annual),
    (rf"{_MONTH} (?:the )?{_DAY}{_OF_YEAR}?", _annual),
    # Early May 2023, May 2023, last May, in May.
    (rf"{_THIRD}{_MONTH}{_OF_YEAR}?", _annual),
    (rf"{_MONTH}{_OF_YEAR}", _annual),
    (rf"(?P<step>last|past|previous) {_MONTH}", _annual),
    (rf"(?P<step>this|next|coming) (?!may\b|march\b){_MONTH}", _annual),
    (rf"{_IN}(?!(?:mar|sep|oct|dec)\b){_MONTH}(?! (?:be|have|not|fail|also)\b)", _annual),
    (rf"{_IN}(?-i:(?P<month>Mar|Sep|Oct|Dec)\b)", _annual),
    (r"(?<=\bthe\s)(?-i:(?P<month>May|March)\b)", _annual),
    (rf"(?!march|may)(?=\w{{4}}){_MONTH}(?<=\w{{4}})", _annual),
    # Q3 2023, third quarter of 2023, H1 2023, 2023 Q3.
    (rf"q(?P<quarter>[1-4])(?:[ -]?{_YEAR})?(?![\w.-])", _annual),
    (rf"q(?P<quarter>[1-4]){_OF_YEAR}", _annual),
    (r"(?P<year>(?:19|20)\d\d)[ -]?q(?P<quarter>[1-4])\b", _annual),
    (rf"h(?P<half>[12]) (?:of )?{_YEAR}", _annual),
    (rf"(?P<quarter>first|second|third|fourth) quarter\b{_OF_YEAR}?", _annual),
    # Summer of 2022, last summer, in the spring; Christmas 2022, last Christmas, Halloween.
    (rf"{_SEASON}{_OF_YEAR}", _annual),
    (rf"(?P<step>last|past|this|next) {_SEASON}{_FRAMEWORK}", _annual),
    (rf"{_after('in the', 'during the', 'over the', 'since the')}{_SEASON}{_FRAMEWORK}", _annual),
    (rf"{_after('in', 'during', 'since')}(?P<season>summer|winter|autumn)\b", _annual),
    (rf"{_HOLIDAY}{_OF_YEAR}?", _annual),
    (rf"{_STEP} {_HOLIDAY}", _annual),
    # Two weeks ago, a couple of days ago, in the last three months.
    (rf"(?:about |around |over )?(?:a )?{_NUMBER}(?: of)? {_UNIT} (?:ago|back)\b", _ago),
    (rf"(?:last|past|previous) {_NUMBER}(?: of)? {_UNIT}", _past),
    (
        r"past (?P<unit>week|month|quarter|year)\b",
        lambda said, calendar: calendar.past(1, CalendarUnit(said["unit"].lower())),
    ),
    (r"the week before last\b", lambda _, calendar: calendar.whole(-2, CalendarUnit.WEEK)),
    (rf"(?P<said>{'|'.join(_DAYS)})\b(?!\.\w)", _named_day),
    # Last week, this weekend; last Friday, on Tuesday.
    (rf"{_STEP} (?P<unit>weekend|week|month|quarter|year)\b", _step),
    (r"(?<=\bthe )weekend\b", lambda _, calendar: calendar.weekend(None)),
    (rf"{_STEP} {_FULL_WEEKDAY}", _step),
    (r"(?P<step>last|past|next) (?P<weekday>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b", _step),
    (rf"(?<!\bevery )(?<!\beach ){_FULL_WEEKDAY}", lambda match, calendar: calendar.weekday(_weekday(match), None)),
    # Late 2022; in 2023.
    (rf"{_THIRD}{_YEAR}", _annual),
    (rf"(?:from|between) (?P<year>[12]\d{{3}}) (?:to|and|until|through) (?P<until>[12]\d{{3}})\b{_COUNTED}", _years),
    (rf"{_after('in', 'during', 'since', 'year', 'end of', 'start of')}{_YEAR}{_COUNTED}", _annual),
    (rf"{_after('the', 'by', 'before', 'after', 'until', 'till', 'from')}(?!2000){_YEAR}{_COUNTED}", _annual),
    (r"recent(?:ly)?\b(?! call|-)|lately\b|these days\b|the other day\b", lambda _, calendar: calendar.recent()),
)

ENGLISH = Table(
    hint=r"(?:19|20)\d\d|[\uff11\uff12][\uff10-\uff19]{3}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue"
         r"|wed|thu|fri|sat|sun|ago\b|back\b|last\b|past\b|prev|this\b|next\b|coming|current|today|tonight|yesterday"
         r"|tomorrow|recent|lately|these d|the other|week|q[1-4]|first q|second q|third q|fourth q|spring|summer|autumn"
         r"|fall|winter|christ|xmas|new y|hallow|valen|indep|easter|thanks|black f)",
    guard=r"(?<![\w@#$.])(?=[a-z0-9])",
    tail=r"(?!\()",
    rules=_RULES,
    flags=re.IGNORECASE | re.ASCII,
)  # fmt: skip
