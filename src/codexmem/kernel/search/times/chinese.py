"""Times in Chinese, simplified; traditional characters and wide digits are folded before.

Chinese has no blanks, so a short word counts only where what stands beside it does not make another word of it:
周五 but not 每周五, 上周 in 上周日志, 五月 but not 三个月.
"""

import re
from collections.abc import Sequence
from datetime import date

from codexmem.kernel.search.times import calendar as cal
from codexmem.kernel.search.times.calendar import Calendar, CalendarUnit, Days, YearWindow
from codexmem.kernel.search.times.rule import Rule, Table
from codexmem.kernel.search.times.span import Grain

_DIGITS = {name: number for number, name in enumerate("零一二三四五六七八九")} | {
    "\u3007": 0,
    "两": 2,
    "几": 4,
    "数": 4,
}
_WEEKDAYS = "一二三四五六日"
_DAYS = {"大前天": -3, "前天": -2, "前日": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "昨儿": -1,
         "今天": 0, "今日": 0, "今早": 0, "今晨": 0, "今晚": 0, "今儿": 0, "刚才": 0, "刚刚": 0, "明天": 1, "明日": 1,
         "明早": 1, "明晚": 1, "大后天": 3, "后天": 2}  # fmt: skip
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "上年": -1, "上一年": -1, "今年": 0, "本年": 0, "明年": 1, "来年": 1,
          "后年": 2}  # fmt: skip
