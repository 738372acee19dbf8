"""Days as people speak of them, counted from the day the question is asked.

Weeks begin on Monday and seasons are those of the northern hemisphere. What lies outside the calendar raises
`ValueError` or `OverflowError`: it was no time after all.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from codexmem.kernel.search.times.span import Grain, on

ONE_DAY = timedelta(days=1)


class CalendarUnit(StrEnum):
    """What time is counted in."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


_MONTHS = {CalendarUnit.MONTH: 1, CalendarUnit.QUARTER: 3, CalendarUnit.YEAR: 12}


@dataclass(frozen=True, slots=True)
class Days:
    """A run of whole days."""

    first: date
    end: date  # the day after the last
    grain: Grain
    yearly: bool = False


@dataclass(frozen=True, slots=True)
class YearWindow:
    """A part of the year, both ends included; one that ends before it begins reaches into the next year."""

    first: tuple[int, int]  # month, day
    last: tuple[int, int]  # a day past the month's end means that end
    grain: Grain

    def in_year(self, year: int) -> Days:
        """The one that begins in that year."""
        end = on(year + (self.last < self.first), *self.last) + ONE_DAY
        return Days(on(year, *self.first), end, self.grain)


def month(number: int) -> YearWindow:
    """A month of the year, 1 to 12."""
    return YearWindow((number, 1), (number, 31), Grain.MONTH)


def day(month_number: int, number: int) -> YearWindow:
    """A day of the year."""
    date(2024, month_number, number)
    return YearWindow((month_number, number), (month_number, number), Grain.DAY)


def quarter(number: int) -> YearWindow:
    """A quarter of the year, 1 to 4."""
    return YearWindow((3 * number - 2, 1), (3 * number, 31), Grain.QUARTER)


def third(number: int, of: YearWindow) -> YearWindow:
    """Early (0), mid (1) or late (2) in a month or a year."""
    if of.grain is Grain.MONTH:
        at = of.first[0]
        return YearWindow((at, (1, 11, 21)[number]), (at, (10, 20, 31)[number]), Grain.PART)
    return YearWindow((4 * number + 1, 1), (4 * number + 4, 31), Grain.PART)


YEAR = YearWindow((1, 1), (12, 31), Grain.YEAR)
HALVES = (YearWindow((1, 1), (6, 30), Grain.PART), YearWindow((7, 1), (12, 31), Grain.PART))
SPRING, SUMMER, AUTUMN, WINTER = (
    YearWindow((first, 1), ((first + 1) % 12 + 1, 31), Grain.SEASON) for first in (3, 6, 9, 12)
)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Resolves what is said relative to the day of asking."""

    today: date

    def year(self, steps: int) -> int:
        """The number of a year, counted from this one."""
        return self.today.year + steps

    def shifted(self, steps: int, unit: CalendarUnit) -> date:
        """Today, that many units later."""
        if unit in _MONTHS:
            months = self.today.year * 12 + self.today.month - 1 + steps * _MONTHS[unit]
            return on(months // 12, months % 12 + 1, self.today.day)
        return self.today + timedelta(days=steps * (7 if unit is CalendarUnit.WEEK else 1))

    def whole(self, steps: int, unit: CalendarUnit) -> Days:
        """The calendar's unit that lies that many steps from the present one."""
        at = self.shifted(steps, unit)
        match unit:
            case CalendarUnit.DAY:
                return Days(at, at + ONE_DAY, Grain.DAY)
            case CalendarUnit.WEEK:
                monday = at - timedelta(days=at.weekday())
                return Days(monday, monday + timedelta(days=7), Grain.WEEK)
            case CalendarUnit.MONTH:
                return month(at.month).in_year(at.year)
            case CalendarUnit.QUARTER:
                return quarter((at.month + 2) // 3).in_year(at.year)
            case CalendarUnit.YEAR:
                return YEAR.in_year(at.year)

    def around(self, steps: int, unit: CalendarUnit) -> Days:
        """One unit's length of days around today shifted: "three weeks ago" is meant roughly."""
        at = self.shifted(steps, unit)
        half = {
            CalendarUnit.DAY: 0,
            CalendarUnit.WEEK: 3,
            CalendarUnit.MONTH: 15,
            CalendarUnit.QUARTER: 45,
            CalendarUnit.YEAR: 182,
        }[unit]
        return Days(at - timedelta(days=half), at + timedelta(days=half + 1), Grain(unit.value))

    def roughly(self, steps: int, unit: CalendarUnit) -> Days:
        """Some units ago: from twice to half as many."""
        return Days(self.shifted(-2 * steps, unit), self.shifted(-(steps // 2), unit) + ONE_DAY, Grain.PART)

    def past(self, steps: int, unit: CalendarUnit) -> Days:
        """The last so many units, up to today."""
        return Days(self.shifted(-steps, unit), self.today + ONE_DAY, Grain.PART)

    def recent(self) -> Days:
        """Lately."""
        return Days(self.shifted(-3, CalendarUnit.DAY), self.today + ONE_DAY, Grain.RECENT)

    def annual(self, window: YearWindow, year: int | None) -> Days:
        """A part of that year, or of every year."""
        if year is not None:
            return window.in_year(year)
        latest = next(days for steps in (0, -1) if (days := window.in_year(self.year(steps))).first <= self.today)
        return Days(latest.first, latest.end, latest.grain, yearly=True)

    def turn(self, window: YearWindow, step: int) -> Days:
        """Last (-1), this year's (0) or next (1) time that part of the year came."""
        near = [window.in_year(self.year(steps)) for steps in (-2, -1, 0, 1)]
        if step < 0:
            return [days for days in near if days.end <= self.today][-1]
        if step > 0:
            return next(days for days in near if days.first > self.today)
        return near[2]

    def weekday(self, number: int, steps: int | None, weeks: bool = False) -> Days:
        """A weekday (Monday is 0): the latest up to today, or the one before today (-1).

        With `weeks`, and for steps of 0 and more, the one in the week that many weeks from this one.
        """
        if steps is not None and (weeks or steps >= 0):
            at = self.whole(steps, CalendarUnit.WEEK).first + timedelta(days=number)
        else:
            back = (self.today.weekday() - number) % 7
            at = self.today - timedelta(days=back or (7 if steps else 0))
        return Days(at, at + ONE_DAY, Grain.DAY)

    def weekend(self, steps: int | None) -> Days:
        """Saturday and Sunday of a week; without steps the latest that has begun."""
        if steps is None:
            steps = 0 if self.today.weekday() >= 5 else -1
        saturday = self.whole(steps, CalendarUnit.WEEK).first + timedelta(days=5)
        return Days(saturday, saturday + timedelta(days=2), Grain.PART)

    def of_month(self, steps: int, number: int) -> Days:
        """A day of the month that lies so many months from this one."""
        first = self.whole(steps, CalendarUnit.MONTH).first
        at = first.replace(day=number)
        return Days(at, at + ONE_DAY, Grain.DAY)
