// A calendar of what was learned: a table of weeks, in which each day with something is a button that chooses it.
// One day at a time is reached by Tab; arrows go to the next day that has something.
import { useEffect, useId, useRef, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { dayNumber, dayText, levelOf, WEEKS, type Days } from './learnedQueries';
import classes from './Learned.module.css';

type Props = { days: Days; chosen: string; onChoose: (day: string) => void };

const DAY_MS = 86_400_000;
const LEVELS = [0, 1, 2, 3, 4];
const STEPS: Record<string, readonly [step: number, column: boolean]> = {
  ArrowUp: [-1, true],
  ArrowDown: [1, true],
  ArrowLeft: [-1, false],
  ArrowRight: [1, false],
};

/** Monday is 0; 1 January 1970 was a Thursday. */
function weekday(day: number): number {
  return (day + 3) % 7;
}

export function Calendar({ days, chosen, onChoose }: Props) {
  const { t, i18n } = useTranslation('learned');
  const tag = localeTag(i18n.language);
  const box = useRef<HTMLDivElement>(null);
  const name = useId();
  const known = new Map(days.days.map((each) => [dayNumber(each.day), each]));
  const most = Math.max(1, ...days.days.map(({ memories }) => memories));
  const [first, last] = [dayNumber(days.first), dayNumber(days.last)];
  const start = first - weekday(first);
  const weeks = Array.from({ length: Math.ceil((last - start + 1) / 7) }, (_, index) => start + index * 7);
  const written = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeZone: 'UTC' });
  const short = new Intl.DateTimeFormat(tag, { weekday: 'short', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(tag, { month: 'short', timeZone: 'UTC' });
  const reached = known.has(dayNumber(chosen)) ? dayNumber(chosen) : Math.max(...known.keys());

  // The newest weeks count most where not all of them fit.
  useEffect(() => {
    box.current?.scrollTo({ left: box.current.scrollWidth });
  }, [days]);

  function move(event: KeyboardEvent<HTMLElement>) {
    const found = STEPS[event.key];
    const from = Number((event.target as HTMLElement).dataset['day']);
    if (!found || !from) return;
    event.preventDefault();
    const [step, column] = found;
    const all = [...known.keys()].sort((one, other) => (one - other) * step);
    const next = all.find((day) => (day - from) * step > 0 && (column || weekday(day) === weekday(from)));
    if (next !== undefined) box.current?.querySelector<HTMLElement>(`[data-day="${next}"]`)?.focus();
  }

  function label(day: number): string {
    const each = known.get(day);
    const date = written.format(day * DAY_MS);
    if (!each) return t('learned.nothing', { day: date });
    const memories = t('learned.memories', { count: each.memories });
    return t('learned.day', { day: date, memories, sessions: t('learned.sessions', { count: each.sessions }) });
  }

  return (
    <div>
      <p className={classes['hint']} id={name}>
        {t('learned.calendar', { weeks: WEEKS })}
      </p>
      <div className="scrollsX" ref={box} onKeyDown={move}>
        <table className={classes['calendar']} aria-labelledby={name}>
          <thead>
            <tr>
              <td />
              {weeks.map((week, index) => (
                <th key={week} scope="col">
                  <span className={classes['unseen']}>{t('learned.week', { day: written.format(week * DAY_MS) })}</span>
                  <span aria-hidden>
                    {index === 0 || Number(dayText(week).slice(8)) <= 7 ? month.format(week * DAY_MS) : ''}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: 7 }, (_, row) => (
              <tr key={row}>
                <th scope="row">{short.format((start + row) * DAY_MS)}</th>
                {weeks.map((week) => {
                  const day = week + row;
                  const each = known.get(day);
                  if (day < first || day > last) return <td key={day} />;
                  const said = label(day);
                  return (
                    <td key={day}>
                      {each ? (
                        <button
                          type="button"
                          className={classes['day']}
                          data-day={day}
                          data-level={levelOf(each.memories, most)}
                          aria-pressed={each.day === chosen}
                          aria-label={said}
                          title={said}
                          tabIndex={day === reached ? 0 : -1}
                          onClick={() => onChoose(each.day)}
                        />
                      ) : (
                        <span className={classes['day']} data-level={0} title={said} />
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className={classes['legend']} aria-hidden>
        {t('learned.fewer')}
        {LEVELS.map((level) => (
          <span key={level} className={classes['day']} data-level={level} />
        ))}
        {t('learned.more')}
      </p>
    </div>
  );
}
