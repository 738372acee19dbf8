"""Times that a query names: which days, which grain, and what is no time at all."""

import timeit
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codexmem.kernel.search.times import Grain, TimeSpan, spans
from codexmem.kernel.search.times.finder import MAX_SPANS

ASKED = int(datetime(2023, 10, 18, 15, 30, tzinfo=UTC).timestamp() * 1_000)  # a Wednesday
DAY_MS = 86_400_000


def ms(text: str) -> int:
    """The first moment of a day, or a later one of it."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000)


def day(at_ms: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=at_ms // DAY_MS)).isoformat()


def said(span: TimeSpan) -> str:
    """A span as "grain first..last", with `*` if it comes every year."""
    first, last = day(span.from_ms), day(span.to_ms - 1)
    return f"{span.grain} {first if first == last else f'{first}..{last}'}{'*' if span.yearly else ''}"


DATES = [
    ("the outage on 2023-05-08", "2023-05-08", "day 2023-05-08"),
    ("2023-05-08T10:00:00Z error", "2023-05-08", "day 2023-05-08"),
    ("logs/2023-05-08.txt", "2023-05-08", "day 2023-05-08"),
    ("2023/5/8", "2023/5/8", "day 2023-05-08"),
    ("20230508 backup", "20230508", "day 2023-05-08"),
    ("25/12/2022", "25/12/2022", "day 2022-12-25"),
    ("report 2023-05", "2023-05", "month 2023-05-01..2023-05-31"),
    ("what did I fix on 8 May 2023?", "8 May 2023", "day 2023-05-08"),
    ("31 October, 2022", "31 October, 2022", "day 2022-10-31"),
    ("deploy of May 8th, 2023", "May 8th, 2023", "day 2023-05-08"),
    ("Aug. 15", "Aug. 15", "day 2023-08-15*"),
    ("on the 8th of May", "the 8th of May", "day 2023-05-08*"),
    ("may 8", "may 8", "day 2023-05-08*"),
    ("May 8 last year", "May 8 last year", "day 2022-05-08"),
    ("2023年5月8日的会议", "2023年5月8日", "day 2023-05-08"),
    ("二〇二三年五月八日", "二〇二三年五月八日", "day 2023-05-08"),
    ("２０２３－０５－０８", "２０２３－０５－０８", "day 2023-05-08"),
    ("５月８号开会", "５月８号", "day 2023-05-08*"),
    ("那个6月8日过生日的人", "6月8日", "day 2023-06-08*"),
    ("十二月二十三日", "十二月二十三日", "day 2022-12-23*"),
    ("去年5月8日", "去年5月8日", "day 2022-05-08"),
]
MONTHS_AND_YEARS = [
    ("the deploy in May", "May", "month 2023-05-01..2023-05-31*"),
    ("shipped in may", "may", "month 2023-05-01..2023-05-31*"),
    ("the May release", "May", "month 2023-05-01..2023-05-31*"),
    ("in Oct", "Oct", "month 2023-10-01..2023-10-31*"),
    ("November plans", "November", "month 2022-11-01..2022-11-30*"),
    ("last March", "last March", "month 2023-03-01..2023-03-31"),
    ("May of 2022", "May of 2022", "month 2022-05-01..2022-05-31"),
    ("early May", "early May", "part 2023-05-01..2023-05-10*"),
    ("五月的总结", "五月", "month 2023-05-01..2023-05-31*"),
    ("3月份", "3月份", "month 2023-03-01..2023-03-31*"),
    ("去年十一月", "去年十一月", "month 2022-11-01..2022-11-30"),
    ("23年5月的会", "23年5月", "month 2023-05-01..2023-05-31"),
    ("五月底", "五月底", "part 2023-05-21..2023-05-31*"),
    ("in 2022", "2022", "year 2022-01-01..2022-12-31"),
    ("the 2022 roadmap", "2022", "year 2022-01-01..2022-12-31"),
    ("late 2022", "late 2022", "part 2022-09-01..2022-12-31"),
    ("2022年的目标", "2022年", "year 2022-01-01..2022-12-31"),
    ("二零二二年", "二零二二年", "year 2022-01-01..2022-12-31"),
    ("去年", "去年", "year 2022-01-01..2022-12-31"),
    ("前年", "前年", "year 2021-01-01..2021-12-31"),
    ("去年底", "去年底", "part 2022-11-16..2022-12-31"),
]
PARTS_OF_THE_YEAR = [
    ("Q3 2022 revenue", "Q3 2022", "quarter 2022-07-01..2022-09-30"),
    ("2022-Q3", "2022-Q3", "quarter 2022-07-01..2022-09-30"),
    ("third quarter of 2022", "third quarter of 2022", "quarter 2022-07-01..2022-09-30"),
    ("第三季度的计划", "第三季度", "quarter 2023-07-01..2023-09-30*"),
    ("2022年第三季度", "2022年第三季度", "quarter 2022-07-01..2022-09-30"),
    ("summer 2022 trip", "summer 2022", "season 2022-06-01..2022-08-31"),
    ("last summer", "last summer", "season 2023-06-01..2023-08-31"),
    ("last winter", "last winter", "season 2022-12-01..2023-02-28"),
    ("in the fall", "fall", "season 2023-09-01..2023-11-30*"),
    ("去年夏天去哪了", "去年夏天", "season 2022-06-01..2022-08-31"),
    ("今年上半年", "今年上半年", "part 2023-01-01..2023-06-30"),
    ("Christmas 2021", "Christmas 2021", "part 2021-12-24..2021-12-26"),
    ("last Christmas", "last Christmas", "part 2022-12-24..2022-12-26"),
    ("New Year's Eve party", "New Year's Eve", "day 2022-12-31*"),
    ("去年国庆", "去年国庆", "part 2022-10-01..2022-10-07"),
    ("圣诞节", "圣诞节", "part 2022-12-24..2022-12-26*"),
]
RELATIVE = [
    ("what did we do today", "today", "day 2023-10-18"),
    ("yesterday's fix", "yesterday", "day 2023-10-17"),
    ("the day before yesterday", "the day before yesterday", "day 2023-10-16"),
    ("last night", "last night", "day 2023-10-17"),
    ("three days ago", "three days ago", "day 2023-10-15"),
    ("two weeks ago", "two weeks ago", "week 2023-10-01..2023-10-07"),
    ("a couple of months ago", "a couple of months ago", "month 2023-08-03..2023-09-02"),
    ("a few weeks ago", "a few weeks ago", "part 2023-09-06..2023-10-11"),
    ("2 hours ago", "2 hours ago", "part 2023-10-17..2023-10-18"),
    ("last week", "last week", "week 2023-10-09..2023-10-15"),
    ("this week", "this week", "week 2023-10-16..2023-10-22"),
    ("last month", "last month", "month 2023-09-01..2023-09-30"),
    ("last year", "last year", "year 2022-01-01..2022-12-31"),
    ("last quarter", "last quarter", "quarter 2023-07-01..2023-09-30"),
    ("last weekend", "last weekend", "part 2023-10-14..2023-10-15"),
    ("in the last 3 weeks", "last 3 weeks", "part 2023-09-27..2023-10-18"),
    ("what happened last Friday", "last Friday", "day 2023-10-13"),
    ("last Wednesday", "last Wednesday", "day 2023-10-11"),
    ("on Tuesday we decided", "Tuesday", "day 2023-10-17"),
    ("next Friday", "next Friday", "day 2023-10-27"),
    ("昨天改了什么", "昨天", "day 2023-10-17"),
    ("前天", "前天", "day 2023-10-16"),
    ("三天前的部署", "三天前", "day 2023-10-15"),
    ("两周前", "两周前", "week 2023-10-01..2023-10-07"),
    ("十二个月前", "十二个月前", "month 2022-10-03..2022-11-02"),
    ("半年前", "半年前", "month 2023-04-03..2023-05-03"),
    ("一百天前", "一百天前", "day 2023-07-10"),
    ("几天前的讨论", "几天前", "part 2023-10-10..2023-10-16"),
    ("最近三天", "最近三天", "part 2023-10-15..2023-10-18"),
    ("上周", "上周", "week 2023-10-09..2023-10-15"),
    ("上个月的报错", "上个月", "month 2023-09-01..2023-09-30"),
    ("上个月8号", "上个月8号", "day 2023-09-08"),
    ("上月底", "上月底", "part 2023-09-21..2023-09-30"),
    ("上周五修了什么", "上周五", "day 2023-10-13"),
    ("上週五修了什麼", "上週五", "day 2023-10-13"),
    ("上上周一", "上上周一", "day 2023-10-02"),
    ("上周日", "上周日", "day 2023-10-15"),
    ("周三的会议", "周三", "day 2023-10-18"),
    ("星期天", "星期天", "day 2023-10-15"),
    ("上周日志在哪", "上周", "week 2023-10-09..2023-10-15"),
    ("上周一直在改", "上周", "week 2023-10-09..2023-10-15"),
    ("上周三个bug", "上周", "week 2023-10-09..2023-10-15"),
    ("recently changed settings", "recently", "recent 2023-10-15..2023-10-18"),
    ("最近的改动", "最近", "recent 2023-10-15..2023-10-18"),
]
RANGES = [
    ("from March to May 2022", "March to May 2022", "part 2022-03-01..2022-05-31"),
    ("from November to February 2023", "November to February 2023", "part 2022-11-01..2023-02-28"),
    ("between 2019 and 2021", "between 2019 and 2021", "part 2019-01-01..2021-12-31"),
    ("从三月到五月", "三月到五月", "part 2023-03-01..2023-05-31*"),
    ("since May", "May", "part 2023-05-01..2023-10-18"),
    ("去年以来", "去年", "part 2022-01-01..2023-10-18"),
]


@pytest.mark.parametrize("query, text, expected", DATES + MONTHS_AND_YEARS + PARTS_OF_THE_YEAR + RELATIVE + RANGES)
def test_a_query_names_a_time(query: str, text: str, expected: str) -> None:
    found = spans(query, ASKED)
    assert [(span.text, said(span)) for span in found] == [(text, expected)]
    assert query[found[0].start : found[0].end] == text


@pytest.mark.parametrize(
    "query",
    [
        "it may fail", "this may be slow", "May I ask", "march through the list", "the mar file", "dec to hex",
        "python 3.11", "upgrade to 1.2.3", "2023.7.22", "1.5 years ago", "v2023", "ERR-2023", "E2023_FOO", "#2023",
        "CVE-2023-1234", "port 8080", "error 2023", "127.0.0.1:2023", "set the limit to 2000", "in 2000 ms",
        "the 2000 limit", "after 2048 tokens", "2023-13-45", "30 February 2023", "3/4", "spring boot error",
        "this spring boot app fails", "fall back to the default", "sat solver", "sum of the sun", "every Friday",
        "get_last_week()", "datetime.today()", "monday.com", "traceback (most recent call last)", "Easter egg",
        "second argument", "how many days ago did I start", "nine hundred years", "99999999 weeks ago",
        "月亮 周围 周年", "三个月亮", "一天世界", "每周五", "一周五次", "三个月",
        "三年前端经验", "十三月", "周会", "12345天前",
        "", " ", "\0", "年", "月", "前", "的",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(query: str) -> None:
    assert spans(query, ASKED) == ()


def test_several_times_come_in_the_order_of_the_query() -> None:
    found = spans("last week 和 上个月, and 2023-05-08", ASKED)
    assert [span.text for span in found] == ["last week", "上个月", "2023-05-08"]


def test_the_number_of_times_is_bounded() -> None:
    assert len(spans("yesterday 昨天 " * 1_000, ASKED)) <= 2 * MAX_SPANS


def test_a_date_with_two_readings_gives_both() -> None:
    assert [said(span) for span in spans("5/8/2023", ASKED)] == ["day 2023-05-08", "day 2023-08-05"]


def test_a_month_without_a_year_is_meant_in_every_year() -> None:
    (may,) = spans("in May", ASKED)
    assert [may.closeness(ms(day)) for day in ("2019-05-01", "2020-05-31T23:59", "2024-05-15")] == [1.0, 1.0, 1.0]
    assert may.closeness(ms("2021-11-15")) < 0.01
    (winter,) = spans("冬天", ASKED)
    assert winter.closeness(ms("2020-02-29T12:00")) == winter.closeness(ms("2019-12-01")) == 1.0


def test_a_month_that_came_once_since_the_first_memory_is_that_one() -> None:
    (once,) = spans("in May", ASKED, first_ms=ms("2022-09-01"))
    assert said(once) == "month 2023-05-01..2023-05-31"
    (often,) = spans("in May", ASKED, first_ms=ms("2021-09-01"))
    assert often.yearly


def test_closeness_is_one_inside_and_falls_more_slowly_after_than_before() -> None:
    (span,) = spans("2023-05-08", ASKED)
    assert span.closeness(ms("2023-05-08")) == span.closeness(ms("2023-05-09") - 1) == 1.0
    assert span.closeness(ms("2023-05-07")) == pytest.approx(0.5)  # one day before
    assert span.closeness(ms("2023-05-12")) == pytest.approx(0.5)  # three days after
    (month,) = spans("May 2023", ASKED)
    assert month.closeness(ms("2023-06-04")) > span.closeness(ms("2023-05-12")) > month.closeness(ms("2022-05-12"))


def test_recent_is_a_leaning_that_fades_over_weeks() -> None:
    (span,) = spans("最近", ASKED)
    assert span.grain is Grain.RECENT
    assert span.closeness(ASKED) == 1.0
    assert 0.4 < span.closeness(ASKED - 17 * DAY_MS) < 0.6


PIECES = [
    *"年月日周天前上下个半两三十百零初底末季度到至和以来",
    "may ", "march ", "last ", "2023", "-", "/", "5", "29 ", "feb ", "week ",
    "ago ", "in ", "since ", "to ", "christmas ", "9999 ", "years ", "of ", "q3 ", "０",
]  # fmt: skip
anything = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)


@example("Q3", -(2**70), None, 2**1_100)
@example("in Q1", 2**70, 0, -(2**1_100))
@example("since 去年 and winter", 2**1_100, 2**1_100, 0)
@given(anything, st.integers(), st.none() | st.integers(), st.integers())
def test_any_text_at_any_time_is_legal(text: str, asked_ms: int, first_ms: int | None, at_ms: int) -> None:
    last_start = 0
    for span in spans(text, asked_ms, first_ms):
        assert span.from_ms < span.to_ms
        assert text[span.start : span.end] == span.text != ""
        assert span.start >= last_start
        assert 0.0 <= span.closeness(at_ms) <= 1.0
        assert span.closeness(span.from_ms) == 1.0
        last_start = span.start


@pytest.mark.parametrize("piece", ["last ", "2023-", "12", "三", "may ", "5月到", "上个", "前", "a ", " "])
def test_the_time_taken_grows_with_the_text_only(piece: str) -> None:
    long = piece * (100_000 // len(piece)) + " yesterday 昨天"
    assert timeit.timeit(lambda: spans(long, ASKED), number=1) < 5.0


def test_queries_are_read_in_microseconds() -> None:
    plain = timeit.timeit(lambda: spans("why does the indexer drop vectors", ASKED), number=1_000)  # in ms per query
    timed = timeit.timeit(lambda: spans("what did we decide about the indexer last Friday?", ASKED), number=1_000)
    assert plain < 0.5
    assert timed < 2.0