_STEPS = {"上上": -2, "上": -1, "前": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
_UNITS = {
    "天": CalendarUnit.DAY,
    "日": CalendarUnit.DAY,
    "周": CalendarUnit.WEEK,
    "星期": CalendarUnit.WEEK,
    "礼拜": CalendarUnit.WEEK,
    "月": CalendarUnit.MONTH,
    "季度": CalendarUnit.QUARTER,
    "年": CalendarUnit.YEAR,
}
_SEASONS = {"春": cal.SPRING, "夏": cal.SUMMER, "秋": cal.AUTUMN, "冬": cal.WINTER}
_YEAR_PARTS = (YearWindow((1, 1), (2, 31), Grain.PART), YearWindow((6, 1), (7, 31), Grain.PART),
               YearWindow((11, 16), (12, 31), Grain.PART))  # fmt: skip
_THIRDS = {"初": 0, "上旬": 0, "中": 1, "中旬": 1, "底": 2, "末": 2, "下旬": 2}
# Feasts of the lunar calendar are the range in which they fall.
_HOLIDAYS = {
    "元旦": cal.day(1, 1),
    "春节": YearWindow((1, 21), (2, 20), Grain.PART),
    "过年": YearWindow((1, 21), (2, 20), Grain.PART),
    "元宵": YearWindow((2, 4), (3, 6), Grain.PART),
    "情人节": cal.day(2, 14),
    "妇女节": cal.day(3, 8),
    "清明": YearWindow((4, 4), (4, 6), Grain.PART),
    "劳动节": YearWindow((5, 1), (5, 5), Grain.PART),
    "五一": YearWindow((5, 1), (5, 5), Grain.PART),
    "儿童节": cal.day(6, 1),
    "端午": YearWindow((5, 28), (6, 25), Grain.PART),
    "中秋": YearWindow((9, 8), (10, 7), Grain.PART),
    "国庆": YearWindow((10, 1), (10, 7), Grain.PART),
    "十一": YearWindow((10, 1), (10, 7), Grain.PART),
    "双十一": cal.day(11, 11),
    "双11": cal.day(11, 11),
    "平安夜": cal.day(12, 24),
    "圣诞": YearWindow((12, 24), (12, 26), Grain.PART),
    "跨年": YearWindow((12, 31), (1, 1), Grain.PART),
    "暑假": YearWindow((7, 1), (8, 31), Grain.PART),
    "寒假": YearWindow((1, 15), (2, 25), Grain.PART),
    "上半年": cal.HALVES[0],
    "下半年": cal.HALVES[1],
}

_NUMERAL = "零\u3007一二两三四五六七八九十廿"
_NUMBER = rf"(?<![\d.])(?P<number>\d{{1,4}}|[{_NUMERAL}百]{{1,5}}|几|数|半)"
_UNIT = r"(?P<unit>天|日|周(?!年)|个?星期|个?礼拜|个月|个?季度|年|个?小时|个?钟头|分钟)"
_YEAR = rf"(?:(?P<year>(?:19|20)\d\d|[零\u3007一二三四五六七八九]{{4}}) ?年|(?P<which>{'|'.join(_YEARS)}))度?"
# A name of a holiday that is also a number needs a word after it that speaks of a holiday.
_HOLIDAY = rf"(?P<holiday>{'|'.join(name for name in _HOLIDAYS if name not in {'五一', '十一'})}" \
    r"|(?:五一|十一)(?=节|假|长假|黄金周|国庆|劳动|期间|小长假|放假))节?"  # fmt: skip
_MONTH = rf"(?<![{_NUMERAL}\d.])(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月份?(?![亮球光饼票薪经嫂])"
_DAY = rf"(?P<day>3[01]|[12]\d|0?[1-9]|[{_NUMERAL}]{{1,3}})[日号]"
_THIRD = r"的?(?P<third>初|上旬|中旬|底|末|下旬)"
_SEASON = r"(?P<season>[春夏秋冬])[天季]"
_QUARTER = r"(?:第(?P<quarter>[一二三四1-4])个?季度?|(?P<ordinal>[一二三四1-4])季度|[Qq](?P<q>[1-4])(?!\w))"
# 周三 is no weekday in 上周三个, 周一 none in 上周一直, 周日 none in 上周日志.
_WEEKDAY = (
    r"(?P<weekday>[二三四五六](?![个次条只名位项点])|一(?![些直共致样切定次个条只下般名位])|天"
    r"|日(?![志报程期常历记本均活益用]))"
)
_WEEK = r"(?:周|星期|礼拜)"
_STEP = r"(?P<step>上上|上|这|本|当|下下|下)一?个?"


def _number(said: str) -> int:
    """A number up to a few hundred, in digits or characters; 两三 is three, a half counts as one."""
    if said.isdigit():
        return int(said)
    if said == "半":
        return 1
    if "百" in said:
        hundreds, _, rest = said.partition("百")
        return 100 * (_number(hundreds) if hundreds else 1) + (_number(rest.lstrip("零\u3007")) if rest else 0)
    said = said.replace("廿", "二十")
    if "十" in said:
        tens, _, ones = said.partition("十")
        return 10 * (_DIGITS[tens[-1]] if tens else 1) + (_number(ones) if ones else 0)
    return _DIGITS[said[-1]]


def _year(match: re.Match[str], calendar: Calendar) -> int | None:
    said = match.groupdict()
    if said.get("which"):
        return calendar.year(_YEARS[said["which"]])
    if said.get("short"):
        return 2000 + int(said["short"])
    if not said.get("year"):
        return None
    year = said["year"]
    return int(year) if year.isdigit() else int("".join(str(_DIGITS[character]) for character in year))


def _annual(match: re.Match[str], calendar: Calendar) -> Days:
    """A part of the year, or the year, that a match names."""
    said = match.groupdict()
    year = _year(match, calendar)
    if said.get("holiday"):
        window = _HOLIDAYS[said["holiday"]]
    elif said.get("season"):
        window = _SEASONS[said["season"]]
    elif ordinal := said.get("quarter") or said.get("ordinal") or said.get("q"):
        window = cal.quarter(_number(ordinal))
    elif said.get("day"):
        window = cal.day(_number(said["month"]), _number(said["day"]))
        if year is not None:
            date(year, *window.first)  # no 29 February in most years
    else:
        window = cal.month(_number(said["month"])) if said.get("month") else cal.YEAR
    if said.get("third"):
        third = _THIRDS[said["third"]]
        window = cal.third(third, window) if said.get("month") else _YEAR_PARTS[third]
    return calendar.annual(window, year)


def _counted(match: re.Match[str]) -> tuple[int, CalendarUnit]:
    number, unit = _number(match["number"]), match["unit"].removeprefix("个")
    if unit == "分钟":
        return 0, CalendarUnit.DAY
    if unit in {"小时", "钟头"}:
        return (number + 23) // 24, CalendarUnit.DAY
    if match["number"] == "半" and unit in {"年", "月"}:
        return (6, CalendarUnit.MONTH) if unit == "年" else (15, CalendarUnit.DAY)
    return number, _UNITS[unit]


def _ago(match: re.Match[str], calendar: Calendar) -> Days:
    number, unit = _counted(match)
    if match["number"] in {"几", "数"}:
        return calendar.roughly(number, unit)
    return calendar.around(-number, unit)


def _past(match: re.Match[str], calendar: Calendar) -> Days:
    return calendar.past(*_counted(match))


def _step(match: re.Match[str], calendar: Calendar) -> Days:
    step, said = _STEPS[match["step"]], match.groupdict()
    if said.get("weekday"):
        return calendar.weekday(_WEEKDAYS.index(said["weekday"].replace("天", "日")), step, weeks=True)
    if said.get("day"):
        return calendar.of_month(step, _number(said["day"]))
    if said.get("third"):
        first = calendar.whole(step, CalendarUnit.MONTH).first
        return cal.third(_THIRDS[said["third"]], cal.month(first.month)).in_year(first.year)
    return calendar.whole(step, _UNITS[said["unit"]])


def _weekday(match: re.Match[str], calendar: Calendar) -> Days:
    return calendar.weekday(_WEEKDAYS.index(match["weekday"].replace("天", "日")), None)


_RULES: Sequence[Rule] = (
    # 三天前, 两周以前; 过去三个月, 最近两周, 近7天, 三天内.
    (rf"{_NUMBER}{_UNIT}多?(?:以|之)?前(?![端后台缀言])", _ago),
    (rf"(?:过去|最近|近|这|前|之前)的?{_NUMBER}{_UNIT}", _past),
    (rf"{_NUMBER}{_UNIT}(?:以|之)?[内来](?![存容部网置源自])", _past),
    # 2023年5月8日, 去年五月, 23年5月, 5月8号, 3月份, 五月底.
    (rf"(?:{_YEAR}的?|(?<!\d)(?P<short>\d\d)年)? ?{_MONTH}(?: ?{_DAY}|{_THIRD})?", _annual),
    # 去年夏天, 2023年第三季度, 国庆; 去年底, 2023年.
    (rf"(?:{_YEAR}的?)? ?(?:{_QUARTER}|{_SEASON}|{_HOLIDAY})", _annual),
    (rf"{_YEAR}(?:年?{_THIRD})?(?!前)", _annual),
    (r"(?<![\d一-龥])年(?P<third>初|底|末)", _annual),
    # 上周五, 上周末, 上周; 上个月8号, 上月底, 上个月, 上季度.
    (rf"{_STEP}{_WEEK}{_WEEKDAY}", _step),
    (rf"{_STEP}{_WEEK}末", lambda match, calendar: calendar.weekend(_STEPS[match["step"]])),
    (rf"{_STEP}(?P<unit>周|星期|礼拜)(?![期边年])", _step),
    (rf"{_STEP}月(?:{_DAY}|{_THIRD})", _step),
    (rf"{_STEP}(?P<unit>月|季度)(?![球亮台])", _step),
    # 昨天, 周三, 周末, 最近.
    (rf"(?P<said>{'|'.join(_DAYS)})", lambda match, calendar: calendar.whole(_DAYS[match["said"]], CalendarUnit.DAY)),
    (rf"(?<![{_NUMERAL}\d每几])(?:周|(?<!个)星期|(?<!个)礼拜){_WEEKDAY}", _weekday),
    (r"(?<!每)周末", lambda _, calendar: calendar.weekend(None)),
    (r"最近|近期|近来|近日|[这前](?:阵子|段时间|些天|些日子)|不久前", lambda _, calendar: calendar.recent()),
)  # fmt: skip

CHINESE = Table(
    hint=r"[天日周週月年季]|星期|礼拜|禮拜|[昨今明前]|小时|钟头|分钟|[春夏秋冬]|元旦|元宵|清明|劳动|五一|十一|端午|国庆|双11"
         r"|圣诞|國慶|聖誕|寒假|暑假|近|[刚剛]|这阵子|这段",
    guard="",
    tail="",
    rules=_RULES,
    flags=re.ASCII,
)  # fmt: skip
